"""Ratings after races of any size."""

import random
from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.tournament.rating import (
    NEWCOMER,
    PROVISIONAL_RACES,
    PROVISIONAL_SIGMA,
    Rating,
    rate,
)

FIELD = {
    "a": Rating(30.0, 4.0, 12),
    "b": Rating(22.5, 7.0, 3),
    "c": Rating(18.0, 2.5, 80),
    "d": NEWCOMER,
}


def test_winners_gain_losers_lose_and_everybody_is_known_better() -> None:
    after = rate(dict.fromkeys("ab", NEWCOMER), {"a": 1, "b": 2})
    assert after["a"].mu > NEWCOMER.mu > after["b"].mu
    assert after["a"].mu - NEWCOMER.mu == pytest.approx(NEWCOMER.mu - after["b"].mu)
    assert all(rating.sigma < NEWCOMER.sigma for rating in after.values())
    assert all(rating.races == 1 for rating in after.values())


def test_the_values_of_a_race_of_two_are_those_of_the_paper() -> None:
    # Weng and Lin's algorithm 4 by hand, for equals: c² = 2 (σ² + β²), p = ½.
    sigma2 = (25 / 3) ** 2 + (25 / 300) ** 2
    c = (2 * (sigma2 + (25 / 6) ** 2)) ** 0.5
    shrink = 1 - sigma2 / c**2 * 0.25 * sigma2**0.5 / c
    winner = rate(dict.fromkeys("ab", NEWCOMER), {"a": 1, "b": 2})["a"]
    assert winner.mu == pytest.approx(25 + sigma2 / c / 2, abs=1e-6)
    assert winner.sigma == pytest.approx((sigma2 * shrink) ** 0.5, abs=1e-6)


def test_the_order_in_which_players_are_passed_changes_nothing_at_all() -> None:
    places = {"a": 2, "b": 1, "c": 2, "d": 4}
    results = []
    for order in permutations("abcd"):
        before = {player: FIELD[player] for player in order}
        after = rate(before, {player: places[player] for player in reversed(order)})
        results.append({player: after[player] for player in "abcd"})
    assert all(result == results[0] for result in results)


@given(st.integers(2, 8), st.randoms(use_true_random=False))
def test_equals_who_share_a_place_stay_equal(size: int, chance: random.Random) -> None:
    start = Rating(chance.uniform(10, 40), chance.uniform(1, 8), 5)
    names = [f"p{n}" for n in range(size)]
    places = {name: chance.randint(1, 3) for name in names}
    after = rate(dict.fromkeys(names, start), places)
    for one in names:
        for other in names:
            if places[one] == places[other]:
                assert after[one] == after[other]
            if places[one] < places[other]:
                assert after[one].mu > after[other].mu


@pytest.mark.parametrize(
    "places", [(1, 1, 3, 4, 5, 6, 7, 8), (1, 2, 2, 2, 5, 6), (1, 2, 3, 3, 3), (1, 1)]
)
def test_a_tie_of_equals_is_the_mean_of_the_finishes_it_stands_for(places: Sequence[int]) -> None:
    names = [f"p{n}" for n in range(len(places))]
    tied = rate(dict.fromkeys(names, NEWCOMER), dict(zip(names, places, strict=True)))
    straight = rate(dict.fromkeys(names, NEWCOMER), {name: n for n, name in enumerate(names)})
    for place in set(places):
        level = [name for name, own in zip(names, places, strict=True) if own == place]
        mean = sum(straight[name].mu for name in level) / len(level)
        assert [tied[name].mu for name in level] == pytest.approx([mean] * len(level), abs=1e-5)


def test_equals_in_a_tie_with_a_stranger_stay_equal_whatever_they_are_called() -> None:
    for stranger in ("a", "m", "z"):
        before = {"b": NEWCOMER, "y": NEWCOMER, stranger: Rating(32.0, 3.0, 40)}
        after = rate(before, dict.fromkeys(before, 1))
        assert after["b"] == after["y"] != after[stranger]


def test_a_draw_of_two_brings_them_nearer() -> None:
    after = rate(FIELD, {"a": 1, "c": 1})
    assert FIELD["c"].mu < after["c"].mu < after["a"].mu < FIELD["a"].mu


def test_a_tie_of_hundreds_is_rated_in_a_moment_and_moves_equals_hardly() -> None:
    names = [f"p{n:03}" for n in range(120)]
    after = rate(dict.fromkeys(names, NEWCOMER), dict.fromkeys(names, 1))
    assert len(set(after.values())) == 1
    assert abs(after["p000"].shown - NEWCOMER.shown) < 10


def test_only_the_order_of_the_places_counts() -> None:
    assert rate(FIELD, {"a": 1, "b": 2, "c": 2}) == rate(FIELD, {"a": 3, "b": 40, "c": 40})


def test_who_was_not_in_the_race_is_not_in_the_answer() -> None:
    assert rate(FIELD, {"a": 1, "b": 2}).keys() == {"a", "b"}


def test_a_race_of_one_or_of_nobody_changes_nothing() -> None:
    assert rate(FIELD, {"a": 1}) == {"a": FIELD["a"]}
    assert rate(FIELD, {}) == {}


def test_a_player_without_a_rating_before_the_race_is_an_error() -> None:
    with pytest.raises(ValueError, match="given for x, y"):
        rate(FIELD, {"a": 1, "y": 2, "x": 3})


def test_a_large_race_is_rated_whole_and_in_order() -> None:
    names = [f"p{n:03}" for n in range(200)]
    after = rate(dict.fromkeys(names, NEWCOMER), {name: at for at, name in enumerate(names, 1)})
    strengths = [after[name].mu for name in names]
    assert strengths == sorted(strengths, reverse=True)


def test_ratings_find_the_true_order_of_strength() -> None:
    chance = random.Random(7)
    ratings = dict.fromkeys("abcdef", NEWCOMER)
    strength = {name: 6 * at for at, name in enumerate("fedcba")}
    for _ in range(60):
        marks = {name: chance.gauss(strength[name], 6) for name in ratings}
        order = sorted(ratings, key=lambda name: -marks[name])
        ratings = rate(ratings, {name: at for at, name in enumerate(order, 1)})
    assert sorted(ratings, key=lambda name: -ratings[name].mu) == list("abcdef")


# --- what people see ---------------------------------------------------------------------


def test_a_newcomer_is_shown_at_1500_with_a_question_mark() -> None:
    assert (NEWCOMER.shown, NEWCOMER.text()) == (1500, "1500?")


def test_the_number_grows_with_the_estimate_and_never_falls_below_100() -> None:
    assert Rating(26.0, 2.0, 50).text() == "1542"
    assert Rating(-40.0, 2.0, 50).text() == "100"


@pytest.mark.parametrize(
    ("sigma", "races", "is_provisional"),
    [
        (PROVISIONAL_SIGMA, PROVISIONAL_RACES, False),
        (PROVISIONAL_SIGMA + 0.1, PROVISIONAL_RACES, True),
        (PROVISIONAL_SIGMA, PROVISIONAL_RACES - 1, True),
    ],
)
def test_a_rating_is_provisional_after_few_races_or_while_its_spread_is_wide(
    sigma: float, races: int, is_provisional: bool
) -> None:
    assert Rating(30.0, sigma, races).is_provisional == is_provisional


def test_a_regular_player_loses_the_question_mark_within_thirty_races_of_two() -> None:
    chance = random.Random(1)
    ratings = dict.fromkeys("ab", NEWCOMER)
    for _ in range(30):
        first, second = chance.sample("ab", 2)
        ratings = rate(ratings, {first: 1, second: 2})
    assert not ratings["a"].is_provisional
