"""Direct encounter: those who are tied, ordered by the games among them (FIDE C.07, article 6)."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

WIN = 2

# player -> opponent -> half points of each game they played; empty if only forfeits
Meetings = Mapping[str, Mapping[str, Sequence[int]]]


def tiers(tied: Sequence[str], meetings: Meetings) -> list[list[str]]:
    """Returns the tied players in groups that stay equal, the best group first.

    Several games of two players count as their average, and forfeits count nothing. If all have
    met, the order is by points among them, and once more inside each group that stays tied. If
    not, a player is set first only when no result of the games missing could take that away,
    then the second among the rest, and so on.
    """
    if len(tied) <= 1:
        return [list(tied)]
    scores, missing = _among(tied, meetings)
    if any(missing.values()):
        return _certain(tied, meetings)
    ordered: list[list[str]] = []
    for score in sorted(set(scores.values()), reverse=True):
        level = [player for player in tied if scores[player] == score]
        ordered += [level] if len(level) == len(tied) else tiers(level, meetings)
    return ordered


def _certain(tied: Sequence[str], meetings: Meetings) -> list[list[str]]:
    ordered: list[list[str]] = []
    rest = list(tied)
    while rest:
        scores, missing = _among(rest, meetings)
        first = next((player for player in rest if _leads(player, rest, scores, missing)), None)
        if first is None:
            return [*ordered, rest]
        ordered.append([first])
        rest.remove(first)
    return ordered


def _leads(
    player: str,
    rest: Sequence[str],
    scores: Mapping[str, Fraction],
    missing: Mapping[str, int],
) -> bool:
    """Whether a player is ahead even if it loses, and others win, every game they miss."""
    return all(
        scores[player] > scores[other] + WIN * missing[other] for other in rest if other != player
    )


def _among(tied: Sequence[str], meetings: Meetings) -> tuple[dict[str, Fraction], dict[str, int]]:
    """Returns the points of each in the games among the tied, and how many games are missing."""
    scores = dict.fromkeys(tied, Fraction(0))
    missing = dict.fromkeys(tied, 0)
    for one, other in combinations(tied, 2):
        for player, opponent in ((one, other), (other, one)):
            results = meetings[player].get(opponent)
            if results is None:
                missing[player] += 1
            elif results:
                scores[player] += Fraction(sum(results), len(results))
    return scores, missing
