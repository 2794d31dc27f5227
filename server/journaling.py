"""What all journals share: the hash chain over their lines, and entries nobody can read."""

import hashlib
from collections.abc import Iterable


class UnknownEvent(Exception):
    """A journal entry that this version of the server cannot read."""


class NewerFormat(UnknownEvent):
    """A journal that was begun by a newer version of the server, which goes on with it."""


def chain(lines: Iterable[bytes], head: bytes = bytes(32)) -> bytes:
    """Fold journal lines into the head of their hash chain (SHA-256, 32 bytes).

    The next head is SHA-256(head || line), a line being the official time, a blank and the
    event's bytes, without a line end.
    """
    for line in lines:
        head = hashlib.sha256(head + line).digest()
    return head
