import random

import pytest

from server.rules import RULES, Fault, Position
from server.rules.cards import TEXT


def endgame(chance: random.Random) -> Position:
    """Makes a sound end of a Double Klondike: heights at random, the rest in face-up runs."""
    heights = [chance.randint(6, 13) for _ in range(8)]
    tops = [13 * (place % 4) + height - 1 for place, height in enumerate(heights)]
    left = [
        13 * (place % 4) + rank - 1
        for place, height in enumerate(heights)
        for rank in range(13, height, -1)
    ]
    left.sort(key=lambda card: -(card % 13))
    runs: list[list[int]] = []
    for card in left:
        fitting = [run for run in runs if card in RULES["double-klondike"].takes[run[-1]]]
        if fitting:
            chance.choice(fitting).append(card)
        else:
            runs.append([card])
    columns = ["".join(TEXT[card] for card in run) for run in runs] + ["-"] * (9 - len(runs))
    line = "/".join(TEXT[top] for top in tops)
    return Position.parse(f"double-klondike 1 - - {line} {'/'.join(columns)}")


def test_what_can_be_finished_is_always_won_by_the_finish_moves() -> None:
    tried = 0
    for seed in range(300):
        position = endgame(random.Random(seed))
        if len(position.columns) > 9 or position.is_solved:
            continue
        tried += 1
        assert position.check() == Fault(0)
        assert position.can_finish
        for move in position.finish_moves():
            assert position.is_legal(move)
            position = position.play(move)
        assert position.is_solved
        assert not position.can_finish
        assert position.finish_moves() == []
    assert tried > 100


@pytest.mark.parametrize(
    "rest",
    [
        "2c - AC/-/-/- 2D",  # a card in the hand
        "- 2C AC/-/-/- 2D",  # a card in the waste
        "- - AC/-/-/- 2d3C",  # a card face down
        "- - KC/KD/KH/KS -/-",  # solved
    ],
)
def test_nothing_is_finished_while_anything_else_is_left_to_do(rest: str) -> None:
    position = Position.parse(f"klondike-easy 1 {rest}")
    assert not position.can_finish
    assert position.finish_moves() == []


def test_an_unsound_position_ends_the_finish_instead_of_going_round_for_ever() -> None:
    position = Position.parse("klondike-easy 1 - - -/-/-/- AC/3C/2C4C")
    assert [move.text() for move in position.finish_moves()] == ["1>f"]
