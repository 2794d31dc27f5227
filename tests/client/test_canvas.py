"""The canvas: nothing leaves it, and no wide character is left half."""

from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth, wcwidth

from client.canvas import Canvas, cells


@given(
    st.integers(0, 4),
    st.integers(0, 12),
    st.lists(
        st.tuples(
            st.integers(-2, 5),
            st.integers(-5, 15),
            st.text(st.sampled_from("ab漢字\u0301é"), max_size=8),
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
    for row in range(rows):
        whole = "".join(run.text for run in canvas.runs(row))
        assert sum(max(0, wcwidth(sign)) for sign in whole) == cols
        assert wcswidth(whole) == cols


def test_half_of_an_overwritten_wide_character_becomes_a_blank() -> None:
    canvas = Canvas(1, 4)
    canvas.put(0, 0, "漢字")
    canvas.put(0, 1, "x")
    assert canvas.line(0) == " x字"
    canvas.put(0, 2, "y")
    assert [run.text for run in canvas.runs(0)] == [" xy "]


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


def test_runs_are_stretches_of_one_ink() -> None:
    canvas = Canvas(1, 6)
    canvas.put(0, 1, "ab", "bold")
    assert [(run.col, run.text, run.ink) for run in canvas.runs(0)] == [
        (0, " ", "plain"),
        (1, "ab", "bold"),
        (3, "   ", "plain"),
    ]


@given(st.text(st.sampled_from("ab ́漢字"), max_size=60), st.integers(2, 12))
def test_wrapped_lines_fit_and_lose_nothing_but_blanks(text: str, width: int) -> None:
    canvas = Canvas(1, 80)
    lines = canvas.wrapped(text, width)
    assert all(canvas.width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_lines_are_broken_between_words_where_that_can_be() -> None:
    lines = Canvas(1, 80).wrapped("one two abcdefghij k", 7)
    assert lines == ["one two", "abcdefg", "hij k"]


def test_a_mark_beside_its_letter_has_a_cell_of_its_own() -> None:
    text = "क\u093eम"
    canvas = Canvas(1, 6)
    assert canvas.put(0, 0, text) == 3
    assert canvas.width(text) == cells(text) == wcswidth(text) == 3
    canvas.put_right(0, 6, "|")
    assert canvas.line(0) == f"{text}  |"
