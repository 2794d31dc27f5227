"""Brackets: boxes whose players come from seeds and from other boxes' results.

A bracket is a tuple of boxes in an order in which each comes after those it draws from.
`fill` works out from the matches who stands where. Emptiness is a value like a player: a
box with one empty side passes the other on, one with two passes emptiness on, so that
nothing ever waits for nobody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from server.tournament.events import Bye
from server.tournament.formats.places import ranked
from server.tournament.records import Draft, Field, Match, Meeting, Rank

PENDING: Final = "?"  # not known yet; no id of a player
EMPTY: Final = ""

STILL_IN: Final = 1_000_000  # above every tier

SourceKind = Literal["seed", "winner", "loser", "upset-winner", "upset-loser"]
SlotState = Literal["waiting", "ready", "called", "over", "bye", "empty"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a side of a box comes from.

    An `upset` gives somebody only if the second side of its box won: the grand final that
    has to be played again.
    """

    kind: SourceKind
    box: str = ""
    seed: int = 0  # from 1


@dataclass(frozen=True, slots=True)
class Box:
    """One place of a bracket where two meet."""

    id: str
    side: Literal["winners", "losers", "final", "third"]
    round: int
    number: int
    sources: tuple[Source, Source]
    tier: int  # who goes out in a higher tier is placed better, who wins a last box above that
    last: bool = False  # its winner goes nowhere else
    name: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """A box and who stands in it now."""

    box: Box
    sides: tuple[str, str]  # an entry, PENDING or EMPTY
    state: SlotState
    match: str = ""
    winner: str = PENDING
    loser: str = PENDING


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a match says about its box."""

    match: str
    entries: tuple[str, ...]
    decided: bool
    winner: str = EMPTY
    loser: str = EMPTY


@dataclass(frozen=True, slots=True)
class Filled:
    """A bracket as it stands."""

    slots: dict[str, Slot]
    stale: tuple[str, ...]  # matches whose players no longer belong in their box


def seeds(number: int) -> Source:
    """Give the source that is a seed."""
    return Source("seed", seed=number)


def winner(box: str) -> Source:
    """Give the source that is the winner of a box."""
    return Source("winner", box)


def loser(box: str) -> Source:
    """Give the source that is the loser of a box."""
    return Source("loser", box)


def verdicts(matches: Sequence[Match]) -> dict[str, Verdict]:
    """Give what the matches say, by slot."""
    return {match.slot: _verdict(match) for match in matches}


def _verdict(match: Match) -> Verdict:
    result = match.result
    if result is None:
        return Verdict(match.id, match.entries, decided=False)
    first = result.winner
    if first is None:
        return Verdict(match.id, match.entries, decided=True)
    return Verdict(match.id, match.entries, True, first, match.other[first])


def fill(boxes: Sequence[Box], order: Sequence[str], known: Mapping[str, Verdict]) -> Filled:
    """Work out who stands where."""
    slots: dict[str, Slot] = {}
    stale = []
    for box in boxes:
        a, b = (_side(source, order, slots) for source in box.sources)
        verdict = known.get(box.id)
        if verdict is not None and set(verdict.entries) != {a, b}:
            stale.append(verdict.match)
            verdict = None
        slots[box.id] = _slot(box, (a, b), verdict)
    return Filled(slots, tuple(stale))


def _side(source: Source, order: Sequence[str], slots: Mapping[str, Slot]) -> str:
    if source.kind == "seed":
        return order[source.seed - 1] if source.seed <= len(order) else EMPTY
    slot = slots[source.box]
    if source.kind == "winner":
        return slot.winner
    if source.kind == "loser":
        return slot.loser
    if slot.winner == PENDING:
        return PENDING
    upset = slot.state == "over" and slot.winner == slot.sides[1]
    if not upset:
        return EMPTY
    return slot.winner if source.kind == "upset-winner" else slot.loser


def _slot(box: Box, sides: tuple[str, str], verdict: Verdict | None) -> Slot:
    if verdict is not None:
        if verdict.decided:
            return Slot(box, sides, "over", verdict.match, verdict.winner, verdict.loser)
        return Slot(box, sides, "called", verdict.match)
    if PENDING in sides:
        return Slot(box, sides, "waiting")
    if sides == (EMPTY, EMPTY):
        return Slot(box, sides, "empty", winner=EMPTY, loser=EMPTY)
    if EMPTY in sides:
        alone = sides[0] or sides[1]
        return Slot(box, sides, "bye", winner=alone, loser=EMPTY)
    return Slot(box, sides, "ready")


def filled(boxes: Sequence[Box], field: Field) -> tuple[Slot, ...]:
    """Give the bracket as it stands, for drawing."""
    return tuple(fill(boxes, field.order, verdicts(field.matches)).slots.values())


def stale(boxes: Sequence[Box], field: Field) -> tuple[Match, ...]:
    """Give the matches whose players no longer belong in their box."""
    found = set(fill(boxes, field.order, verdicts(field.matches)).stale)
    return tuple(match for match in field.matches if match.id in found)


def draft(boxes: Sequence[Box], field: Field) -> Draft | None:
    """Give every match that can be called, walkovers as far as they follow from each other.

    None when nothing is left to play.
    """
    known = verdicts(field.matches)
    meetings: list[Meeting] = []
    while True:
        filled = fill(boxes, field.order, known)
        ready = [slot for slot in filled.slots.values() if slot.state == "ready"]
        if not ready:
            break
        for slot in ready:
            meeting = _meeting(slot, field)
            meetings.append(meeting)
            known[slot.box.id] = _foregone(meeting)
    if not meetings and not any(slot.state == "waiting" for slot in filled.slots.values()):
        return None
    byes = _byes(filled, field) if not field.matches else ()
    return Draft(tuple(meetings), byes, field.group)


def _meeting(slot: Slot, field: Field) -> Meeting:
    out = tuple(entry for entry in slot.sides if not field.is_in(entry))
    ranks = " against ".join(f"seed {field.order.index(entry) + 1}" for entry in slot.sides)
    return Meeting(slot.sides, f"{slot.box.name}: {ranks}", slot.box.id, out)


def _foregone(meeting: Meeting) -> Verdict:
    if not meeting.out:
        return Verdict("", meeting.entries, decided=False)
    if len(meeting.out) == 2:
        return Verdict("", meeting.entries, decided=True)
    left = next(entry for entry in meeting.entries if entry not in meeting.out)
    return Verdict("", meeting.entries, True, left, meeting.out[0])


def _byes(filled: Filled, field: Field) -> tuple[Bye, ...]:
    return tuple(
        Bye(p=slot.winner, why="byes go to the best seeds", kind="none")
        for slot in filled.slots.values()
        if slot.state == "bye" and all(source.kind == "seed" for source in slot.box.sources)
    )


def ranks(boxes: Sequence[Box], field: Field) -> list[Rank]:
    """Rank a bracket: who can still win, then by how far each one came."""
    filled = fill(boxes, field.order, verdicts(field.matches))
    reached = dict.fromkeys(field.order, (STILL_IN, "still in"))
    for slot in filled.slots.values():  # a later box of the same player overrides
        for entry in slot.sides:
            if entry in reached:
                reached[entry] = _reach(slot, entry)
    return ranked({entry: -tier for entry, (tier, _) in reached.items()}, field, reached)


def _reach(slot: Slot, entry: str) -> tuple[int, str]:
    tier = slot.box.tier
    if slot.winner == entry:
        return (tier + 1, f"won the {slot.box.name}") if slot.box.last else (STILL_IN, "still in")
    if slot.state == "over":
        return (tier, f"out in the {slot.box.name}")
    return (STILL_IN, "still in")
