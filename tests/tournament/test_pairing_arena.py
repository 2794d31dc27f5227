"""The arena: near ranks meet, nobody meets the same player twice running, nobody waits for ever."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.tournament.pairing import Pairing, Waiting, arena_wait_ms, pair_arena, pause_ms
from tests.tournament.fields import matchings


def waiting(
    rank: int, last: str | None = None, waited_ms: int = 20_000, rating: int = 0
) -> Waiting:
    return Waiting(f"p{rank}", 0, rating or 2000 - rank, rank, last, waited_ms, 1)


def pair(idle: Sequence[Waiting], active: int = 99) -> Pairing:
    return pair_arena(idle, active=active, first_pass=False)


def names(pairing: Pairing) -> set[frozenset[str]]:
    return {frozenset((p.a, p.b)) for p in pairing.pairs}


def together(*pairs: tuple[int, int]) -> set[frozenset[str]]:
    return {frozenset((f"p{a}", f"p{b}")) for a, b in pairs}


# --- who meets whom ----------------------------------------------------------------------


def test_six_idle_players_ranked_one_to_six_meet_in_neighbours() -> None:
    pairing = pair([waiting(rank) for rank in (4, 1, 6, 3, 5, 2)])
    assert names(pairing) == together((1, 2), (3, 4), (5, 6))
    assert pairing.pairs[0].a == "p1"
    assert pairing.byes == ()


def test_two_who_have_just_met_do_not_meet_again_while_others_are_active() -> None:
    idle = [waiting(1, "p2"), waiting(2, "p1"), waiting(3, "p4"), waiting(4, "p3")]
    assert not names(pair(idle)) & together((1, 2), (3, 4))
    pairing = pair(idle[:2], active=3)
    assert pairing.pairs == ()
    assert pairing.byes == (
        ("p1", "waits: has just met the only other player left"),
        ("p2", "waits: has just met the only other player left"),
    )


def test_two_who_are_alone_meet_again_and_are_told_why() -> None:
    [only] = pair([waiting(1, "p2"), waiting(2, "p1")], active=2).pairs
    assert only.reason == "ranks 1 and 2: they meet again, nobody else is active"


def test_two_who_met_before_but_not_last_may_meet() -> None:
    assert names(pair([waiting(1, "p2"), waiting(2, "p3")])) == together((1, 2))


def test_of_an_odd_number_the_latest_arrival_sits_out() -> None:
    idle = [waiting(1, waited_ms=9_000), waiting(2), waiting(3)]
    pairing = pair(idle)
    assert pairing.byes == (("p1", "waits: odd number, the latest arrival sits out this pass"),)
    assert names(pairing) == together((2, 3))


def test_the_next_latest_sits_out_if_the_others_have_just_met() -> None:
    idle = [waiting(1, "p2"), waiting(2, "p1", waited_ms=19_000), waiting(3, waited_ms=9_000)]
    pairing = pair(idle)
    assert [name for name, _ in pairing.byes] == ["p2"]
    assert names(pairing) == together((1, 3))


def test_one_who_waits_alone_and_nobody_at_all_are_no_pairing() -> None:
    assert pair([waiting(1)]).byes == (("p1", "waits: nobody else is waiting"),)
    assert pair([]) == Pairing((), ())


def test_before_there_are_standings_neighbours_by_rating_meet() -> None:
    ratings = {1: 1400, 2: 1900, 3: 1500, 4: 1800}
    idle = [waiting(rank, rating=rating) for rank, rating in ratings.items()]
    pairing = pair_arena(idle, active=4, first_pass=True)
    assert [(p.a, p.b) for p in pairing.pairs] == [("p2", "p4"), ("p3", "p1")]
    assert pairing.pairs[0].reason == "first pairing: neighbours by rating, 1900 and 1800"


def test_a_player_who_waits_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="twice"):
        pair([waiting(1), waiting(1)])


# --- at the least cost -------------------------------------------------------------------


@st.composite
def idle_players(draw: st.DrawFn, largest: int) -> list[Waiting]:
    size = draw(st.integers(1, largest))
    ranks = draw(st.permutations(range(1, 2 * size + 1)))[:size]
    couples = dict.fromkeys(ranks) | {
        rank: f"p{other}"
        for a, b in zip(ranks[::2], ranks[1::2], strict=False)
        if draw(st.booleans())
        for rank, other in ((a, b), (b, a))
    }
    return [
        waiting(rank, couples[rank], draw(st.integers(0, 9)), draw(st.integers(800, 2400)))
        for rank in ranks
    ]


def cost(a: Waiting, b: Waiting, last_rank: int) -> int:
    factor = 300 + 1700 * (last_rank - min(a.rank, b.rank)) // last_rank
    return abs(a.rank - b.rank) * factor + abs(a.rating - b.rating)


@settings(max_examples=150)
@given(idle_players(8))
def test_as_many_as_can_be_are_paired_and_then_at_the_least_cost(idle: list[Waiting]) -> None:
    by_name = {player.id: player for player in idle}
    last_rank = max(player.rank for player in idle)
    arrivals = sorted(idle, key=lambda player: (player.waited_ms, -player.rank))
    turns = {player.id: turn for turn, player in enumerate(arrivals)}

    def price(pairs: Sequence[tuple[str, str]], out: Sequence[str]) -> tuple[int, ...]:
        couples = [(by_name[a], by_name[b]) for a, b in pairs]
        return (
            len(out),
            sum(turns[name] for name in out),
            sum(cost(a, b, last_rank) for a, b in couples),
        )

    prices = [
        price(pairs, out)
        for pairs, out in matchings([player.id for player in idle])
        if not any(by_name[a].last_opponent == b for a, b in pairs)
    ]
    found = pair(idle)
    assert price([(p.a, p.b) for p in found.pairs], [n for n, _ in found.byes]) == min(prices)


@given(idle_players(9), st.randoms(use_true_random=False))
def test_the_order_in_which_players_are_passed_changes_nothing(
    idle: list[Waiting], chance: random.Random
) -> None:
    shuffled = idle.copy()
    chance.shuffle(shuffled)
    assert pair(shuffled) == pair(idle)


# --- a crowd -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [101, 102, 200, 202, 203, 250, 305])
def test_a_crowd_is_paired_whole_near_in_rank_and_without_repeats(size: int) -> None:
    chance = random.Random(size)
    idle = []
    for rank in range(1, size + 1):
        other = rank + 1 if rank % 2 else rank - 1
        last = f"p{other}" if rank <= size - 6 and other <= size - 6 else None
        idle.append(waiting(rank, last, waited_ms=20_000 - (rank == size)))
    chance.shuffle(idle)
    pairing = pair(idle)
    assert len(pairing.pairs) == size // 2
    assert [name for name, _ in pairing.byes] == [f"p{size}"] * (size % 2)
    last_opponent = {player.id: player.last_opponent for player in idle}
    assert not any(last_opponent[p.a] == p.b for p in pairing.pairs)
    assert all(abs(int(p.a[1:]) - int(p.b[1:])) <= 3 for p in pairing.pairs)


def test_the_end_of_a_crowd_is_paired_even_if_the_last_two_have_just_met() -> None:
    idle = [waiting(rank) for rank in range(1, 205)]
    idle += [waiting(205, "p206"), waiting(206, "p205")]
    pairing = pair(idle)
    assert pairing.byes == ()
    assert frozenset(("p205", "p206")) not in names(pairing)


# --- times -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("race_s", "wait_s"), [(29, 8), (30, 10), (59, 10), (60, 15), (90, 15), (120, 18), (900, 50)]
)
def test_players_wait_longer_before_a_pass_the_longer_races_are(race_s: int, wait_s: int) -> None:
    assert arena_wait_ms(race_s * 1000) == wait_s * 1000


@pytest.mark.parametrize(
    ("pauses", "race_s", "wait_s"),
    [(0, 300, 0), (1, 300, 10), (2, 60, 10), (2, 300, 20), (4, 300, 60), (9, 300, 120)],
)
def test_who_pauses_again_and_again_waits_longer(pauses: int, race_s: int, wait_s: int) -> None:
    assert pause_ms(pauses, race_s * 1000) == wait_s * 1000


# --- nobody waits for ever ---------------------------------------------------------------


@dataclass
class Entrant:
    idle_since: int = 0
    last: str | None = None
    points: int = 0
    busy_until: int | None = 0
    longest_wait: int = 0
    games: int = 0


class Arena:
    """An arena in whole seconds: races of chance length, a pass when two have waited."""

    def __init__(self, size: int, chance: random.Random, race_s: tuple[int, int]) -> None:
        self.entrants = {f"p{n}": Entrant() for n in range(size)}
        self.chance = chance
        self.race_s = race_s
        self.wait_s = arena_wait_ms(race_s[1] * 1000) // 1000
        self.repeats = 0
        self.has_begun = False

    def run(self, seconds: int) -> None:
        for now in range(seconds):
            for entrant in self.entrants.values():
                if entrant.busy_until == now:
                    entrant.busy_until, entrant.idle_since = None, now
            idle = {n: e for n, e in self.entrants.items() if e.busy_until is None}
            for entrant in idle.values():
                entrant.longest_wait = max(entrant.longest_wait, now - entrant.idle_since)
            if sum(now - e.idle_since >= self.wait_s for e in idle.values()) >= 2:
                self._pass(now, idle)

    def _pass(self, now: int, idle: dict[str, Entrant]) -> None:
        order = sorted(self.entrants, key=lambda n: (-self.entrants[n].points, n))
        field = [
            Waiting(
                name,
                entrant.points,
                1500,
                order.index(name) + 1,
                entrant.last,
                1000 * (now - entrant.idle_since),
                entrant.games,
            )
            for name, entrant in idle.items()
        ]
        pairing = pair_arena(field, active=len(self.entrants), first_pass=not self.has_begun)
        self.has_begun = True
        for couple in pairing.pairs:
            a, b = self.entrants[couple.a], self.entrants[couple.b]
            self.repeats += a.last == couple.b and b.last == couple.a
            a.last, b.last = couple.b, couple.a
            a.busy_until = b.busy_until = now + self.chance.randint(*self.race_s)
            self.chance.choice((a, b)).points += 2
            a.games, b.games = a.games + 1, b.games + 1


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("race_s", [(20, 25), (60, 60), (30, 300)])
def test_in_a_small_arena_nobody_waits_longer_than_two_races_and_three_passes(
    size: int, race_s: tuple[int, int]
) -> None:
    arena = Arena(size, random.Random(size), race_s)
    arena.run(7200)
    bound = 2 * race_s[1] + 3 * arena.wait_s
    assert max(entrant.longest_wait for entrant in arena.entrants.values()) <= bound
    assert min(entrant.games for entrant in arena.entrants.values()) >= 7200 // (
        2 * (bound + race_s[1])
    )
    if size > 2:
        assert arena.repeats == 0
