"""Where the boxes of a bracket stand: columns by round, each box between those that feed it."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wire.lines import SlotLine
from wire.reading import bracket_columns, feeds

SIDES_APART = 0.8  # rows between winners' and losers' bracket


@dataclass(frozen=True, slots=True)
class Spot:
    """A box and its place in the grid; rows may be halves."""

    slot: SlotLine
    column: int
    row: float


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a column of one side."""

    text: str
    column: int
    row: float


@dataclass(frozen=True, slots=True)
class Grid:
    """A bracket laid out."""

    spots: tuple[Spot, ...]
    edges: tuple[tuple[Spot, Spot], ...]  # from a box to the one where its winner goes
    headings: tuple[Heading, ...]
    columns: int
    rows: float


def laid_out(slots: Sequence[SlotLine]) -> Grid:
    """Lay a bracket out: the winners above, the losers below them, the finals at the right."""
    rows: dict[str, float] = {}
    below = _place([slot for slot in slots if slot.side == "winners"], rows, top=0.0)
    losers = [slot for slot in slots if slot.side == "losers"]
    middle = below / 2
    if losers:
        below = _place(losers, rows, top=below + SIDES_APART)
    for slot in slots:
        if slot.side == "final":
            rows[slot.slot] = _between(slot, rows, default=middle)
        elif slot.side == "third":
            below += SIDES_APART
            rows[slot.slot] = below
            below += 1
    columns = bracket_columns(slots)
    spots = {slot.slot: Spot(slot, columns[slot.slot], rows[slot.slot]) for slot in slots}
    return Grid(
        tuple(spots.values()),
        tuple(_edges(spots)),
        tuple(_headings(spots.values())),
        columns=max((spot.column for spot in spots.values()), default=-1) + 1,
        rows=below,
    )


def _place(slots: Sequence[SlotLine], rows: dict[str, float], *, top: float) -> float:
    """Place one side from a row on; gives the row below it."""
    names = {slot.slot for slot in slots}
    count = 0
    for slot in slots:
        inside = [rows[each] for each in feeds(slot) if each in names]
        if inside:
            rows[slot.slot] = sum(inside) / len(inside)
        else:
            rows[slot.slot] = top + count
            count += 1
    return top + count


def _between(slot: SlotLine, rows: dict[str, float], default: float) -> float:
    if slot.round > 1:  # the second grand final stands beside the first
        return next((row for name, row in rows.items() if name.startswith("F")), default)
    found = [rows[each] for each in feeds(slot) if each in rows]
    return sum(found) / len(found) if found else default


def _edges(spots: Mapping[str, Spot]) -> Iterable[tuple[Spot, Spot]]:
    finals = [spot for spot in spots.values() if spot.slot.side == "final"]
    for spot in spots.values():
        yield from ((spots[each], spot) for each in feeds(spot.slot) if each in spots)
    yield from itertools.pairwise(finals)


def _headings(spots: Iterable[Spot]) -> Iterable[Heading]:
    tops: dict[tuple[str, int], Spot] = {}
    for spot in spots:
        key = (spot.slot.side, spot.column)
        if key not in tops or spot.row < tops[key].row:
            tops[key] = spot
    return (Heading(spot.slot.name, spot.column, spot.row) for spot in tops.values())
