"""Refusals that pass: what was asked may be asked once more, a little later.

Pure.
"""

from typing import Final

from wire.messages import Refused

AGAIN_AFTER: Final = 1.0  # seconds
_PASSING: Final = ("store", "conflict")  # by their codes (docs/protocol.md)


def is_passing(refused: Refused) -> bool:
    """Whether the same request may be granted soon."""
    return refused.code in _PASSING
