"""A column in the rows there are: its open end is always shown."""

from hypothesis import given
from hypothesis import strategies as st

from client.cards import Pile, parse_pile
from client.table import fit


@given(st.integers(0, 8), st.integers(0, 13), st.booleans())
def test_every_card_of_a_column_has_its_row_in_fourteen(down: int, up: int, unfolds: bool) -> None:
    pile = Pile(down, tuple(f"{'A23456789TJQK'[number]}S" for number in range(up)))
    rows = fit(pile, 14, unfolds=unfolds)
    assert len(rows) <= 14
    assert [row.card for row in rows if row.card] == list(pile.cards)
    assert sum(row.down for row in rows) == down


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 30))
def test_no_column_is_longer_than_its_rows_and_the_open_end_is_last(
    down: int, up: int, rows: int
) -> None:
    pile = Pile(down, tuple(f"{number % 10}X" for number in range(up)))
    shown = fit(pile, rows, unfolds=False)
    assert len(shown) <= rows
    if rows > 1:
        cards = sum(bool(row.card) for row in shown)
        assert cards + sum(row.hidden for row in shown) == up
        assert sum(row.down for row in shown) == down
    if up and rows:
        assert shown[-1].card == pile.top or shown[-1].hidden


def test_a_pile_is_read_as_the_wire_writes_it() -> None:
    assert parse_pile("3:KHQS") == Pile(3, ("KH", "QS"))
    assert parse_pile("59:") == Pile(59)
    assert parse_pile("0:").top is None


@given(st.text())
def test_any_text_is_read_as_some_pile(text: str) -> None:
    assert parse_pile(text).size >= 0
