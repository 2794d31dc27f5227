"""The order of a race (docs/rules.md, "The order of a race")."""

from server.race import Race
from server.racer import Racer
from wire.values import Standing

# Who is ranked before whom whatever the cards: solved, still racing, gave up, put out.
_CLASS = {"solved": 0, "playing": 1, "unfinished": 1, "resigned": 2, "disqualified": 3}


def rank_key(race: Race, racer: Racer) -> tuple[int, int, int, int]:
    """Give the sort key; equal keys are equal places."""
    group = _CLASS[racer.outcome]
    if racer.outcome == "solved":
        return (group, race.since_start(racer.done_at or 0), 0, 0)
    return (group, -racer.cards, racer.down, race.since_start(racer.reached_at))


def standings(race: Race) -> list[Standing]:
    """Give the lines of the standings, best first; equal places skip the next."""
    keyed = sorted(
        ((rank_key(race, racer), racer) for racer in race.racers.values()),
        key=lambda pair: pair[0],
    )
    lines: list[Standing] = []
    for index, (key, racer) in enumerate(keyed):
        place = lines[-1].place if index and keyed[index - 1][0] == key else index + 1
        solved = racer.outcome == "solved" and racer.done_at is not None
        lines.append(
            Standing(
                player=racer.id,
                name=racer.name,
                bot=racer.bot,
                place=place,
                outcome=racer.outcome,
                cards=racer.cards,
                down=racer.down,
                score=race.score(racer),
                moves=racer.moves,
                undos=racer.undos,
                finished_ms=race.since_start(racer.done_at or 0) if solved else None,
                reached_ms=race.since_start(racer.reached_at),
            )
        )
    return lines
