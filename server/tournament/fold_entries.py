"""The fold of what happens to places: who comes, goes, is put out and comes back."""

from typing import assert_never

from server.tournament import events as ev
from server.tournament import fold_matches
from server.tournament.events import Bye
from server.tournament.records import Entry, Status
from server.tournament.state import State

EntryEvent = (
    ev.Entered | ev.Withdrawn | ev.Rejoined | ev.Disqualified | ev.Reinstated | ev.Substituted
)


def fold(state: State, at: int, event: EntryEvent) -> None:
    """Change the state as an event says."""
    match event:
        case ev.Entered():
            _enter(state, at, event)
        case ev.Withdrawn():
            _withdraw(state, at, event)
        case ev.Rejoined():
            pauses = state.entries[event.p].pauses + 1
            state.change_entry(
                event.p, status="in", pauses=pauses, absences=0, back_at=at, free_at=at
            )
        case ev.Disqualified():
            _put_out(state, at, event.p, "disqualified")
        case ev.Reinstated():
            state.change_entry(event.p, status="in", absences=0, free_at=at)
        case ev.Substituted():
            state.people[event.player] = event.p
            state.change_entry(event.p, player=event.player, name=event.name)
        case _:
            assert_never(event)


def remove(state: State, entry: str) -> None:
    """Free a place before anything was played on it."""
    del state.entries[entry]
    state.people = {who: place for who, place in state.people.items() if place != entry}


def _enter(state: State, at: int, event: ev.Entered) -> None:
    state.entries[event.p] = Entry(
        event.p, event.p, event.name, event.rating, event.bot, checked=event.checked, free_at=at
    )
    state.people[event.p] = event.p
    if state.is_on and state.stages:
        _come_late(state, event)


def _come_late(state: State, event: ev.Entered) -> None:
    stage = state.stage
    state.change_stage(stage.number, groups=((*stage.groups[0], event.p), *stage.groups[1:]))
    if state.round is not None and event.bye != "none":
        bye = Bye(p=event.p, why="late entry", kind=event.bye)
        state.change_round(state.round.number, byes=(*state.round.byes, bye))


def _withdraw(state: State, at: int, event: ev.Withdrawn) -> None:
    if state.is_on:
        _put_out(state, at, event.p, "withdrawn")
    else:
        remove(state, event.p)


def _put_out(state: State, at: int, entry: str, status: Status) -> None:
    state.change_entry(entry, status=status)
    for each in list(state.open):
        if entry in state.matches[each].entries:
            fold_matches.give_up(state, at, each, [entry])
