"""The stuck test against an exhaustive search by the naive engine."""

import copy
import random
import time
from itertools import product

import pytest

from server.rules import RULES, Move, Position, Rules, deal
from server.rules.cards import TEXT, TEXT_DOWN, full_pack
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
    pack = [card for card in full_pack(rules.decks) if card % 13 > 3]
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


def compare(rules: Rules, seeds: range) -> dict[bool, int]:
    answers = {True: 0, False: 0}
    for seed in seeds:
        position = small_position(rules, random.Random(seed))
        assert all(run_length(rules, column.up) == len(column.up) for column in position.columns)
        found = gains(position.text())
        if found is not None:
            assert is_stuck(position, bound=10**6) is not found, position.text()
            answers[found] += 1
    return answers


@pytest.mark.parametrize("rules_text", RULE_TEXTS)
def test_stuck_is_what_an_exhaustive_search_proves(rules_text: str) -> None:
    answers = compare(Rules.parse(rules_text), range(40))
    assert answers[False] > 5
    assert answers[True] > 0


@pytest.mark.parametrize("rules_text", ["double-klondike", "klondike-easy", "gargantua"])
def test_where_one_shift_tells_no_longer_series_of_moves_gains(rules_text: str) -> None:
    answers = compare(Rules.parse(rules_text), range(1000, 1400))
    assert answers[False] > 50
    assert answers[True] > 50


@pytest.mark.parametrize(
    ("changes", "columns"),
    [
        # The 7S goes to the 8D, then the 8H to the 9S: the last card alone moves, not two.
        ("run=full_or_top", "9C8H7S/9S/8D"),
        # The 5D goes to the 6C, then the 8H to the column that it has emptied.
        ("empty=any", "9C8H/5D/6C"),
        # The 8S goes to the 9H, then the 8H to the 9D: it does not go on its own suit.
        ("build=any_other_suit", "9C8H/9D8S/9H"),
        # The 8H comes back to the 9C, the 7C to the 8H, and the 6D leaves a face-down card.
        ("foundation_return=yes", "9C/as6D"),
    ],
)
def test_a_gain_after_two_moves_that_gain_nothing_is_found(changes: str, columns: str) -> None:
    tops = "8H/7C/-/-" if "return" in changes else "8C/-/-/-"
    position = Position.parse(f"klondike-familiar,{changes} 1 - - {tops} {columns}")
    assert is_stuck(position) is False


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
    rules = "double-klondike,foundation_return=yes"
    position = Position.parse(f"{rules} 1 2c - {'/'.join('-' * 8)} {columns}")
    assert is_stuck(position, bound=10) is None
    started = time.process_time()
    is_stuck(position)
    assert time.process_time() - started < 2


def test_a_new_deal_answers_without_a_search() -> None:
    for seed in range(50):
        assert is_stuck(deal(RULES["double-klondike"], str(seed)), bound=0) is False
