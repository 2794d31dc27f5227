"""Whether a deal is the one that was promised: hashes of docs/fairness.md, and no rules.

Pure. What was noted before the race is compared with what is revealed after it. The layout
itself is for `klondike verify`, which knows the rules.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from wire.messages import Room
from wire.values import Reveal

_COMMIT: Final = b"dk-commit/1"


@dataclass(frozen=True, slots=True)
class Notes:
    """What this client saw and gave before the cards of one room came."""

    room: str = ""
    commitment: str = ""  # as first shown
    salts: tuple[str, ...] | None = None  # hex, as sent at the lock; None: not heard
    own: str | None = None  # hex, this client's own bytes; None: gave none in this run
    seat: int | None = None  # where they stand in the list
    is_ready: bool = False  # the server has taken them

    def entered(self, room: Room) -> "Notes":
        """Take in a room; its commitment counts as it was shown first."""
        notes = self if room.room == self.room else Notes(room.room, room.commitment)
        if room.seat is None or not 0 <= room.seat < len(room.seats):
            return notes
        return replace(notes, seat=room.seat, is_ready=room.seats[room.seat].ready)

    def gave(self, salt: bytes) -> "Notes":
        """Take in the bytes of one's own."""
        return replace(self, own=salt.hex())

    def locked(self, salts: Iterable[str]) -> "Notes":
        """Take in the list of everybody's bytes; the first one heard counts."""
        return self if self.salts is not None else replace(self, salts=tuple(salts))


@dataclass(frozen=True, slots=True)
class Check:
    """What came out of a comparison."""

    text: str
    is_bad: bool = False


def commitment_of(deal: str, secret: str) -> str:
    """Give the commitment to a secret in hexadecimal, "" where that is none."""
    try:
        data = bytes.fromhex(secret)
    except ValueError:
        return ""
    return hashlib.sha256(_COMMIT + deal.encode("utf-8", "surrogatepass") + data).hexdigest()


def check(notes: Notes, reveal: Reveal | None) -> Check | None:
    """Compare a reveal with the notes; None where there is nothing to compare yet."""
    if reveal is None or not notes.commitment:
        return None
    faults = list(_faults(notes, reveal))
    if faults:
        return Check(f"THE DEAL IS NOT WHAT WAS PROMISED: {'; '.join(faults)}.", is_bad=True)
    if notes.salts is None:
        return Check("Deal checked: the secret fits the commitment shown before.")
    own = ", your own among them" if _counts_own(notes) else ""
    return Check(f"Deal checked: secret and bytes are those promised{own}.")


def _faults(notes: Notes, reveal: Reveal) -> Iterable[str]:
    if reveal.commitment != notes.commitment:
        yield "the server now shows another commitment"
    if commitment_of(reveal.deal, reveal.secret) != notes.commitment:
        yield "the secret does not fit the commitment"
    if notes.salts is not None and tuple(reveal.salts) != notes.salts:
        yield "the players' bytes were changed after the lock"
    if _counts_own(notes) and (notes.salts or ())[notes.seat or 0 :][:1] != (notes.own,):
        yield "your own bytes are not in the deal"


def _counts_own(notes: Notes) -> bool:
    # In a tournament nobody gives bytes, and the list is empty.
    return notes.own is not None and notes.is_ready and bool(notes.salts)


def head_of(entries: Iterable[str]) -> str:
    """Give the head, in hexadecimal, that a journal's standings are published with.

    Each entry is hashed after the hash before it; the head is the one after the race was
    over, or the secret revealed.
    """
    head = sealed = bytes(32)
    for entry in entries:
        head = hashlib.sha256(head + entry.encode("utf-8", "surrogatepass")).digest()
        if _kind(entry) in ("over", "revealed"):
            sealed = head
    return sealed.hex()


def _kind(entry: str) -> object:
    try:
        event = json.loads(entry.partition(" ")[2])
    except ValueError:
        return None
    return event.get("e") if isinstance(event, dict) else None
