"""Ratings by OpenSkill: the Plackett-Luce model, over races of any size.

Source: Weng and Lin, "A Bayesian Approximation Method for Online Ranking", JMLR 12 (2011),
algorithm 4, with the package's own constants.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from openskill.models import PlackettLuce

MU = 25.0
SIGMA = MU / 3

# The shown scale: a newcomer stands at 1500, give or take 350.
SHOWN_START = 1500
SHOWN_PER_MU = 42
SHOWN_FLOOR = 100

# Few races, or a wide spread, and the number may still be far off.
PROVISIONAL_RACES = 10
PROVISIONAL_SIGMA = 5.0

# Decimals that are kept: fewer than two mathematical libraries differ in, so that every node
# and every later check comes to the same rating.
DECIMALS = 6


@dataclass(frozen=True)
class Rating:
    """What is known of a player's strength: the estimate, its spread, and from how many races."""

    mu: float = MU
    sigma: float = SIGMA
    races: int = 0

    @property
    def shown(self) -> int:
        """The number for people, on a scale where a newcomer has 1500."""
        return max(SHOWN_FLOOR, round(SHOWN_START + SHOWN_PER_MU * (self.mu - MU)))

    @property
    def is_provisional(self) -> bool:
        """Whether the number still carries a question mark."""
        return self.races < PROVISIONAL_RACES or self.sigma > PROVISIONAL_SIGMA

    def text(self) -> str:
        """Returns the number with its mark: 1613 or 1613?."""
        return f"{self.shown}?" if self.is_provisional else str(self.shown)


NEWCOMER = Rating()


def rate(before: Mapping[str, Rating], places: Mapping[str, int]) -> dict[str, Rating]:
    """Returns the ratings after one race of everybody in `places`, where 1 is the best.

    Only the order of the places counts, and equal ones are ties. The order in which either
    mapping runs is no matter. A race of fewer than two changes nothing.
    """
    if missing := sorted(places.keys() - before.keys()):
        raise ValueError(f"no rating before the race is given for {', '.join(missing)}")
    if len(places) < 2:
        return {player: before[player] for player in places}
    players = sorted(places, key=lambda player: (places[player], player))
    model = _model()
    rated = model.rate(
        [[model.rating(mu=before[player].mu, sigma=before[player].sigma)] for player in players],
        ranks=[float(places[player]) for player in players],
    )
    return {
        player: Rating(
            mu=round(after.mu, DECIMALS),
            sigma=round(after.sigma, DECIMALS),
            races=before[player].races + 1,
        )
        for player, [after] in zip(players, rated, strict=True)
    }


@cache
def _model() -> PlackettLuce:
    return PlackettLuce(mu=MU, sigma=SIGMA)
