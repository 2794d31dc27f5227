"""What is written beside a room's events: the summary, its instants, its lifetime."""

from collections.abc import Sequence

from server import events as ev
from server import referee
from server.race import Race
from server.racer import Racer
from server.store import keys


def not_before(events: Sequence[ev.AnyEvent]) -> str | None:
    """Give the field of the summary whose instant the store's clock must have reached."""
    match events[0]:
        case ev.Started():
            return "start"
        case ev.Over(why="time"):
            return "deadline"
        case _:
            return None


def offsets(events: Sequence[ev.AnyEvent], after: Race) -> dict[str, int]:
    """Give the instants that count from the official time of these events."""
    locked = next((event for event in events if isinstance(event, ev.Locked)), None)
    if locked is None:
        return {}
    limit = after.settings.time_limit_s * 1000
    return {"start": locked.countdown_ms, "deadline": locked.countdown_ms + limit}


def told(events: Sequence[ev.AnyEvent], race: Race) -> dict[str, int]:
    """Give the timer of the tournament whose race these events end."""
    if race.tournament and any(isinstance(event, ev.Over) for event in events):
        return {keys.match_timer(race.tournament, race.match): 0}
    return {}


def lifetime_s(race: Race, now: int) -> int:
    """Give how long a room's journal is kept from now on if nothing more happens."""
    if race.phase == "over":
        return keys.FINISHED_S if race.started_at is not None else keys.ABORTED_S
    due = referee.next_due(race) or now
    return keys.UNSTARTED_S + max(0, due - now) // 1000


def summary_of(race: Race) -> dict[str, str]:
    """Give the fields of the summary hash that room events keep up to date."""
    host = race.racers.get(race.host)
    fields = {
        "phase": race.phase,
        "title": race.settings.title,
        "rules": race.settings.rules,
        "taken": str(len(race.racers)),
        "seats": str(race.settings.seats),
        "host": host.name if host is not None else "",
        "spectators": race.settings.spectators,
        "opened": str(race.opened_at),
    }
    for racer in race.racers.values():
        if racer.is_done:
            fields[keys.done_field(racer.id)] = racer.outcome
    return fields


def play_summary(race: Race, racer: Racer, event: ev.Played | ev.Undone) -> dict[str, str]:
    """Give the fields that a play brings up to date, which the referee has just allowed.

    How far a player is, is read by who shows a tournament's races without following them.
    """
    if isinstance(event, ev.Played) and racer.ahead is not None:
        _, cards, down = racer.ahead[2]
    else:
        _, cards, down = racer.count(racer.former[-1])
    fields = {}
    if race.tournament:
        fields[keys.score_field(racer.id)] = f"{cards},{down},{racer.moves + 1}"
    if cards == race.rules.cards:
        fields[keys.done_field(racer.id)] = "solved"
    return fields
