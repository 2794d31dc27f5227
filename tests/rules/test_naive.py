"""The rules engine against a second one that shares no code with it."""

import pytest

from server.rules import IllegalMove, Move, Position, Rules
from server.rules.move import every_move
from tests.rules import naive
from tests.rules.walks import RULE_TEXTS, walk

GAMES, STEPS = 4, 95  # of each rules; together more than 20,000 positions
FULL_MOVES = [move for move in every_move() if move.is_full]


@pytest.mark.parametrize("rules_text", RULE_TEXTS)
def test_both_engines_agree_on_every_position_of_random_games(rules_text: str) -> None:
    rules = Rules.parse(rules_text)
    for seed in range(GAMES):
        game: naive.Game = {}
        for position, move in walk(rules, f"naive {seed}", STEPS):
            game = game or naive.read(position.text())
            assert position.text() == naive.write(game)
            listed = [move.text() for move in position.legal_moves()]
            assert sorted(listed) == sorted(naive.moves(game)), position.text()
            assert position.cards == naive.cards_home(game)
            assert position.down == naive.face_down(game)
            naive.play(game, move.text())


def test_the_random_games_are_at_least_20_000_positions() -> None:
    seen = sum(
        1
        for text in RULE_TEXTS
        for seed in range(GAMES)
        for _ in walk(Rules.parse(text), f"naive {seed}", STEPS)
    )
    assert seen >= 20_000


@pytest.mark.parametrize("rules_text", RULE_TEXTS)
def test_the_listed_moves_are_those_that_is_legal_accepts_of_all_there_are(
    rules_text: str,
) -> None:
    for number, (position, _) in enumerate(walk(Rules.parse(rules_text), "all", 60)):
        if number % 10 == 5:
            accepted = {move for move in FULL_MOVES if position.is_legal(move)}
            listed = position.legal_moves()
            assert accepted == set(listed)
            assert len(listed) == len(accepted)


def test_a_race_replays_in_both_engines_to_the_same_board() -> None:
    rules = Rules.parse("double-klondike,foundation_return=yes")
    positions: list[Position] = []
    played: list[str] = []
    for position, move in walk(rules, "race", 300):
        if len(played) % 7 == 3:
            # Play it, take it back, and go on from the same position.
            played += [move.text(), "undo"]
        positions.append(position)
        played.append(move.text())
    end = positions[-1].play(Move.parse(played[-1]))
    assert naive.write(naive.replay(positions[0].text(), played)) == end.text()


def test_the_naive_replay_refuses_what_the_referee_refuses() -> None:
    layout = "klondike-easy 1 2c - -/-/-/- KD/QS"
    with pytest.raises(ValueError, match="play 2: 1>2:1 is not legal"):
        naive.replay(layout, ["d", "1>2:1"])
    with pytest.raises(ValueError, match="nothing to undo"):
        naive.replay(layout, ["undo"])
    with pytest.raises(IllegalMove):
        Position.parse(layout).resolve(Move.parse("1>2:1"))
