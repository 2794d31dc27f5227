"""What a tournament does by itself: by time, and because the rules say that it follows.

`due` gives the next step only; fold it and ask again until there is none. A step that
starts a round computes a pairing, which takes a while in a large field: `pairs_next` tells,
so that a fork of the tournament can be asked in another process than that of an event loop.
"""

from collections.abc import Iterator
from typing import Final

from server.tournament import beginning, calling
from server.tournament import events as ev
from server.tournament.around import Around
from server.tournament.qualifying import qualified
from server.tournament.records import Draft, End, Round
from server.tournament.series import is_last
from server.tournament.state import State

GRACE_MS: Final = 60_000  # for a race's result to come in after the time limit
LONGEST_WAIT_MS: Final = 30 * 60_000  # for a store that comes and goes


def due(state: State, now: int, around: Around) -> list[ev.AnyEvent]:
    """Give the events that have to happen at this instant; nothing if there are none."""
    if state.phase in ("draft", "check-in"):
        return beginning.due(state, now, around)
    if state.phase != "running":
        return []
    if not state.stages:
        order = [entry for entry in beginning.seeds(state) if state.entries[entry].is_in]
        return [beginning.stage_opened(state, 0, order, now)]
    return (
        _lost_races(state, now, around.since)
        or _close(state, now)
        or calling.next_races(state, now, around)
        or _go_on(state, now, around)
    )


def next_due(state: State, now: int, since: int = 0) -> int | None:
    """Give the next instant after `now` at which `due` may have something to say.

    What is due already is not in it: ask `due` first. `since` is as in `Around`.
    """
    found = (instant for instant in _instants(state, now, since) if instant > now)
    return min(found, default=None)


def _instants(state: State, now: int, since: int) -> Iterator[int]:
    if state.phase in ("draft", "check-in"):
        yield from beginning.instants(state)
    elif state.phase == "running" and state.stages:
        yield from _instants_of_play(state, since)
        kind = state.format(state.stage.number)
        if kind.on_clock:
            for field in state.fields(state.stage.number, now, bare=True):
                yield from filter(None, [kind.wakes(field)])


def _instants_of_play(state: State, since: int) -> Iterator[int]:
    for each in state.open:
        race = state.matches[each].race
        if race is not None:
            yield lost_at(state, race.starts, since)
    for on in _rounds_on(state):
        if on.deadline is not None:
            yield on.deadline


def pairs_next(state: State, now: int, around: Around) -> bool:
    """Whether `due` may start a round now, which can take a while."""
    if state.phase != "running" or not state.stages or state.stage.ended is not None:
        return False
    if state.redo or (state.repair and not state.open):
        return True
    return not _must_wait(state, now, around)


# --- races that came to nothing, rounds whose time is up ---------------------------------


def lost_at(state: State, starts: int, since: int = 0) -> int:
    """Give the instant at which a race without a result is given up."""
    race = state.settings.race
    ends = starts + 1000 * (race.countdown_s + race.time_limit_s)
    return max(ends, min(since, ends + LONGEST_WAIT_MS)) + GRACE_MS


def _lost_races(state: State, now: int, since: int) -> list[ev.AnyEvent]:
    open_matches = (state.matches[each] for each in state.open)
    return [
        ev.RaceVoided(
            match=match.id,
            race=match.race.number,
            why="no result came in",
            last=is_last(match),
        )
        for match in open_matches
        if match.race is not None and now >= lost_at(state, match.race.starts, since)
    ]


def _close(state: State, now: int) -> list[ev.AnyEvent]:
    return [
        ev.RoundClosed(round=on.number)
        for on in _rounds_on(state)
        if on.deadline is not None and now >= on.deadline
    ]


def _rounds_on(state: State) -> list[Round]:
    """Give the rounds with open matches whose time is not up: in an arena they are many."""
    numbers = sorted({state.matches[each].round for each in state.open})
    rounds = (state.rounds[number - 1] for number in numbers)
    return [each for each in rounds if not each.closed]


# --- rounds and stages ----------------------------------------------------------------


def _go_on(state: State, now: int, around: Around) -> list[ev.AnyEvent]:
    if state.stage.ended is not None:
        return _next_stage(state, now)
    if state.repair and not state.open:
        return [pair_again(state, now, around, by="", why="an earlier result was overruled")]
    if state.redo and (found := _call_again(state, now, around)):
        return found
    if _must_wait(state, now, around):
        return []
    drafts = _drafts(state, now, around)
    wanted = calling.drafts_of(drafts)
    if not wanted:
        return [_end(state, drafts)] if not state.open and not is_held(state) else []
    called = calling.next_round(state, wanted, now, around)
    return [called] if called is not None else []


def _must_wait(state: State, now: int, around: Around) -> bool:
    stage = state.stage.number
    kind = state.format(stage)
    if not kind.on_clock:
        return bool(state.open) or is_held(state)
    return not any(kind.is_due(field) for field in state.fields(stage, now, around.here, bare=True))


def _drafts(state: State, now: int, around: Around) -> list[Draft | End]:
    draft = state.format(state.stage.number).draft
    return [draft(field) for field in state.fields(state.stage.number, now, around.here)]


def _call_again(state: State, now: int, around: Around) -> list[ev.AnyEvent]:
    wanted = calling.drafts_of(_drafts(state, now, around))
    called = calling.again(state, wanted, now, around)
    return [called] if called is not None else []


def pair_again(state: State, now: int, around: Around, *, by: str, why: str) -> ev.Repaired:
    """Pair the round that is called, and has not started, anew."""
    draft = state.format(state.stage.number).draft
    fields = state.fields(state.stage.number, now, around.here)
    drafts = [draft(calling.unpaired(field)) for field in fields]
    return calling.repaired(state, calling.drafts_of(drafts), now, around, by=by, why=why)


def is_held(state: State) -> bool:
    """Whether the results of the round are there and wait for the organiser."""
    on = state.round
    return state.hold and on is not None and not on.published and not state.open


def _end(state: State, ends: list[Draft | End]) -> ev.StageEnded:
    reasons = dict.fromkeys(end.why for end in ends if isinstance(end, End))
    return ev.StageEnded(stage=state.stage.number, why="; ".join(reasons))


def _next_stage(state: State, now: int) -> list[ev.AnyEvent]:
    done = state.stage
    if done.number + 1 == len(state.settings.stages):
        return [ev.Finished(why=done.ended or "")]
    order = qualified(state, done.number)
    if len(order) < 2:
        return [ev.Finished(why="fewer than two players have qualified for the next stage")]
    return [beginning.stage_opened(state, done.number + 1, order, now)]
