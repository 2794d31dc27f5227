"""Brackets against tables written out by hand.

Where losers drop in is the published table of the brackets-manager library (ordering.ts).
"""

import pytest

from server.tournament.formats import double, single
from server.tournament.formats.bracket import drops, laid_out, seed_pairs
from server.tournament.formats.slots import Box
from server.tournament.settings import Double, Single
from tests.tournament.told import Told, settings

SEEDS = {
    2: [(1, 2)],
    4: [(1, 4), (2, 3)],
    8: [(1, 8), (4, 5), (2, 7), (3, 6)],
    16: [(1, 16), (8, 9), (4, 13), (5, 12), (2, 15), (7, 10), (3, 14), (6, 11)],
}

# For each size: the boxes of the winners' bracket whose losers come, from the top down, into
# the first round of the losers' bracket and into its second, fourth … round.
DROPS: dict[int, list[list[int]]] = {
    4: [[1, 2], [1]],
    8: [[1, 2, 3, 4], [2, 1], [1]],
    16: [[1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 4, 3], [2, 1], [1]],
    32: [[*range(1, 17)], [8, 7, 6, 5, 4, 3, 2, 1], [3, 4, 1, 2], [1, 2], [1]],
    64: [
        [*range(1, 33)],
        [16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
        [5, 6, 7, 8, 1, 2, 3, 4],
        [4, 3, 2, 1],
        [1, 2],
        [1],
    ],
    128: [
        [*range(1, 65)],
        [*range(32, 0, -1)],
        [9, 10, 11, 12, 13, 14, 15, 16, 1, 2, 3, 4, 5, 6, 7, 8],
        [2, 1, 4, 3, 6, 5, 8, 7],
        [2, 1, 4, 3],
        [2, 1],
        [1],
    ],
}


def losers_into(boxes: tuple[Box, ...], number: int) -> list[int]:
    """The winners' boxes whose losers come into a round of the losers' bracket."""
    return [
        int(source.box.split(".")[1])
        for box in boxes
        if box.side == "losers" and box.round == number
        for source in box.sources
        if source.kind == "loser"
    ]


@pytest.mark.parametrize("rounds", range(1, 11))
def test_if_the_better_seed_always_wins_the_best_are_left_in_every_round(rounds: int) -> None:
    pairs = seed_pairs(rounds)
    while len(pairs) > 1:
        assert all(sum(pair) == 2 * len(pairs) + 1 for pair in pairs)
        left = [min(pair) for pair in pairs]
        assert sorted(left) == list(range(1, len(pairs) + 1))
        pairs = list(zip(left[::2], left[1::2], strict=True))


@pytest.mark.parametrize("size", SEEDS)
def test_the_best_seeds_meet_last(size: int) -> None:
    assert seed_pairs(size.bit_length() - 1) == SEEDS[size]


@pytest.mark.parametrize("size", DROPS)
def test_losers_drop_where_the_published_table_says(size: int) -> None:
    boxes = double.boxes(size, "reset")
    rounds = [1, *range(2, 2 * (size.bit_length() - 2) + 1, 2)]
    assert [losers_into(boxes, number) for number in rounds] == DROPS[size]


def test_beyond_the_published_table_pairs_are_flipped_to_the_last_round() -> None:
    assert drops(256) == (
        "natural",
        "reverse",
        "half-shift",
        "pair-flip",
        "pair-flip",
        "pair-flip",
        "pair-flip",
        "natural",
    )


def test_an_order_that_is_not_in_the_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="sideways"):
        laid_out(4, "sideways")


@pytest.mark.parametrize("size", DROPS)
def test_double_elimination_has_the_rounds_of_its_definition(size: int) -> None:
    k = size.bit_length() - 1
    boxes = double.boxes(size, "reset")
    counts = {
        (box.side, box.round): sum(b.side == box.side and b.round == box.round for b in boxes)
        for box in boxes
    }
    for number in range(1, k + 1):
        assert counts["winners", number] == 2 ** (k - number)
    for pair in range(k - 1):
        assert (
            counts["losers", 2 * pair + 1] == counts["losers", 2 * pair + 2] == 2 ** (k - 2 - pair)
        )
    assert sum(counts.values()) == 2 * size - 1


@pytest.mark.parametrize("players", range(2, 65))
def test_byes_go_to_the_best_seeds_and_nobody_has_two(players: int) -> None:
    told = Told(settings(Single()))
    names = told.enter(players)
    told.start()
    size = 2 ** (players - 1).bit_length()
    byes = [bye.p for bye in told.t.rounds[0].byes]
    assert sorted(byes) == names[: size - players]
    first = [match for match in told.t.matches.values() if match.slot.startswith("W1.")]
    assert len(first) == players - size // 2


def test_two_who_both_have_a_bye_meet_at_once() -> None:
    told = Told(settings(Single()))
    told.enter(5)
    told.start()
    assert [match.slot for match in told.t.matches.values()] == ["W1.2", "W2.2"]


@pytest.mark.parametrize("third", [False, True])
@pytest.mark.parametrize("players", [2, 3, 4, 5, 8, 13, 32, 64])
def test_single_elimination_plays_n_minus_one_matches(players: int, third: bool) -> None:
    told = Told(settings(Single(third_place=third)))
    told.enter(players)
    told.start()
    told.race_all()
    assert len(told.t.matches) == players - 1 + (third and players > 3)
    places = [rank.place for rank in told.t.ranks(0)[0]]
    assert places[:2] == [1, 2]
    if players > 3:
        assert places[2:4] == ([3, 4] if third else [3, 3])


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7, 8, 12, 17, 33, 64])
@pytest.mark.parametrize(("final", "played"), [("none", -3), ("single", -2), ("reset", -2)])
def test_double_elimination_plays_as_many_matches_as_losses_have_to_fall(
    players: int, final: str, played: int
) -> None:
    told = Told(settings(Double(final=final)))  # type: ignore[arg-type]
    told.enter(players)
    told.start()
    told.race_all()
    assert len(told.t.matches) == max(1, 2 * players + played)
    assert [rank.entry for rank in told.t.ranks(0)[0]][:2] == ["p001", "p002"]


@pytest.mark.parametrize("players", [2, 3, 8, 21])
def test_the_grand_final_is_played_again_only_if_the_challenger_wins_it(players: int) -> None:
    told = Told(settings(Double(final="reset")))
    told.enter(players)
    told.start()
    while told.t.phase == "running":
        last = told.t.rounds[-1]
        is_final = any(told.t.matches[each].slot.startswith("F1") for each in last.matches)
        # In the grand final, and only there, the weaker one wins.
        sign = -1 if is_final else 1
        for each in list(told.t.open):
            match = told.t.matches[each]
            order = sorted(match.entries)[::sign]
            told.race(told.call(each), [[order[0]], [order[1]]])
    assert len(told.t.matches) == 2 * players - 1
    assert told.t.matches[told.t.rounds[-1].matches[0]].slot == "F2.1"
    assert told.t.ranks(0)[0][0].entry == "p001"


def test_the_names_of_boxes_say_what_is_played() -> None:
    assert [box.name for box in single.boxes(8, True)][-4:] == [
        "semi-final",
        "semi-final",
        "final",
        "match for third place",
    ]
    assert {box.name for box in double.boxes(8, "reset")} >= {
        "winners' final",
        "losers' round 1",
        "losers' final",
        "grand final",
        "second grand final",
    }
