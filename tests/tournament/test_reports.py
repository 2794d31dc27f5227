"""Seeds before the start, and what is reported of races after it."""

import pytest

from server.refusal import Refusal
from server.tournament import acts, beginning, calls
from server.tournament import events as ev
from server.tournament.settings import Heats, Swiss
from tests.tournament.told import Told, rows, settings


def draft() -> Told:
    """A tournament before its start, with four players."""
    told = Told(settings(Swiss(rounds=3)))
    told.enter(4)
    return told


def begun() -> Told:
    """A tournament whose first round is called."""
    told = draft()
    told.start()
    return told


# --- seeds ------------------------------------------------------------------------------


def test_seeds_go_by_rating_by_list_or_by_a_public_seed_that_anybody_can_draw_again() -> None:
    told = draft()
    seeds = []
    for method, more in (
        ("rating", {}),
        ("list", {"order": ["p004", "p002"]}),
        ("random", {"draw": "42"}),
        ("random", {"draw": "43"}),
        ("random", {"draw": "42"}),
    ):
        told.tell(*acts.decide_seed(told.t, "owner", method, **more))  # type: ignore[arg-type]
        seeds.append(beginning.seeds(told.t))
    assert seeds[0] == ["p001", "p002", "p003", "p004"]
    assert seeds[1] == ["p004", "p002", "p001", "p003"]
    assert seeds[2] == seeds[4] != seeds[3]


@pytest.mark.parametrize("order", [["p001", "p001"], ["nobody"]])
def test_a_list_of_seeds_names_players_once(order: list[str]) -> None:
    with pytest.raises(Refusal, match="does not do"):
        acts.decide_seed(draft().t, "owner", "list", order=order)


def test_a_random_order_needs_a_public_seed() -> None:
    with pytest.raises(Refusal, match="public seed"):
        acts.decide_seed(draft().t, "owner", "random")


# --- reports ----------------------------------------------------------------------------


def test_who_plays_nothing_within_the_limit_loses_and_the_other_wins_at_once() -> None:
    told = begun()
    (call, _) = calls(told.t)
    here, away = (player for player, _ in call.players)
    started = (call.settings.start_at or 0) + 5_000
    before = {"started_at": started, "played": [here]}
    early = started + 1000 * call.no_show_s - 1
    assert acts.decide_no_show(told.t, call.match, 1, now=early, **before) == []  # type: ignore[arg-type]
    told.tell(*acts.decide_no_show(told.t, call.match, 1, now=early + 1, **before))  # type: ignore[arg-type]
    result = told.t.matches[call.match].result
    assert result is not None
    assert (result.winner, result.kind) == (here, "forfeit")
    assert told.t.entries[away].is_in
    assert acts.decide_no_show(told.t, call.match, 1, now=early + 1, **before) == []  # type: ignore[arg-type]


def test_who_is_absent_twice_in_a_row_is_withdrawn() -> None:
    told = begun()
    away = "p001"
    for _ in range(2):
        while not any(away in dict(call.players) for call in calls(told.t)):
            told.race(calls(told.t)[0], [[player] for player, _ in calls(told.t)[0].players])
        call = next(call for call in calls(told.t) if away in dict(call.players))
        here = [player for player, _ in call.players if player != away]
        started = (call.settings.start_at or 0) + 5_000
        told.now = max(told.now, started + 60_000)
        told.tell(
            *acts.decide_no_show(
                told.t, call.match, call.race, now=told.now, started_at=started, played=here
            )
        )
        told.settle()
    assert told.t.entries[away].status == "withdrawn"


def test_two_absent_in_swiss_both_get_nothing() -> None:
    told = begun()
    (call, _) = calls(told.t)
    started = (call.settings.start_at or 0) + 5_000
    told.now = started + 60_000
    told.tell(
        *acts.decide_no_show(told.t, call.match, 1, now=told.now, started_at=started, played=[])
    )
    result = told.t.matches[call.match].result
    assert result is not None
    assert result.kind == "void"
    assert all(told.t.entries[player].is_in for player, _ in call.players)


def test_who_is_missing_in_the_rows_of_a_race_was_absent() -> None:
    told = begun()
    (call, _) = calls(told.t)
    here, away = (player for player, _ in call.players)
    told.tell(*acts.decide_raced(told.t, call.match, 1, rows([[here]])))
    assert told.t.matches[call.match].lost == (away,)
    result = told.t.matches[call.match].result
    assert result is not None
    assert result.winner == here


def test_a_race_from_which_somebody_is_missing_with_an_excuse_is_void_and_blames_nobody() -> None:
    told = begun()
    (call, _) = calls(told.t)
    here = call.players[0][0]
    excused = acts.decide_raced(told.t, call.match, 1, rows([[here]]), excuse="no store")
    assert [type(event) for event in excused] == [ev.RaceVoided]
    told.tell(*excused)
    told.settle()
    again = next(each for each in calls(told.t) if each.match == call.match)
    assert again.race == 2
    # An excuse that nobody needs changes nothing.
    both = rows([[player] for player, _ in again.players])
    found = acts.decide_raced(told.t, call.match, 2, both, excuse="no store")
    assert [type(event) for event in found] == [ev.Raced]


def test_a_loss_that_several_nodes_have_noticed_is_told_once() -> None:
    told = begun()
    told.tell(*acts.decide_lapse(told.t, known=9, version=7, now=told.now))
    assert "from entry 9 to 7" in told.t.announced[-1][1]
    assert acts.decide_lapse(told.t, known=8, version=7, now=told.now + 59_999) == []
    assert acts.decide_lapse(told.t, known=12, version=10, now=told.now + 60_000) != []


def test_several_race_on_when_one_of_them_is_absent() -> None:
    told = Told(settings(Heats(size=4), no_shows=2))
    told.enter(4)
    told.start()
    (call,) = calls(told.t)
    told.tell(*acts.decide_raced(told.t, call.match, 1, rows([["p003"], ["p001"], ["p002"]])))
    told.settle()
    assert [rank.entry for rank in told.t.ranks(0)[0]] == ["p003", "p001", "p002", "p004"]


def test_a_race_that_came_to_nothing_is_called_again() -> None:
    told = begun()
    (call, _) = calls(told.t)
    told.tell(*acts.decide_race_void(told.t, call.match, 1, "the room is gone"))
    assert acts.decide_race_void(told.t, call.match, 1, "the room is gone") == []
    told.settle()
    again = told.call(call.match)
    assert (again.race, again.room != call.room, again.deal != call.deal) == (2, True, True)
