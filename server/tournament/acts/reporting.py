"""What whoever runs the races reports: results, absences, rooms that failed."""

from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from server.tournament import events as ev
from server.tournament.records import Match, Race
from server.tournament.series import is_last
from server.tournament.state import State

LAPSE: Final = "The server's store lost its last moments"
LOOK: Final = "Whoever has just entered, left or ruled, please look whether it still stands."
LAPSE_MS: Final = 60_000  # nodes that notice one loss do so within it


def decide_raced(
    state: State, match_id: str, race: int, rows: Iterable[ev.Row], *, excuse: str = ""
) -> list[ev.AnyEvent]:
    """Record a race's standings, given by player; nothing if it is recorded or counts no more.

    Who is missing in them was absent; with an `excuse` for it the race is void.
    """
    match, on = _on(state, match_id, race)
    if match is None or on is None:
        return []
    entry_of = dict(zip(on.players, match.entries, strict=True))
    lines = [
        msgspec.structs.replace(row, p=entry_of[row.p])
        for row in rows
        if row.p in entry_of and entry_of[row.p] not in match.lost
    ]
    there = {line.p for line in lines}
    absent = [entry for entry in match.entries if entry not in there and entry not in match.lost]
    if absent and excuse:
        return decide_race_void(state, match_id, race, excuse)
    if not lines:
        return _absent(state, match, race, absent)
    found: list[ev.AnyEvent] = []
    if absent:
        found += _absent(state, match, race, absent)
        left = [entry for entry in match.entries if entry in there]
        if len(left) < 2 and not state.format(match.stage).alone:
            return found  # that has decided it
    return [*found, ev.Raced(match=match_id, race=race, rows=lines)]


def decide_no_show(
    state: State, match_id: str, race: int, *, now: int, started_at: int, played: Collection[str]
) -> list[ev.AnyEvent]:
    """Find who has not played within the limit; nothing if all have, or before the limit.

    `started_at` is the official start of the race, `played` the players with a play in it.
    The match is lost for whoever is absent; the others win it, or race on if they are
    several. Too many absences in a row, or nobody there in a knock-out match, withdraw.
    """
    match, on = _on(state, match_id, race)
    if match is None or on is None or now < started_at + 1000 * state.settings.no_show_s:
        return []
    seats = zip(on.players, match.entries, strict=True)
    absent = [entry for player, entry in seats if player not in played and entry not in match.lost]
    return _absent(state, match, race, absent)


def _absent(state: State, match: Match, race: int, absent: list[str]) -> list[ev.AnyEvent]:
    if not absent:
        return []
    found: list[ev.AnyEvent] = [
        ev.Absent(match=match.id, race=race, p=absent, why="was not there to play")
    ]
    nobody = len(absent) + len(match.lost) == len(match.entries)
    gone = nobody and state.format(match.stage).knock_out
    for entry in absent:
        if gone:
            found.append(ev.Withdrawn(p=entry, why="nobody played in a knock-out match"))
        elif state.entries[entry].absences + 1 >= state.settings.no_shows:
            found.append(ev.Withdrawn(p=entry, why="absent too often in a row"))
    return found


def decide_race_void(state: State, match_id: str, race: int, why: str) -> list[ev.AnyEvent]:
    """Give up a race that came to nothing; it is raced again on a new deal."""
    match, on = _on(state, match_id, race)
    if match is None or on is None:
        return []
    return [ev.RaceVoided(match=match_id, race=race, why=why, last=is_last(match))]


def decide_lapse(state: State, *, known: int, version: int, now: int) -> list[ev.AnyEvent]:
    """Tell everybody that the store has lost entries; nothing where that has just been told.

    It stood at entry `known`, and then at `version`.
    """
    if any(is_lapse(text) and now - at < LAPSE_MS for at, text in state.announced):
        return []
    text = f"{LAPSE}: the record went back from entry {known} to {version}. {LOOK}"
    return [ev.Announced(text=text)]


def is_lapse(text: str) -> bool:
    """Whether an announcement is one of those that `decide_lapse` makes."""
    return text.startswith(LAPSE) and text.endswith(LOOK)


def _on(state: State, match_id: str, race: int) -> tuple[Match | None, Race | None]:
    match = state.matches.get(match_id)
    if match is None or not match.is_open or match.race is None or match.race.number != race:
        return None, None
    return match, match.race
