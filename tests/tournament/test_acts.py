"""Who may do what when, and the acts about places."""

from collections.abc import Callable

import msgspec
import pytest

from server.refusal import Refusal
from server.tournament import acts, calls
from server.tournament import events as ev
from server.tournament.acts.table import role
from server.tournament.settings import (
    Arena,
    Deals,
    Duplicate,
    Heats,
    RoundRobin,
    Single,
    StageSettings,
    Swiss,
    TournamentSettings,
)
from tests.tournament.told import RACE, Told, rows, settings


def draft(**more: object) -> Told:
    """A tournament before its start, with four players."""
    told = Told(settings(Swiss(rounds=3), **more))  # type: ignore[arg-type]
    told.enter(4)
    return told


def begun(**more: object) -> Told:
    """A tournament whose first round is called."""
    told = draft(**more)
    told.start()
    return told


def enter(told: Told, by: str, player: str = "eve", **more: object) -> list[ev.AnyEvent]:
    """Let somebody enter."""
    return acts.decide_enter(
        told.t,
        by,
        player=player,
        name=player,
        rating=1500,
        **more,  # type: ignore[arg-type]
    )


# --- the table ----------------------------------------------------------------------------

EVERY_ACT: dict[str, Callable[[Told, str], object]] = {
    "edit": lambda told, by: acts.decide_edit(told.t, by, told.t.settings),
    "invite": lambda told, by: enter(told, by),
    "open-check-in": lambda told, by: acts.decide_open_check_in(told.t, by),
    "close-check-in": lambda told, by: acts.decide_close_check_in(told.t, by),
    "check-in-for": lambda told, by: acts.decide_check_in(told.t, by, player="p001"),
    "remove": lambda told, by: acts.decide_withdraw(told.t, by, player="p001"),
    "readmit": lambda told, by: acts.decide_rejoin(told.t, by, player="p001"),
    "seed": lambda told, by: acts.decide_seed(told.t, by, "rating"),
    "start": lambda told, by: acts.decide_start(told.t, by, told.around),
    "pause": lambda told, by: acts.decide_pause(told.t, by, "why"),
    "resume": lambda told, by: acts.decide_resume(told.t, by),
    "extend": lambda told, by: acts.decide_extend(told.t, by, told.now, "round", 1),
    "repair": lambda told, by: acts.decide_repair(told.t, by, told.now, told.around, "why"),
    "hold": lambda told, by: acts.decide_hold(told.t, by, True),
    "publish": lambda told, by: acts.decide_publish(told.t, by),
    "restart": lambda told, by: acts.decide_restart(told.t, by, told.now, "1.1", "why"),
    "void": lambda told, by: acts.decide_void(told.t, by, told.now, "1.1", "why"),
    "override": lambda told, by: acts.decide_override(
        told.t, by, told.now, "1.1", [["p001"], ["p003"]], "why"
    ),
    "disqualify": lambda told, by: acts.decide_disqualify(told.t, by, player="p001", why="why"),
    "reinstate": lambda told, by: acts.decide_reinstate(told.t, by, player="p001", why="why"),
    "substitute": lambda told, by: acts.decide_substitute(
        told.t, by, player="p001", substitute="eve", name="Eve", why="why"
    ),
    "new-token": lambda told, by: acts.decide_new_token(told.t, by, player="p001", why="why"),
    "summon": lambda told, by: acts.decide_summon(told.t, by, player="p001"),
    "announce": lambda told, by: acts.decide_announce(told.t, by, "pizza"),
    "cancel": lambda told, by: acts.decide_cancel(told.t, by, "why"),
}
OF_PLAYERS = {"enter", "withdraw", "rejoin", "check-in"}


def phases() -> dict[str, Told]:
    """A tournament in every phase."""
    told = {"draft": draft(), "check-in": draft(), "running": begun(), "paused": begun()}
    told["check-in"].tell(*acts.decide_open_check_in(told["check-in"].t, "owner"))
    told["paused"].tell(*acts.decide_pause(told["paused"].t, "owner", "why"))
    told["finished"] = begun()
    told["finished"].race_all()
    told["cancelled"] = draft()
    told["cancelled"].tell(*acts.decide_cancel(told["cancelled"].t, "owner", "why"))
    return told


@pytest.mark.parametrize("by", ["owner", "referee", "stranger"])
@pytest.mark.parametrize("phase", list(acts.ALLOWED))
def test_what_the_table_does_not_allow_is_refused_with_the_reason(phase: str, by: str) -> None:
    told = phases()[phase]
    assert told.t.phase == phase
    allowed = set(acts.actions(told.t, by))
    for name, act in EVERY_ACT.items():
        try:
            act(told, by)
        except Refusal as refusal:
            is_denied = refusal.code in ("not-yours", "not-now")
        else:
            is_denied = False
        assert is_denied == (name not in allowed), name


@pytest.mark.parametrize(
    ("phase", "by", "name", "told"),
    [
        ("draft", "referee", "check-in-for", ["while check-in is open", "Open check-in first"]),
        ("draft", "owner", "hold", ["while it runs or while it is paused", "the setting hold"]),
        ("check-in", "owner", "edit", ["before check-in", "Close check-in first"]),
        ("finished", "owner", "pause", ["is over", "Pause is possible while it runs."]),
    ],
)
def test_what_is_too_early_or_too_late_is_refused_with_when_it_can_be_done(
    phase: str, by: str, name: str, told: list[str]
) -> None:
    with pytest.raises(Refusal) as refused:
        EVERY_ACT[name](phases()[phase], by)
    assert all(words in str(refused.value) for words in told)


def test_the_table_names_no_act_that_there_is_not() -> None:
    named = {act for roles in acts.ALLOWED.values() for each in roles.values() for act in each}
    assert named == EVERY_ACT.keys() | OF_PLAYERS


def test_a_player_is_neither_owner_nor_referee() -> None:
    assert [role(by) for by in ("owner", "referee", "p001", "")] == [
        "owner",
        "referee",
        "player",
        "player",
    ]


def test_every_act_says_who_and_why_in_the_journal() -> None:
    told = begun()
    told.tell(*acts.decide_disqualify(told.t, "referee", player="p004", why="shouted"))
    event = ev.decode(told.lines[-1][1])
    assert isinstance(event, ev.Disqualified)
    assert (event.by, event.why, event.p) == ("referee", "shouted", "p004")


# --- settings ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        (TournamentSettings(stages=[StageSettings(play=Single(), best_of=2)]), "odd number"),
        (TournamentSettings(stages=[StageSettings(play=Single(), qualify=2)]), "how many qualify"),
        (
            TournamentSettings(stages=[StageSettings(play=Swiss()), StageSettings(play=Single())]),
            "how many qualify",
        ),
        (
            TournamentSettings(
                stages=[StageSettings(play=Swiss(), qualify=1), StageSettings(play=Single())]
            ),
            "Stage 1: at least two",
        ),
        (TournamentSettings(stages=[StageSettings(play=Arena(), groups=2)]), "no groups"),
        (TournamentSettings(stages=[StageSettings(play=Duplicate(), best_of=3)]), "one race"),
        (TournamentSettings(tiebreaks=["luck"]), "no tie-break luck"),
        (TournamentSettings(tiebreaks=["wins", "wins"]), "twice"),
        (TournamentSettings(race=msgspec.structs.replace(RACE, seed="42")), "without a seed"),
        (TournamentSettings(deals=Deals(source="public")), "need a seed"),
        (TournamentSettings(check_in_s=60), "start time"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(
    chosen: TournamentSettings, text: str
) -> None:
    with pytest.raises(Refusal, match=text):
        acts.decide_create("CUP", chosen)


def test_settings_can_be_changed_before_the_start_only() -> None:
    told = draft()
    other = msgspec.structs.replace(told.t.settings, title="Spring cup", players=4)
    told.tell(*acts.decide_edit(told.t, "owner", other))
    assert told.t.settings.title == "Spring cup"
    with pytest.raises(Refusal, match="4 players have entered"):
        acts.decide_edit(told.t, "owner", msgspec.structs.replace(other, players=3))


# --- places -----------------------------------------------------------------------------


def test_entering_twice_is_one_place() -> None:
    told = draft()
    assert enter(told, "p001", "p001") == []
    told.tell(*enter(told, "eve"))
    assert enter(told, "eve") == []


def test_a_full_tournament_and_one_by_invitation_take_no_more() -> None:
    with pytest.raises(Refusal, match="All 4 places"):
        enter(draft(players=4), "eve")
    told = Told(settings(Swiss(), entry="invited"))
    with pytest.raises(Refusal, match="organiser enters"):
        enter(told, "eve")
    told.tell(*enter(told, "owner"))
    assert list(told.t.entries) == ["eve"]


def test_withdrawing_before_the_start_frees_the_place_and_seeds_again() -> None:
    told = draft()
    told.tell(*acts.decide_withdraw(told.t, "p001", player="p001"))
    assert "p001" not in told.t.entries
    told.tell(*enter(told, "p001", "p001"))
    told.start()
    assert told.t.stages[0].groups == (("p002", "p003", "p004", "p001"),)


def test_withdrawing_after_the_start_gives_the_match_away_at_once() -> None:
    told = begun()
    match = next(match for match in told.t.matches.values() if "p001" in match.entries)
    told.tell(*acts.decide_withdraw(told.t, "p001", player="p001"))
    assert acts.decide_withdraw(told.t, "p001", player="p001") == []
    result = told.t.matches[match.id].result
    assert result is not None
    assert (result.winner, result.kind) == (match.other["p001"], "forfeit")
    with pytest.raises(Refusal, match="rejoin it instead"):
        enter(told, "p001", "p001")


def test_who_is_disqualified_does_not_rejoin_but_may_be_reinstated() -> None:
    told = begun()
    told.tell(*acts.decide_disqualify(told.t, "referee", player="p001", why="rude"))
    assert acts.decide_disqualify(told.t, "referee", player="p001", why="rude") == []
    with pytest.raises(Refusal, match="organiser's word"):
        acts.decide_rejoin(told.t, "p001", player="p001")
    told.tell(*acts.decide_reinstate(told.t, "referee", player="p001", why="was not"))
    assert told.t.entries["p001"].is_in
    assert acts.decide_reinstate(told.t, "referee", player="p001", why="was not") == []


def test_disqualification_leaves_results_and_sets_none_twice() -> None:
    told = begun()
    (call, _) = calls(told.t)
    told.race(call, [[player] for player, _ in call.players])
    loser = told.t.matches[call.match].entries[1]
    result = told.t.matches[call.match].result
    told.tell(*acts.decide_disqualify(told.t, "referee", player=loser, why="rude"))
    assert told.t.matches[call.match].result == result


def test_of_two_disqualified_in_one_match_the_first_to_go_has_lost_it() -> None:
    told = begun()
    for player in told.t.matches["1.1"].entries:
        told.tell(*acts.decide_disqualify(told.t, "referee", player=player, why="rude"))
    result = told.t.matches["1.1"].result
    assert result is not None
    assert result.winner == told.t.matches["1.1"].entries[1]  # a result is written once


def test_a_match_of_two_who_are_out_before_it_is_called_is_void() -> None:
    told = Told(settings(Single()))
    told.enter(4)
    told.start()
    for call in calls(told.t):
        told.tell(
            *acts.decide_raced(told.t, call.match, 1, rows([["p001", "p002"], ["p004", "p003"]]))
        )
    for player in ("p001", "p002"):
        told.tell(*acts.decide_disqualify(told.t, "referee", player=player, why="rude"))
    told.settle()
    final = told.t.matches["2.1"]
    assert final.result is not None
    assert (final.result.kind, final.races) == ("void", ())
    assert told.t.phase == "finished"


def test_a_substitute_plays_on_in_the_place_from_the_next_race() -> None:
    told = begun()
    told.tell(
        *acts.decide_substitute(
            told.t, "owner", player="p001", substitute="eve", name="Eve", why="ill"
        )
    )
    match = next(match for match in told.t.matches.values() if "p001" in match.entries)
    assert "p001" in {player for player, _ in told.call(match.id).players}
    told.race_all_of_round()
    assert "eve" in {player for call in calls(told.t) for player, _ in call.players}
    call = next(call for call in calls(told.t) if ("eve", "Eve") in call.players)
    other = next(player for player, _ in call.players if player != "eve")
    told.race(call, [["eve"], [other]])
    result = told.t.matches[call.match].result
    assert result is not None
    assert result.winner == "p001"  # the place keeps its name in the record
    with pytest.raises(Refusal, match="Somebody else plays in your place"):
        enter(told, "p001", "p001")


@pytest.mark.parametrize("who", ["p002", "p001"])
def test_a_substitute_has_no_other_place(who: str) -> None:
    told = begun()
    with pytest.raises(Refusal, match="already"):
        acts.decide_substitute(
            told.t, "owner", player="p001", substitute=who, name="Who", why="ill"
        )


def test_a_player_of_another_running_tournament_leaves_that_one_first() -> None:
    told = begun()
    with pytest.raises(Refusal, match="tournament OTHER"):
        enter(told, "eve", elsewhere="OTHER")
    told.tell(*acts.decide_withdraw(told.t, "p001", player="p001"))
    with pytest.raises(Refusal, match="tournament OTHER"):
        acts.decide_rejoin(told.t, "p001", player="p001", elsewhere="OTHER")
    told = phases()["check-in"]
    with pytest.raises(Refusal, match="tournament OTHER"):
        acts.decide_check_in(told.t, "p001", player="p001", elsewhere="OTHER")


@pytest.mark.parametrize(
    "play", [Single(), RoundRobin(), Heats(), Swiss(rounds=1)], ids=lambda play: type(play).__name__
)
def test_a_draw_that_is_made_takes_no_late_entry(play: object) -> None:
    told = Told(settings(play))  # type: ignore[arg-type]
    told.enter(8)
    told.start()
    told.race(calls(told.t)[0], [[player] for player, _ in calls(told.t)[0].players])
    with pytest.raises(Refusal, match="too late"):
        enter(told, "eve")


def test_somebody_without_a_place_is_told_so() -> None:
    told = begun()
    with pytest.raises(Refusal, match="no place"):
        acts.decide_withdraw(told.t, "eve", player="eve")
