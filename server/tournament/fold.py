"""The fold of a tournament: what each event makes of the state."""

from typing import assert_never

from server.journaling import NewerFormat
from server.tournament import events as ev
from server.tournament import fold_entries, fold_matches
from server.tournament.records import Stage
from server.tournament.state import State


def fold(state: State, at: int, event: ev.AnyEvent) -> None:
    """Change the state as an event says."""
    match event:
        case ev.Created():
            _create(state, at, event)
        case ev.Edited():
            _set(state, event)
        case ev.CheckInOpened():
            state.phase, state.checked_in = "check-in", True
        case ev.CheckInClosed():
            state.phase = "draft"
        case ev.CheckedIn():
            state.change_entry(event.p, checked=True)
        case ev.Seeded():
            state.seeding, state.listed, state.draw = event.method, tuple(event.order), event.draw
        case ev.Paused():
            state.phase, state.paused_at = "paused", at
        case ev.Resumed():
            _resume(state, at)
        case ev.Extended():
            _extend(state, at, event)
        case ev.Held():
            state.hold = event.hold
        case ev.Published():
            state.change_round(event.round, published=True)
        case ev.Announced():
            state.announced.append((at, event.text))
        case ev.TokenRenewed() | ev.Summoned():
            pass  # for the player, and for the audit log
        case ev.StageEnded():
            state.change_stage(event.stage, ended=event.why)
        case ev.Finished():
            state.phase, state.over_why = "finished", event.why
        case ev.Cancelled():
            state.phase, state.over_why = "cancelled", event.why
            state.open.clear()
        case ev.Begun():
            _begin(state, at, event)
        case ev.StageOpened():
            _open_stage(state, at, event)
        case (
            ev.Entered()
            | ev.Withdrawn()
            | ev.Rejoined()
            | ev.Disqualified()
            | ev.Reinstated()
            | ev.Substituted()
        ):
            fold_entries.fold(state, at, event)
        case _:
            fold_matches.fold(state, at, event)


def _create(state: State, at: int, event: ev.Created) -> None:
    if event.format > ev.FORMAT:
        raise NewerFormat(
            f"the journal of tournament {event.code} has format {event.format}; "
            f"this server reads up to {ev.FORMAT}: update it"
        )
    state.opened_at = at
    state.code = event.code
    _set(state, event)


def _set(state: State, event: ev.Created | ev.Edited) -> None:
    state.settings = event.settings
    state.start_at = event.settings.start_at
    state.hold = event.settings.hold
    state.seeding, state.draw = event.settings.seeding, event.settings.draw


def _begin(state: State, at: int, event: ev.Begun) -> None:
    for gone in event.dropped:
        fold_entries.remove(state, gone.p)
    state.phase, state.begun_at = "running", at
    for entry in state.entries:
        state.change_entry(entry, free_at=at)


def _open_stage(state: State, at: int, event: ev.StageOpened) -> None:
    groups = tuple(tuple(group) for group in event.groups)
    state.stages.append(Stage(event.stage, groups, len(groups[0]), at, event.ends))
    state.redo, state.repair = frozenset(), False


def _resume(state: State, at: int) -> None:
    since, state.paused_at = state.paused_at, None
    assert since is not None
    state.phase = "running"
    if state.stages and state.stage.ends is not None:
        state.change_stage(state.stage.number, ends=_later(state.stage.ends, since, at - since))
    if state.round is not None:
        fold_matches.delay(state, since, at - since)


def _later(instant: int, since: int, ms: int) -> int:
    return instant + ms if instant > since else instant


def _extend(state: State, at: int, event: ev.Extended) -> None:
    match event.what:
        case "start":
            assert state.start_at is not None
            state.start_at += event.ms
        case "round-start":
            assert state.round is not None
            if at < state.round.starts:
                fold_matches.delay(state, state.round.starts - 1, event.ms)
            else:  # it has started, but for matches that are called anew
                fold_matches.put_off(state, state.unstarted(at), event.ms)
        case "round":
            assert state.round is not None
            assert state.round.deadline is not None
            state.change_round(state.round.number, deadline=state.round.deadline + event.ms)
        case "arena":
            assert state.stage.ends is not None
            state.change_stage(state.stage.number, ends=state.stage.ends + event.ms)
        case _:
            assert_never(event.what)
