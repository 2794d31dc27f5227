"""The races that are called: all that is needed to open their rooms and seat their players."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from server.tournament.records import Match, Race
from server.tournament.state import State
from wire.values import Settings


@dataclass(frozen=True, slots=True)
class Call:
    """A race to be run: the room opens at once, the race starts at `settings.start_at`.

    A pause or an extension moves `settings.start_at`: go by the newest call, not by what
    the room was opened with.
    """

    match: str
    race: int
    room: str
    deal: str
    settings: Settings
    players: tuple[tuple[str, str], ...]  # id and name, without those who have left
    no_show_s: int


def calls(state: State) -> list[Call]:
    """Give every race that is called and has no result yet."""
    return list(_calls(state)) if state.is_on else []


def call_of(state: State, match_id: str) -> Call | None:
    """Give the race of a match that is called and has no result yet, if there is one."""
    match = state.matches.get(match_id)
    if match is None or match.race is None or not match.is_open or not state.is_on:
        return None
    return _call(state, match, match.race)


def _calls(state: State) -> Iterator[Call]:
    for each in state.open:
        match = state.matches[each]
        if match.race is not None:
            yield _call(state, match, match.race)


def _call(state: State, match: Match, race: Race) -> Call:
    seats = [
        (player, state.entries[entry].name)
        for player, entry in zip(race.players, match.entries, strict=True)
        if entry not in match.lost
    ]
    settings = msgspec.structs.replace(
        state.settings.race,
        title=f"{state.settings.title or state.code} {match.id}"[:40],
        seats=max(1, len(seats)),
        start="time",
        start_at=race.starts,
        seed=seed_of(state, race),
        public=False,
    )
    return Call(
        match.id,
        race.number,
        race.room,
        race.deal,
        settings,
        tuple(seats),
        state.settings.no_show_s,
    )


def seed_of(state: State, race: Race) -> str | None:
    """Give a race's public seed; None for a fair deal."""
    if state.settings.deals.source == "fair":
        return None
    return f"{state.settings.deals.seed} {race.deal.removeprefix(state.code + '.')}"


def is_deal_over(state: State, deal: str) -> bool:
    """Whether nobody plays a deal any more, so that it may be shown."""
    return not any(
        race.deal == deal and race.state == "called"
        for each in state.open
        for race in state.matches[each].races
    )
