"""The cheapest way to pair everybody: an exact matching over costs in levels.

A cost is a tuple of levels, and a saving on one level outweighs any cost on those after it. The
levels are packed into one integer for the blossom algorithm of rustworkx, which computes in
128 bits and wraps silently; so the packed weight is kept below WEIGHT_BITS.
"""

import hashlib
from collections.abc import Mapping

import rustworkx

Cost = tuple[int, ...]
Edge = tuple[int, int]

# The algorithm doubles weights and adds their duals: tried, 126 bits still come out right.
WEIGHT_BITS = 122
MAX_DRAW_BITS = 48


def cheapest_matching(size: int, costs: Mapping[Edge, Cost]) -> list[Edge]:
    """Returns the pairs (i, j), i < j, of nodes 0 … size - 1: as many as can be, then cheapest.

    `costs` names each permitted pair once, with i < j and as many levels, none of them
    negative. Among equally cheap matchings a draw decides that is the same everywhere: without
    it the answer would hang on the order in which a solver happens to look.
    """
    if not costs:
        return []
    worst, weights = _packed(size, costs)
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from([None] * size)
    graph.add_edges_from([(i, j, worst - weight) for (i, j), weight in weights.items()])
    found = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((min(pair), max(pair)) for pair in found)


def _packed(size: int, costs: Mapping[Edge, Cost]) -> tuple[int, dict[Edge, int]]:
    """Returns a bound on the weights, and each pair's cost and draw in one integer."""
    pairs = max(1, size // 2)
    highest = [max(level) for level in zip(*costs.values(), strict=True)]
    bases = [top * pairs + 1 for top in highest]
    taken = sum(base.bit_length() for base in bases) + pairs.bit_length()
    draw_bits = min(MAX_DRAW_BITS, WEIGHT_BITS - taken)
    if draw_bits < 1:
        raise ValueError(f"a field of {size} is too large to be paired at these costs")
    draws = _draws(size, draw_bits)
    draw_base = pairs << draw_bits
    weights = {}
    for (i, j), cost in costs.items():
        weight = 0
        for base, level in zip(bases, cost, strict=True):
            weight = weight * base + level
        weights[i, j] = weight * draw_base + draws[i * size + j]
    return max(weights.values()), weights


def _draws(size: int, bits: int) -> list[int]:
    """Returns a fixed lot for each pair of nodes.

    Lots of b bits leave a second best matching with a chance of at most (possible pairs) / 2**b,
    by the isolation lemma of Mulmuley, Vazirani and Vazirani: with 48 bits, below 1 in 8·10⁹ for
    256 nodes.
    """
    width = MAX_DRAW_BITS // 8
    stream = hashlib.shake_128(b"dk-pair/1").digest(width * size * size)
    drop = MAX_DRAW_BITS - bits
    return [
        int.from_bytes(stream[at : at + width], "big") >> drop
        for at in range(0, len(stream), width)
    ]
