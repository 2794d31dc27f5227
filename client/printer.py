"""Frames as what a terminal has to be sent: the rows that changed, from their first change on.

Pure. Terminals disagree on how wide a sign is that is no plain ASCII (by its code points, by
the cluster, by the taste of East Asia), so nothing relies on it: after each such sign the
cursor is placed anew, and what the sign may have spilt into is written after it. All else is
then where it belongs, whatever the terminal made of the sign.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from client.canvas import Canvas, Cell, extent
from client.style import GLYPHS, Ink


@dataclass(frozen=True, slots=True)
class Codes:
    """What a terminal is sent to do things."""

    move: Callable[[int, int], str]  # to a row and a column, from 0
    clear: str  # the whole screen, and hide the cursor
    to_end: str  # make blank all from the cursor to the end of its row; "" if it cannot
    plain: str  # no colours and no bold
    inks: Mapping[Ink, str]
    cut: str  # from now on, what is written beyond the last column stays there
    wrap: str  # goes on in the next row again
    corner: bool  # whether the last cell of all can be written without scrolling


class Printer:
    """What a terminal shows, and what to send to it to show something else."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._shown: list[Sequence[Cell]] = []
        self._cols = 0
        self._is_known = False

    def forget(self) -> None:
        """Take in that nobody knows what the terminal shows."""
        self._is_known = False

    def printed(self, canvas: Canvas) -> str:
        """Give what makes the terminal show a canvas; "" where it does already."""
        codes, parts = self._codes, list[str]()
        if not self._is_known or (len(self._shown), self._cols) != (canvas.rows, canvas.cols):
            parts += [codes.plain, codes.clear]
            self._shown = Canvas(canvas.rows, canvas.cols).cells()
            self._cols, self._is_known = canvas.cols, True
        lines = canvas.cells()
        for row, (old, new) in enumerate(zip(self._shown, lines, strict=True)):
            if new != old:
                is_whole = codes.corner or row < canvas.rows - 1
                line = new if is_whole else _without_last(new)
                parts.append(_row(codes, row, line, _first_change(old, new)))
        self._shown = lines
        return f"{codes.cut}{''.join(parts)}{codes.plain}{codes.wrap}" if parts else ""


def _first_change(old: Sequence[Cell], new: Sequence[Cell]) -> int:
    col = next(
        at for at, (before, after) in enumerate(zip(old, new, strict=True)) if before != after
    )
    while not new[col][0]:
        col -= 1
    return col


def _without_last(line: Sequence[Cell]) -> Sequence[Cell]:
    end = len(line) - 1
    while not line[end][0]:
        end -= 1
    return line[:end]


def _row(codes: Codes, row: int, line: Sequence[Cell], first: int) -> str:
    end = len(line)
    while end > first and line[end - 1] == (" ", "plain"):
        end -= 1
    parts = [codes.plain]
    here = -1  # where the cursor is for certain
    ink: Ink = "plain"
    for at in range(first, end):
        sign, wanted = line[at]
        if not sign:
            continue
        if here != at:
            parts.append(codes.move(row, at))
        if ink != wanted:
            ink = wanted
            parts += [codes.plain, codes.inks.get(wanted, "")]
        if sign.isascii():
            parts.append(sign)
            here = at + 1
        else:
            if sign not in GLYPHS:  # it may be drawn narrower than what stood there
                parts += [" " * extent(line, at), codes.move(row, at)]
            parts.append(sign)
            here = -1
    if end < len(line):
        parts.append(codes.plain)
        if here != end:
            parts.append(codes.move(row, end))
        parts.append(codes.to_end or " " * (len(line) - end))
    return "".join(parts)
