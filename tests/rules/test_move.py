import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.rules import IllegalMove, Move
from server.rules.move import FOUNDATION, HAND, WASTE, every_move, pile_text

FORM = re.compile(
    r"d|w>|w>f|w>[1-9]|[1-9]>|[1-9]>f|([1-9])>(?!\1)[1-9](:([1-9]|1[0-3]))?|f[1-8]>[1-9]"
)


def test_every_move_reads_back_and_no_two_share_a_text() -> None:
    moves = list(every_move())
    texts = [move.text() for move in moves]
    assert len(set(texts)) == len(set(moves)) == len(moves)
    assert [Move.parse(text) for text in texts] == moves


def test_the_moves_are_exactly_the_texts_of_the_documented_form() -> None:
    alphabet = ["d", "w", "f", ">", ":", *"0123456789"]
    texts = {move.text() for move in every_move()}
    assert all(FORM.fullmatch(text) for text in texts)
    # Every text of up to five signs, and the long forms 5>2:10 to 5>2:19.
    candidates = [""]
    for _ in range(5):
        candidates += [text + sign for text in candidates for sign in alphabet if len(text) < 5]
        candidates = list(dict.fromkeys(candidates))
    candidates += [f"{a}>{b}:1{c}" for a in range(10) for b in range(10) for c in range(10)]
    assert {text for text in candidates if FORM.fullmatch(text)} == texts


@given(st.text(max_size=8) | st.text("dwf>:0123456789", max_size=8))
def test_any_other_text_is_unreadable(text: str) -> None:
    if FORM.fullmatch(text):
        assert Move.parse(text).text() == text
        return
    with pytest.raises(IllegalMove) as caught:
        Move.parse(text)
    assert caught.value.code == "unreadable"
    assert "is not a move: write d, w>f" in caught.value.reason


def test_a_move_is_full_when_neither_target_nor_count_is_left_out() -> None:
    partial = {move.text() for move in every_move() if not move.is_full}
    assert {"5>", "w>", "5>2"} <= partial
    assert all(re.fullmatch(r"[w1-9]>|[1-9]>[1-9]", text) for text in partial - {"w>1"})
    assert Move.parse("w>1").is_full
    assert Move.parse("f3>5").is_full


def test_piles_have_the_names_of_the_wire() -> None:
    names = [pile_text(pile) for pile in (*range(9), WASTE, HAND, FOUNDATION, FOUNDATION + 7)]
    assert names == [*"123456789", "w", "h", "f1", "f8"]


def test_a_refusal_is_a_code_and_a_sentence() -> None:
    refusal = IllegalMove("king-only", "Only a King goes to an empty column.")
    assert str(refusal) == refusal.reason == "Only a King goes to an empty column."
    assert refusal.code == "king-only"
