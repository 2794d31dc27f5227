"""Whether the results of a tournament are those of its races."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from server import verify
from server.race import Race
from server.recount.journal import Refolded
from server.results import rows
from server.tournament import events as ev
from server.tournament.acts import decide_raced
from server.tournament.tournament import Tournament


@dataclass
class Races:
    """What the replays say."""

    checked: int = 0
    spare: int = 0  # replays of races that a ruling has discarded, sound by themselves
    missing: list[str] = field(default_factory=list)  # rooms without a replay
    faults: list[str] = field(default_factory=list)


def check_races(found: Refolded, replays: Mapping[str, str]) -> Races:
    """Replay every race; of those that have a result in the journal it has to be the same."""
    result = Races()
    for room, event, t in found.races:
        if room not in replays:
            result.missing.append(room)
            continue
        fault = _fault_of(t, room, event, replays[room])
        if fault is None:
            result.checked += 1
        else:
            result.faults.append(
                f"match {event.match}, race {event.race} (replays/{room}.replay): {fault}"
            )
    for room in replays.keys() - {room for room, _, _ in found.races}:
        race = _replayed(replays[room])
        fault = race if isinstance(race, str) else _elsewhere(race, room, found.t)
        if fault is None:
            result.spare += 1
        else:
            result.faults.append(f"replays/{room}.replay, a race without a result: {fault}")
    return result


def _replayed(text: str) -> Race | str:
    """Give a race as its replay tells it, or what is wrong with that."""
    try:
        verdict = verify.check(*verify.read(text))
    except verify.Unreadable as error:
        return str(error)
    return verdict.faults[0] if verdict.faults else verdict.race


def _elsewhere(race: Race, room: str, t: Tournament) -> str | None:
    if (race.room, race.tournament) == (room, t.code):
        return None
    return f"it is of room {race.room} of tournament {race.tournament}"


def _fault_of(t: Tournament, room: str, event: ev.Raced, text: str) -> str | None:
    race = _replayed(text)
    if isinstance(race, str):
        return race
    called = t.matches[event.match].race
    assert called is not None
    if (race.room, race.tournament, race.match) != (room, t.code, f"{event.match}/{event.race}"):
        return f"it is of room {race.room}, match {race.match} of tournament {race.tournament}"
    if race.deal != called.deal:
        return f"it was raced on the deal {race.deal}, not on {called.deal}"
    if event not in decide_raced(t, event.match, event.race, rows(race)):
        return "the journal has other results"
    return None
