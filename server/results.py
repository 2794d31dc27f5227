"""The result of a race, as tournaments count it."""

from server.race import Race
from server.standings import standings
from server.tournament import events as ev


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
