"""Random tournaments against the laws; `make fuzz-tournaments` tries ten thousand.

And the laws against broken code: each breach here is one that the fuzz has to find.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import count
from random import Random
from typing import Any

import msgspec
import pytest

from server.tournament import calling, clockwork, series
from server.tournament import events as ev
from server.tournament.acts import reporting, ruling
from server.tournament.around import Around
from server.tournament.formats import slots, swiss, table
from server.tournament.records import Field, Match, Race
from server.tournament.state import State
from tests.tournament.fuzz import PLAYS, Run
from tests.tournament.laws import Broken


@pytest.mark.parametrize("block", range(6))
def test_no_random_tournament_breaks_a_law(block: int) -> None:
    for seed in range(100 * block, 100 * block + 25):
        Run(seed, 16).play()


@pytest.mark.parametrize("kind", range(len(PLAYS)))
def test_every_format_ends_with_any_number_of_players(kind: int) -> None:
    for players in range(2 + kind, 40, 11):
        Run(players, players, players=players, play=PLAYS[kind](Random(players))).play()


# --- breaches -----------------------------------------------------------------------------

Patch = pytest.MonkeyPatch


def first_broken_law(seeds: Iterable[int] = range(600)) -> str:
    """Run until a law is broken, and give it."""
    for seed in seeds:
        try:
            Run(seed, 12).play()
        except Broken as broken:
            return str(broken)
    return ""


def emptiness_waits(patch: Patch) -> None:
    """A box with an empty side waits for ever."""

    def slot(box: slots.Box, sides: Any, verdict: Any) -> slots.Slot:
        if slots.EMPTY in sides and verdict is None and box.round > 1:
            return slots.Slot(box, sides, "waiting")
        return whole(box, sides, verdict)

    whole = slots._slot
    patch.setattr(slots, "_slot", slot)


def losers_are_out(patch: Patch) -> None:
    """Nobody drops into the losers' bracket."""

    def side(source: slots.Source, *more: Any) -> str:
        return slots.EMPTY if source.kind == "loser" else whole(source, *more)

    whole = slots._side
    patch.setattr(slots, "_side", side)


def byes_are_forgotten(patch: Patch) -> None:
    """Swiss pairing does not know who has sat out."""

    def contenders(field: Field) -> list[Any]:
        return [dataclasses.replace(each, byes=0, forfeit_wins=0) for each in whole(field)]

    whole = swiss.contenders
    patch.setattr(swiss, "contenders", contenders)


def meetings_are_forgotten(patch: Patch) -> None:
    """Swiss pairing does not know who has met."""
    patch.setattr(swiss, "met", lambda matches: {})


def points_get_lost(patch: Patch) -> None:
    """A win brings nothing."""
    patch.setattr(table, "match_points", lambda match, entry, worth: 0)


def deals_come_again(patch: Patch) -> None:
    """A second race of a match has the first one's deal."""
    patch.setattr(calling, "own_deal", lambda state, match_id, race: match_id)


def absent_ones_are_called(patch: Patch) -> None:
    """A bracket does not look who is out."""

    def meeting(slot: slots.Slot, field: Field) -> Any:
        return msgspec.structs.replace(whole(slot, field), out=())

    whole = slots._meeting
    patch.setattr(slots, "_meeting", meeting)


def results_come_twice(patch: Patch) -> None:
    """A race that has been counted is counted again."""

    def on(state: State, match_id: str, race: int) -> tuple[Match | None, Race | None]:
        match = state.matches.get(match_id)
        return match, match.races[race - 1] if match and len(match.races) >= race else None

    patch.setattr(reporting, "_on", on)


def players_are_torn(patch: Patch) -> None:
    """A restarted match is called while its players race elsewhere."""

    def free(waiting: Sequence[Match], racing: Collection[Match]) -> list[Match]:
        return list(waiting)

    patch.setattr(calling, "_free", free)


def rooms_are_reused(patch: Patch) -> None:
    """The same code comes out again and again."""
    numbers = count()
    patch.setattr(
        "tests.tournament.told.Told.around",
        property(lambda told: Around(lambda: f"R{next(numbers) % 7}", told.here)),
    )


def the_fold_remembers(patch: Patch) -> None:
    """Something outside the journal gets into the state."""

    def free(state: State, entries: Iterable[str], at: int) -> None:
        for entry in entries:
            state.change_entry(entry, free_at=next(numbers))

    numbers = count()
    patch.setattr(State, "free", free)


def ties_never_end(patch: Patch) -> None:
    """A tied series that needs a winner has none."""
    patch.setattr(series, "EXTRA_RACES", -2)
    patch.setattr(series, "_broken", lambda match, seeds: series._ordered({}, ""))


def lost_races_are_waited_for(patch: Patch) -> None:
    """A race without a result is never given up."""
    patch.setattr(clockwork, "_lost_races", lambda state, now, since: [])
    patch.setattr(clockwork, "_instants_of_play", lambda state, since: iter(()))


def rounds_are_called_early(patch: Patch) -> None:
    """The next round does not wait for the one that is on."""
    patch.setattr(clockwork, "_must_wait", lambda state, now, around: False)


def refusals_change_something(patch: Patch) -> None:
    """A refused act leaves a trace."""

    def match_of(t: Any, match_id: str) -> Match:
        if match_id not in t.matches:
            t.version += 1
        return whole(t, match_id)

    whole = ruling._match
    patch.setattr(ruling, "_match", match_of)


BREACHES: tuple[tuple[Callable[[Patch], None], str], ...] = (
    (emptiness_waits, "waits for ever"),
    (losers_are_out, "out with fewer"),
    (byes_are_forgotten, "sits out again"),
    (meetings_are_forgotten, "a rematch could be avoided"),
    (points_get_lost, "points do not add up"),
    (deals_come_again, "a deal comes twice"),
    (absent_ones_are_called, "somebody out is called"),
    (results_come_twice, "raced once decided"),
    (players_are_torn, "two races at once"),
    (rooms_are_reused, "a room is called twice"),
    (the_fold_remembers, "folds to another"),
    (ties_never_end, "out with fewer"),
    (lost_races_are_waited_for, "waits for ever"),
    (rounds_are_called_early, "two races at once"),
    (refusals_change_something, "a refusal changed"),
)


@pytest.mark.parametrize(
    ("breach", "law"), BREACHES, ids=lambda each: getattr(each, "__name__", "")
)
def test_the_fuzz_finds_broken_code(
    breach: Callable[[Patch], None], law: str, monkeypatch: Patch
) -> None:
    breach(monkeypatch)
    assert law in first_broken_law()


def test_the_fuzz_tries_every_event_and_every_kind_of_result() -> None:
    runs = [Run(seed, 12).play() for seed in range(60)]
    tried = {kind for run in runs for kind in run.watch.kinds}
    # These are rare, and have tests of their own.
    rare = {"Edited", "CheckInClosed", "Announced", "Extended", "Rejoined", "Reinstated"}
    rare |= {"Created", "Repaired", "Cancelled", "TokenRenewed", "Summoned"}
    assert {kind.__name__ for kind in ev.KINDS} - rare <= tried
    results = {m.result.kind for run in runs for m in run.told.t.matches.values() if m.result}
    assert results == {"played", "forfeit", "walkover", "void", "ruled"}
