"""A bracket as SVG figures: plain numbers and texts that the template writes down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from server.public.layout import Grid, Spot, laid_out
from server.public.sheet import Sheet
from wire.lines import SlotLine
from wire.reading import bracket_seeds, points

BOX_WIDTH, BOX_HEIGHT = 204, 52
COLUMN_WIDTH, ROW_HEIGHT = 228, 78
MARGIN, HEAD_HEIGHT = 8, 26


@dataclass(frozen=True, slots=True)
class Side:
    """One line of a box."""

    text: str
    seed: str
    score: str
    won: bool
    known: bool  # a player; else where one will come from


@dataclass(frozen=True, slots=True)
class Box:
    """One box, in pixels."""

    x: int
    y: int
    name: str
    state: str
    match: str
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A bracket drawn."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[str, ...]  # paths
    headings: tuple[tuple[int, int, str], ...]


def drawing(sheet: Sheet, slots: Sequence[SlotLine]) -> Drawing:
    """Draw one group's bracket; boxes in which nobody will ever stand are left out."""
    seen = [slot for slot in slots if slot.state != "empty"]
    grid = laid_out(seen)
    seeds = bracket_seeds(slots)
    return Drawing(
        width=max(0, (grid.columns - 1) * COLUMN_WIDTH + BOX_WIDTH) + 2 * MARGIN,
        height=round(grid.rows * ROW_HEIGHT) + HEAD_HEIGHT + 2 * MARGIN,
        boxes=tuple(_box(sheet, spot, seeds) for spot in grid.spots),
        lines=_lines(grid),
        headings=tuple(
            (_x(heading.column), _y(heading.row) - 9, heading.text) for heading in grid.headings
        ),
    )


def _x(column: int) -> int:
    return MARGIN + column * COLUMN_WIDTH


def _y(row: float) -> int:
    return MARGIN + HEAD_HEIGHT + round(row * ROW_HEIGHT)


def _box(sheet: Sheet, spot: Spot, seeds: Mapping[str, str]) -> Box:
    slot = spot.slot
    scores = [points(score) for score in slot.scores] or ["", ""]
    return Box(
        x=_x(spot.column),
        y=_y(spot.row),
        name=slot.name,
        state=slot.state,
        match=slot.match,
        sides=tuple(
            _side(sheet, slot, entry, source, score, seeds.get(entry, ""))
            for entry, source, score in zip(slot.sides, slot.sources, scores, strict=True)
        ),
    )


def _side(sheet: Sheet, slot: SlotLine, entry: str, source: str, score: str, seed: str) -> Side:
    if not entry:
        # In a box that waits, somebody will come or nobody: both are said by the source.
        text = "—" if slot.state in ("bye", "over", "empty") else source
        return Side(text=text, seed="", score="", won=False, known=False)
    won = slot.winner == entry and slot.state == "over"
    return Side(sheet.name(entry), seed, score, won, known=True)


def _lines(grid: Grid) -> tuple[str, ...]:
    half = BOX_HEIGHT // 2
    found = []
    for source, target in grid.edges:
        x1, y1 = _x(source.column) + BOX_WIDTH, _y(source.row) + half
        x2, y2 = _x(target.column), _y(target.row) + half
        turn = x2 - (COLUMN_WIDTH - BOX_WIDTH) // 2
        found.append(f"M{x1} {y1}H{turn}V{y2}H{x2}")
    return tuple(found)
