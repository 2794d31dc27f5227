"""What is shown."""

import json

from server.tournament import acts, calls, views
from server.tournament.settings import Arena, Double, RoundRobin, Single, Swiss
from tests.tournament.told import T0, Told, begun, settings


def test_standings_show_the_tie_break_values_under_their_names() -> None:
    told = begun(Swiss(rounds=2), tiebreaks=["buchholz", "cards"])
    told.race_all()
    (table,) = views.standings(told.t, 0)
    assert table.columns == ["buchholz", "cards"]
    assert table.lines[0].player == "p001"
    assert [line.points for line in table.lines] == [4, 2, 2, 0]
    assert all(len(line.values) == 2 for line in table.lines)


def test_standings_cover_rounds_that_are_over() -> None:
    told = begun(Swiss(rounds=2))
    told.race(calls(told.t)[0], [["p001"], ["p003"]])
    assert {line.points for line in views.standings(told.t, 0)[0].lines} == {0}
    told.race(calls(told.t)[0], [["p002"], ["p004"]])
    assert [line.points for line in views.standings(told.t, 0)[0].lines] == [2, 2, 0, 0]


def test_byes_count_in_a_group_that_has_no_match_in_a_round() -> None:
    told = begun(Swiss(rounds=1), Single(), players=6, groups=2, qualify=1, break_s=60)
    paired, idle = told.t.stages[0].groups
    told.tell(
        *acts.decide_repair(
            told.t, "owner", told.now, told.around, "fog", pairs=[(paired[0], paired[1])]
        )
    )
    tables = views.standings(told.t, 0)
    assert [line.points for line in tables[0].lines] == [0, 0, 0]
    assert {line.player for line in tables[1].lines} == set(idle)
    assert [line.points for line in tables[1].lines] == [2, 2, 2]


def test_every_group_has_its_standings() -> None:
    told = begun(RoundRobin(), Single(), players=8, groups=2, qualify=2)
    assert [len(table.lines) for table in views.standings(told.t, 0)] == [4, 4]


def test_a_bracket_says_where_each_side_comes_from_before_anybody_is_known() -> None:
    told = begun(Double(), players=5)
    (bracket,) = views.brackets(told.t, 0)
    boxes = {box.id: box for box in bracket.boxes}
    assert [place.source for place in boxes["W1.1"].places] == ["seed 1", "seed 8"]
    assert boxes["W1.1"].state == "bye"
    assert boxes["W1.1"].winner == "p001"
    final = boxes["F1.1"]
    assert [place.source for place in final.places] == ["winner of W3.1", "winner of L4.1"]
    assert (final.state, final.feeds) == ("waiting", ["W3.1", "L4.1"])
    assert all(place.entry == "" for place in final.places)
    told.race_all()
    (bracket,) = views.brackets(told.t, 0)
    assert {box.id: box for box in bracket.boxes}["F1.1"].winner == "p001"


def test_formats_without_a_bracket_show_none() -> None:
    assert views.brackets(begun(Swiss()).t, 0) == []


def test_a_round_shows_its_pairings_with_reasons_and_its_byes() -> None:
    told = begun(Swiss(), players=5)
    shown = views.round_view(told.t, 1)
    assert all(match.why and match.room and match.state == "called" for match in shown.matches)
    assert [bye.entry for bye in shown.byes] == ["p005"]
    told.race(calls(told.t)[0], [["p003"], ["p001"]])
    over = views.round_view(told.t, 1).matches[0]
    assert (over.state, over.kind, over.room) == ("over", "played", "")
    assert {side.entry: side.place for side in over.sides} == {"p001": 2, "p003": 1}


def test_a_player_sees_the_next_race_and_the_way_so_far() -> None:
    told = begun(Single(), players=4)
    shown = views.path(told.t, "p001")
    assert shown is not None
    assert (shown.next.kind, shown.next.room) == ("race", calls(told.t)[0].room)
    told.race(calls(told.t)[0], [["p001"], ["p004"]])
    shown = views.path(told.t, "p001")
    assert shown is not None
    assert shown.next.kind == "wait"
    assert "1 match is not decided" in shown.next.text
    told.race_all()
    shown = views.path(told.t, "p001")
    assert shown is not None
    assert [match.slot for match in shown.matches] == ["W1.1", "W2.1"]
    assert shown.next.kind == "over"
    assert views.path(told.t, "stranger") is None


def test_what_a_player_waits_for_is_said_in_every_phase() -> None:
    told = Told(settings(Arena(), start_at=T0 + 3_600_000, check_in_s=600))
    told.enter(3)
    assert _next(told).kind == "wait"
    told.wait()
    assert _next(told).kind == "check-in"
    for player in list(told.t.entries):
        told.tell(*acts.decide_check_in(told.t, player, player=player))
    told.wait()
    kinds = {player: _next(told, player).kind for player in told.t.entries}
    assert sorted(kinds.values()) == ["race", "race", "wait"]
    told.tell(*acts.decide_disqualify(told.t, "referee", player="p001", why="rude"))
    assert _next(told).text == "You are disqualified."


def _next(told: Told, player: str = "p001") -> views.Next:
    shown = views.path(told.t, player)
    assert shown is not None
    return shown.next


def test_the_schedule_tells_what_is_known() -> None:
    told = Told(settings(Swiss(), start_at=T0 + 3_600_000, check_in_s=600, round_limit_s=900))
    told.enter(4)
    assert [line.what for line in views.schedule(told.t)] == ["check-in", "start"]
    told.now = T0 + 3_600_000
    told.tell(*acts.decide_start(told.t, "owner", told.around))
    told.settle()
    assert [line.what for line in views.schedule(told.t)] == ["start", "round", "deadline"]
    arena = begun(Arena(minutes=20))
    assert [line.what for line in views.schedule(arena.t)] == ["start", "arena-end"]


def test_the_audit_log_is_the_journal_with_who_when_and_why() -> None:
    told = begun(Swiss())
    told.now += 1_000
    told.tell(*acts.decide_disqualify(told.t, "referee", player="p004", why="shouted"))
    log = views.audit(told.lines)
    assert len(log) == told.t.version
    last = log[-1]
    assert (last.version, last.at, last.by, last.act, last.why) == (
        told.t.version,
        told.now,
        "referee",
        "disqualified",
        "shouted",
    )
    assert json.loads(last.what) == {"p": "p004"}
    assert {line.by for line in views.audit(told.lines, people_only=True)} == {
        "owner",
        "referee",
        *(f"p00{n}" for n in range(1, 5)),
    }


def test_held_results_are_in_nothing_that_is_shown_until_they_are_published() -> None:
    told = begun(Swiss(rounds=2), hold=True)
    first, second = calls(told.t)
    told.race(first, [["p003"], ["p001"]])
    assert views.is_hidden(told.t)
    hidden = views.public(told.t)
    (decided, open_one) = views.round_view(hidden, 1).matches
    assert (decided.kind, decided.because) == (open_one.kind, open_one.because) == ("", "")
    assert [(side.place, side.races, side.cards) for side in decided.sides] == [(None, 0, 0)] * 2
    assert {line.points for line in views.standings(hidden, 0)[0].lines} == {0}
    shown = views.path(hidden, "p003")
    assert shown is not None
    assert shown.matches[0].kind == ""
    assert told.t.matches["1.1"].result is not None  # the organiser sees it
    told.race(second, [["p002"], ["p004"]])
    told.tell(*acts.decide_publish(told.t, "referee"))
    assert views.public(told.t) is told.t
    assert [line.points for line in views.standings(told.t, 0)[0].lines] == [2, 2, 0, 0]


def test_results_that_a_ruling_changes_are_held_again() -> None:
    told = begun(Swiss(rounds=1), hold=True)
    told.race_all()
    told.tell(*acts.decide_publish(told.t, "referee"))
    told.settle()
    assert told.t.phase == "finished"
    told.tell(
        *acts.decide_override(
            told.t, "owner", told.now, "1.1", [["p003"], ["p001"]], "typed it in wrong"
        )
    )
    told.settle()
    assert told.t.phase == "running"
    assert views.is_hidden(told.t)
    told.tell(*acts.decide_publish(told.t, "owner"))
    told.settle()
    assert told.t.phase == "finished"


def test_rounds_of_a_stage_that_is_played_anew_can_still_be_looked_at() -> None:
    told = begun(RoundRobin(), Single(), players=8, groups=2, qualify=2)
    while told.t.stage.number == 0:
        told.race_all_of_round()
    last = told.t.rounds[-1].number
    decider = next(m for m in told.t.matches.values() if set(m.entries) == {"p001", "p004"})
    told.tell(
        *acts.decide_restart(told.t, "owner", told.now, decider.id, "wrong deal", confirm=True)
    )
    told.settle()
    assert len(told.t.stages) == 1
    shown = views.round_view(told.t, last)
    assert {match.state for match in shown.matches} == {"discarded"}
