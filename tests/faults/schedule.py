"""What goes wrong when: a plan drawn from a seed, so that a failure can be run again."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong."""

    at: float  # seconds since the beginning
    kind: str
    who: int  # which node, or which player, counted round
    lasts: float  # seconds, where it lasts


@dataclass(frozen=True, slots=True)
class Kind:
    """How often a kind of fault comes, and how long it lasts."""

    weight: int
    least: float = 0.0
    most: float = 0.0
    counts_as: str = "cut"  # in the figures


# The longest of each are longer than the limit after which the other end gives up, the
# shortest much shorter: both ways out of it are gone.
KINDS: Final[Mapping[str, Kind]] = {
    # between a client and its node
    "hang up": Kind(8),
    "take over": Kind(8, counts_as="takeover"),
    "cut clients": Kind(5),
    "half-open clients": Kind(3),
    "hold clients": Kind(3, 0.2, 6.0, "stall"),
    "delay clients": Kind(2, 0.5, 2.0, "stall"),
    "trickle to clients": Kind(2, 0.5, 2.0, "stall"),
    # between a node and the store
    "cut the store's line": Kind(5),
    "half-open store's line": Kind(2),
    "hold the store's line": Kind(3, 0.2, 5.0, "stall"),
    "hold the store's answers": Kind(3, 0.2, 5.0, "stall"),
    "delay the store's line": Kind(2, 0.5, 2.0, "stall"),
    "trickle on the store's line": Kind(2, 0.5, 2.0, "stall"),
    # nodes
    "kill a node": Kind(6, 0.0, 1.0, "kill"),
    "freeze a node": Kind(4, 0.3, 6.0, "stall"),
    "stop a node": Kind(3, counts_as="drain"),
    # the store
    "kill the store": Kind(3, 0.0, 1.0, "kill"),
    "freeze the store": Kind(3, 0.3, 5.0, "stall"),
    "flush the scripts": Kind(2, counts_as="flush"),
    "drop the store's clients": Kind(2),
}


def plan(seed: int, seconds: float, per_s: float) -> list[Fault]:
    """Draws the faults of a run, in order."""
    chance = Random(seed)
    kinds, weights = list(KINDS), [kind.weight for kind in KINDS.values()]
    faults = []
    at = chance.expovariate(per_s)
    while at < seconds:
        name = chance.choices(kinds, weights)[0]
        kind = KINDS[name]
        faults.append(
            Fault(
                round(at, 2), name, chance.randrange(1_000), chance.uniform(kind.least, kind.most)
            )
        )
        at += chance.expovariate(per_s)
    return faults
