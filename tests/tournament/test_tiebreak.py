"""Tie-breaks by hand, value by value, and the standings that follow."""

import pytest

from server.tournament.tiebreak import TIEBREAKS, Game, Kind, Value, rank, tiebreaks

Games = dict[str, list[Game]]


def played(*rounds: tuple[str, str, int]) -> Games:
    """Games from (winner or first, other, half points of the first), one a round and pair."""
    games: Games = {}
    for one, other, points in rounds:
        number = max(len(games.get(one, [])), len(games.get(other, []))) + 1
        games.setdefault(one, []).append(Game(number, other, points, "played"))
        games.setdefault(other, []).append(Game(number, one, 2 - points, "played"))
    return games


def value(games: Games, player: str, name: str, rounds: int) -> Value:
    [only] = tiebreaks(games, [name], rounds=rounds)[player]
    return only


# Everybody meets everybody: a has 3, b 2, c 1 and d 0 points.
ROUND_ROBIN = played(
    ("a", "d", 2), ("b", "c", 2), ("a", "c", 2), ("b", "d", 2), ("a", "b", 2), ("c", "d", 2)
)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("buchholz", (3, 4, 5, 6)),
        ("buchholz-cut1", (3, 4, 5, 5)),
        ("buchholz-cut2", (2, 3, 3, 3)),
        ("median1", (1, 1, 2, 2)),
        ("median2", (3, 4, 5, 6)),  # of three games nothing would be left
        ("fore-buchholz", (3.5, 3.5, 5.5, 5.5)),
        ("sonneborn-berger", (3, 1, 0, 0)),
        ("wins", (3, 2, 1, 0)),
        ("games-won", (3, 2, 1, 0)),
        ("progressive", (6, 5, 1, 0)),
        ("koya", (1, 0, 0, 0)),
    ],
)
def test_each_tiebreak_has_the_value_its_definition_gives(
    name: str, values: tuple[float, ...]
) -> None:
    assert tuple(value(ROUND_ROBIN, player, name, 3) for player in "abcd") == values


def test_draws_count_half_in_sonneborn_berger() -> None:
    games = played(
        ("a", "d", 1), ("b", "c", 2), ("a", "c", 1), ("b", "d", 2), ("a", "b", 0), ("c", "d", 1)
    )
    assert value(games, "a", "sonneborn-berger", 3) == 0.5 * 1 + 0.5 * 1  # drew with d and c


# --- rounds that were not played ---------------------------------------------------------


def a_round_off(kind: Kind, points: int, opponent: str | None = None) -> Games:
    """Four rounds: a is off in the second and else beats b, c and d; e meets nobody else."""
    games = {
        "a": [
            Game(1, "b", 2, "played"),
            Game(2, opponent, points, kind),
            Game(3, "c", 2, "played"),
            Game(4, "d", 2, "played"),
        ],
        "b": [Game(1, "a", 0, "played"), Game(2, "c", 0, "played")],
        "c": [Game(2, "b", 2, "played"), Game(3, "a", 0, "played")],
        "d": [Game(4, "a", 0, "played")],
        "e": [Game(1, None, 2, "bye")],
    }
    for player in "bcde":
        have = {game.round for game in games[player]}
        games[player] += [Game(n, None, 2, "bye") for n in range(1, 5) if n not in have]
    return games


def test_a_bye_counts_as_a_game_against_my_own_points_but_no_more_than_half_the_rounds() -> None:
    games = a_round_off("bye", 2)
    assert value(games, "a", "buchholz", 4) == 2 + 3 + 3 + 2  # b, c, d, and half of four rounds
    assert value(games, "a", "sonneborn-berger", 4) == 10
    poor = {"a": [Game(1, None, 1, "half-bye"), Game(2, "b", 0, "played")]}
    poor |= {"b": [Game(1, None, 2, "bye"), Game(2, "a", 2, "played")]}
    assert value(poor, "a", "buchholz", 2) == 0.5 + 2


def test_a_forfeit_counts_no_more_than_the_opponent_who_was_due() -> None:
    games = a_round_off("forfeit-win", 2, "e")
    games["e"] = [Game(n, None, 0, "absent") for n in (1, 3, 4)]
    games["e"].append(Game(2, "a", 0, "forfeit-loss"))
    # e's rounds 3 and 4 were missed at the end, as was the forfeit between: three draws.
    assert value(games, "a", "buchholz", 4) == 2 + 3 + 3 + 1.5


def test_a_forfeit_against_nobody_known_counts_as_my_own_points() -> None:
    assert value(a_round_off("forfeit-win", 2), "a", "buchholz", 4) == 2 + 3 + 3 + 4


def test_for_opponents_rounds_missed_at_the_end_count_as_draws_and_earlier_ones_do_not() -> None:
    games = {
        "a": [Game(1, "b", 2, "played"), Game(2, "c", 2, "played")],
        "b": [Game(1, "a", 0, "played")],  # and away from then on
        "c": [Game(2, "a", 0, "played")],  # away before
    }
    assert value(games, "a", "buchholz", 2) == 0.5 + 0


def test_a_cut_takes_a_round_missed_of_ones_own_will_before_a_lower_one_played() -> None:
    games = a_round_off("absent", 0)
    assert value(games, "a", "buchholz", 4) == 2 + 3 + 3 + 2
    games["b"][1] = Game(2, None, 0, "absent")  # now b is lower than the dummy
    games["c"][0] = Game(2, None, 2, "bye")
    assert value(games, "a", "buchholz", 4) - value(games, "a", "buchholz-cut1", 4) == 2


def test_a_win_without_play_counts_in_wins_but_not_in_games_won() -> None:
    games = a_round_off("bye", 2)
    assert (value(games, "a", "wins", 4), value(games, "a", "games-won", 4)) == (4, 3)


def test_a_round_without_a_game_is_one_missed_of_ones_own_will() -> None:
    games = a_round_off("absent", 0)
    gap = games | {"a": [game for game in games["a"] if game.kind == "played"]}
    assert tiebreaks(gap, TIEBREAKS, rounds=4) == tiebreaks(games, TIEBREAKS, rounds=4)


# --- keys of races -----------------------------------------------------------------------

RACES: Games = {
    "a": [
        Game(1, "b", 2, "played", cards=104, time_ms=300_000),
        Game(2, "c", 0, "played", cards=60, time_ms=500_000),
        Game(3, None, 2, "bye"),
    ],
    "b": [
        Game(1, "a", 0, "played", cards=80, time_ms=400_000),
        Game(2, None, 2, "forfeit-win"),
        Game(3, "c", 2, "played", cards=104, time_ms=310_000),
    ],
    "c": [
        Game(1, None, 0, "absent"),
        Game(2, "a", 2, "played", cards=104, time_ms=290_000),
        Game(3, "b", 0, "played", cards=104, time_ms=None),
    ],
}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("cards", (104 + 60 + 82, 80 + 104 + 92, 208)),
        ("total-time", (1_200_000, 1_065_000, 400_000 + 290_000 + 310_000)),
        ("best-race", (104, 104, 104)),
        ("best-time", (300_000, 310_000, 290_000)),
    ],
)
def test_races_separate_by_cards_and_time_and_a_round_off_is_no_gain(
    name: str, values: tuple[int, ...]
) -> None:
    assert tuple(value(RACES, player, name, 3) for player in "abc") == values


def test_who_never_raced_has_no_cards_and_the_slowest_times() -> None:
    games = RACES | {"d": []}
    found = tiebreaks(games, ["cards", "total-time", "best-race", "best-time"], rounds=3)
    assert found["d"] == (0, 400_000 + 500_000 + 310_000, 0, 500_000)


# --- direct encounter --------------------------------------------------------------------


def test_of_two_equal_in_points_the_one_who_won_their_game_is_first() -> None:
    games = played(("a", "b", 0), ("c", "d", 0), ("a", "c", 2), ("b", "d", 0))
    assert [place for place, _, _ in rank(games, ["direct-encounter"], rounds=2)] == [1, 2, 3, 4]
    assert [player for _, player, _ in rank(games, ["direct-encounter"], rounds=2)] == list("dbac")


def test_three_who_beat_each_other_in_a_ring_stay_equal() -> None:
    games = played(("a", "b", 2), ("b", "c", 2))
    games["c"].append(Game(3, "a", 2, "played"))
    games["a"].append(Game(3, "c", 0, "played"))
    games["b"] = [Game(1, "a", 0, "played"), Game(2, "c", 2, "played")]
    games["c"] = [Game(2, "b", 0, "played"), Game(3, "a", 2, "played")]
    assert [place for place, _, _ in rank(games, ["direct-encounter"], rounds=3)] == [1, 1, 1]


def test_it_is_applied_again_among_those_who_stay_tied() -> None:
    # All have met, a and b with 2 points from it, c and d with 1; b beat a, and d beat c.
    games = played(
        ("a", "b", 0), ("c", "d", 0), ("a", "c", 2), ("b", "d", 2), ("a", "d", 2), ("b", "c", 0)
    )
    for player, points in (("a", 0), ("b", 0), ("c", 2), ("d", 2)):
        games[player].append(Game(4, None, points, "bye" if points else "absent"))
    assert rank(games, ["direct-encounter"], rounds=4) == [
        (1, "b", (3,)),
        (2, "a", (2,)),
        (3, "d", (1,)),
        (4, "c", (0,)),
    ]


def test_without_all_their_games_only_a_lead_that_is_certain_counts() -> None:
    # a beat b and c, who have not met each other: a is first whatever that game would bring.
    games = played(("a", "b", 2), ("a", "c", 2))
    games["c"] = [Game(2, "a", 0, "played")]
    games["a"].append(Game(3, None, 0, "absent"))
    games["b"] += [Game(2, None, 2, "bye"), Game(3, None, 2, "bye")]
    games["c"] += [Game(1, None, 2, "bye"), Game(3, None, 2, "bye")]
    assert rank(games, ["direct-encounter"], rounds=3) == [
        (1, "a", (2,)),
        (2, "b", (0,)),
        (2, "c", (0,)),
    ]


def test_several_games_of_two_count_as_their_average() -> None:
    # a and b drew and b won; against c both drew once: b leads by more than c's games weigh.
    games: Games = {
        "a": [Game(1, "b", 1, "played"), Game(2, "b", 0, "played"), Game(3, "c", 1, "played")],
        "b": [Game(1, "a", 1, "played"), Game(2, "a", 2, "played"), Game(4, "c", 1, "played")],
        "c": [Game(3, "a", 1, "played"), Game(4, "b", 1, "played")],
    }
    games["a"] += [Game(4, None, 2, "bye")]
    games["b"] += [Game(3, None, 0, "absent")]
    games["c"] += [Game(1, None, 2, "bye"), Game(2, None, 0, "absent")]
    assert [p for _, p, _ in rank(games, ["direct-encounter"], rounds=4)] == ["b", "c", "a"]


def test_a_forfeit_between_the_tied_gives_nothing_and_is_not_missing() -> None:
    games: Games = {
        "a": [Game(1, "b", 2, "forfeit-win"), Game(2, None, 0, "absent")],
        "b": [Game(1, "a", 0, "forfeit-loss"), Game(2, None, 2, "bye")],
    }
    assert [place for place, _, _ in rank(games, ["direct-encounter"], rounds=2)] == [1, 1]


# --- standings ---------------------------------------------------------------------------


def test_points_come_first_then_each_tiebreak_in_the_order_chosen() -> None:
    games = played(("a", "c", 2), ("b", "d", 2), ("c", "d", 2))
    games["c"][1], games["d"][1] = Game(2, "d", 2, "played"), Game(2, "c", 0, "played")
    games["a"].append(Game(2, None, 0, "absent"))
    games["b"].append(Game(2, None, 0, "absent"))
    by_buchholz = rank(games, ["buchholz-cut1"], rounds=2)
    assert [(place, player) for place, player, _ in by_buchholz] == [
        (1, "c"),
        (2, "a"),
        (3, "b"),
        (4, "d"),
    ]


def test_who_is_equal_in_all_shares_a_place_and_the_next_place_is_skipped() -> None:
    games = played(("a", "c", 2), ("b", "d", 2))
    assert rank(games, ["wins"], rounds=1) == [
        (1, "a", (1,)),
        (1, "b", (1,)),
        (3, "c", (0,)),
        (3, "d", (0,)),
    ]


def test_less_time_is_better() -> None:
    games = RACES | {"c": [*RACES["c"][:2], Game(3, "b", 2, "played", 104, 290_000)]}
    times = rank({**games}, ["total-time"], rounds=3)
    assert [player for _, player, _ in times] == ["c", "b", "a"]


def test_before_the_first_round_all_are_first() -> None:
    empty: Games = {"b": [], "a": []}
    assert [place for place, _, _ in rank(empty, TIEBREAKS, rounds=0)] == [1, 1]
    assert rank({}, ["buchholz"], rounds=0) == []


# --- errors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("games", "order", "message"),
    [
        ({}, ["bucholz"], "no tie-break 'bucholz'; there are buchholz, "),
        ({}, ["wins", "wins"], "twice"),
        ({"a": [Game(2, None, 2, "bye")]}, [], "round 2 is outside standings of 1 rounds"),
        ({"a": [Game(1, None, 2, "bye"), Game(1, None, 2, "bye")]}, [], "two games"),
        ({"a": [Game(1, "x", 2, "played")]}, [], "no known opponent in round 1"),
        ({"a": [Game(1, None, 2, "played")]}, [], "no known opponent in round 1"),
        ({"a": [Game(1, "a", 2, "forfeit-win")]}, [], "cannot meet a in round 1"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_so(
    games: Games, order: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tiebreaks(games, order, rounds=1)
