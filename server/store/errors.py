"""What can go wrong with the store, each as a name and a sentence."""

from dataclasses import dataclass


class StoreError(Exception):
    """Base of all that the store raises; the text is one line for whoever runs the server."""


class Unavailable(StoreError):
    """The store does not answer just now; the same request may be made again later."""


class Unreachable(StoreError):
    """No store answered at the address when the server started."""


class Unfit(StoreError):
    """The store answers, but cannot be relied on: too old, or its settings lose data."""


class NoBinary(StoreError):
    """There is no Redis-compatible server on this machine that could be started."""


class DataInUse(StoreError):
    """Another server already uses the data folder."""


class StartFailed(StoreError):
    """The private store was started and did not come up."""


class Missing(StoreError):
    """There is no such journal or player (any more)."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The store did not answer: whether the command took effect is unknown.

    With `sent` false it was never sent, so it had no effect.
    """

    sent: bool = True
