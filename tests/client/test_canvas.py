"""The canvas: nothing leaves it, and no wide character is left half."""

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from client.canvas import Canvas, Cell, extent
from client.cells import cells, clusters

HARD = "ab漢字\u0301éक\u094dष\u093e\U0001f1e9\u1161👍🏽"  # where terminals disagree


def is_well_formed(canvas: Canvas) -> bool:
    """Tell whether every row is whole signs, each with the cells it takes."""
    return all(len(line) == canvas.cols and is_whole(line) for line in canvas.cells())


def is_whole(line: Sequence[Cell]) -> bool:
    text = "".join(sign for sign, _ in line)
    if text.isascii() and text.isprintable():
        return len(text) == len(line) and all(sign for sign, _ in line)
    return line[0][0] != "" and all(
        clusters(sign) == ((sign, extent(line, at)),) for at, (sign, _) in enumerate(line) if sign
    )


@given(
    st.integers(0, 4),
    st.integers(0, 12),
    st.lists(
        st.tuples(
            st.integers(-2, 5),
            st.integers(-5, 15),
            st.text(st.sampled_from(HARD), max_size=8),
            st.none() | st.integers(-1, 9),
        ),
        max_size=12,
    ),
)
def test_whatever_is_put_where_every_line_has_its_cells(
    rows: int, cols: int, puts: list[tuple[int, int, str, int | None]]
) -> None:
    canvas = Canvas(rows, cols)
    for row, col, text, width in puts:
        canvas.put(row, col, text, "bold", width)
    assert len(canvas.lines()) == rows
    assert is_well_formed(canvas)
    other = Canvas(rows, cols)
    for row, col, _, _ in puts:
        for at in range(rows):
            other.lay(row + at, col, canvas.row(at))
    assert is_well_formed(other)


def test_half_of_an_overwritten_wide_character_becomes_a_blank() -> None:
    canvas = Canvas(1, 4)
    canvas.put(0, 0, "漢字")
    canvas.put(0, 1, "x")
    assert canvas.line(0) == " x字"
    canvas.put(0, 2, "y")
    assert [sign for sign, _ in canvas.row(0)] == [" ", "x", "y", " "]


def test_a_wide_character_that_does_not_fit_is_left_out() -> None:
    canvas = Canvas(1, 3)
    canvas.put(0, 0, "漢字")
    assert canvas.line(0) == "漢"


def test_put_gives_the_column_after_the_text() -> None:
    canvas = Canvas(1, 10)
    assert canvas.put(0, 1, "漢a") == 4


def test_a_mark_joins_the_letter_before_it() -> None:
    canvas = Canvas(1, 3)
    canvas.put(0, 0, "e\u0301x")
    assert canvas.line(0) == "e\u0301x"


def test_text_right_of_the_edge_or_above_the_top_is_dropped() -> None:
    canvas = Canvas(1, 3)
    canvas.put(-1, 0, "a")
    canvas.put(0, 7, "a")
    canvas.put_right(0, 2, "abcd")
    assert canvas.line(0) == "cd"


def test_in_ascii_letters_lose_their_marks_and_the_rest_becomes_a_question_mark() -> None:
    canvas = Canvas(1, 10, ascii_only=True)
    canvas.put(0, 0, "Zoë ♥ 漢")
    assert canvas.line(0) == "Zoe ? ?"


def test_rows_are_laid_on_another_canvas_as_far_as_they_fit() -> None:
    part = Canvas(1, 5)
    part.put(0, 0, "漢ab", "bold")
    canvas = Canvas(2, 4)
    canvas.lay(1, -1, part.row(0))
    assert canvas.lines() == ["", " ab"]
    assert canvas.row(1)[1] == ("a", "bold")
    canvas.lay(0, 1, part.row(0))
    assert canvas.line(0) == " 漢a"


@given(st.text(st.sampled_from("ab ́漢字"), max_size=60), st.integers(2, 12))
def test_wrapped_lines_fit_and_lose_nothing_but_blanks_and_marks_on_them(
    text: str, width: int
) -> None:
    canvas = Canvas(1, 80)
    lines = canvas.wrapped(text, width)
    assert all(canvas.width(line) <= width for line in lines)
    bare = [re.sub("(^| )\u0301*", "", each) for each in (text, *lines)]
    assert "".join(bare[1:]) == bare[0]


def test_lines_are_broken_between_words_where_that_can_be() -> None:
    lines = Canvas(1, 80).wrapped("one two abcdefghij k", 7)
    assert lines == ["one two", "abcdefg", "hij k"]


def test_a_mark_beside_its_letter_has_a_cell_of_its_own() -> None:
    text = "क\u093eम"
    canvas = Canvas(1, 6)
    assert canvas.put(0, 0, text) == 3
    assert canvas.width(text) == cells(text) == 3
    canvas.put_right(0, 6, "|")
    assert canvas.line(0) == f"{text}  |"


def test_what_stands_together_is_not_broken_between_lines() -> None:
    assert Canvas(1, 80).wrapped("aक\u094dषb", 2) == ["a", "क\u094dष", "b"]
