"""A grid of cells to paint on, which nothing painted can leave.

Pure. Text is placed by cells, not characters (`client.cells`): a sign may take two, and what
does not fit is cut. A wide sign is never left half.
"""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from client.cells import Cluster, clusters
from client.style import Ink

Cell = tuple[str, Ink]  # of a sign with several, the others hold ""


class Canvas:
    """Rows of cells; a cell is the text shown in it and its ink."""

    def __init__(self, rows: int, cols: int, *, ascii_only: bool = False) -> None:
        self.rows = max(0, rows)
        self.cols = max(0, cols)
        self._ascii = ascii_only
        self._cells: list[list[Cell]] = [[(" ", "plain")] * self.cols for _ in range(self.rows)]

    def put(
        self, row: int, col: int, text: str, ink: Ink = "plain", width: int | None = None
    ) -> int:
        """Write text from a column on, into at most `width` cells; gives the column after it."""
        if not 0 <= row < self.rows:
            return col
        end = self.cols if width is None else min(self.cols, col + max(0, width))
        for sign, cells in self._shown(text):
            if col + cells > end:
                break
            self._set(row, col, sign, cells, ink)
            col += cells
        return col

    def lay(self, row: int, col: int, line: Sequence[Cell]) -> None:
        """Copy the cells of another canvas's row to a column on; what does not fit is cut."""
        if not 0 <= row < self.rows:
            return
        for at, (sign, ink) in enumerate(line):
            if sign:
                self._set(row, col + at, sign, extent(line, at), ink)

    def put_right(self, row: int, col: int, text: str, ink: Ink = "plain") -> None:
        """Write text so that it ends before a column."""
        self.put(row, col - self.width(text), text, ink)

    def width(self, text: str) -> int:
        """Give the cells that a text takes."""
        return sum(cells for _, cells in self._shown(text))

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
            *whole, line = self._cut(word, width)
            lines += whole
        return [*lines, line]

    def _cut(self, word: str, width: int) -> list[str]:
        parts, taken = [""], 0
        for sign, _ in clusters(word):
            cells = self.width(sign)
            if parts[-1] and taken + cells > width:
                parts.append("")
                taken = 0
            parts[-1] += sign
            taken += cells
        return parts

    def fill(self, row: int, col: int, sign: str, count: int, ink: Ink = "dim") -> None:
        """Write a sign many times over."""
        self.put(row, col, sign * max(0, count), ink)

    def line(self, row: int) -> str:
        """Give a row as text, without blanks at its end."""
        return "".join(text for text, _ in self._cells[row]).rstrip()

    def lines(self) -> list[str]:
        """Give all rows as text."""
        return [self.line(row) for row in range(self.rows)]

    def row(self, number: int) -> Sequence[Cell]:
        """Give the cells of a row."""
        return self._cells[number]

    def cells(self) -> list[Sequence[Cell]]:
        """Give the cells of all rows."""
        return list(self._cells)

    def _shown(self, text: str) -> Sequence[Cluster]:
        if not self._ascii or text.isascii():
            return clusters(text)
        return [_in_ascii(each) for each in clusters(text)]

    def _set(self, row: int, col: int, text: str, cells: int, ink: Ink) -> None:
        if col < 0 or col + cells > self.cols:
            return
        line = self._cells[row]
        # Whatever lies under either edge goes as a whole.
        for edge in (col, col + cells):
            _clear_across(line, edge)
        line[col] = (text, ink)
        for at in range(col + 1, col + cells):
            line[at] = ("", ink)


def extent(line: Sequence[Cell], at: int) -> int:
    """Give the number of cells of the sign that begins at a cell."""
    end = at + 1
    while end < len(line) and not line[end][0]:
        end += 1
    return end - at


def _clear_across(line: list[Cell], edge: int) -> None:
    """Make blank the sign that lies on both sides of an edge between cells, if one does."""
    if not 0 < edge < len(line) or line[edge][0]:
        return
    start = edge
    while not line[start][0]:
        start -= 1
    for at in range(start, start + extent(line, start)):
        line[at] = (" ", line[at][1])


@lru_cache(maxsize=1024)
def _in_ascii(cluster: Cluster) -> Cluster:
    plain = unicodedata.normalize("NFKD", cluster[0]).encode("ascii", "ignore").decode()
    return plain[:1] or "?", 1
