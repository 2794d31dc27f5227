"""Single elimination: out with the first loss; the semi-finals' losers may play for third."""

from collections.abc import Iterator
from functools import lru_cache

from server.tournament.formats.bracket import depth, round_name
from server.tournament.formats.elimination import elimination, winners_round
from server.tournament.formats.slots import Box, loser
from server.tournament.records import Field
from server.tournament.settings import Single

_STEP = 4  # tiers between rounds: room for the match for third place


@lru_cache(maxsize=64)
def boxes(players: int, third_place: bool) -> tuple[Box, ...]:
    """Give the bracket for a number of players."""
    rounds = depth(players)
    made = [box for number in range(1, rounds + 1) for box in _round(rounds, number)]
    if third_place and players > 3:
        sides = (loser(f"W{rounds - 1}.1"), loser(f"W{rounds - 1}.2"))
        tier = _STEP * rounds - 2
        made.append(
            Box("P1.1", "third", rounds, 1, sides, tier, last=True, name="match for third place")
        )
    return tuple(made)


def _round(rounds: int, number: int) -> Iterator[Box]:
    name, last = round_name(2 ** (rounds - number)), number == rounds
    for i, sides in winners_round(rounds, number):
        yield Box(f"W{number}.{i}", "winners", number, i, sides, _STEP * number, last, name)


def _boxes(field: Field) -> tuple[Box, ...]:
    assert isinstance(field.spec.play, Single)
    return boxes(len(field.order), field.spec.play.third_place)


SINGLE = elimination("single elimination", _boxes, end="the final is played")
