"""Swiss pairing by exact matching (docs/decisions/0009-pairing.md).

What counts, each before all that follow:
1. as many pairs as the organiser's forbidden pairs leave;
2. nobody sits out again while anybody else could;
3. the fewest rematches, then the fewest games against the same opponent;
4. who is first in turn sits out: from the foot of the standings;
5. the least sum of squared score differences;
6. the fewest players who float the same way as in the round before;
7. inside a score group the upper half meets the lower half in order; who floats down comes
   from the group's foot and meets the head of the next.
"""

from collections.abc import Collection, Sequence
from itertools import combinations, groupby
from typing import NamedTuple

from server.tournament.pairing.field import (
    DOWN,
    UP,
    Contender,
    Pair,
    Pairing,
    by_standing,
    bye_order,
    is_allowed,
    points_text,
)
from server.tournament.pairing.matching import Cost, Edge, cheapest_matching

Forbidden = Collection[frozenset[str]]


class _Spot(NamedTuple):
    """A player's place in a score group, as the fold sees it."""

    place: int  # from the head of the group, 0
    half: int  # places from a player of the upper half to its partner in the lower
    foot: int  # the last place of the group


def pair_swiss(
    contenders: Sequence[Contender],
    *,
    round_number: int,
    rounds: int,
    forbidden: Forbidden = (),
) -> Pairing:
    """Pairs a round at the least cost there is.

    Nobody sits out if the number is even and `forbidden` leaves a way. A rematch is made only
    where it cannot be avoided without a second bye, and its reason says so.
    """
    if not 1 <= round_number <= rounds:
        raise ValueError(f"there is no round {round_number} of {rounds}")
    forbidden = frozenset(forbidden)
    field = by_standing(contenders)
    out = bye_order(field)[: len(field) % 2]
    pairs = _pairs_without(out, field, forbidden)
    # If nobody sits out the matching has weighed the rematches, and if there are none the first
    # in turn may sit out; only otherwise it is a question who does.
    is_full = 2 * len(pairs) + len(out) == len(field)
    if not is_full or (out and any(b.id in a.met for a, b in pairs)):
        out = sitting_out(field, forbidden)
        pairs = _pairs_without(out, field, forbidden)
    spots = _spots(out, field)
    return Pairing(
        tuple(Pair(a.id, b.id, _reason(a, b, spots[a.id], spots[b.id])) for a, b in pairs),
        tuple((contender.id, bye_reason(contender, out, field)) for contender in out),
    )


def sitting_out(field: Sequence[Contender], forbidden: Forbidden) -> list[Contender]:
    """Returns who gets no opponent, given the field by standing: the fewest possible."""
    free: dict[Edge, Cost] = {
        (i, j): _rematch_cost(a, b)
        for (i, a), (j, b) in combinations(enumerate(field), 2)
        if is_allowed(a.id, b.id, forbidden)
    }
    size = len(field)
    chairs = range(size, size + _left_over(size, free, forbidden))
    turns = {contender.id: turn for turn, contender in enumerate(bye_order(field))}
    costs = {pair: (0, 0, *rematch, 0) for pair, rematch in free.items()}
    for i, contender in enumerate(field):
        cost = (contender.byes, contender.forfeit_wins, 0, 0, turns[contender.id])
        costs.update({(i, chair): cost for chair in chairs})
    matched = cheapest_matching(size + len(chairs), costs)
    return [field[i] for i, j in matched if j >= size]


def _left_over(size: int, free: Collection[Edge], forbidden: Forbidden) -> int:
    """Returns how many find no opponent in the largest matching of the permitted pairs."""
    if not forbidden:
        return size % 2
    return size - 2 * len(cheapest_matching(size, dict.fromkeys(free, ())))


def bye_reason(contender: Contender, out: Sequence[Contender], field: Sequence[Contender]) -> str:
    """Returns why a player sits out."""
    if len(field) == 1:
        return "nobody else is in this round"
    if len(out) > 1 or len(field) % 2 == 0:
        return "the forbidden pairs leave no opponent"
    if bye_order(field)[0] != contender:
        return "odd number: who comes first in turn is needed to pair the others"
    if contender.byes:
        return "odd number: everybody has had a bye, the fewest and then the lowest first"
    if contender.forfeit_wins:
        return "odd number: everybody has had a bye or a win by forfeit"
    if contender == field[-1]:
        return "odd number: last in the standings"
    return "odd number: last of those without a bye, a win by forfeit or a late entry"


def _pairs_without(
    out: Sequence[Contender], field: Sequence[Contender], forbidden: Forbidden
) -> list[tuple[Contender, Contender]]:
    """Returns the best pairs of the field without some, the higher player of each first."""
    playing = [contender for contender in field if contender not in out]
    spots = _spots(out, field)
    costs = {
        (i, j): _rematch_cost(a, b) + _distance_cost(a, b, spots[a.id], spots[b.id])
        for (i, a), (j, b) in combinations(enumerate(playing), 2)
        if is_allowed(a.id, b.id, forbidden)
    }
    return [(playing[i], playing[j]) for i, j in cheapest_matching(len(playing), costs)]


def _spots(out: Sequence[Contender], field: Sequence[Contender]) -> dict[str, _Spot]:
    """Returns the spots of those who play, given the field by standing.

    Going down, a group that is odd without the one who comes down from above sends its own
    lowest further down; the rest make the two halves.
    """
    playing = [contender for contender in field if contender not in out]
    spots: dict[str, _Spot] = {}
    comes_down = 0
    for _, group in groupby(playing, key=lambda contender: contender.points):
        members = list(group)
        goes_down = (len(members) - comes_down) % 2
        half = (len(members) - comes_down - goes_down) // 2
        for place, contender in enumerate(members):
            spots[contender.id] = _Spot(place, half, len(members) - 1)
        comes_down = goes_down
    return spots


def _rematch_cost(a: Contender, b: Contender) -> Cost:
    times = a.met.get(b.id, 0)
    return (1, times - 1) if times else (0, 0)


def _distance_cost(a: Contender, b: Contender, above: _Spot, below: _Spot) -> Cost:
    gap = a.points - b.points
    return gap * gap, _repeated_floats(a, b), _off_fold(gap, above, below)


def _repeated_floats(a: Contender, b: Contender) -> int:
    """Returns how many of two float as they did last round; `a` stands higher."""
    if a.points == b.points:
        return 0
    return (a.floats[0] == DOWN) + (b.floats[0] == UP)


def _off_fold(gap: int, above: _Spot, below: _Spot) -> int:
    """Returns how far two spots are from what the fold wants, squared."""
    if gap:
        return (above.foot - above.place) ** 2 + below.place**2
    return (below.place - above.place - above.half) ** 2


def _reason(a: Contender, b: Contender, above: _Spot, below: _Spot) -> str:
    score, gap = points_text(a.points), a.points - b.points
    versus = f"{score} against {points_text(b.points)}" if gap else f"both on {score}"
    if times := a.met.get(b.id, 0):
        return f"{versus}, met {times}× before: this round cannot do without a rematch"
    if gap:
        return f"{versus}: not everybody can be paired on equal points"
    if _off_fold(gap, above, below):
        return f"{versus}: as near to upper half against lower half as this round allows"
    return f"{versus}: upper half against lower half"
