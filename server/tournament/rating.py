"""Ratings by OpenSkill: the Plackett-Luce model, over races of any size.

Source: Weng and Lin, "A Bayesian Approximation Method for Online Ranking", JMLR 12 (2011),
algorithm 4, with the package's own constants.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, groupby
from math import fsum, sqrt

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

# How many finishes are tried in a tie, all players together: a race of hundreds who never made
# a move ends in one tie, and then two for each are near enough.
FINISHES_TRIED = 96


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

# A strength as the model takes it: mu and sigma.
_Strength = tuple[float, float]


def rate(before: Mapping[str, Rating], places: Mapping[str, int]) -> dict[str, Rating]:
    """Returns the ratings after one race of everybody in `places`, where 1 is the best.

    Only the order of the places counts, and equal ones are ties. The order in which either
    mapping runs is no matter. A race of fewer than two changes nothing.
    """
    if missing := sorted(places.keys() - before.keys()):
        raise ValueError(f"no rating before the race is given for {', '.join(missing)}")
    if len(places) < 2:
        return {player: before[player] for player in places}
    after = _untied(before, places) | _tied(before, places)
    return {
        player: Rating(round(mu, DECIMALS), round(sigma, DECIMALS), before[player].races + 1)
        for player, (mu, sigma) in sorted(after.items())
    }


# --- ties --------------------------------------------------------------------------------
#
# A tie is the mean of all the finishes it stands for (docs/decisions/0011-ties-in-ratings.md).
# The package has a way of its own, which counts all who tie as one finisher: then whoever comes
# third behind two winners gains more than they do. For the finishes of one player, the others
# of each tie count as players of its mean strength, so that their order is no matter.


def _tiers(places: Mapping[str, int]) -> list[list[str]]:
    """Returns the players by place, each tier by name."""
    ordered = sorted(places, key=lambda player: (places[player], player))
    return [list(tier) for _, tier in groupby(ordered, key=lambda player: places[player])]


def _untied(before: Mapping[str, Rating], places: Mapping[str, int]) -> dict[str, _Strength]:
    """Returns the strengths after the race of those who share their place with nobody."""
    tiers = _tiers(places)
    finish = [strength for tier in tiers for strength in _blurred(tier, before)]
    after = _finished(finish)
    ends = accumulate(len(tier) for tier in tiers)
    return {
        tier[0]: after[end - 1] for tier, end in zip(tiers, ends, strict=True) if len(tier) == 1
    }


def _tied(before: Mapping[str, Rating], places: Mapping[str, int]) -> dict[str, _Strength]:
    """Returns the strengths after the race of those who share their place."""
    after: dict[str, _Strength] = {}
    tiers = _tiers(places)
    for at, tier in enumerate(tiers):
        ahead = [strength for other in tiers[:at] for strength in _blurred(other, before)]
        behind = [strength for other in tiers[at + 1 :] for strength in _blurred(other, before)]
        for player in tier if len(tier) > 1 else ():
            own = before[player].mu, before[player].sigma
            rest = _blurred([other for other in tier if other != player], before)
            finishes = [
                _finished([*ahead, *rest[:place], own, *rest[place:], *behind])[len(ahead) + place]
                for place in _places_in(len(tier))
            ]
            after[player] = _mean(finishes)
    return after


def _places_in(size: int) -> Sequence[int]:
    """Returns the finishes a tie is the mean of, evenly chosen if there are many."""
    tried = min(size, max(2, FINISHES_TRIED // size))
    return [(2 * nth + 1) * size // (2 * tried) for nth in range(tried)]


def _blurred(tier: Sequence[str], before: Mapping[str, Rating]) -> list[_Strength]:
    """Returns as many players of one strength as there are in a tier: the mean of theirs."""
    mu = fsum(before[player].mu for player in tier) / len(tier)
    variance = fsum(before[player].sigma ** 2 for player in tier) / len(tier)
    return [(mu, sqrt(variance))] * len(tier)


def _mean(strengths: Sequence[_Strength]) -> _Strength:
    mus, sigmas = zip(*strengths, strict=True)
    return fsum(mus) / len(mus), fsum(sigmas) / len(sigmas)


def _finished(finish: Sequence[_Strength]) -> list[_Strength]:
    """Returns the strengths after a race without ties, given in the order of the finish."""
    model = _model()
    after = model.rate([[model.rating(mu=mu, sigma=sigma)] for mu, sigma in finish])
    return [(player.mu, player.sigma) for [player] in after]


@cache
def _model() -> PlackettLuce:
    return PlackettLuce(mu=MU, sigma=SIGMA)
