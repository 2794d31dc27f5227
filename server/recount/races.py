"""Whether the results of a tournament are those of its races."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from server import verify
from server.recount.journal import Refolded
from server.results import rows
from server.tournament import events as ev
from server.tournament.acts import decide_raced
from server.tournament.tournament import Tournament


@dataclass
class Races:
    """What the replays say."""

    checked: int = 0
    missing: list[str] = field(default_factory=list)  # rooms without a replay
    faults: list[str] = field(default_factory=list)


def check_races(found: Refolded, replays: Mapping[str, str]) -> Races:
    """Replay every race that counts and hold its standings against the journal."""
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
    return result


def _fault_of(t: Tournament, room: str, event: ev.Raced, text: str) -> str | None:
    try:
        verdict = verify.check(*verify.read(text))
    except verify.Unreadable as error:
        return str(error)
    if verdict.faults:
        return verdict.faults[0]
    race = verdict.race
    called = t.matches[event.match].race
    assert called is not None
    if (race.room, race.tournament, race.match) != (room, t.code, f"{event.match}/{event.race}"):
        return f"it is of room {race.room}, match {race.match} of tournament {race.tournament}"
    if race.deal != called.deal:
        return f"it was raced on the deal {race.deal}, not on {called.deal}"
    if event not in decide_raced(t, event.match, event.race, rows(race)):
        return "the journal has other results"
    return None
