"""A tournament as one player sees it: the way so far, and what comes next."""

from msgspec import Struct

from server.tournament.records import Entry, Match
from server.tournament.state import State
from server.tournament.views.rounds import ByeView, MatchView, match_view


class Next(Struct, frozen=True, kw_only=True):
    """What a player has to do next, or waits for."""

    kind: str  # race, wait, check-in, register, out, over
    text: str
    match: str = ""
    room: str = ""  # to be called to
    starts: int | None = None


class PathView(Struct, frozen=True, kw_only=True):
    """A player's way through a tournament."""

    entry: str
    name: str
    status: str
    matches: list[MatchView]  # as they were called, without discarded ones
    byes: list[ByeView]
    next: Next


def path(state: State, player: str) -> PathView | None:
    """Give a player's way; None for somebody without a place."""
    entry = state.entries.get(state.people.get(player, ""))
    if entry is None:
        return None
    own = [m for m in state.matches.values() if entry.id in m.entries and not m.discarded]
    byes = [
        ByeView(entry=bye.p, name=entry.name, why=bye.why, kind=bye.kind)
        for on in state.rounds
        for bye in on.byes
        if bye.p == entry.id
    ]
    return PathView(
        entry=entry.id,
        name=entry.name,
        status=entry.status,
        matches=[match_view(state, match) for match in own],
        byes=byes,
        next=_next(state, entry, player, own),
    )


def _next(state: State, entry: Entry, player: str, own: list[Match]) -> Next:
    if entry.player != player:
        return Next(kind="out", text="Somebody else plays in your place.")
    if not entry.is_in:
        return Next(kind="out", text=f"You are {entry.status}.")
    if state.is_over:
        return Next(kind="over", text=f"The tournament is over: {state.over_why}.")
    if not state.is_on:
        return _before(state, entry)
    for match in own:
        race = match.race
        is_called = match.is_open and race is not None and player in race.players
        if race is not None and is_called and entry.id not in match.lost:
            return Next(
                kind="race",
                text=f"Match {match.id}, race {race.number}: {match.why}.",
                match=match.id,
                room=race.room,
                starts=race.starts,
            )
    return Next(kind="wait", text=_waits(state, own))


def _before(state: State, entry: Entry) -> Next:
    if state.phase == "check-in" and not entry.checked:
        return Next(kind="check-in", text="Check in now.", starts=state.start_at)
    return Next(kind="wait", text="The tournament has not started.", starts=state.start_at)


def _waits(state: State, own: list[Match]) -> str:
    if state.phase == "paused":
        return "The tournament is paused."
    if any(match.is_open for match in own):
        return "The next race of your match is about to be called."
    if state.format(state.stage.number).on_clock if state.stages else False:
        return "You wait to be paired."
    left = len(state.open)
    if left:
        return f"The round is on: {left} {'match is' if left == 1 else 'matches are'} not decided."
    return "The next round is about to be called."
