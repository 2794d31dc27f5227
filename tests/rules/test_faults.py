"""What went wrong in other programs, row by row (rules 10.2)."""

import ast
import json
from pathlib import Path

import pytest

import server.rules
from server.rules import RULES, IllegalMove, Move, Position, Rules, deal
from server.rules.deal import layout
from server.rules.move import every_move
from server.rules.stuck import is_stuck
from server.rules.view import changed, piles
from tests.rules.walks import walk

DRAW = Move.parse("d")
DOUBLE = RULES["double-klondike"]


def at(columns: str, rules: str = "klondike-familiar", rest: str = "- - -/-/-/-") -> Position:
    return Position.parse(f"{rules} 1 {rest} {columns}")


def drawn_through(position: Position) -> list[Position]:
    seen = [position]
    while seen[-1].hand:
        seen.append(seen[-1].play(DRAW))
    return seen


def test_a_last_packet_of_less_than_three_has_what_is_left_and_all_stays_in_the_waste() -> None:
    *_, before, after = drawn_through(deal(DOUBLE, "1"))
    assert len(before.hand) == 2
    assert after.waste == before.waste + before.hand
    assert len(after.waste) == 59
    assert drawn_through(at("KH", rest="2c - -/-/-/-"))[-1].text().split()[3] == "2C"


def test_the_waste_comes_back_in_the_same_order_each_pass() -> None:
    position = deal(DOUBLE, "2")
    for _ in range(3):
        *_, end = drawn_through(position)
        again = end.play(DRAW)
        assert again.hand == position.hand
        position = again


def test_undo_of_a_draw_and_a_draw_are_the_identity_card_for_card() -> None:
    for before in drawn_through(deal(DOUBLE, "3"))[:-1]:
        after = before.play(DRAW)
        # Taking back is keeping `before`; the packet comes again as it came.
        assert before.play(DRAW).text() == after.text()
        assert after.waste[len(before.waste) :] == before.hand[:3]


def test_one_accepted_command_is_one_step_and_a_refused_one_leaves_every_byte() -> None:
    position = deal(DOUBLE, "4")
    for _ in range(5):
        after = position.play(DRAW)
        assert len(after.waste) == len(position.waste) + 3
        position = after
    line, value = position.text(), hash(position)
    for move in every_move():
        try:
            position.resolve(move)
        except IllegalMove:
            assert position.text() == line
            assert hash(position) == value


@pytest.mark.parametrize("name", RULES)
def test_what_is_listed_as_a_hint_the_referee_accepts(name: str) -> None:
    games = [position for position, _ in walk(RULES[name], "hints", 60)]
    games += drawn_through(games[-1])
    for position in games:
        for move in position.hints():
            assert position.resolve(move) == move
    # The last of them has an empty hand, where only a redeal that is left is proposed.
    assert (DRAW in games[-1].hints()) is (RULES[name].passes != 1)


@pytest.mark.parametrize("passes", [1, 2, 3, 5])
def test_passes_are_redeals_and_one(passes: int) -> None:
    position = deal(Rules.parse(f"double-klondike,passes={passes}"), "5")
    redeals = 0
    for _ in range(20 * passes + passes):  # packets and redeals, and one too many
        if position.is_legal(DRAW):
            redeals += not position.hand
            position = position.play(DRAW)
    assert not position.is_legal(DRAW)
    assert redeals == passes - 1
    assert position.turn == passes


def test_face_up_cards_out_of_order_are_not_lifted_together() -> None:
    # 9H lies on 7S out of order: only the ordered end, 9H 8S, is a run.
    position = at("7S9H8S/TS/8D/TC")
    moves = {move.text() for move in position.legal_moves()}
    assert moves == {"1>2:2", "1>4:2"}
    assert not position.is_legal(Move.parse("1>3:3"))
    # What stays behind is judged anew.
    below = at("2C8H7S9H/TS/9S").play(Move.parse("1>2:1"))
    assert below == at("2C8H7S/TS9H/9S")
    assert [move.text() for move in below.legal_moves()] == ["1>3:2"]


def test_a_face_down_card_is_never_part_of_a_run() -> None:
    # The hidden 9H would go on: it fits the TS and the 8S fits it.
    position = at("9h8S/TS/9D")
    assert {move.text() for move in position.legal_moves()} == {"1>3:1", "3>2:1"}
    with pytest.raises(IllegalMove, match="Only 1 card is face up"):
        position.resolve(Move.parse("1>2:2"))


def test_a_foundation_takes_one_card_though_the_base_of_a_run_fits() -> None:
    position = at("3H2S", rest="- - 2H/-/-/-")
    assert position.legal_moves() == []
    with pytest.raises(IllegalMove, match="The Two of Spades goes home after the Ace"):
        position.resolve(Move.parse("1>f"))


def test_hand_and_waste_are_never_a_destination() -> None:
    assert not any(text in ("w", "h") for text in (m.text().split(">")[-1] for m in every_move()))
    for text in ("1>w", "1>h", "w>h", "w>w", "f1>w"):
        with pytest.raises(IllegalMove, match="is not a move"):
            Move.parse(text)


def test_a_king_between_empty_columns_is_legal_worth_nothing_never_suggested_no_progress() -> None:
    position = at("KHQS/-/-")
    shifts = [Move.parse("1>2:2"), Move.parse("1>3:2")]
    assert position.legal_moves() == shifts
    assert all(position.play(move).cards == position.cards for move in shifts)
    assert position.hints() == []
    with pytest.raises(IllegalMove):
        position.resolve(Move.parse("1>"))
    assert is_stuck(position) is True


@pytest.mark.parametrize("name", RULES)
def test_no_card_moves_but_the_one_the_player_moved(name: str) -> None:
    for before, move in walk(RULES[name], "auto", 150):
        after = before.play(move)
        gained = after.cards - before.cards
        assert gained == (1 if move.text().endswith("f") else 0)


def test_the_waste_is_never_played_without_a_command_so_packets_do_not_shift() -> None:
    # The AC is playable at once, and still lies where the packet left it.
    position = at("KH", rest="2c3cac4c5c6c - -/-/-/-").play(DRAW)
    assert position.text().split()[3:5] == ["2C3CAC", "-/-/-/-"]
    assert position.play(DRAW).text().split()[3] == "2C3CAC4C5C6C"


def test_a_dead_deck_is_said_to_be_stuck_though_drawing_goes_on_for_ever() -> None:
    position = at("KH/QH", rest="9c9d9h 2C -/-/-/-")
    for _ in range(10):
        assert position.hints() == [DRAW]
        assert is_stuck(position) is True
        position = position.play(DRAW)


def test_stuck_is_said_from_a_proof_only_and_unknown_over_the_bound() -> None:
    # The 8H can change places between two 9s, which opens nothing ...
    rules = "klondike-familiar,foundation_return=yes"
    dead = at("9C8H/9S/KD/KC", rules, rest="- 2C -/-/-/-")
    assert is_stuck(dead) is True
    assert is_stuck(dead, bound=1) is None
    # ... but with the 8C home it opens the 9C for its foundation.
    assert is_stuck(at("9C8H/9S/KD/KC", rest="- 2C 8C/-/-/-")) is False


def test_the_reply_replaces_piles_so_applying_it_twice_changes_nothing() -> None:
    for before, move in walk(DOUBLE, "echo", 200):
        after = before.play(move)
        board, reply = piles(before), changed(before, after)
        board.update(reply)
        board.update(reply)
        assert board == piles(after)


def test_card_codes_are_ascii_in_everything_that_is_sent_or_kept() -> None:
    for position, move in walk(DOUBLE, "ascii", 50):
        assert position.text().isascii()
        assert json.dumps(piles(position)).isascii()
        assert move.text().isascii()


def test_moves_home_name_no_foundation_and_the_lowest_that_fits_takes_the_card() -> None:
    assert not any(">f" in m.text() and not m.text().endswith(">f") for m in every_move())
    position = at("AC/AC/2C", "double-klondike", "- - -/AD/-/-/-/-/-/-")
    for move, tops in [
        ("1>f", "AC/AD/-/-/-/-/-/-"),
        ("2>f", "AC/AD/AC/-/-/-/-/-"),
        ("3>f", "2C/AD/AC/-/-/-/-/-"),
    ]:
        position = position.play(position.resolve(Move.parse(move)))
        assert position.text().split()[4] == tops


def test_the_deal_comes_from_an_own_shuffle_and_no_module_of_random_numbers() -> None:
    assert server.rules.__file__ is not None
    for module in Path(server.rules.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names]
                names.append(getattr(node, "module", None) or "")
                assert not {"random", "secrets", "numpy"} & set(names), module
    # Published vectors: tests/rules/test_deal.py reads docs/fairness.md.
    assert deal(DOUBLE, "42") == deal(DOUBLE, "42")


def test_the_shuffle_gives_every_place_its_share_and_no_seed_is_a_clock() -> None:
    # 2,000 deals: each of 52 cards is first in the hand 38.5 times; 6 sigma are 37.
    rules = Rules.parse("klondike-easy,sizes=1")
    firsts = [0] * 52
    for number in range(2000):
        firsts[layout(rules, number.to_bytes(32, "big")).hand[0]] += 1
    assert max(firsts) < 76
    assert min(firsts) > 8
