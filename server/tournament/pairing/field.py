"""The field that is paired and what comes out of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

# Against whom a player was paired on unequal scores, or not at all: FIDE C.04.3, A.4.
Float = Literal[-1, 0, 1]
DOWN: Float = -1
LEVEL: Float = 0
UP: Float = 1


@dataclass(frozen=True)
class Contender:
    """A player of a Swiss tournament when a round is paired."""

    id: str
    points: int  # half points: a win is 2
    rating: int
    seed: int  # 1 is the best
    met: Mapping[str, int]  # opponent -> how often they played each other
    byes: int
    late: bool = False  # entered after the first round and has not played yet
    forfeit_wins: int = 0
    floats: tuple[Float, Float] = (LEVEL, LEVEL)  # in the last round, in the one before


@dataclass(frozen=True)
class Waiting:
    """A player of an arena who waits to be paired."""

    id: str
    points: int
    rating: int
    rank: int  # 1 is the leader
    last_opponent: str | None
    waited_ms: int
    games: int


@dataclass(frozen=True)
class Pair:
    """Two players who meet, the higher one first, and why."""

    a: str
    b: str
    reason: str


@dataclass(frozen=True)
class Pairing:
    """All who meet, the top table first, and all who sit out, as (player, reason)."""

    pairs: tuple[Pair, ...]
    byes: tuple[tuple[str, str], ...]


def by_standing(contenders: Sequence[Contender]) -> list[Contender]:
    """Returns the field from the top: by points, then by seed; the order passed is no matter."""
    ids = [contender.id for contender in contenders]
    if len(set(ids)) != len(ids):
        raise ValueError("a player stands twice in the field to be paired")
    return sorted(contenders, key=lambda c: (-c.points, c.seed, -c.rating, c.id))


def bye_order(contenders: Sequence[Contender]) -> list[Contender]:
    """Returns the field in the order in which it sits out, given by standing.

    First who never sat out and never won by forfeit; among equals here who has been there from
    the start, since a late entrant has missed enough, then the lowest.
    """
    lowest_first = list(contenders)[::-1]
    return sorted(lowest_first, key=lambda c: (c.byes, c.forfeit_wins, c.late))


def is_allowed(a: str, b: str, forbidden: Collection[frozenset[str]]) -> bool:
    """Whether the organiser lets two players meet."""
    return not forbidden or frozenset((a, b)) not in forbidden


def points_text(half_points: int) -> str:
    """Returns points as a reader writes them: 2½ points."""
    whole, half = divmod(half_points, 2)
    number = f"{whole or ''}½" if half else str(whole)
    return f"{number} point" if half_points in (1, 2) else f"{number} points"
