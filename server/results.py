"""The result of a race, as tournaments count it."""

from server.race import Race
from server.standings import standings
from server.tournament import events as ev

CUT_SHORT = "the store was away, or the servers were, before everybody had played"


def rows(race: Race) -> list[ev.Row]:
    """Give the rows of a race's standings; who never played was not there."""
    return [
        ev.Row(
            p=line.player,
            place=line.place,
            outcome=line.outcome,
            cards=line.cards,
            down=line.down,
            time_ms=line.finished_ms if line.finished_ms is not None else line.reached_ms,
        )
        for line in standings(race)
        if race.racers[line.player].n or line.outcome == "resigned"
    ]


def absent_at(race: Race, since: int, no_show_s: int) -> int:
    """Give the instant at which who has not played in a race that runs is absent.

    `since` is from when on it is known that everybody could play.
    """
    return max(race.started_at or 0, since) + 1000 * no_show_s


def excuse(race: Race, since: int, no_show_s: int) -> str:
    """Say why nobody was absent from a race that is over; empty where somebody may have been."""
    could_play = race.started_at is None or since <= race.started_at
    return "" if could_play or race.at >= absent_at(race, since, no_show_s) else CUT_SHORT
