"""A grid of cells to paint on, which nothing painted can leave.

Pure. Text is placed by cells, not characters: a wide character takes two, a mark joins the
cell before it, and what does not fit is cut. A wide character is never left half.
"""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from wcwidth import wcswidth, wcwidth

from client.style import Ink


def cells(text: str) -> int:
    """Give the cells that a text takes, where signs that have no width of their own take one."""
    return sum(map(_cells_of, text))


@lru_cache(maxsize=4096)
def _cells_of(sign: str) -> int:
    cells = wcwidth(sign)
    if cells == 0:
        # A mark that is written beside its letter has a cell, of which wcwidth speaks only
        # where it sees both.
        return wcswidth(f"a{sign}") - 1
    return 1 if cells < 0 else cells


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of one ink in a row, at a column."""

    col: int
    text: str
    ink: Ink


class Canvas:
    """Rows of cells; a cell is the text shown in it and its ink."""

    def __init__(self, rows: int, cols: int, *, ascii_only: bool = False) -> None:
        self.rows = max(0, rows)
        self.cols = max(0, cols)
        self._ascii = ascii_only
        self._cells = [[(" ", "plain")] * self.cols for _ in range(self.rows)]

    def put(
        self, row: int, col: int, text: str, ink: Ink = "plain", width: int | None = None
    ) -> int:
        """Write text from a column on, into at most `width` cells; gives the column after it."""
        if not 0 <= row < self.rows:
            return col
        end = self.cols if width is None else min(self.cols, col + max(0, width))
        for sign in text:
            shown, cells = self._shown(sign)
            if cells == 0:
                self._join(row, col, shown)
                continue
            if col + cells > end:
                break
            if col >= 0:
                self._set(row, col, shown, cells, ink)
            col += cells
        return col

    def put_right(self, row: int, col: int, text: str, ink: Ink = "plain") -> None:
        """Write text so that it ends before a column."""
        self.put(row, col - self.width(text), text, ink)

    def width(self, text: str) -> int:
        """Give the cells that a text takes."""
        return sum(self._shown(sign)[1] for sign in text)

    def wrapped(self, text: str, width: int) -> list[str]:
        """Break a text into lines of at most so many cells, between words where that can be."""
        lines: list[str] = []
        line = ""
        for word in text.split(" "):
            longer = f"{line} {word}" if line else word
            if self.width(longer) <= width:
                line = longer
                continue
            if line:
                lines.append(line)
            while self.width(word) > width and len(word) > 1:
                cut = self._fitting(word, width)
                lines.append(word[:cut])
                word = word[cut:]
            line = word
        return [*lines, line]

    def _fitting(self, word: str, width: int) -> int:
        cut = 1
        while cut < len(word) and self.width(word[: cut + 1]) <= width:
            cut += 1
        return cut

    def fill(self, row: int, col: int, sign: str, count: int, ink: Ink = "dim") -> None:
        """Write a sign many times over."""
        self.put(row, col, sign * max(0, count), ink)

    def line(self, row: int) -> str:
        """Give a row as text, without blanks at its end."""
        return "".join(text for text, _ in self._cells[row]).rstrip()

    def lines(self) -> list[str]:
        """Give all rows as text."""
        return [self.line(row) for row in range(self.rows)]

    def runs(self, row: int) -> list[Run]:
        """Give a row as stretches of one ink."""
        result: list[Run] = []
        col = 0
        for at, (text, ink) in enumerate(self._cells[row]):
            if result and result[-1].ink == ink:
                result[-1] = Run(col, result[-1].text + text, result[-1].ink)
            else:
                col = at
                result.append(Run(at, text, ink))  # type: ignore[arg-type]
        return result

    def _shown(self, sign: str) -> tuple[str, int]:
        if self._ascii and not sign.isascii():
            plain = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
            sign = plain[:1] or ("?" if _cells_of(sign) > 0 else "")
        if not sign:
            return "", 0
        return ("?" if wcwidth(sign) < 0 else sign), _cells_of(sign)

    def _set(self, row: int, col: int, text: str, cells: int, ink: Ink) -> None:
        line = self._cells[row]
        # Whatever lies under either edge loses its other half too.
        if line[col][0] == "" and col > 0:
            line[col - 1] = (" ", line[col - 1][1])
        after = col + cells
        if after < self.cols and line[after][0] == "":
            line[after] = (" ", line[after][1])
        line[col] = (text, ink)
        if cells == 2:
            line[col + 1] = ("", ink)

    def _join(self, row: int, col: int, mark: str) -> None:
        at = min(col, self.cols) - 1
        line = self._cells[row]
        while at > 0 and line[at][0] == "":
            at -= 1
        if at >= 0 and mark:
            line[at] = (line[at][0] + mark, line[at][1])
