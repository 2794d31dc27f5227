"""Everybody's progress: cards home, cards still face down, who leads.

Pure. The order shown is that of the final standings as far as the pushed scores tell it;
the places themselves come from the server, at the end.
"""

from dataclasses import dataclass
from typing import Final

from client.canvas import Canvas
from client.cells import cells, head, tail
from client.lists import visible
from client.model import GAIN_SHOWN, State
from client.style import Ink, Style
from client.table import SPACIOUS
from client.words import clean
from wire.values import Seat

WIDTH: Final = 24  # cells beside a board of nine columns on 80
_NAME: Final = 5  # cells before a name: rank and mark, parted by blanks
_YOU: Final = "(you)"
_LAST: Final = ("resigned", "disqualified")
# As the server ranks them, whatever the cards.
_CLASS: Final = {"solved": 0, "resigned": 2, "disqualified": 3}


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
    return (_CLASS.get(seat.outcome, 1), -seat.cards, seat.down, 0)


def width_at(cols: int) -> int:
    """Give the cells the scores take beside a board, on a screen of so many columns."""
    return WIDTH + max(0, min(6, cols - SPACIOUS)) if cols >= SPACIOUS else WIDTH


def short_names(names: list[str], room_for: int) -> list[str]:
    """Shorten names in their middle to so many cells, so that different ones stay different."""
    wanted = len(set(names))
    for tail_cells in range(1, max(2, room_for - 1)):
        shown = [_shortened(name, room_for, tail_cells) for name in names]
        if len(set(shown)) == wanted:
            return shown
    return [
        name if cells(name) <= room_for else f"{head(name, room_for - 3)}~{number}"
        for number, name in enumerate(names, 1)
    ]


def _shortened(name: str, room_for: int, tail_cells: int) -> str:
    if cells(name) <= room_for:
        return name
    end = tail(name, tail_cells)
    return f"{head(name, room_for - 1 - cells(end))}~{end}"


def paint_scoreboard(
    canvas: Canvas, state: State, style: Style, now: float, *, col: int, top: int, bottom: int
) -> None:
    """Paint the scores into rows `top` to `bottom`, two rows a player where there is room."""
    room = state.room
    if room is None:
        return
    lines = ranked(room.seats)
    rows = max(0, bottom - top)
    is_tall = 2 * len(lines) <= rows
    has_undos = room.settings.undo != "off"
    board = _Board(canvas, state, style, now, col, width_at(canvas.cols), is_tall, has_undos)
    own = next((at for at, line in enumerate(lines) if line.index == room.seat), None)
    shown = visible(len(lines), rows, own or 0, own)
    canvas.put(top, col, board.header, "dim", board.width)
    names = short_names([clean(line.seat.name) for line in lines], board.name_cells)
    pack = cards_in_play(state)
    for number, at in enumerate(shown):
        row = top + 1 + number * (2 if is_tall else 1)
        _paint_line(board, lines[at], names[at], row)
        if is_tall:
            _paint_bar(board, lines[at].seat, pack, row + 1)


@dataclass(frozen=True, slots=True)
class _Board:
    """Where the scores are painted, and what of them there is room for."""

    canvas: Canvas
    state: State
    style: Style
    now: float
    col: int
    width: int
    is_tall: bool
    has_undos: bool

    @property
    def figures(self) -> int:
        """The cells of the figures at the end: undos too, where they have no row of bars."""
        return 11 if self.has_undos and not self.is_tall else 7

    @property
    def name_cells(self) -> int:
        """The cells between the mark and the figures."""
        return self.width - _NAME - 1 - self.figures

    @property
    def header(self) -> str:
        """The line above the scores."""
        undos = "  un" if self.figures > 7 else ""
        return f"{' #':<{_NAME}}{'player':<{self.width - _NAME - self.figures}}home dn{undos}"


def cards_in_play(state: State) -> int:
    """Give the number of cards of a deal, by what of it can be seen."""
    for _, board in state.boards:
        if board.piles:
            foundations = sum(name[:1] == "f" for name in board.piles)
            return max(52, 13 * foundations)
    return 104


def _paint_line(board: _Board, line: Line, name: str, row: int) -> None:
    canvas, state, col, seat = board.canvas, board.state, board.col, line.seat
    own = state.room is not None and line.index == state.room.seat
    ink: Ink = "own" if own else ("dim" if seat.outcome in _LAST else "plain")
    if own:
        name = f"{head(clean(seat.name), board.name_cells - len(_YOU) - 1)} {_YOU}".lstrip()
    canvas.put(row, col, f"{line.rank:>2}", ink)
    canvas.put(row, col + 3, _mark(state, line, board.now), "warn")
    canvas.put(row, col + _NAME, name, ink, board.name_cells)
    end = col + board.width - (4 if board.figures > 7 else 0)
    canvas.put_right(row, end - 3, f"{seat.cards}", ink)
    canvas.put_right(row, end, f"{seat.down}", ink)
    if board.figures > 7:
        canvas.put_right(row, end + 4, f"{seat.undos}", ink)


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


def _paint_bar(board: _Board, seat: Seat, pack: int, row: int) -> None:
    canvas, col = board.canvas, board.col
    share = min(1.0, max(0.0, seat.cards / pack))
    full, empty = board.style.bar
    cells_of_bar = 6 if board.has_undos else 12
    filled = round(share * cells_of_bar)
    canvas.put(row, col + _NAME, full * filled + empty * (cells_of_bar - filled), "dim")
    undos = f"{seat.undos} un " if board.has_undos else ""
    canvas.put_right(row, col + board.width - 1, f"{undos}{share:.0%}", "dim")
