"""Overriding, voiding and restarting matches, and what follows from it."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from server import bulletin
from server.refusal import Refusal
from server.tournament import acts, calls, due, views
from server.tournament.acts import NeedsConfirm
from server.tournament.settings import (
    Double,
    Duplicate,
    Heats,
    NFold,
    RoundRobin,
    Single,
    Swiss,
)
from tests.tournament.told import Told, begun


def race_round(told: Told) -> None:
    """Race the round that is on to its end, the better seeds first."""
    for call in calls(told.t):
        told.race(call, [[player] for player in sorted(player for player, _ in call.players)])


def override(
    told: Told, match: str, places: Sequence[Sequence[str]], *, confirm: bool = False
) -> None:
    """Overrule a match."""
    told.tell(
        *acts.decide_override(
            told.t, "owner", told.now, match, places, "typed it in wrong", confirm=confirm
        )
    )
    told.settle()


def match_of(told: Told, slot: str) -> str:
    """The match that stands in a box."""
    return next(m.id for m in told.t.matches.values() if m.slot == slot and not m.discarded)


# --- override ---------------------------------------------------------------------------


def test_an_override_decides_a_match_that_is_being_raced() -> None:
    told = begun(Single(), players=2)
    (call,) = calls(told.t)
    override(told, call.match, [["p002"], ["p001"]])
    assert told.t.phase == "finished"
    assert told.t.ranks(0)[0][0].entry == "p002"
    assert acts.decide_raced(told.t, call.match, call.race, []) == []  # the late result


def test_matches_that_follow_and_have_not_begun_are_called_as_they_now_must_be() -> None:
    told = begun(Single(), players=4)
    race_round(told)
    final = match_of(told, "W2.1")
    rooms = {call.room for call in calls(told.t)}
    override(told, match_of(told, "W1.1"), [["p004"], ["p001"]])
    assert told.t.matches[final].discarded
    again = told.t.matches[match_of(told, "W2.1")]
    assert set(again.entries) == {"p002", "p004"}
    assert again.round == told.t.matches[final].round
    assert not rooms & {call.room for call in calls(told.t)}


def test_an_override_asks_before_it_discards_what_has_begun() -> None:
    told = begun(Single(), players=8)
    race_round(told)
    race_round(told)
    told.now += 60_000  # the final has begun
    told.t.entries["p001"] = replace(told.t.entries["p001"], name="Ann")
    before = told.t.dump()
    semi, final = match_of(told, "W2.1"), match_of(told, "W3.1")
    with pytest.raises(NeedsConfirm, match=rf"{semi} \(Ann - ") as asked:
        override(told, match_of(told, "W1.1"), [["p008"], ["p001"]])
    assert set(asked.value.discards) == {semi, final}
    assert asked.value.code == "needs-confirm"
    assert told.t.dump() == before
    override(told, match_of(told, "W1.1"), [["p008"], ["p001"]], confirm=True)
    assert set(told.t.matches[match_of(told, "W2.1")].entries) == {"p008", "p004"}
    told.race_all()
    assert told.t.phase == "finished"
    assert told.t.ranks(0)[0][0].entry == "p002"


def test_an_override_that_changes_nothing_that_follows_discards_nothing() -> None:
    told = begun(Single(), players=4)
    race_round(told)
    override(told, match_of(told, "W1.1"), [["p001"], ["p004"]])
    assert not any(match.discarded for match in told.t.matches.values())


def test_in_double_elimination_the_loser_changes_brackets_too() -> None:
    told = begun(Double(), players=4)
    race_round(told)
    override(told, match_of(told, "W1.1"), [["p004"], ["p001"]])
    assert set(told.t.matches[match_of(told, "L1.1")].entries) == {"p001", "p003"}
    assert set(told.t.matches[match_of(told, "W2.1")].entries) == {"p004", "p002"}
    told.race_all()
    assert told.t.phase == "finished"


def test_after_the_end_an_override_of_the_final_changes_the_winner() -> None:
    told = begun(Single(), players=4)
    told.race_all()
    override(told, match_of(told, "W2.1"), [["p002"], ["p001"]])
    assert told.t.phase == "finished"
    assert told.t.ranks(0)[0][0].entry == "p002"


def test_after_the_end_an_override_can_make_the_grand_final_be_played_again() -> None:
    told = begun(Double(final="reset"), players=4)
    told.race_all()
    grand = told.t.matches[match_of(told, "F1.1")]
    override(told, grand.id, [[grand.entries[1]], [grand.entries[0]]])
    assert told.t.phase == "running"
    told.race_all()
    assert told.t.phase == "finished"
    assert told.t.matches[match_of(told, "F2.1")].result is not None


def test_in_swiss_a_round_that_has_not_started_is_paired_again() -> None:
    told = begun(Swiss(rounds=3), players=8, break_s=60)
    race_round(told)
    (first, *_) = told.t.rounds[0].matches
    loser, winner = told.t.matches[first].entries[::-1]
    override(told, first, [[loser], [winner]])
    assert told.t.round is not None
    assert told.t.round.number == 2
    kept = [told.t.matches[m] for m in told.t.round.matches if not told.t.matches[m].discarded]
    assert len(kept) == 4
    meets = next(match.other[loser] for match in kept if loser in match.entries)
    wins = {entry for entry in told.t.entries if entry in _winners(told)}
    assert meets in wins


def _winners(told: Told) -> set[str]:
    first = (told.t.matches[each] for each in told.t.rounds[0].matches)
    return {match.result.winner or "" for match in first if match.result}


def test_in_swiss_a_round_that_has_started_stands() -> None:
    told = begun(Swiss(rounds=3), players=8)
    race_round(told)
    told.now += 60_000
    (first, *_) = told.t.rounds[0].matches
    a, b = told.t.matches[first].entries
    override(told, first, [[b], [a]])
    assert not any(match.discarded for match in told.t.matches.values())
    told.race_all()
    assert told.t.phase == "finished"


def test_in_n_fold_elimination_losses_are_counted_anew() -> None:
    told = begun(NFold(losses=2), players=4)
    told.race_all()
    champion = told.t.ranks(0)[0][0].entry
    assert champion == "p001"
    last = [match for match in told.t.matches.values() if "p001" in match.entries][-1]
    override(told, last.id, [[last.other["p001"]], ["p001"]])
    assert told.t.phase == "running"  # both have one loss now
    told.race_all()
    assert told.t.phase == "finished"


def test_in_heats_another_one_goes_on() -> None:
    told = begun(Heats(size=4, advance=1), players=8)
    race_round(told)
    assert set(told.t.matches[match_of(told, "H2.1")].entries) == {"p001", "p002"}
    heat = told.t.matches[match_of(told, "H1.1")]
    others = [entry for entry in heat.entries if entry != "p001"]
    override(told, heat.id, [[others[0]], ["p001"], *([each] for each in others[1:])])
    assert set(told.t.matches[match_of(told, "H2.1")].entries) == {others[0], "p002"}


def test_who_was_absent_and_is_ruled_first_goes_on() -> None:
    told = begun(Heats(size=4, advance=1), players=8)
    call = calls(told.t)[0]
    away, *here = [player for player, _ in call.players]
    told.race(call, [[player] for player in here])
    override(told, call.match, [[away], *([player] for player in here)])
    told.race_all_of_round()
    assert away in told.t.matches[match_of(told, "H2.1")].entries


def test_in_duplicate_a_ruling_hands_the_tables_results_out_anew() -> None:
    told = begun(Duplicate(deals=1, table=2), players=4)
    for call in calls(told.t):
        told.race(call, [[player] for player, _ in call.players])
    (top, _) = told.t.rounds[0].matches
    a, b = told.t.matches[top].entries
    before = {rank.entry: rank.points for rank in told.t.ranks(0)[0]}
    override(told, top, [[b], [a]])
    after = {rank.entry: rank.points for rank in told.t.ranks(0)[0]}
    assert (after[a], after[b]) == (before[b], before[a])


def test_a_stage_that_changes_who_goes_on_discards_the_stages_after_it() -> None:
    told = begun(RoundRobin(), Single(), players=6, qualify=2)
    while told.t.stage.number == 0:
        race_round(told)
    told.now += 60_000
    decider = next(m.id for m in told.t.matches.values() if set(m.entries) == {"p002", "p003"})
    with pytest.raises(NeedsConfirm):
        override(told, decider, [["p003"], ["p002"]])
    override(told, decider, [["p003"], ["p002"]], confirm=True)
    assert told.t.stage.number == 1
    assert set(told.t.stage.groups[0]) == {"p001", "p003"} or set(told.t.stage.groups[0]) == {
        "p001",
        "p002",
    }
    told.race_all()
    assert told.t.phase == "finished"


def test_a_stage_whose_ruling_changes_nothing_for_the_next_one_leaves_it_alone() -> None:
    told = begun(RoundRobin(), Single(), players=6, qualify=2)
    while told.t.stage.number == 0:
        race_round(told)
    told.now += 60_000
    last = next(m.id for m in told.t.matches.values() if set(m.entries) == {"p005", "p006"})
    override(told, last, [["p006"], ["p005"]])
    assert told.t.stage.number == 1
    assert not any(match.discarded for match in told.t.matches.values())


@pytest.mark.parametrize(
    "places",
    [
        [],
        [["p001"]],
        [["p001"], ["p001"]],
        [["p001"], ["p002"], ["p003"]],
        [["p001"], [], ["p004"]],
    ],
)
def test_an_override_names_each_player_once(places: list[list[str]]) -> None:
    told = begun(Swiss())
    with pytest.raises(Refusal, match="each player of the match once"):
        override(told, "1.1", places)


def test_a_knock_out_match_has_one_winner_and_is_not_void() -> None:
    told = begun(Single())
    with pytest.raises(Refusal, match="one winner"):
        override(told, "1.1", [["p001", "p004"]])
    with pytest.raises(Refusal, match="put its players out"):
        acts.decide_void(told.t, "referee", told.now, "1.1", "noise")


@pytest.mark.parametrize("why", ["", "  "])
def test_a_ruling_needs_a_reason(why: str) -> None:
    told = begun(Swiss())
    with pytest.raises(Refusal, match="Say why"):
        acts.decide_override(told.t, "owner", told.now, "1.1", [["p001"], ["p003"]], why)
    with pytest.raises(Refusal, match="Say why"):
        acts.decide_restart(told.t, "owner", told.now, "1.1", why)
    with pytest.raises(Refusal, match="Say why"):
        acts.decide_disqualify(told.t, "owner", player="p001", why=why)


# --- void and restart -------------------------------------------------------------------


def test_a_void_match_counts_for_nobody_and_the_two_may_meet_again() -> None:
    told = begun(Swiss(rounds=1), players=4)
    race_round(told)
    a, b = told.t.matches["1.1"].entries
    told.tell(*acts.decide_void(told.t, "owner", told.now, "1.1", "both cheated"))
    told.settle()
    points = {rank.entry: rank.points for rank in told.t.ranks(0)[0]}
    assert (points[a], points[b]) == (0, 0)


def test_a_restarted_match_is_raced_on_a_new_deal_in_a_new_room() -> None:
    told = begun(Swiss())
    (call, _) = calls(told.t)
    told.tell(*acts.decide_restart(told.t, "referee", told.now, call.match, "the line broke"))
    told.settle()
    again = told.call(call.match)
    assert again.room != call.room
    assert again.deal != call.deal
    assert acts.decide_raced(told.t, call.match, call.race, []) == []  # the former race


def test_a_match_restarted_later_waits_until_its_players_are_free() -> None:
    told = begun(Swiss(rounds=3), players=4)
    race_round(told)
    told.now += 60_000
    told.tell(*acts.decide_restart(told.t, "referee", told.now, "1.1", "wrong deal"))
    told.settle()
    assert all(call.match != "1.1" for call in calls(told.t))
    for call in [call for call in calls(told.t) if call.match.startswith("2.")]:
        told.race(call, [[player] for player, _ in call.players])
    assert [call.match for call in calls(told.t)] == ["1.1"]
    assert len(told.t.rounds) == 2  # the third round waits for it
    told.race_all()
    assert told.t.phase == "finished"


def test_nobody_who_is_out_is_called_to_a_restart() -> None:
    told = begun(Swiss())
    a, _ = told.t.matches["1.1"].entries
    told.tell(*acts.decide_withdraw(told.t, a, player=a))
    told.settle()
    with pytest.raises(Refusal, match="reinstate"):
        acts.decide_restart(told.t, "referee", told.now, "1.1", "again")
    told.tell(*acts.decide_reinstate(told.t, "referee", player=a, why="is back"))
    told.tell(*acts.decide_restart(told.t, "referee", told.now, "1.1", "again"))
    told.settle()
    assert told.call("1.1").race == 2


def test_a_match_that_is_not_there_cannot_be_ruled_on() -> None:
    told = begun(Swiss())
    with pytest.raises(Refusal, match=r"no match 9\.9"):
        acts.decide_restart(told.t, "referee", told.now, "9.9", "again")


def test_pairing_again_by_hand_takes_the_organisers_pairs() -> None:
    told = begun(Swiss(), players=5, break_s=60)
    pairs = [("p001", "p002"), ("p003", "p004")]
    told.tell(
        *acts.decide_repair(told.t, "referee", told.now, told.around, "a favour", pairs=pairs)
    )
    assert [call.players[0][0] for call in calls(told.t)] == ["p001", "p003"]
    assert told.t.round is not None
    assert [bye.p for bye in told.t.round.byes] == ["p005"]
    assert due(told.t, told.now, told.around) == []


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ([("p001", "p002"), ("p001", "p003")], "twice"),
        ([("p001", "p009")], "not two players"),
    ],
)
def test_pairs_by_hand_must_make_sense(pairs: list[tuple[str, str]], text: str) -> None:
    told = begun(Swiss(), players=5, break_s=60)
    with pytest.raises(Refusal, match=text):
        acts.decide_repair(told.t, "referee", told.now, told.around, "a favour", pairs=pairs)


def test_a_round_is_not_paired_again_once_it_has_started_nor_where_the_draw_decides() -> None:
    told = begun(Swiss(), break_s=60)
    told.now += 60_000
    with pytest.raises(Refusal, match="has not started"):
        acts.decide_repair(told.t, "referee", told.now, told.around, "a favour")
    told = begun(Single(), break_s=60)
    with pytest.raises(Refusal, match="from the draw"):
        acts.decide_repair(told.t, "referee", told.now, told.around, "a favour")


def test_a_round_whose_matches_are_called_anew_starts_with_them() -> None:
    told = begun(Single(), players=4, round_limit_s=900)
    race_round(told)
    told.now += 60_000  # the final has begun
    override(told, match_of(told, "W1.1"), [["p004"], ["p001"]], confirm=True)
    starts = told.call(match_of(told, "W2.1")).settings.start_at
    deadline = told.t.rounds[1].deadline or 0
    head = bulletin.tournament(told.t, told.now)
    assert (head.round_starts, head.late) == (starts, [])
    assert [line.at for line in views.schedule(told.t) if line.what == "round"][-1] == starts
    assert views.round_view(told.t, 2).starts == starts
    told.tell(*acts.decide_extend(told.t, "referee", told.now, "round-start", 60_000))
    assert told.t.rounds[1].deadline == deadline + 60_000
    told.now += 600_000
    with pytest.raises(Refusal, match="nothing of that kind"):
        acts.decide_extend(told.t, "referee", told.now, "round-start", 60_000)


def test_a_match_called_anew_has_its_own_start_and_is_put_off_alone() -> None:
    told = begun(Single(), players=8, break_s=60)
    told.now += 61_000
    first, second, *_ = calls(told.t)
    told.tell(*acts.decide_restart(told.t, "referee", told.now, first.match, "a crash"))
    told.settle()
    starts = told.call(first.match).settings.start_at or 0
    assert starts == told.now + 1000 * told.t.settings.race_break_s
    (line,) = [line for line in views.schedule(told.t) if line.what == "match"]
    assert (line.at, line.text) == (starts, f"Match {first.match} starts.")
    (late,) = bulletin.tournament(told.t, told.now).late
    assert (late.match, late.at) == (first.match, starts)
    told.tell(*acts.decide_extend(told.t, "referee", told.now, "round-start", 60_000))
    assert told.call(first.match).settings.start_at == starts + 60_000
    assert told.call(second.match).settings.start_at == second.settings.start_at
    assert bulletin.tournament(told.t, told.now).round_starts == second.settings.start_at
    assert told.folded().dump() == told.t.dump()
