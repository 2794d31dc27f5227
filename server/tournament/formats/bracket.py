"""Sizes, seeds and names of elimination brackets."""

from typing import Final

# How the losers of each round of the winners' bracket are laid out in the losers' bracket,
# first for its first round, then for each round in which losers drop in. From the tables
# that the brackets-manager library plays by, so that early rematches are avoided.
DROPS: Final[dict[int, tuple[str, ...]]] = {
    4: ("natural", "reverse"),
    8: ("natural", "reverse", "natural"),
    16: ("natural", "reverse-half-shift", "reverse", "natural"),
    32: ("natural", "reverse", "half-shift", "natural", "natural"),
    64: ("natural", "reverse", "half-shift", "reverse", "natural", "natural"),
    128: ("natural", "reverse", "half-shift", "pair-flip", "pair-flip", "pair-flip", "natural"),
}


def depth(players: int) -> int:
    """Give the rounds that halve a field down to one."""
    return max(1, (players - 1).bit_length())


def seed_pairs(rounds: int) -> list[tuple[int, int]]:
    """Give the first round's pairs of seeds, in bracket order: the best meet last."""
    order = [1, 2]
    for size in (2**power for power in range(2, rounds + 1)):
        order = [seed for best in order for seed in (best, size + 1 - best)]
    return list(zip(order[::2], order[1::2], strict=True))


def drops(size: int) -> tuple[str, ...]:
    """Give the orders in which losers drop, by the bracket's size.

    Beyond the published table the way of 128 goes on: pair flips up to the last round.
    """
    known = DROPS.get(size)
    if known is not None:
        return known
    flips = depth(size) - 4
    return ("natural", "reverse", "half-shift", *["pair-flip"] * flips, "natural")


def laid_out(count: int, order: str) -> list[int]:
    """Give indices 0 … count - 1 in one of the orders of the table."""
    natural = list(range(count))
    half = count // 2
    match order:
        case "natural":
            return natural
        case "reverse":
            return natural[::-1]
        case "half-shift":
            return natural[half:] + natural[:half]
        case "reverse-half-shift":
            return natural[:half][::-1] + natural[half:][::-1]
        case "pair-flip":
            return [index ^ 1 for index in natural] if count > 1 else natural
        case _:
            raise ValueError(f"there is no order {order!r}")


def round_name(matches: int) -> str:
    """Name a round of a knock-out by how many matches it has."""
    return {1: "final", 2: "semi-final", 4: "quarter-final"}.get(matches, f"round of {2 * matches}")
