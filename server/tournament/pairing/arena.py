"""Arena pairing as lichess does it, without colours.

Source: lichess' own rules for its arenas. A race takes the place of a game and the race's
expected length that of a game's.
"""

from collections.abc import Sequence
from itertools import combinations

from server.tournament.pairing.field import Pair, Pairing, Waiting
from server.tournament.pairing.matching import Cost, Edge, cheapest_matching

# More idle players than this are paired in groups of at most this size.
GROUP_SIZE = 100
MATCHED_GROUPS = 2
MATCHED_TAIL = 4
RANK_FACTOR = 300
RANK_FACTOR_AT_TOP = 1700
DUEL = 2


def arena_wait_ms(expected_race_ms: int) -> int:
    """Returns how long players wait before a pairing pass, so that more come to choose from."""
    if expected_race_ms < 30_000:
        return 8_000
    if expected_race_ms < 60_000:
        return 10_000
    return min(max(expected_race_ms // 10 + 6_000, 15_000), 50_000)


def pause_ms(pauses: int, expected_race_ms: int) -> int:
    """Returns how long who comes back from the n-th pause waits before being paired."""
    if pauses < 1:
        return 0
    return min(max((pauses - 1) * expected_race_ms // 15, 10_000), 120_000)


def pair_arena(waiting: Sequence[Waiting], *, active: int, first_pass: bool) -> Pairing:
    """Pairs those who wait; whoever is left over is named with the reason and waits on.

    `active` counts everybody present and not pausing, those who race included. Two who have
    just met do not meet again at once, unless they are the only two active. If somebody must
    sit out, it is who came last among those the others can do without.
    """
    idle = sorted(waiting, key=lambda w: (w.rank, -w.rating, w.id))
    if len({player.id for player in idle}) != len(idle):
        raise ValueError("a player waits twice to be paired")
    may_repeat = active <= DUEL
    if first_pass:
        pairs = _neighbours_by_rating(idle)
    elif len(idle) <= GROUP_SIZE:
        pairs = _matched(idle, _top_rank(idle), may_repeat)
    else:
        pairs = _in_groups(idle, may_repeat)
    busy = {player for pair in pairs for player in (pair.a, pair.b)}
    left = [player for player in idle if player.id not in busy]
    return Pairing(
        tuple(pairs), tuple((player.id, _left_reason(player, left, idle)) for player in left)
    )


def _top_rank(idle: Sequence[Waiting]) -> int:
    return max((player.rank for player in idle), default=1)


def _by_arrival(idle: Sequence[Waiting]) -> list[Waiting]:
    """Returns who waits, the latest arrival first; of those who came together the last in rank."""
    return sorted(idle, key=lambda player: (player.waited_ms, -player.rank, player.id))


def _neighbours_by_rating(idle: Sequence[Waiting]) -> list[Pair]:
    left_out = _by_arrival(idle)[:1] if len(idle) % 2 else []
    playing = [player for player in idle if player not in left_out]
    playing.sort(key=lambda player: (-player.rating, player.rank, player.id))
    return [
        Pair(a.id, b.id, f"first pairing: neighbours by rating, {a.rating} and {b.rating}")
        for a, b in zip(playing[::2], playing[1::2], strict=True)
    ]


def _just_met(a: Waiting, b: Waiting) -> bool:
    return a.last_opponent == b.id and b.last_opponent == a.id


def _matched(group: Sequence[Waiting], top_rank: int, may_repeat: bool) -> list[Pair]:
    """Pairs a group given by rank: as many as can be, then at the least cost."""
    size = len(group)
    free: dict[Edge, Cost] = {
        (i, j): (0, _cost(a, b, top_rank))
        for (i, a), (j, b) in combinations(enumerate(group), 2)
        if may_repeat or not _just_met(a, b)
    }
    left_over = size - 2 * len(cheapest_matching(size, dict.fromkeys(free, ())))
    turns = {player.id: turn for turn, player in enumerate(_by_arrival(group))}
    chairs: dict[Edge, Cost] = {
        (i, size + chair): (turns[player.id], 0)
        for i, player in enumerate(group)
        for chair in range(left_over)
    }
    matched = cheapest_matching(size + left_over, free | chairs)
    return [_pair(group[i], group[j]) for i, j in matched if j < size]


def _cost(a: Waiting, b: Waiting, top_rank: int) -> int:
    """Returns what a pair costs: a difference in rank counts most near the top."""
    rise = RANK_FACTOR_AT_TOP * (top_rank - min(a.rank, b.rank)) // top_rank
    return abs(a.rank - b.rank) * (RANK_FACTOR + rise) + abs(a.rating - b.rating)


def _in_groups(idle: Sequence[Waiting], may_repeat: bool) -> list[Pair]:
    """Pairs a crowd: the best two groups by matching, the rest as neighbours in rank."""
    left_out = _by_arrival(idle)[:1] if len(idle) % 2 else []
    playing = [player for player in idle if player not in left_out]
    top_rank = _top_rank(idle)
    pairs: list[Pair] = []
    matched = playing[: MATCHED_GROUPS * GROUP_SIZE]
    for at in range(0, len(matched), GROUP_SIZE):
        pairs += _matched(matched[at : at + GROUP_SIZE], top_rank, may_repeat)
    return pairs + _neighbours_by_rank(playing[len(matched) :], top_rank, may_repeat)


def _neighbours_by_rank(group: Sequence[Waiting], top_rank: int, may_repeat: bool) -> list[Pair]:
    """Pairs each with the next in rank whom they have not just met.

    The last few are matched, since the last two by themselves may have just met.
    """
    left = list(group)
    pairs: list[Pair] = []
    while len(left) > MATCHED_TAIL:
        first = left.pop(0)
        partner = next(other for other in left if may_repeat or not _just_met(first, other))
        left.remove(partner)
        pairs.append(_pair(first, partner))
    return pairs + _matched(left, top_rank, may_repeat)


def _pair(a: Waiting, b: Waiting) -> Pair:
    ranks = f"ranks {a.rank} and {b.rank}"
    if _just_met(a, b):
        return Pair(a.id, b.id, f"{ranks}: they meet again, nobody else is active")
    return Pair(
        a.id, b.id, f"{ranks}: nearest in rank and rating, nobody against the last opponent"
    )


def _left_reason(player: Waiting, left: Sequence[Waiting], idle: Sequence[Waiting]) -> str:
    if len(idle) == 1:
        return "waits: nobody else is waiting"
    if any(_just_met(player, other) for other in left):
        return "waits: has just met the only other player left"
    return "waits: odd number, the latest arrival sits out this pass"
