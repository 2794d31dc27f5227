"""When things are to happen, as far as it is known."""

from collections.abc import Iterator

from msgspec import Struct

from server.tournament.records import Round
from server.tournament.state import State


class ScheduleLine(Struct, frozen=True, kw_only=True):
    """Something with an instant; by the tournament's clock."""

    what: str  # check-in, start, round, match, deadline, arena-end
    at: int
    text: str


def schedule(state: State) -> list[ScheduleLine]:
    """Give what was and what is to come, in order of time."""
    return sorted(_lines(state), key=lambda line: line.at)


def late(state: State, on: Round) -> list[tuple[str, int]]:
    """Give the open matches that start later than their round, as after a ruling."""
    starts = state.starts(on)
    return [(each, own) for each, own in state.unstarted(starts).items() if each in on.matches]


def _lines(state: State) -> Iterator[ScheduleLine]:
    if state.begun_at is not None:
        yield ScheduleLine(what="start", at=state.begun_at, text="The tournament started.")
    elif state.start_at is not None:
        yield from _before(state, state.start_at)
    for on in state.rounds:
        if not state.format(on.stage).on_clock:
            starts = state.starts(on)
            yield ScheduleLine(what="round", at=starts, text=f"Round {on.number} starts.")
            for match, own in late(state, on):
                yield ScheduleLine(what="match", at=own, text=f"Match {match} starts.")
    on_now = state.round
    if state.is_on and on_now is not None and on_now.deadline is not None:
        text = f"Round {on_now.number} has to be over."
        yield ScheduleLine(what="deadline", at=on_now.deadline, text=text)
    for stage in state.stages:
        if stage.ends is not None:
            yield ScheduleLine(what="arena-end", at=stage.ends, text="Pairing stops.")


def _before(state: State, starts: int) -> Iterator[ScheduleLine]:
    if state.settings.check_in_s is not None:
        opens = starts - 1000 * state.settings.check_in_s
        yield ScheduleLine(what="check-in", at=opens, text="Check-in opens.")
    yield ScheduleLine(what="start", at=starts, text="The tournament starts.")
