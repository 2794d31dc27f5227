"""Everybody's progress: cards home, cards still face down, who leads.

Pure. The order shown is that of the final standings as far as the pushed scores tell it;
the places themselves come from the server, at the end.
"""

from dataclasses import dataclass
from typing import Final

from client.canvas import Canvas
from client.model import GAIN_SHOWN, State
from client.style import Ink, Style
from client.words import clean
from wire.messages import Seat

WIDTH: Final = 24
_BAR: Final = 14
_LAST: Final = ("resigned", "disqualified")


@dataclass(frozen=True, slots=True)
class Line:
    """A seat and its rank among all."""

    rank: int
    index: int
    seat: Seat


def ranked(seats: list[Seat]) -> list[Line]:
    """Order seats: solved by time, then by cards home and cards turned; the gone come last."""
    order = sorted(range(len(seats)), key=lambda index: _key(seats[index]))
    lines: list[Line] = []
    for position, index in enumerate(order, 1):
        same = lines and _key(lines[-1].seat) == _key(seats[index])
        lines.append(Line(lines[-1].rank if same else position, index, seats[index]))
    return lines


def _key(seat: Seat) -> tuple[int, int, int, int]:
    if seat.outcome == "solved":
        return (0, seat.done_ms or 0, 0, 0)
    return (2 if seat.outcome in _LAST else 1, -seat.cards, seat.down, 0)


def paint_scoreboard(
    canvas: Canvas, state: State, style: Style, now: float, *, col: int, top: int, bottom: int
) -> None:
    """Paint the scores into rows `top` to `bottom`, two rows a player where there is room."""
    room = state.room
    if room is None:
        return
    canvas.put(top, col, " #  player     home down", "dim", WIDTH)
    lines = ranked(room.seats)
    rows = bottom - top
    tall = 2 if 2 * len(lines) <= rows else 1
    pack = cards_in_play(state)
    for number, line in enumerate(lines[: max(0, rows // tall)]):
        row = top + 1 + number * tall
        _paint_line(canvas, state, line, row, col, now)
        if tall == 2:
            _paint_bar(canvas, line.seat, pack, row + 1, col, style)


def cards_in_play(state: State) -> int:
    """Give the number of cards of a deal, by what of it can be seen."""
    for _, board in state.boards:
        if board.piles:
            foundations = sum(name[:1] == "f" for name in board.piles)
            return max(52, 13 * foundations)
    return 104


def _paint_line(canvas: Canvas, state: State, line: Line, row: int, col: int, now: float) -> None:
    seat = line.seat
    own = state.room is not None and line.index == state.room.seat
    name = clean(seat.name)
    ink: Ink = "own" if own else ("dim" if seat.outcome in _LAST else "plain")
    canvas.put(row, col, f"{line.rank:>2}", ink)
    canvas.put(row, col + 2, _mark(state, line, now), "warn")
    canvas.put(row, col + 3, name, ink, 12)
    canvas.put_right(row, col + 19, f"{seat.cards}", ink)
    canvas.put_right(row, col + 24, f"{seat.down}", ink)


def _mark(state: State, line: Line, now: float) -> str:
    seat = line.seat
    if seat.outcome == "solved":
        return "*"
    if seat.outcome in _LAST:
        return "x"
    if not seat.here:
        return "?"
    if now - dict(state.gains).get(line.index, -1e9) < GAIN_SHOWN:
        return "!"
    return "b" if seat.bot else " "


def _paint_bar(canvas: Canvas, seat: Seat, pack: int, row: int, col: int, style: Style) -> None:
    share = min(1.0, max(0.0, seat.cards / pack))
    full, empty = style.bar
    filled = round(share * _BAR)
    canvas.put(row, col + 3, full * filled + empty * (_BAR - filled), "dim")
    canvas.put_right(row, col + 23, f"{share:.0%}", "dim")
