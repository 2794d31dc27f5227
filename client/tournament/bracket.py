"""A bracket in letters and lines, on a canvas as large as it needs.

Pure. Columns are rounds; a box takes two rows and stands between those that feed it; the
losers' bracket is below the winners', the finals at the right of both.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from client.canvas import Canvas
from client.style import Ink
from client.tournament.scene import Scene
from client.words import clean
from wire.lines import SlotLine
from wire.reading import bracket_columns, bracket_seeds, feeds, points

BOX: Final = 22  # cells of a box: seed, name, score
STEP: Final = BOX + 4
PITCH: Final = 3  # rows from one box of a first round to the next
APART: Final = 2  # rows between the brackets

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES: Final = {
    _LEFT | _RIGHT: "─",
    _UP | _DOWN: "│",
    _DOWN | _LEFT: "┐",
    _UP | _LEFT: "┘",
    _DOWN | _RIGHT: "┌",
    _UP | _RIGHT: "└",
    _UP | _DOWN | _RIGHT: "├",
    _UP | _DOWN | _LEFT: "┤",
    _DOWN | _LEFT | _RIGHT: "┬",
    _UP | _LEFT | _RIGHT: "┴",
    _UP | _DOWN | _LEFT | _RIGHT: "┼",
}


def paint_bracket(
    scene: Scene, slots: Sequence[SlotLine], *, own: str = "", ascii_only: bool = False
) -> Canvas:
    """Paint the bracket of one group; the player's own entry has a mark."""
    seen = [slot for slot in slots if slot.state != "empty"]
    rows, height = placed(seen)
    cols = {slot: column * STEP for slot, column in bracket_columns(seen).items()}
    canvas = Canvas(
        height, max((col + BOX for col in cols.values()), default=0), ascii_only=ascii_only
    )
    _paint_edges(canvas, seen, rows, cols, ascii_only=ascii_only)
    seeds, names = bracket_seeds(slots), _names(scene)
    for slot in seen:
        for line, side in enumerate(_sides(slot, seeds, names, own)):
            _paint_side(canvas, rows[slot.slot] + line, cols[slot.slot], side)
    for name, row, col in _headings(seen, rows, cols):
        canvas.put(row - 1, col, name, "dim", BOX)
    return canvas


def placed(slots: Sequence[SlotLine]) -> tuple[dict[str, int], int]:
    """Give the first row of each box, and the rows they take together."""
    rows: dict[str, int] = {}
    below = _place([slot for slot in slots if slot.side == "winners"], rows, 1)
    middle = below // 2
    losers = [slot for slot in slots if slot.side == "losers"]
    if losers:
        below = _place(losers, rows, below + APART)
    for slot in slots:
        if slot.side == "final":
            found = [rows[each] for each in feeds(slot) if each in rows]
            firsts = [row for name, row in rows.items() if name.startswith("F")]
            rows[slot.slot] = sum(found) // len(found) if found else (firsts or [middle])[0]
        elif slot.side == "third":
            rows[slot.slot] = below + APART
            below += APART + PITCH
    return rows, below


def _place(slots: Sequence[SlotLine], rows: dict[str, int], top: int) -> int:
    own = {slot.slot for slot in slots}
    count = 0
    for slot in slots:
        inside = [rows[each] for each in feeds(slot) if each in own]
        if inside:
            rows[slot.slot] = sum(inside) // len(inside)
        else:
            rows[slot.slot] = top + PITCH * count
            count += 1
    return top + PITCH * count


def _names(scene: Scene) -> dict[str, str]:
    return {entry: clean(each.name) for entry, each in scene.people.items()}


class _Side(NamedTuple):
    seed: str
    text: str
    score: str
    ink: Ink
    is_own: bool = False


def _sides(
    slot: SlotLine, seeds: dict[str, str], names: dict[str, str], own: str
) -> Iterable[_Side]:
    scores = [points(score) for score in slot.scores] or ["", ""]
    for entry, source, score in zip(slot.sides, slot.sources, scores, strict=True):
        if not entry:
            yield _Side("", "-" if slot.state in ("bye", "over") else source, "", "dim")
            continue
        ink: Ink = "own" if slot.state == "called" else "plain"
        if slot.state in ("over", "bye"):
            ink = "bold" if slot.state == "over" and slot.winner == entry else "dim"
        name = names.get(entry, entry)
        yield _Side(seeds.get(entry, ""), name, score, ink, is_own=entry == own)


def _paint_side(canvas: Canvas, row: int, col: int, side: _Side) -> None:
    canvas.put_right(row, col + 3, side.seed, "dim")
    if side.is_own:
        canvas.put(row, col + 3, ">", "pick")
    end = col + BOX - (len(side.score) + 1 if side.score else 0)
    canvas.put(row, col + 4, side.text, side.ink, end - col - 4)
    canvas.put_right(row, col + BOX, side.score, side.ink)


def _headings(
    slots: Iterable[SlotLine], rows: dict[str, int], cols: dict[str, int]
) -> Iterable[tuple[str, int, int]]:
    tops: dict[tuple[str, int], tuple[str, int, int]] = {}
    for slot in slots:
        key = (slot.side, cols[slot.slot])
        if key not in tops or rows[slot.slot] < tops[key][1]:
            tops[key] = (slot.name, rows[slot.slot], cols[slot.slot])
    return tops.values()


def _paint_edges(
    canvas: Canvas,
    slots: Sequence[SlotLine],
    rows: dict[str, int],
    cols: dict[str, int],
    *,
    ascii_only: bool,
) -> None:
    strokes: dict[tuple[int, int], int] = {}
    for slot in slots:
        for source in feeds(slot):
            if source in rows:
                start = (rows[source], cols[source] + BOX + 1)
                _stroke(strokes, start, (rows[slot.slot], cols[slot.slot]))
    for (row, col), bits in strokes.items():
        sign = _LINES.get(bits, "─")
        canvas.put(row, col, _plain(sign) if ascii_only else sign, "dim")


def _stroke(
    strokes: dict[tuple[int, int], int], start: tuple[int, int], end: tuple[int, int]
) -> None:
    """Draw a line to the right, up or down just before its end, and into it."""

    def add(row: int, col: int, bits: int) -> None:
        strokes[row, col] = strokes.get((row, col), 0) | bits

    (row, col), (last, stop) = start, end
    turn = stop - 2
    for each in range(col, turn):
        add(row, each, _LEFT | _RIGHT)
    if row == last:
        add(row, turn, _LEFT | _RIGHT)
    else:
        down = row < last
        add(row, turn, _LEFT | (_DOWN if down else _UP))
        for each in range(min(row, last) + 1, max(row, last)):
            add(each, turn, _UP | _DOWN)
        add(last, turn, (_UP if down else _DOWN) | _RIGHT)


def _plain(sign: str) -> str:
    return {"─": "-", "│": "|"}.get(sign, "+")
