import re

from hypothesis import given

from server.rules import RULES, Move, Position, deal
from server.rules.cards import RANK
from server.rules.view import changed, piles, redacted
from tests.rules.walks import positions, walk


def test_a_layout_shows_one_card_of_each_column_and_none_of_the_hand() -> None:
    position = deal(RULES["double-klondike"], "1")
    seen = piles(position)
    assert [*seen] == ["h", "w", *(f"f{n}" for n in range(1, 9)), *"123456789"]
    assert seen["h"] == "59:"
    assert seen["w"] == "0:"
    assert {seen[f"f{n}"] for n in range(1, 9)} == {"0:"}
    for number in range(1, 10):
        assert re.fullmatch(rf"{number - 1}:[A2-9TJQK][CDHS]", seen[str(number)])


def test_the_waste_shows_at_most_its_last_three_cards() -> None:
    def waste(cards: str) -> str:
        return piles(Position.parse(f"klondike-easy 1 - {cards} -/-/-/- -"))["w"]

    assert waste("-") == "0:"
    assert waste("2C") == "0:2C"
    assert waste("2C3C4C") == "0:2C3C4C"
    assert waste("2C3C4C5C6C") == "2:4C5C6C"


def test_a_foundation_shows_its_top_and_how_many_lie_below() -> None:
    seen = piles(Position.parse("klondike-easy 1 - - AC/KD/-/7S -"))
    assert [seen[f"f{n}"] for n in range(1, 5)] == ["0:AC", "12:KD", "0:", "6:7S"]


def test_a_column_shows_its_face_up_run() -> None:
    seen = piles(Position.parse("klondike-easy 1 - - -/-/-/- 2c3dKHQS/4h/-"))
    assert [seen[str(n)] for n in range(1, 4)] == ["2:KHQS", "1:", "0:"]


@given(positions())
def test_the_view_counts_every_card_of_the_pack(position: Position) -> None:
    counted = sum(
        int(hidden) + len(shown) // 2
        for hidden, shown in (pile.split(":") for pile in piles(position).values())
    )
    assert counted == position.rules.cards


@given(positions())
def test_nothing_hidden_decides_what_is_shown(position: Position) -> None:
    # The same board with its hidden cards in another order looks the same.
    other = position._replace(
        hand=position.hand[::-1],
        waste=position.waste[:-3][::-1] + position.waste[-3:],
        columns=tuple(column._replace(down=column.down[::-1]) for column in position.columns),
    )
    assert piles(other) == piles(position)
    assert redacted(other) == redacted(position)
    assert not re.search("[a-z]", "".join(piles(position).values()))


@given(positions())
def test_the_changed_piles_are_those_that_look_different_or_hide_a_difference(
    position: Position,
) -> None:
    board = piles(position)
    for move in position.legal_moves():
        after = position.play(move)
        seen = changed(position, after)
        differing = {name for name, pile in piles(after).items() if board[name] != pile}
        assert differing <= set(seen)
        assert board | seen == piles(after)
        assert len(seen) == 2


def test_changed_works_backwards_and_without_shared_piles() -> None:
    for before, move in walk(RULES["double-klondike"], "back", 150):
        after = before.play(move)
        assert piles(after) | changed(after, before) == piles(before)
        assert changed(Position.parse(before.text()), after) == changed(before, after)
    assert changed(after, after) == {}
    assert changed(after, Position.parse(after.text())) == {}


def test_a_move_to_a_foundation_says_which_one_it_was() -> None:
    position = Position.parse("double-klondike 1 - - AC/-/-/-/-/-/-/- AC2C/AC")
    after = position.play(position.resolve(Move.parse("2>f")))
    assert changed(position, after) == {"f2": "0:AC", "2": "0:"}
    assert RANK[after.foundations[1]] == 1
