"""Lists that are longer than their place."""

from hypothesis import given
from hypothesis import strategies as st

from client.lists import more, visible


@given(st.integers(0, 40), st.integers(3, 40), st.integers(0, 39), st.integers(0, 39))
def test_the_selected_and_the_own_line_are_among_those_shown_in_order(
    count: int, rows: int, at: int, own: int
) -> None:
    shown = visible(count, rows, at, own)
    assert shown == sorted(set(shown))
    assert len(shown) == min(count, rows)
    assert all(0 <= index < count for index in shown)
    assert {at, own} & set(range(count)) <= set(shown)


def test_a_list_that_goes_on_says_so() -> None:
    assert more(16, 9).strip() == "9 of 16 shown, up/down for more"
    assert more(9, 9) == ""
