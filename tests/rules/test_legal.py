"""Each refusal with its code and sentence, and the moves that leave something out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.rules import RULES, IllegalMove, Move, Position, deal
from server.rules.move import FOUNDATION, HAND, WASTE, every_move
from tests.rules.walks import positions

BOARD = "- - -/-/-/-"  # no hand, no waste, no foundation


def at(columns: str, rules: str = "klondike-easy", rest: str = BOARD, turn: int = 1) -> Position:
    return Position.parse(f"{rules} {turn} {rest} {columns}")


def resolved(position: Position, move: str) -> str:
    return position.resolve(Move.parse(move)).text()


REFUSALS = [
    (at("-"), "d", "empty-hand", "Hand and waste are both empty."),
    (
        at("-", "klondike-strict", "- 2H -/-/-/-"),
        "d",
        "no-redeal",
        "The hand may be dealt once only, and that is done.",
    ),
    (
        at("-", "double-klondike-3-pass", "- 2H " + "/".join("-" * 8), turn=3),
        "d",
        "no-redeal",
        "The hand may be dealt 3 times only, and that is done.",
    ),
    (at("-"), "w>f", "empty-waste", "The waste is empty."),
    (at("-"), "w>1", "empty-waste", "The waste is empty."),
    (at("-"), "w>", "empty-waste", "The waste is empty."),
    (at("-/KH"), "1>f", "empty-column", "Column 1 is empty."),
    (at("-/KH"), "1>2", "empty-column", "Column 1 is empty."),
    (at("-/KH"), "1>2:1", "empty-column", "Column 1 is empty."),
    (at("-/KH"), "1>", "empty-column", "Column 1 is empty."),
    (at("KH"), "1>2", "no-pile", "This game has no such pile."),
    (at("KH"), "1>2:1", "no-pile", "This game has no such pile."),
    (at("KH"), "2>1", "no-pile", "This game has no such pile."),
    (at("KH"), "9>", "no-pile", "This game has no such pile."),
    (at("KH"), "9>f", "no-pile", "This game has no such pile."),
    (at("KH", rest="- QS -/-/-/-"), "w>3", "no-pile", "This game has no such pile."),
    (at("KH"), "f5>1", "no-pile", "This game has no such pile."),
    (at("QS/-"), "1>2", "king-only", "Only a King goes to an empty column."),
    (at("QS/-"), "1>2:1", "king-only", "Only a King goes to an empty column."),
    (at("QS/-", rest="- 7H -/-/-/-"), "w>1", "does-not-fit", "The Seven of Hearts goes on a "
     "black Eight, not on the Queen of Spades."),
    (at("QS/JS"), "2>1", "does-not-fit", "The Jack of Spades goes on a red Queen, not on the "
     "Queen of Spades."),
    (at("9H8S/TD"), "1>2", "does-not-fit", "The Nine of Hearts goes on a black Ten, not on the "
     "Ten of Diamonds."),
    (at("9H8S/TD"), "1>2:2", "does-not-fit", "The Nine of Hearts goes on a black Ten, not on the "
     "Ten of Diamonds."),
    (at("9H8S/6D"), "1>2", "does-not-fit", "Column 2 takes a black Five, and column 1 has none "
     "to move."),
    (at("9H8S/AD"), "1>2", "does-not-fit", "Nothing goes on an Ace in a column."),
    (at("KH/QS"), "1>2", "does-not-fit", "Column 2 takes a red Jack, and column 1 has none to "
     "move."),
    (at("KH/QS"), "1>2:1", "does-not-fit", "A King goes to an empty column only."),
    (at("9H/TH", "thumb-and-pouch"), "1>2", "does-not-fit", "The Nine of Hearts goes on a Ten "
     "not of Hearts, not on the Ten of Hearts."),
    (at("9H/8H", "thumb-and-pouch"), "1>2:1", "does-not-fit", "The Nine of Hearts goes on a Ten "
     "not of Hearts, not on the Eight of Hearts."),
    (at("7H/9H", "thumb-and-pouch"), "1>2", "does-not-fit", "Column 2 takes an Eight not of "
     "Hearts, and column 1 has none to move."),
    (at("kcQH/-"), "1>2:2", "face-down", "Only 1 card is face up in that column."),
    (at("kcQHJS/KS"), "1>2:3", "face-down", "Only 2 cards are face up in that column."),
    (at("9H7S/TS"), "1>2:2", "not-a-run", "Those 2 cards are not one run in order."),
    (at("9H7S/TS"), "1>2", "does-not-fit", "Column 2 takes a red Nine, and column 1 has none to "
     "move."),
    (at("9H8S/9D", "klondike-strict"), "1>2", "run-rule", "Only the whole face-up run moves to "
     "another column."),
    (at("9H8S7C/TD/9S", "thumb-and-pouch"), "1>3:2", "run-rule", "Only the whole face-up run or "
     "its last card moves to another column."),
    (at("3H"), "1>f", "not-yet", "The Three of Hearts goes home after the Two of Hearts, which "
     "is not there."),
    (at("3H", rest="- AH 4C/4D/4H/4S"), "w>f", "not-yet", "No foundation is free for the Ace of "
     "Hearts."),
    (at("3H", rest="- - AC/2H/-/-"), "f1>1", "no-return", "Cards do not come back from the "
     "foundations in this game."),
    (at("3H", "klondike-easy,foundation_return=yes"), "f1>1", "empty-foundation", "That "
     "foundation is empty."),
    (at("3H", "klondike-easy,foundation_return=yes", "- - 4S/-/-/-"), "f1>1", "does-not-fit",
     "The Four of Spades goes on a red Five, not on the Three of Hearts."),
    (at("8D/9S/9C"), "1>", "ambiguous-target", "There is more than one place for it: say which, "
     "1>2:1 or 1>3:1."),
    (at("9S/9C", rest="- 8H -/-/-/-"), "w>", "ambiguous-target", "There is more than one place "
     "for it: say which, w>1 or w>2."),
    (at("9S/9C", rest="- 2H -/-/-/-"), "w>", "no-target", "The Two of Hearts fits nowhere now."),
    (at("KH/-"), "1>", "no-target", "No card of column 1 has a place to go."),
    (at("9H8S/-", "klondike-easy,empty=any"), "1>2", "ambiguous-count", "Several counts are "
     "possible: say how many cards, as in 1>2:1."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("position", "move", "code", "reason"),
    REFUSALS,
    ids=[f"{code} {move} {position.columns!s:.0}" for position, move, code, _ in REFUSALS],
)
def test_a_refusal_says_why(position: Position, move: str, code: str, reason: str) -> None:
    with pytest.raises(IllegalMove) as caught:
        position.resolve(Move.parse(move))
    assert (caught.value.code, caught.value.reason) == (code, reason)
    assert not position.is_legal(Move.parse(move))


@pytest.mark.parametrize(
    ("move", "code"),
    [
        (Move(0, FOUNDATION, 2), "one-card"),
        (Move(WASTE, 0, 2), "one-card"),
        (Move(FOUNDATION, 0, 2), "one-card"),
        (Move(0, WASTE), "no-target"),
        (Move(0, HAND), "no-target"),
        (Move(WASTE, HAND), "no-target"),
        (Move(WASTE, WASTE), "no-target"),
        (Move(FOUNDATION, FOUNDATION), "no-target"),
        (Move(FOUNDATION + 1, FOUNDATION), "no-target"),
        (Move(0, FOUNDATION + 1), "no-target"),
        (Move(0, 1, 0), "not-a-run"),
        (Move(0, 1, -1), "not-a-run"),
        (Move(0, 0, 1), "does-not-fit"),
        (Move(-1, 0, 1), "no-pile"),
        (Move(99, 0, 1), "no-pile"),
        (Move(0, -1, 1), "no-pile"),
    ],
)
def test_a_move_that_has_no_text_is_refused_as_well(move: Move, code: str) -> None:
    position = at("2C/3H", "klondike-easy,foundation_return=yes", "- 4S AC/AD/-/-")
    assert not position.is_legal(move)
    with pytest.raises(IllegalMove) as caught:
        position.resolve(move)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("columns", "move", "full"),
    [
        ("KHQS/-", "1>2", "1>2:2"),  # a King's run to an empty column
        ("kc9H8S7D/TS", "1>2", "1>2:3"),
        ("kc9H8S7D/9D", "1>2", "1>2:2"),
        ("kc9H8S7D/8C", "1>2", "1>2:1"),
    ],
)
def test_a_count_left_out_is_filled_in(columns: str, move: str, full: str) -> None:
    assert resolved(at(columns), move) == full


def test_a_count_left_out_is_filled_in_where_the_run_rule_leaves_one() -> None:
    assert resolved(at("9H8S/-", "klondike-strict,empty=any"), "1>2") == "1>2:2"


@pytest.mark.parametrize(
    ("columns", "rest", "move", "full"),
    [
        ("kcAD/2S", BOARD, "1>", "1>f"),  # home before anything else
        ("kc8D/9S/-", BOARD, "1>", "1>2:1"),  # a card before an empty column
        ("kc9H8S/TS/9D", BOARD, "1>", "1>2:2"),  # the whole run before a part of it
        ("kc9H8S/9D", BOARD, "1>", "1>2:1"),  # a part where only that fits
        ("2cKH/-/-", BOARD, "1>", "1>2:1"),  # the first of equal empty columns
        ("kcKH/QS", "- AD -/-/-/-", "w>", "w>f"),
        ("kcKH/3C", "- QC -/-/-/-", "w>", "w>1"),
        ("3C/-/-", "- KC -/-/-/-", "w>", "w>2"),
    ],
)
def test_a_move_that_names_its_source_only_goes_where_the_rules_suggest(
    columns: str, rest: str, move: str, full: str
) -> None:
    assert resolved(at(columns, rest=rest), move) == full


def test_a_full_move_resolves_to_itself() -> None:
    position = deal(RULES["double-klondike"], "7")
    for move in position.legal_moves():
        assert position.resolve(move) is move


def test_a_partial_move_is_not_legal_by_itself() -> None:
    position = at("kc8D/9S")
    assert position.is_legal(Move.parse("1>2:1"))
    assert not position.is_legal(Move.parse("1>2"))
    assert not position.is_legal(Move.parse("1>"))


def test_hints_leave_out_what_only_carries_a_column_to_an_empty_place() -> None:
    position = at("KHQS/-/2cKD")
    assert {move.text() for move in position.legal_moves()} == {"1>2:2", "1>3:1", "3>2:1"}
    assert {move.text() for move in position.hints()} == {"1>3:1", "3>2:1"}


@given(positions(), st.sampled_from(list(every_move())))
def test_every_reason_is_one_short_sentence(position: Position, move: Move) -> None:
    try:
        position.resolve(move)
    except IllegalMove as refusal:
        assert re.fullmatch(r"[A-Z].{10,98}\.", refusal.reason)  # noqa: PT017 - most are legal
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", refusal.code)  # noqa: PT017
