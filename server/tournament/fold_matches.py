"""The fold of what is played: rounds, races, results, rulings."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from msgspec.structs import replace

from server.tournament import events as ev
from server.tournament.records import Match, Race, Result, Round
from server.tournament.state import State

MatchEvent = (
    ev.RoundCalled
    | ev.Repaired
    | ev.RacesCalled
    | ev.Raced
    | ev.Absent
    | ev.RaceVoided
    | ev.RoundClosed
    | ev.MatchRestarted
    | ev.MatchVoided
    | ev.Overridden
)


def fold(state: State, at: int, event: MatchEvent) -> None:
    """Change the state as an event says."""
    match event:
        case ev.RoundCalled():
            _call_round(state, at, event)
        case ev.Repaired():
            _repair(state, at, event)
        case ev.RacesCalled():
            for seat in event.seats:
                _call_race(state, seat.match, seat.room, seat.deal, event.starts)
        case ev.Raced():
            _race(state, at, event)
        case ev.Absent():
            for entry in event.p:
                absences = state.entries[entry].absences + 1
                state.change_entry(entry, absences=absences)
            give_up(state, at, event.match, event.p)
        case ev.RaceVoided():
            _change_race(state, event.match, event.race, state="void")
            failed = state.matches[event.match].failed + 1
            state.change_match(event.match, failed=failed, closed=event.last)
            settle(state, at, event.match)
        case ev.RoundClosed():
            _close(state, at, event.round)
        case ev.MatchRestarted():
            _restart(state, at, event)
        case ev.MatchVoided():
            _rule(state, at, event, Result((), "void", event.why))
        case ev.Overridden():
            state.change_match(event.match, lost=())  # who was put first has not given it up
            _rule(state, at, event, Result(ruled(event.places), "ruled", event.why))
        case _:
            assert_never(event)


# --- rounds ---------------------------------------------------------------------------


def _call_round(state: State, at: int, event: ev.RoundCalled) -> None:
    number = event.round
    if number > len(state.rounds):
        made = Round(number, event.stage, event.starts, event.deadline, (), tuple(event.byes))
        state.rounds.append(made)
        state.change_stage(event.stage, rounds=(*state.stages[event.stage].rounds, number))
    else:
        state.change_round(number, deadline=event.deadline, closed=False, published=False)
    state.redo = frozenset()
    _call(state, at, number, event.bouts, event.starts)


def _repair(state: State, at: int, event: ev.Repaired) -> None:
    former = state.rounds[event.round - 1]
    for each in former.matches:
        _discard(state, at, each)
    state.change_round(event.round, byes=tuple(event.byes), starts=event.starts)
    state.repair, state.redo = False, frozenset()
    _call(state, at, event.round, event.bouts, event.starts)


def _call(state: State, at: int, number: int, bouts: Iterable[ev.Bout], starts: int) -> None:
    on = state.rounds[number - 1]
    ids = list(on.matches)
    for bout in bouts:
        match_id = f"{number}.{len(ids) + 1}"
        ids.append(match_id)
        state.matches[match_id] = Match(
            id=match_id,
            stage=on.stage,
            group=bout.group,
            round=number,
            slot=bout.slot,
            entries=tuple(bout.p),
            why=bout.why,
            lost=tuple(bout.out),
        )
        state.open[match_id] = None
        if bout.room:
            _call_race(state, match_id, bout.room, bout.deal, starts)
        else:
            settle(state, at, match_id)
    state.change_round(number, matches=tuple(ids))


def _close(state: State, at: int, number: int) -> None:
    state.change_round(number, closed=True)
    for each in list(state.open):
        if state.matches[each].round == number:
            state.change_match(each, closed=True)
            settle(state, at, each)


def delay(state: State, since: int, ms: int) -> None:
    """Move what is still to come of the rounds that are on: starts, races, deadlines."""
    for number in {state.stage.rounds[-1], *(state.matches[each].round for each in state.open)}:
        on = state.rounds[number - 1]
        deadline = on.deadline
        state.change_round(
            number,
            starts=_later(on.starts, since, ms),
            deadline=_later(deadline, since, ms) if deadline is not None else None,
        )
    for each in state.open:
        race = state.matches[each].race
        if race is not None:
            starts = _later(race.starts, since, ms)
            _change_race(state, each, race.number, starts=starts)


def put_off(state: State, matches: Iterable[str], ms: int) -> None:
    """Let some matches start later, and the rounds that they are of end later."""
    late = [state.matches[each] for each in matches]
    for match in late:
        if match.race is not None:
            _change_race(state, match.id, match.race.number, starts=match.race.starts + ms)
    for number in {match.round for match in late}:
        deadline = state.rounds[number - 1].deadline
        if deadline is not None:
            state.change_round(number, deadline=deadline + ms)


def _later(instant: int, since: int, ms: int) -> int:
    return instant + ms if instant > since else instant


# --- races and results ----------------------------------------------------------------


def _call_race(state: State, match_id: str, room: str, deal: str, starts: int) -> None:
    match = state.matches[match_id]
    players = tuple(state.entries[entry].player for entry in match.entries)
    race = Race(len(match.races) + 1, room, deal, starts, players)
    state.change_match(match_id, races=(*match.races, race))


def _change_race(state: State, match_id: str, number: int, /, **changes: object) -> None:
    races = list(state.matches[match_id].races)
    races[number - 1] = replace(races[number - 1], **changes)
    state.change_match(match_id, races=tuple(races))


def _race(state: State, at: int, event: ev.Raced) -> None:
    _change_race(state, event.match, event.race, rows=tuple(event.rows), state="raced")
    for row in event.rows:
        if state.entries[row.p].absences:
            state.change_entry(row.p, absences=0)
    settle(state, at, event.match)


def give_up(state: State, at: int, match_id: str, entries: Sequence[str]) -> None:
    """Let some lose an open match, and see what becomes of it."""
    lost = state.matches[match_id].lost
    new = tuple(entry for entry in entries if entry not in lost)
    state.change_match(match_id, lost=(*lost, *new))
    settle(state, at, match_id)


def settle(state: State, at: int, match_id: str) -> None:
    """Decide a match if it can be decided."""
    match = state.matches[match_id]
    result = state.outcome(match)
    if result is not None:
        state.change_match(match_id, result=result)
        state.open.pop(match_id, None)
        state.free(match.entries, at)


# --- rulings --------------------------------------------------------------------------


def ruled(places: Iterable[Iterable[str]]) -> tuple[tuple[str, int], ...]:
    """Give places to groups of equals, best first."""
    result: list[tuple[str, int]] = []
    for equals in places:
        first = len(result) + 1
        result += [(entry, first) for entry in equals]
    return tuple(result)


def _rule(state: State, at: int, event: ev.MatchVoided | ev.Overridden, result: Result) -> None:
    match = state.change_match(event.match, result=result)
    state.open.pop(event.match, None)
    state.free(match.entries, at)
    _follow(state, at, event)


def _restart(state: State, at: int, event: ev.MatchRestarted) -> None:
    match = state.matches[event.match]
    races = tuple(replace(race, state="void") for race in match.races)
    lost = tuple(entry for entry in match.entries if not state.entries[entry].is_in)
    state.change_match(match.id, races=races, lost=lost, result=None, closed=False, failed=0)
    state.open[match.id] = None
    _follow(state, at, event)


def _follow(
    state: State, at: int, event: ev.MatchVoided | ev.Overridden | ev.MatchRestarted
) -> None:
    if state.phase == "finished":
        state.phase, state.over_why = "running", ""
    del state.stages[event.stage + 1 :]
    state.change_stage(event.stage, ended=None)
    if state.round is not None:
        state.change_round(state.round.number, published=False)  # what has changed is held anew
    for each in event.discards:
        _discard(state, at, each)
    gone = [state.matches[each] for each in event.discards]
    slots = {(match.group, match.slot) for match in gone if match.stage == event.stage}
    state.redo |= {slot for slot in slots if slot[1]}
    state.repair = state.repair or any(not slot for _, slot in slots)


def _discard(state: State, at: int, match_id: str) -> None:
    match = state.change_match(match_id, discarded=True)
    state.open.pop(match_id, None)
    state.free(match.entries, at)
