"""The stuck test against an exhaustive search by the naive engine."""

import copy
import random
import time
from itertools import product

import pytest

from server.rules import RULES, Move, Position, Rules, deal
from server.rules.cards import TEXT, TEXT_DOWN
from server.rules.piles import run_length
from server.rules.stuck import is_stuck, waste_tops
from tests.rules import naive
from tests.rules.walks import walk

LIMIT = 400  # positions of the exhaustive search; a larger case is left out


def gains(line: str) -> bool | None:
    """Tries every play there is until one gains; None over the limit."""
    start = naive.read(line)
    home, down = naive.cards_home(start), naive.face_down(start)
    unlimited = start["rules"]["passes"] == "unlimited"
    waiting, seen = [start], {line}
    while waiting:
        game = waiting.pop()
        for move in naive.moves(game):
            if move[0] == "w":
                return True
            after = copy.deepcopy(game)
            naive.play(after, move)
            if naive.cards_home(after) > home or naive.face_down(after) < down:
                return True
            if unlimited:
                after["turn"] = 1
            text = naive.write(after)
            if text not in seen:
                seen.add(text)
                waiting.append(after)
        if len(seen) > LIMIT:
            return None
    return False


def small_position(rules: Rules, chance: random.Random) -> Position:
    """Makes a little board of a few high cards, which are often stuck."""
    pack = [card for card in range(52) if card % 13 > 3]
    chance.shuffle(pack)
    cards = pack[: chance.randint(4, 13)]
    columns = ["-"] * chance.randint(0, 1)
    for _ in range(chance.randint(1, 4)):
        down = [TEXT_DOWN[cards.pop()] for _ in range(chance.randint(0, 1)) if cards]
        up = [cards.pop()] if cards else []
        while up and (fitting := [card for card in cards if card in rules.takes[up[-1]]]):
            if chance.random() < 0.3:
                break
            up.append(fitting[0])
            cards.remove(fitting[0])
        columns.append("".join(down) + "".join(TEXT[card] for card in up) if up else "-")
    split = chance.randint(0, len(cards))
    hand = "".join(TEXT_DOWN[card] for card in cards[:split]) or "-"
    waste = "".join(TEXT[card] for card in cards[split:]) or "-"
    tops = "/".join(chance.choice(["-", "A" + suit, "3" + suit, "4" + suit]) for suit in "CDHS")
    turn = chance.randint(1, rules.passes or 3)
    return Position.parse(f"{rules.text()} {turn} {hand} {waste} {tops} {'/'.join(columns)}")


RULE_TEXTS = [
    f"klondike-easy,draw={draw},passes={passes},run={run},empty={empty},foundation_return={back}"
    for draw, passes, run, empty, back in product(
        (1, 3), (2, "unlimited"), ("any_suffix", "full_only"), ("king", "any"), ("no", "yes")
    )
]


@pytest.mark.parametrize("rules_text", RULE_TEXTS)
def test_stuck_is_what_an_exhaustive_search_proves(rules_text: str) -> None:
    rules = Rules.parse(rules_text)
    answers = {True: 0, False: 0}
    for seed in range(60):
        position = small_position(rules, random.Random(seed))
        assert all(run_length(rules, column.up) == len(column.up) for column in position.columns)
        found = gains(position.text())
        if found is not None:
            assert is_stuck(position, bound=10**6) is not found, position.text()
            answers[found] += 1
    assert answers[True] > 10
    assert answers[False] > 0


@pytest.mark.parametrize("name", RULES)
def test_the_cards_that_can_lie_open_on_the_waste_are_those_that_drawing_shows(name: str) -> None:
    for position, _ in walk(RULES[name], "tops", 60):
        shown = {*position.waste[-1:]}
        after = position
        for _ in range(130):
            if not after.is_legal(Move.parse("d")):
                break
            after = after.play(Move.parse("d"))
            shown |= {*after.waste[-1:]}
        assert waste_tops(position) == shown


def test_a_solved_deal_is_not_stuck() -> None:
    assert is_stuck(Position.parse("klondike-easy 1 - - KC/KD/KH/KS -/-/-")) is False


def test_a_search_over_the_bound_is_unknown_and_ends_in_time() -> None:
    # Nine columns of loose runs and a dead card in the hand: many orders, nothing gained.
    columns = "9C8D/9S8H/9D/9H/7C6D/7S6H/5C4D/5S4H/KD"
    position = Position.parse(f"double-klondike 1 2c - {'/'.join('-' * 8)} {columns}")
    assert is_stuck(position, bound=10) is None
    started = time.process_time()
    is_stuck(position)
    assert time.process_time() - started < 2


def test_a_new_deal_answers_without_a_search() -> None:
    for seed in range(50):
        assert is_stuck(deal(RULES["double-klondike"], str(seed)), bound=0) is False
