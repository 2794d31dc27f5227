import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from server.rules import RULES, Fault, IllegalMove, Move, Position, Rules, RulesError, deal
from server.rules.move import every_move
from server.rules.view import redacted
from tests.rules.walks import RULE_TEXTS, positions, walk

MOVES = list(every_move())
MIDGAME = "klondike-easy 1 2c3d 4H5S AC/-/-/- kcqdTS9H/-/7C"


@given(positions())
def test_a_position_reads_back_from_its_line(position: Position) -> None:
    line = position.text()
    assert Position.parse(line) == position
    assert Position.parse(line).text() == line
    assert "\n" not in line
    assert line.isascii()


@given(positions())
def test_no_move_loses_or_doubles_a_card_or_breaks_another_invariant(position: Position) -> None:
    assert position.check() == Fault(0)
    for move in position.legal_moves():
        assert position.play(move).check() == Fault(0)


@given(positions(), st.lists(st.sampled_from(MOVES), max_size=30))
def test_a_refusal_leaves_the_position_equal_and_is_legal_says_the_same(
    position: Position, moves: list[Move]
) -> None:
    line = position.text()
    for move in moves:
        try:
            resolved = position.resolve(move)
        except IllegalMove:
            assert not position.is_legal(move)
        else:
            assert position.is_legal(resolved)
            assert resolved.is_full
            assert position.play(resolved) != position
        assert position.text() == line


@given(positions())
def test_a_draw_taken_back_and_drawn_again_is_card_for_card_the_same(position: Position) -> None:
    draw = Move.parse("d")
    if position.is_legal(draw):
        kept = position.text()
        after = position.play(draw)
        assert position.text() == kept
        assert position.play(draw) == after


@given(st.sampled_from(RULE_TEXTS), st.integers(0, 1000))
def test_every_pass_deals_in_the_same_order(rules_text: str, seed: int) -> None:
    rules = Rules.parse(rules_text)
    position = deal(rules, str(seed))
    hand = position.hand
    assume(hand)
    for turn in range(1, min(rules.passes or 4, 4) + 1):
        assert (position.turn, position.hand, position.waste) == (turn, hand, ())
        while position.hand:
            position = position.play(Move.parse("d"))
        assert position.waste == hand
        if position.is_legal(Move.parse("d")):
            position = position.play(Move.parse("d"))


def test_a_position_is_a_value() -> None:
    position = deal(RULES["double-klondike"], "1")
    assert position == deal(RULES["double-klondike"], "1")
    assert hash(position) == hash(deal(RULES["double-klondike"], "1"))
    with pytest.raises(AttributeError):
        position.turn = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        position.note = "x"  # type: ignore[attr-defined]


def test_positions_share_what_a_move_leaves_alone() -> None:
    for before, move in walk(RULES["double-klondike"], "share", 100):
        after = before.play(move)
        untouched = [
            place
            for place, (old, new) in enumerate(zip(before.columns, after.columns, strict=True))
            if old is new
        ]
        assert len(untouched) >= 7


def test_the_line_reads_as_documented() -> None:
    position = Position.parse(MIDGAME)
    assert position.rules is not None
    assert position.turn == 1
    assert [len(column.down) for column in position.columns] == [2, 0, 0]
    assert [len(column.up) for column in position.columns] == [2, 0, 1]
    assert position.text() == MIDGAME
    assert position.cards == 1
    assert position.down == 2


def test_the_redacted_line_hides_what_the_player_does_not_see() -> None:
    position = Position.parse(MIDGAME)
    assert redacted(position) == "klondike-easy 1 2: 0:4H5S 0:AC/0:/0:/0: 2:TS9H/0:/0:7C"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "a position has six fields"),
        ("klondike-easy 1 - - -/-/-/- -\n", "columns: '-\\n'|columns"),
        (MIDGAME + " ", "not 7"),
        (MIDGAME.replace(" 1 ", " 0 "), "turn: '0' is not the number of a pass"),
        (MIDGAME.replace(" 1 ", " x "), "turn: 'x'"),
        (MIDGAME.replace("2c3d", "2C3d"), "hand: '2C' is no card that is face down"),
        (MIDGAME.replace("2c3d", "2c3"), "hand: '3' is no card"),
        (MIDGAME.replace("2c3d", ""), "hand: '' is no card"),
        (MIDGAME.replace("4H5S", "4h5S"), "waste: '4h' is no card that is face up"),
        (MIDGAME.replace("AC/", "AC2C/"), "foundations: 'AC2C' names more than a top card"),
        (MIDGAME.replace("TS9H", "TS9h"), "columns: '9h' is no card that is face up"),
        (MIDGAME.replace("kcqd", "2:"), "columns: '2:TS9H' is redacted"),
        (MIDGAME.replace("-/7C", "/7C"), "columns: '' is no card"),
    ],
)
def test_a_wrong_line_is_refused_with_the_field_that_is_wrong(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Position.parse(line)


def test_wrong_rules_in_a_line_are_a_rules_error() -> None:
    with pytest.raises(RulesError, match="there is no game"):
        Position.parse(MIDGAME.replace("klondike-easy", "freecell"))


@given(st.text(max_size=80) | st.text("kKqQ23cChHdDsS-/: 1", max_size=60))
def test_no_line_gives_anything_but_a_position_or_a_value_error(text: str) -> None:
    for line in (text, f"klondike-easy 1 {text}", f"klondike-easy 1 - - -/-/-/- {text}"):
        try:
            assert Position.parse(line).text() == line
        except ValueError:
            continue
