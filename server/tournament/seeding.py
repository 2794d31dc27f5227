"""Seeds: who counts as the best, and who plays in which heat."""

import hmac
from collections.abc import Collection, Iterable, Mapping, Sequence

from server.rules.deal import shuffle


def by_rating(ratings: Mapping[str, int]) -> tuple[str, ...]:
    """Returns the players, the highest rating first; equal ones by name."""
    return tuple(sorted(ratings, key=lambda player: (-ratings[player], player)))


def by_list(players: Collection[str], listed: Sequence[str]) -> tuple[str, ...]:
    """Returns the players in the organiser's order; who is not listed follows, by name."""
    if len(set(listed)) != len(listed):
        raise ValueError("the seed list names a player twice")
    if strangers := sorted(set(listed) - set(players)):
        raise ValueError(f"the seed list names who does not play: {', '.join(strangers)}")
    return (*listed, *sorted(set(players) - set(listed)))


def random_by(players: Iterable[str], seed: str) -> tuple[str, ...]:
    """Returns the players in an order that anybody can draw again from the public seed.

    The shuffle is that of the deals (docs/fairness.md), over the names in order, with the key
    HMAC-SHA256("dk-seeding/1", seed).
    """
    drawn = sorted(players)
    shuffle(drawn, hmac.digest(b"dk-seeding/1", seed.encode(), "sha256"))
    return tuple(drawn)


def snake(seeded: Sequence[str], size: int) -> tuple[tuple[str, ...], ...]:
    """Returns the heats, dealt there and back along the seeds: 1 4 5 8, 2 3 6 7.

    There are as few heats as hold everybody with `size` at most in each, and they differ by
    one player at most.
    """
    if size < 1:
        raise ValueError(f"a heat cannot have {size} players")
    count = -(-len(seeded) // size)
    heats: list[list[str]] = [[] for _ in range(count)]
    for at, player in enumerate(seeded):
        lap, place = divmod(at, count)
        heats[place if lap % 2 == 0 else count - 1 - place].append(player)
    return tuple(tuple(heat) for heat in heats)
