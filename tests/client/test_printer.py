"""Printing: what is sent puts every cell where it belongs, whatever a terminal thinks of widths."""

import re
from collections.abc import Callable

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes, wcswidth, wcwidth

from client.canvas import Canvas
from client.printer import Codes, Printer
from tests.client.test_canvas import HARD

Widths = Callable[[str], list[tuple[str, int]]]

CODES = Codes(
    move=lambda row, col: f"\x1b[{row + 1};{col + 1}H",
    clear="\x1b[H\x1b[2J",
    to_end="\x1b[K",
    plain="\x1b[m",
    inks={"bold": "\x1b[1m"},
    cut="\x1b[?7l",
    wrap="\x1b[?7h",
    corner=True,
)
TERMINALS: dict[str, Widths] = {
    "by code points": lambda text: [(sign, max(0, wcwidth(sign))) for sign in text],
    "by clusters": lambda text: [(each, wcswidth(each)) for each in iter_graphemes(text)],
    "two for all that is not ASCII": lambda text: [(c, 1 if c.isascii() else 2) for c in text],
    "one for everything": lambda text: [(sign, 1) for sign in text],
    "none for what is new to it": lambda text: [(sign, int(sign.isascii())) for sign in text],
}


class Grid:
    """A terminal that knows the codes above, and has its own mind about widths."""

    def __init__(self, rows: int, cols: int, widths: Widths) -> None:
        self.cells = [["#"] * cols for _ in range(rows)]
        self._widths = widths
        self._row = self._col = 0
        self._cuts = False

    def feed(self, text: str) -> None:
        for code, plain in re.findall(r"(\x1b\[[?0-9;]*[A-Za-z])|([^\x1b]+)", text):
            if plain:
                self._write(plain)
            elif code == CODES.clear[3:]:
                self.cells = [[" "] * len(line) for line in self.cells]
            elif code == CODES.to_end:
                line = self.cells[self._row]
                line[self._col :] = " " * (len(line) - self._col)
            elif code in (CODES.cut, CODES.wrap):
                self._cuts = code == CODES.cut
            elif code.endswith("H"):
                place = [int(number) - 1 for number in code[2:-1].split(";") if number]
                self._row, self._col = place or (0, 0)

    def _write(self, text: str) -> None:
        assert self._cuts
        for sign, width in self._widths(text):
            if width <= 0:
                continue
            line = self.cells[self._row]
            at = min(self._col, len(line) - 1)
            for col, part in enumerate((sign, *"." * (width - 1)), at):
                if col < len(line):
                    line[col] = part
            self._col = min(at + width, len(line))


puts = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 9),
        st.text(st.sampled_from(HARD + "♠─  "), max_size=8),
        st.sampled_from(["plain", "bold"]),
    ),
    max_size=6,
)


@pytest.mark.parametrize("widths", TERMINALS.values(), ids=TERMINALS)
@given(st.lists(puts, min_size=1, max_size=4))
def test_every_plain_sign_is_in_its_cell_on_any_terminal(
    widths: Widths, frames: list[list[tuple[int, int, str, str]]]
) -> None:
    grid, printer = Grid(3, 10, widths), Printer(CODES)
    for frame in frames:
        canvas = Canvas(3, 10)
        for row, col, text, ink in frame:
            canvas.put(row, col, text, ink)  # type: ignore[arg-type]
        grid.feed(printer.printed(canvas))
        for shown, line in zip(grid.cells, canvas.cells(), strict=True):
            for at, (sign, _) in enumerate(line):
                if sign.isascii() and sign:
                    assert shown[at] == sign


def test_what_is_shown_already_is_not_sent_again() -> None:
    printer = Printer(CODES)
    canvas = Canvas(2, 20)
    canvas.put(0, 0, "one two", "bold")
    assert "one two" in printer.printed(canvas)
    assert printer.printed(canvas) == ""
    other = Canvas(2, 20)
    other.put(0, 0, "one six", "bold")
    assert printer.printed(other).count("six") == 1
    assert "one" not in printer.printed(canvas)


def test_all_is_sent_again_after_a_new_size_or_when_nobody_knows_what_is_shown() -> None:
    printer = Printer(CODES)
    canvas = Canvas(2, 20)
    canvas.put(1, 3, "here")
    first = printer.printed(canvas)
    printer.forget()
    assert printer.printed(canvas) == first
    wider = Canvas(2, 21)
    wider.put(1, 3, "here")
    assert printer.printed(wider) == first


def test_signs_stand_where_an_emulator_of_another_hand_has_them() -> None:
    screen = pyte.Screen(20, 2)
    canvas = Canvas(2, 20)
    canvas.put(0, 0, "ab漢é|", "bold")
    canvas.put(1, 0, "─" * 20)
    canvas.put(1, 17, "♠10")
    pyte.Stream(screen).feed(Printer(CODES).printed(canvas))
    assert screen.display == ["ab漢é|" + " " * 14, "─" * 17 + "♠10"]
    assert screen.buffer[0][0].bold
    assert not screen.buffer[0][6].bold


def test_a_terminal_that_would_scroll_keeps_its_last_cell_blank() -> None:
    codes = Codes(
        CODES.move, CODES.clear, "", CODES.plain, CODES.inks, cut="", wrap="", corner=False
    )
    screen = pyte.Screen(4, 2)
    canvas = Canvas(2, 4)
    canvas.put(0, 0, "abcd")
    canvas.put(1, 0, "ab漢")
    pyte.Stream(screen).feed(Printer(codes).printed(canvas))
    assert screen.display == ["abcd", "ab  "]
