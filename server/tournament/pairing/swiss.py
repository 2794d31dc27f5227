"""Swiss pairing by exact matching (docs/decisions/pairing-by-matching.md).

What counts, each before all that follow:
1. as many pairs as the organiser's forbidden pairs leave;
2. nobody sits out again while anybody else could;
3. the fewest rematches, then the fewest games against the same opponent;
4. the lowest sits out;
5. the least sum of squared score differences;
6. the fewest players who float the same way as in the round before;
7. inside a score group the upper half meets the lower half in order; who floats down comes
   from the group's foot and meets the head of the next.
"""

from collections.abc import Collection, Sequence
from itertools import combinations, groupby

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


def pair_swiss(
    contenders: Sequence[Contender],
    *,
    round_number: int,
    rounds: int,
    forbidden: Forbidden = (),
) -> Pairing:
    """Pairs a round at the least cost there is.

    Nobody sits out if the number is even and `forbidden` leaves a way. A rematch is made only
    where every pairing has one, and its reason says so.
    """
    if not 1 <= round_number <= rounds:
        raise ValueError(f"there is no round {round_number} of {rounds}")
    forbidden = frozenset(forbidden)
    field = by_standing(contenders)
    out = sitting_out(field, forbidden)
    playing = [contender for contender in field if contender not in out]
    spots = _spots(playing)
    costs = {
        (i, j): _rematch_cost(a, b) + _distance_cost(a, b, spots[i], spots[j])
        for (i, a), (j, b) in combinations(enumerate(playing), 2)
        if is_allowed(a.id, b.id, forbidden)
    }
    pairs = [
        Pair(playing[i].id, playing[j].id, _reason(playing[i], playing[j], spots[i], spots[j]))
        for i, j in cheapest_matching(len(playing), costs)
    ]
    byes = [(contender.id, bye_reason(contender, out, field)) for contender in out]
    return Pairing(tuple(pairs), tuple(byes))


def sitting_out(field: Sequence[Contender], forbidden: Forbidden) -> list[Contender]:
    """Returns who gets no opponent, given the field by standing: the fewest possible."""
    count = _left_over(field, forbidden)
    if count == 0:
        return []
    turns = {contender.id: turn for turn, contender in enumerate(bye_order(field))}
    grades = {grade: at for at, grade in enumerate(sorted({_grade(c) for c in field}))}
    costs: dict[Edge, Cost] = {
        (i, j): (0, *_rematch_cost(a, b), 0)
        for (i, a), (j, b) in combinations(enumerate(field), 2)
        if is_allowed(a.id, b.id, forbidden)
    }
    for i, contender in enumerate(field):
        cost = (grades[_grade(contender)], 0, 0, turns[contender.id])
        costs.update({(i, len(field) + chair): cost for chair in range(count)})
    matched = cheapest_matching(len(field) + count, costs)
    return [field[i] for i, j in matched if j >= len(field)]


def bye_reason(contender: Contender, out: Sequence[Contender], field: Sequence[Contender]) -> str:
    """Returns why a player sits out."""
    if len(field) == 1:
        return "nobody else is in this round"
    if len(out) > 1 or len(field) % 2 == 0:
        return "the forbidden pairs leave no opponent"
    rank = bye_order(field).index(contender)
    if rank > 0:
        return "odd number: all who come first for the bye are needed to pair the rest"
    if contender.byes:
        return "odd number: everybody has had a bye"
    if contender.forfeit_wins:
        return "odd number: everybody has had a bye or a win by forfeit"
    if contender == field[-1]:
        return "odd number: lowest of the standings"
    return "odd number: lowest of those without a bye, a win by forfeit or a late entry"


def _grade(contender: Contender) -> tuple[int, int]:
    return contender.byes, contender.forfeit_wins


def _left_over(field: Sequence[Contender], forbidden: Forbidden) -> int:
    """Returns how many find no opponent in the largest matching."""
    if not forbidden:
        return len(field) % 2
    free: dict[Edge, Cost] = {
        (i, j): ()
        for (i, a), (j, b) in combinations(enumerate(field), 2)
        if is_allowed(a.id, b.id, forbidden)
    }
    return len(field) - 2 * len(cheapest_matching(len(field), free))


def _rematch_cost(a: Contender, b: Contender) -> Cost:
    times = a.met.get(b.id, 0)
    return (1, times - 1) if times else (0, 0)


# --- places in a score group ----------------------------------------------------------

# (place in the group, places between the partners of upper and lower half, place of the foot)
Spot = tuple[int, int, int]


def _spots(field: Sequence[Contender]) -> list[Spot]:
    """Returns each player's spot, given an even field by standing.

    Going down, a group that is odd without the one who comes down from above sends its own
    lowest further down; the rest make the two halves.
    """
    spots: list[Spot] = []
    comes_down = 0
    for _, members in groupby(field, key=lambda contender: contender.points):
        size = len(list(members))
        goes_down = (size - comes_down) % 2
        half = (size - comes_down - goes_down) // 2
        spots += [(place, half, size - 1) for place in range(size)]
        comes_down = goes_down
    return spots


def _distance_cost(a: Contender, b: Contender, above: Spot, below: Spot) -> Cost:
    gap = a.points - b.points
    return gap * gap, _repeated_floats(a, b), _off_fold(gap, above, below)


def _repeated_floats(a: Contender, b: Contender) -> int:
    """Returns how many of two float as they did last round; `a` stands higher."""
    if a.points == b.points:
        return 0
    return (a.floats[0] == DOWN) + (b.floats[0] == UP)


def _off_fold(gap: int, above: Spot, below: Spot) -> int:
    """Returns how far two spots are from what the fold wants, squared."""
    (place_a, half, foot), (place_b, _, _) = above, below
    if gap:
        return (foot - place_a) ** 2 + place_b**2
    return (place_b - place_a - half) ** 2


def _reason(a: Contender, b: Contender, above: Spot, below: Spot) -> str:
    times = a.met.get(b.id, 0)
    score = points_text(a.points)
    gap = a.points - b.points
    if times:
        return (
            f"{score} against {points_text(b.points)}, met {times}× before:"
            " no pairing of this round is without a rematch"
        )
    if gap:
        return (
            f"{score} against {points_text(b.points)}:"
            f" not everybody on {score} can have an opponent there"
        )
    if _off_fold(gap, above, below) == 0:
        return f"both on {score}: upper half against lower half"
    return f"both on {score}: the nearest to upper half against lower half that is open"
