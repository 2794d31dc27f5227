"""What is particular to each format."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest

from server.refusal import Refusal
from server.tournament import acts, calls, due, next_due
from server.tournament.formats import FORMATS
from server.tournament.formats.arena import scores
from server.tournament.formats.duplicate import tables
from server.tournament.formats.heats import heats
from server.tournament.formats.round_robin import circle
from server.tournament.pairing import arena_wait_ms
from server.tournament.settings import (
    AnyPlay,
    Arena,
    Double,
    Duplicate,
    Heats,
    NFold,
    Points,
    RoundRobin,
    Single,
    Swiss,
)
from tests.tournament.told import RACE, Told, rows, settings

PLAYS: tuple[AnyPlay, ...] = (
    Single(),
    Double(),
    NFold(),
    Swiss(),
    RoundRobin(),
    Arena(minutes=20),
    Heats(),
    Duplicate(),
)
WAIT_MS = arena_wait_ms(1000 * RACE.time_limit_s)


def begun(play: AnyPlay, players: int = 4, **more: object) -> Told:
    """A tournament whose first round is called."""
    told = Told(settings(play, **more))  # type: ignore[arg-type]
    told.enter(players)
    told.start()
    return told


def points(told: Told) -> dict[str, int]:
    """Everybody's half points."""
    return {rank.entry: rank.points for rank in told.t.ranks(0)[0]}


def leave(told: Told, player: str) -> None:
    """Let somebody withdraw."""
    told.tell(*acts.decide_withdraw(told.t, player, player=player))
    told.settle()


def test_there_is_a_format_for_all_settings() -> None:
    assert set(FORMATS) == {type(play) for play in PLAYS}


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: type(play).__name__)
def test_in_every_format_the_better_one_wins_and_all_get_a_place(play: AnyPlay) -> None:
    told = begun(play, 9)
    play_on(told, Random(1), lambda player: player)
    ranks = told.t.ranks(0)[0]
    assert sorted(rank.entry for rank in ranks) == sorted(told.t.entries)
    assert ranks[0].place == 1
    if not isinstance(play, Arena):
        assert ranks[0].entry == "p001"


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: type(play).__name__)
def test_who_is_disqualified_has_no_place(play: AnyPlay) -> None:
    told = begun(play, 6)
    told.tell(*acts.decide_disqualify(told.t, "referee", player="p001", why="rude"))
    told.settle()
    play_on(told, Random(1), lambda player: player)
    last = told.t.ranks(0)[0][-1]
    assert (last.entry, last.place) == ("p001", None)


def play_on(told: Told, rng: Random, better: object) -> dict[str, list[int]]:
    """Race to the end with races of random length; gives how long each waited, in ms."""
    ends: dict[str, int] = {}
    waited: dict[str, list[int]] = {entry: [] for entry in told.t.entries}
    while told.t.phase == "running":
        for call in calls(told.t):
            if call.room not in ends:
                starts = call.settings.start_at or 0
                ends[call.room] = starts + rng.randint(60_000, 300_000)
                for player, _ in call.players:
                    waited[player].append(starts - told.t.entries[player].free_at)
        live = {call.room: call for call in calls(told.t)}
        room = min(live, key=lambda each: ends[each], default=None)
        following = next_due(told.t, told.now)
        if room is not None and (following is None or ends[room] <= following):
            told.now = max(told.now, ends[room])
            call = live[room]
            order = [player for player, _ in call.players]
            if better is None:
                rng.shuffle(order)
            else:
                order.sort()
            told.tell(*acts.decide_raced(told.t, call.match, call.race, rows([[p] for p in order])))
        else:
            assert following is not None, "it waits for ever"
            told.now = following
        told.settle()
    return waited


# --- round robin ----------------------------------------------------------------------


@pytest.mark.parametrize("players", range(2, 30))
def test_by_the_circle_everybody_meets_everybody_once(players: int) -> None:
    rounds = circle(players)
    assert len(rounds) == players - 1 + players % 2
    for pairs in rounds:
        assert len({each for pair in pairs for each in pair}) == 2 * len(pairs)
    met = Counter(frozenset(pair) for pairs in rounds for pair in pairs if 0 not in pair)
    assert set(met) == {frozenset(pair) for pair in combinations(range(1, players + 1), 2)}
    assert set(met.values()) == {1}


def test_in_a_double_round_robin_everybody_meets_everybody_twice() -> None:
    told = begun(RoundRobin(double=True), 5)
    told.race_all()
    met = Counter(frozenset(match.entries) for match in told.t.matches.values())
    assert set(met.values()) == {2}
    assert len(met) == 10


@pytest.mark.parametrize(("left", "counted"), [("forfeit", 2), ("remove", 0)])
def test_who_leaves_a_round_robin_early_forfeits_the_rest_or_does_not_count(
    left: str, counted: int
) -> None:
    told = begun(RoundRobin(left=left), 6)  # type: ignore[arg-type]
    first = next(match for match in told.t.matches.values() if "p001" in match.entries)
    told.race(told.call(first.id), [["p001"], [first.other["p001"]]])
    leave(told, "p001")
    told.race_all()
    others = [rank for rank in told.t.ranks(0)[0] if rank.entry != "p001"]
    assert points(told)["p001"] == counted
    assert sum(rank.points for rank in others) == 2 * (10 + (4 if counted else 0))


# --- Swiss ----------------------------------------------------------------------------


def test_swiss_has_two_rounds_more_than_halving_and_no_rematch() -> None:
    told = begun(Swiss(), 12)
    told.race_all()
    assert len(told.t.rounds) == 6
    met = Counter(frozenset(match.entries) for match in told.t.matches.values())
    assert set(met.values()) == {1}


def test_a_bye_and_a_draw_bring_what_the_settings_say() -> None:
    told = begun(Swiss(rounds=1), 3, points=Points(win=6, draw=2, bye=4))
    (call,) = calls(told.t)
    told.race(call, [[player for player, _ in call.players]])
    assert sorted(points(told).values()) == [2, 2, 4]


def test_a_late_entry_gets_half_a_point_once_and_comes_only_up_to_half_the_rounds() -> None:
    told = begun(Swiss(rounds=4), 4)
    told.race_all_of_round()
    told.tell(*acts.decide_enter(told.t, "late", player="late", name="Late", rating=1500))
    told.race_all_of_round()
    assert told.t.round is not None
    assert told.t.round.number == 3
    assert any("late" in told.t.matches[each].entries for each in told.t.round.matches) or any(
        bye.p == "late" for bye in told.t.round.byes
    )
    assert points(told)["late"] == 1
    with pytest.raises(Refusal, match="too late"):
        acts.decide_enter(told.t, "later", player="later", name="Later", rating=1500)


def test_who_withdraws_from_swiss_is_paired_again_after_rejoining() -> None:
    told = begun(Swiss(rounds=3), 5)
    leave(told, "p001")
    told.race_all_of_round()
    assert told.t.round is not None
    assert not any("p001" in told.t.matches[each].entries for each in told.t.round.matches)
    told.tell(*acts.decide_rejoin(told.t, "p001", player="p001"))
    told.race_all_of_round()
    here = [entry for each in told.t.round.matches for entry in told.t.matches[each].entries]
    assert "p001" in [*here, *(bye.p for bye in told.t.round.byes)]


# --- elimination ----------------------------------------------------------------------


@pytest.mark.parametrize("lives", [1, 2, 3, 4])
@pytest.mark.parametrize("players", [2, 3, 5, 8, 17])
def test_n_fold_elimination_ends_when_all_but_one_have_lost_n_times(
    lives: int, players: int
) -> None:
    told = begun(NFold(losses=lives), players)
    play_on(told, Random(players), None)
    lost = Counter(
        entry
        for match in told.t.matches.values()
        for entry in match.entries
        if match.result and match.result.winner != entry
    )
    champion = told.t.ranks(0)[0][0].entry
    assert lost[champion] < lives
    assert {lost[entry] for entry in told.t.entries if entry != champion} == {lives}


def test_the_one_from_above_has_to_be_beaten_as_often_as_the_lives_differ() -> None:
    told = begun(NFold(losses=3), 2)
    told.race(calls(told.t)[0], [["p001"], ["p002"]])
    for _ in range(3):
        assert told.t.phase == "running"
        told.race(calls(told.t)[0], [["p002"], ["p001"]])
    assert told.t.ranks(0)[0][0].entry == "p002"


def test_two_absent_in_a_knock_out_are_both_out_and_emptiness_passes_on() -> None:
    told = begun(Single(), 4)
    call = told.call("1.1")
    started = (call.settings.start_at or 0) + 5_000
    told.now = started + 60_000
    told.tell(*acts.decide_no_show(told.t, "1.1", 1, now=told.now, started_at=started, played=[]))
    told.settle()
    told.race(told.call("1.2"), [["p002"], ["p003"]])
    assert told.t.phase == "finished"
    assert told.t.ranks(0)[0][0].entry == "p002"
    assert not told.t.entries["p001"].is_in


def test_walkovers_follow_from_each_other_at_once() -> None:
    told = begun(Double(), 8)
    for player in ("p001", "p002", "p003", "p004", "p005"):
        leave(told, player)
    told.race_all()
    assert told.t.phase == "finished"
    assert told.t.ranks(0)[0][0].entry in {"p006", "p007", "p008"}


# --- heats ----------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(3, 9))
@pytest.mark.parametrize("players", range(2, 65))
def test_heats_are_even_and_hold_three_to_eight_where_that_can_be(players: int, size: int) -> None:
    order = [f"p{index:03}" for index in range(players)]
    sizes = [len(heat) for heat in heats(order, size)]
    assert sum(sizes) == players
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= max(size, 5)
    assert min(sizes) >= min(3, players)


def test_the_best_of_each_heat_and_the_next_best_by_score_go_on() -> None:
    told = begun(Heats(size=4, advance=1, best=2), 8)
    assert [call.players[0][0] for call in calls(told.t)] == ["p001", "p002"]
    for call in calls(told.t):
        lines = rows([[player] for player, _ in call.players], cards=80 + len(call.room))
        if call.match == "1.1":  # here the second and third have more cards than there
            lines = rows([[player] for player, _ in call.players], cards=100)
        told.now += 60_000
        told.tell(*acts.decide_raced(told.t, call.match, call.race, lines))
        told.settle()
    first, second = (told.t.matches[each].entries for each in told.t.rounds[0].matches)
    final = told.t.matches[told.t.rounds[1].matches[0]].entries
    # The seconds come before any third, whatever their cards.
    assert set(final) == {first[0], second[0], first[1], second[1]}


def test_who_gave_a_heat_up_does_not_go_on() -> None:
    told = begun(Heats(size=3, advance=2), 6)
    leave(told, "p001")
    told.race_all_of_round()
    final = told.t.matches[told.t.rounds[1].matches[0]].entries
    assert "p001" not in final
    assert len(final) == 4


# --- duplicate --------------------------------------------------------------------------


def test_in_duplicate_all_tables_play_the_same_deal_and_compare() -> None:
    told = begun(Duplicate(deals=1, table=3), 7)
    assert len({call.deal for call in calls(told.t)}) == 1
    for call in calls(told.t):
        for_table = [[player] for player, _ in call.players]
        told.now += 60_000
        told.tell(
            *acts.decide_raced(
                told.t, call.match, 1, rows(for_table, cards=60 if call.match == "1.3" else 50)
            )
        )
        told.settle()
    best = told.t.ranks(0)[0][0]
    assert best.entry == told.t.matches["1.3"].entries[0]
    assert best.points == 2 * 6  # two half points for each player left behind
    assert sum(points(told).values()) == 7 * 6


@pytest.mark.parametrize("players", range(2, 40))
def test_tables_are_even(players: int) -> None:
    seats = [len(table) for table in tables([str(n) for n in range(players)], 6)]
    assert sum(seats) == players
    assert max(seats) - min(seats) <= 1
    assert max(seats) <= 6


# --- arena ----------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_in_a_small_arena_waiting_is_bounded_and_nobody_meets_twice_in_a_row(
    players: int, seed: int
) -> None:
    told = begun(Arena(minutes=120), players)
    waited = play_on(told, Random(seed), None)
    # At worst somebody sits out one race of two others, and the wait before each pairing.
    assert max(map(max, waited.values())) <= 300_000 + 2 * WAIT_MS
    if players > 2:
        last: dict[str, str] = {}
        for match in told.t.matches.values():
            a, b = match.entries
            assert last.get(a) != b or last.get(b) != a
            last[a], last[b] = b, a


def test_after_two_wins_the_next_counts_double_until_the_first_that_is_none() -> None:
    told = begun(Arena(minutes=120), 2)
    worth = []
    for winner in ("p001", "p001", "p001", "p001", "p002", "p001"):
        while not calls(told.t):
            assert told.wait()
        before = points(told)[winner]
        (call,) = calls(told.t)
        told.race(call, [[winner], ["p001" if winner == "p002" else "p002"]])
        worth.append(points(told)[winner] - before)
    assert worth == [2, 2, 4, 4, 2, 2]
    assert scores(told.t.field(0, 0))["p001"].wins == 5


def test_draws_in_a_row_bring_nothing_after_the_first() -> None:
    told = begun(Arena(minutes=120), 2)
    for _ in range(3):
        while not calls(told.t):
            assert told.wait()
        (call,) = calls(told.t)
        told.race(call, [["p001", "p002"]])
    assert points(told) == {"p001": 1, "p002": 1}


def test_when_time_is_up_pairing_stops_and_running_races_count() -> None:
    told = begun(Arena(minutes=1), 2, break_s=0)
    (call,) = calls(told.t)
    assert told.t.stage.ends is not None
    told.now = told.t.stage.ends + 1
    told.settle()
    assert told.t.phase == "running"
    told.race(call, [["p002"], ["p001"]])
    assert (told.t.phase, told.t.over_why) == ("finished", "time is up")
    assert points(told)["p002"] == 2


def test_who_leaves_an_arena_and_returns_waits_a_little_before_being_paired() -> None:
    told = begun(Arena(minutes=60), 3)
    (call,) = calls(told.t)
    (left_out,) = set(told.t.entries) - {player for player, _ in call.players}
    leave(told, left_out)
    told.now += 10_000
    told.tell(*acts.decide_rejoin(told.t, left_out, player=left_out))
    back = told.now
    told.race(call, [[player] for player, _ in call.players])
    while not calls(told.t):
        assert told.wait()
    assert told.now >= back + 10_000


def test_only_who_is_there_is_paired_in_an_arena() -> None:
    told = Told(settings(Arena(minutes=60)))
    told.enter(4)
    told.here = {"p002", "p003"}
    told.start()
    assert [{player for player, _ in call.players} for call in calls(told.t)] == [{"p002", "p003"}]


def test_an_arena_takes_players_at_any_time() -> None:
    told = begun(Arena(minutes=60), 2)
    told.now += 600_000
    told.tell(*acts.decide_enter(told.t, "late", player="late", name="Late", rating=1500))
    told.race(calls(told.t)[0], [["p001"], ["p002"]])
    while not calls(told.t):
        assert told.wait()
    assert "late" in {player for player, _ in calls(told.t)[0].players}


@pytest.mark.parametrize("play", [each() for each in FORMATS], ids=lambda play: type(play).__name__)
def test_a_tournament_that_everybody_leaves_ends_and_says_why(play: AnyPlay) -> None:
    told = Told(settings(play))
    names = told.enter(6)
    told.start()
    for name in names:
        told.tell(*acts.decide_withdraw(told.t, name, player=name))
    told.settle()
    while told.t.phase == "running" and told.wait():
        pass
    assert told.t.phase == "finished"
    assert told.t.over_why
    assert not told.t.open
    assert due(told.t, told.now, told.around) == []
