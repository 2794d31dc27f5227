"""What happens by itself, and when."""

from dataclasses import replace

import pytest

from server.refusal import Refusal
from server.tournament import acts, calls, due, is_deal_over, next_due, pairs_next
from server.tournament import events as ev
from server.tournament.clockwork import GRACE_MS, LONGEST_WAIT_MS
from server.tournament.settings import Arena, Deals, Duplicate, RoundRobin, Single, Swiss
from tests.tournament.told import RACE, T0, Told, begun, rows, settings

HOUR_MS = 3_600_000


# --- before the start -----------------------------------------------------------------


def test_check_in_opens_and_the_start_comes_on_time() -> None:
    told = Told(settings(Swiss(), start_at=T0 + HOUR_MS, check_in_s=600))
    told.enter(5)
    assert next_due(told.t, told.now) == T0 + HOUR_MS - 600_000
    assert due(told.t, T0 + HOUR_MS - 600_001, told.around) == []
    told.wait()
    assert told.t.phase == "check-in"
    for player in ("p002", "p003", "p005"):
        told.tell(*acts.decide_check_in(told.t, player, player=player))
    told.tell(*acts.decide_enter(told.t, "dora", player="dora", name="Dora", rating=1))
    assert next_due(told.t, told.now) == T0 + HOUR_MS
    told.wait()
    assert told.t.phase == "running"
    # Who came by themselves while check-in was open is there.
    assert list(told.t.entries) == ["p002", "p003", "p005", "dora"]


def test_who_plays_in_another_tournament_is_left_out_at_the_start() -> None:
    told = Told(settings(Swiss()))
    told.enter(4)
    told.busy = {"p002": "OTHER"}
    told.start()
    assert list(told.t.entries) == ["p001", "p003", "p004"]
    begun_by = next(line for _, line in told.lines if b"begun" in line)
    assert b"plays in tournament OTHER" in begun_by


def test_with_fewer_than_two_there_at_the_start_it_is_cancelled_with_the_reason() -> None:
    told = Told(settings(Swiss(), start_at=T0 + HOUR_MS, check_in_s=600))
    told.enter(5)
    told.wait()
    told.tell(*acts.decide_check_in(told.t, "p001", player="p001"))
    told.wait()
    assert told.t.phase == "cancelled"
    assert "fewer than two" in told.t.over_why


def test_a_crash_between_the_start_and_the_first_round_leads_to_the_same_round() -> None:
    told = Told(settings(Swiss()))
    told.enter(6)
    told.tell(*acts.decide_start(told.t, "owner", told.around))
    # Each step alone, as if whoever took it fell over after it.
    for kind in (ev.StageOpened, ev.RoundCalled):
        again = told.folded()
        (event,) = due(again, told.now, told.around)
        assert isinstance(event, kind)
        told.tell(event)
    assert due(told.folded(), told.now, told.around) == []


# --- rounds ---------------------------------------------------------------------------


def test_one_event_carries_the_round_its_pairings_reasons_and_byes() -> None:
    told = begun(Swiss(), players=5)
    event = ev.decode(told.lines[-1][1])
    assert isinstance(event, ev.RoundCalled)
    assert (event.round, len(event.bouts), len(event.byes)) == (1, 2, 1)
    assert all(bout.why and bout.room for bout in event.bouts)
    assert event.byes[0].why


def test_a_round_starts_after_the_break_and_the_next_is_called_when_all_are_decided() -> None:
    told = begun(Swiss(rounds=2), break_s=45)
    assert told.t.round is not None
    assert told.t.round.starts == told.now + 45_000
    first, second = calls(told.t)
    told.race(first, [["p001"], ["p003"]])
    assert told.t.round.number == 1
    told.race(second, [["p002"], ["p004"]])
    assert told.t.round.number == 2
    assert told.t.round.starts == told.now + 45_000


def test_no_round_is_called_twice_however_often_it_is_asked_for() -> None:
    told = begun(Swiss())
    assert due(told.t, told.now, told.around) == []
    assert due(told.t, told.now + HOUR_MS // 60, told.around) == []


def test_pairing_is_announced_so_that_it_can_be_done_elsewhere() -> None:
    told = Told(settings(Swiss()))
    told.enter(4)
    assert not pairs_next(told.t, told.now, told.around)
    told.tell(*acts.decide_start(told.t, "owner", told.around))
    told.tell(*due(told.t, told.now, told.around))
    assert pairs_next(told.t, told.now, told.around)
    fork = told.t.fork()
    before = told.t.dump()
    events = due(fork, told.now, told.around)
    assert told.t.dump() == before
    told.tell(*events)
    assert not pairs_next(told.t, told.now, told.around)


def test_the_next_race_of_a_series_is_called_after_its_break() -> None:
    told = Told(settings(Single(), race_break_s=20, best_of=3))
    told.enter(2)
    told.start()
    (call,) = calls(told.t)
    told.race(call, [["p002"], ["p001"]])
    (call,) = calls(told.t)
    assert (call.race, call.settings.start_at) == (2, told.now + 20_000)
    assert call.deal == "CUP.1.1-2"
    told.race(call, [["p002"], ["p001"]])
    assert told.t.phase == "finished"
    assert len(told.t.matches["1.1"].races) == 2  # the third is never created


def test_a_round_whose_time_is_up_is_decided_by_what_has_been_raced() -> None:
    told = Told(settings(Single(), best_of=5, round_limit_s=200))
    told.enter(2)
    told.start()
    (call,) = calls(told.t)
    told.race(call, [["p002"], ["p001"]])
    assert told.t.round is not None
    (call,) = calls(told.t)
    told.now = told.t.round.deadline or 0
    told.settle()
    assert told.t.phase == "running"  # the race that is on is raced to its end
    told.race(call, [["p002"], ["p001"]])
    assert told.t.phase == "finished"
    assert told.t.matches["1.1"].result is not None
    assert told.t.matches["1.1"].result.winner == "p002"


def test_a_race_without_a_result_is_raced_again_and_at_last_decided_without() -> None:
    told = begun(Single(), players=2)
    for race in (1, 2, 3):
        (call,) = calls(told.t)
        assert call.race == race
        told.wait()
    assert told.t.phase == "finished"
    result = told.t.matches["1.1"].result
    assert result is not None
    assert (result.winner, result.kind) == ("p001", "played")  # the better seed


def test_deals_of_a_round_are_shared_if_so_chosen_and_shown_when_the_last_match_is_over() -> None:
    told = begun(Swiss(), deals=Deals(share="round"))
    first, second = calls(told.t)
    assert first.deal == second.deal
    told.race(first, [["p001"], ["p003"]])
    assert not is_deal_over(told.t, second.deal)
    told.race(second, [["p002"], ["p004"]])
    assert is_deal_over(told.t, second.deal)
    assert calls(told.t)[0].deal != second.deal


def test_with_one_deal_for_all_the_races_of_a_series_start_together() -> None:
    told = Told(settings(RoundRobin(), best_of=3, deals=Deals(share="round")))
    told.enter(4)
    told.start()
    first, second = calls(told.t)
    told.race(first, [["p001"], ["p004"]])
    assert len(calls(told.t)) == 1
    told.race(second, [["p002"], ["p003"]])
    assert {call.race for call in calls(told.t)} == {2}
    assert len({call.deal for call in calls(told.t)}) == 1


def test_public_deals_have_a_seed_for_each_race() -> None:
    told = begun(Swiss(), deals=Deals(source="public", seed="club night"))
    assert [call.settings.seed for call in calls(told.t)] == [
        "club night 1.1-1",
        "club night 1.2-1",
    ]
    fair = begun(Swiss())
    assert [call.settings.seed for call in calls(fair.t)] == [None, None]


# --- races without a result ---------------------------------------------------------------


def test_a_race_is_given_up_a_minute_after_its_end_or_after_results_could_come_in_again() -> None:
    told = begun(Swiss(rounds=2))
    (call, *_) = calls(told.t)
    ends = (call.settings.start_at or 0) + 1000 * (RACE.countdown_s + RACE.time_limit_s)
    assert next_due(told.t, ends) == ends + GRACE_MS
    told.now = ends + GRACE_MS
    assert {type(event) for event in due(told.t, told.now, told.around)} == {ev.RaceVoided}
    back = replace(told.around, since=told.now - 1)
    assert due(told.t, told.now, back) == []
    assert next_due(told.t, told.now, back.since) == back.since + GRACE_MS
    later = back.since + GRACE_MS
    assert {type(event) for event in due(told.t, later, back)} == {ev.RaceVoided}


def test_a_store_that_comes_and_goes_does_not_keep_a_race_for_ever() -> None:
    told = begun(Swiss(rounds=2))
    (call, *_) = calls(told.t)
    ends = (call.settings.start_at or 0) + 1000 * (RACE.countdown_s + RACE.time_limit_s)
    last = ends + LONGEST_WAIT_MS + GRACE_MS
    assert due(told.t, last - 1, replace(told.around, since=last - 1)) == []
    given_up = due(told.t, last, replace(told.around, since=last))
    assert {type(event) for event in given_up} == {ev.RaceVoided}


# --- pause, extension, hold -------------------------------------------------------------


def test_a_pause_stops_what_would_start_and_moves_it_by_its_length() -> None:
    told = begun(Swiss(rounds=2), break_s=60, round_limit_s=900)
    assert told.t.round is not None
    starts, deadline = told.t.round.starts, told.t.round.deadline or 0
    told.now += 10_000
    told.tell(*acts.decide_pause(told.t, "referee", "fire alarm"))
    told.now += 500_000
    assert due(told.t, told.now, told.around) == []
    assert next_due(told.t, told.now) is None
    told.tell(*acts.decide_resume(told.t, "referee"))
    assert (told.t.round.starts, told.t.round.deadline) == (starts + 500_000, deadline + 500_000)
    assert {call.settings.start_at for call in calls(told.t)} == {starts + 500_000}


def test_races_that_run_are_recorded_in_a_pause_but_nothing_follows() -> None:
    told = begun(Swiss(rounds=2))
    open_calls = calls(told.t)
    told.now += 60_000
    told.tell(*acts.decide_pause(told.t, "referee", "fire alarm"))
    for call in open_calls:
        told.race(call, [[player] for player, _ in call.players])
    assert (told.t.phase, len(told.t.rounds), len(told.t.open)) == ("paused", 1, 0)
    told.tell(*acts.decide_resume(told.t, "referee"))
    told.settle()
    assert len(told.t.rounds) == 2


def test_the_start_of_a_round_and_its_deadline_can_be_put_off() -> None:
    told = begun(Swiss(), break_s=60, round_limit_s=900)
    assert told.t.round is not None
    starts, deadline = told.t.round.starts, told.t.round.deadline or 0
    told.tell(*acts.decide_extend(told.t, "referee", told.now, "round-start", 30_000))
    assert (told.t.round.starts, told.t.round.deadline) == (starts + 30_000, deadline + 30_000)
    assert {call.settings.start_at for call in calls(told.t)} == {starts + 30_000}
    told.now = starts + 30_000
    told.tell(*acts.decide_extend(told.t, "referee", told.now, "round", 60_000))
    assert told.t.round.deadline == deadline + 90_000
    with pytest.raises(Refusal, match="nothing of that kind"):
        acts.decide_extend(told.t, "referee", told.now, "round-start", 1)


def test_held_results_keep_the_next_round_back_until_they_are_published() -> None:
    told = begun(Swiss(rounds=2), hold=True)
    with pytest.raises(Refusal, match="not over"):
        acts.decide_publish(told.t, "referee")
    for call in calls(told.t):
        told.race(call, [[player] for player, _ in call.players])
    assert len(told.t.rounds) == 1
    told.tell(*acts.decide_publish(told.t, "referee"))
    assert acts.decide_publish(told.t, "referee") == []
    told.settle()
    assert len(told.t.rounds) == 2


# --- ends -----------------------------------------------------------------------------


def test_with_fewer_than_two_left_it_ends_with_the_reason() -> None:
    told = begun(Swiss(rounds=5), players=5)
    for player in ("p001", "p002", "p003", "p004"):
        told.tell(*acts.decide_withdraw(told.t, player, player=player))
        told.settle()
    assert (told.t.phase, told.t.over_why) == ("finished", "fewer than two players are left")


def test_the_next_stage_takes_the_best_of_each_group_and_keeps_groups_apart() -> None:
    told = Told(settings(RoundRobin(), Single(), groups=4, qualify=2))
    names = told.enter(16)
    told.start()
    while told.t.stage.number == 0:
        for call in calls(told.t):
            told.race(call, [[player] for player in sorted(player for player, _ in call.players)])
    groups = [set(group) for group in told.t.stages[0].groups]
    (order,) = told.t.stages[1].groups
    assert sorted(order) == names[:8]
    for match in told.t.stage_matches(told.t.stage):
        assert not any(set(match.entries) <= group for group in groups)


@pytest.mark.parametrize("groups", [2, 3, 4, 5, 6])
def test_no_two_of_a_group_meet_at_once_in_the_next_stage(groups: int) -> None:
    told = Told(settings(RoundRobin(), Single(), groups=groups, qualify=2))
    told.enter(groups * 4)
    told.start()
    while told.t.stage.number == 0:
        for call in calls(told.t):
            told.race(call, [[player] for player in sorted(player for player, _ in call.players)])
    of = {entry: n for n, group in enumerate(told.t.stages[0].groups) for entry in group}
    first = [match for match in told.t.stage_matches(told.t.stage) if match.slot[:3] == "W1."]
    assert first
    assert all(of[match.entries[0]] != of[match.entries[1]] for match in first)


def test_a_race_of_a_room_is_reported_twice_and_counts_once() -> None:
    told = begun(Duplicate(deals=1), players=3)
    (call,) = calls(told.t)
    told.race(call, [["p002"], ["p001"], ["p003"]])
    assert acts.decide_raced(told.t, call.match, call.race, rows([["p001"]])) == []
    assert [rank.entry for rank in told.t.ranks(0)[0]] == ["p002", "p001", "p003"]


def test_an_arenas_end_can_be_put_off_and_pairing_goes_on_until_then() -> None:
    told = begun(Arena(minutes=1))
    ends = told.t.stage.ends
    assert ends is not None
    told.tell(*acts.decide_extend(told.t, "referee", told.now, "arena", 90_000))
    assert told.t.stage.ends == ends + 90_000
    told.now = ends + 1
    told.settle()
    assert told.t.phase == "running"
    with pytest.raises(Refusal, match="nothing of that kind"):
        acts.decide_extend(told.t, "referee", ends + 90_000, "arena", 1000)
    with pytest.raises(Refusal, match="nothing of that kind"):
        acts.decide_extend(told.t, "referee", told.now, "round", 1000)
