"""Swiss pairing: the best there is, and one that can be explained."""

import random
from collections.abc import Collection, Sequence
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.tournament.pairing import Contender, Pairing, pair_swiss
from server.tournament.pairing.field import DOWN, UP
from tests.tournament.fields import (
    Played,
    contender,
    fields,
    fields_with_forbidden,
    matchings,
    newcomers,
)

Names = list[tuple[str, str]]


def pair(field: Sequence[Contender], forbidden: Collection[frozenset[str]] = ()) -> Pairing:
    return pair_swiss(field, round_number=3, rounds=5, forbidden=forbidden)


def met_in(pairing: Pairing) -> set[frozenset[str]]:
    return {frozenset((pair.a, pair.b)) for pair in pairing.pairs}


# --- the price list, written again from its description ---------------------------------


def price(pairs: Names, out: Sequence[str], field: Sequence[Contender]) -> tuple[int, ...]:
    """What a pairing costs, level by level, in the order in which levels count."""
    players = {player.id: player for player in field}
    fouls = [players[name] for name in out]
    again = [players[a].met.get(b, 0) for a, b in pairs]
    turns = [player.id for player in bye_queue(field)]
    gaps = [abs(players[a].points - players[b].points) for a, b in pairs]
    return (
        len(out),
        sum(player.byes > 0 for player in fouls),
        sum(player.byes for player in fouls),
        sum(player.forfeit_wins for player in fouls),
        sum(times > 0 for times in again),
        sum(times - 1 for times in again if times),
        sum(turns.index(name) for name in out),
        sum(gap**2 for gap in gaps),
        sum(floats_again(players[a], players[b]) for a, b in pairs),
        off_the_fold(pairs, out, field),
    )


def standing(player: Contender) -> tuple[int, int]:
    return -player.points, player.seed


def bye_queue(field: Sequence[Contender]) -> list[Contender]:
    lowest_first = sorted(field, key=standing, reverse=True)
    return sorted(lowest_first, key=lambda p: (p.byes, p.forfeit_wins, p.late))


def floats_again(a: Contender, b: Contender) -> int:
    if a.points == b.points:
        return 0
    high, low = (a, b) if a.points > b.points else (b, a)
    return (high.floats[0] == DOWN) + (low.floats[0] == UP)


def off_the_fold(pairs: Names, out: Sequence[str], field: Sequence[Contender]) -> int:
    partner = dict(pairs) | {b: a for a, b in pairs}
    playing = sorted((player for player in field if player.id not in out), key=standing)
    total = 0
    sent_down = False
    for _, members in groupby(playing, key=lambda player: player.points):
        group = [player.id for player in members]
        received, sent_down = sent_down, (len(group) - sent_down) % 2 == 1
        half = (len(group) - received - sent_down) // 2
        for place, name in enumerate(group):
            other = partner[name]
            if other not in group:
                points = {player.id: player.points for player in playing}
                floats_down = points[name] > points[other]
                total += ((len(group) - 1 - place) if floats_down else place) ** 2
            elif place < group.index(other):
                total += (group.index(other) - place - half) ** 2
    return total


def test_the_price_list_takes_the_fold_as_free_and_anything_else_as_not() -> None:
    field = newcomers(4)
    assert off_the_fold([("p1", "p3"), ("p2", "p4")], [], field) == 0
    assert off_the_fold([("p1", "p2"), ("p3", "p4")], [], field) == 2


@settings(max_examples=120)
@given(fields_with_forbidden(8))
def test_no_pairing_of_a_small_field_is_cheaper(
    setting: tuple[list[Contender], list[frozenset[str]]],
) -> None:
    field, forbidden = setting
    pairing = pair(field, forbidden)
    names = [player.id for player in field]
    prices = [
        price(pairs, out, field)
        for pairs, out in matchings(names)
        if not any(frozenset(two) in forbidden for two in pairs)
    ]
    found = price([(p.a, p.b) for p in pairing.pairs], [b for b, _ in pairing.byes], field)
    assert found == min(prices)


@settings(max_examples=150)
@given(fields(8))
def test_no_rematch_is_made_that_a_pairing_with_the_same_bye_could_avoid(
    field: list[Contender],
) -> None:
    pairing = pair(field)
    out = {name for name, _ in pairing.byes}
    playing = [player for player in field if player.id not in out]
    met = {player.id: player.met for player in playing}
    fewest = min(
        sum(b in met[a] for a, b in pairs)
        for pairs, left in matchings([player.id for player in playing])
        if not left
    )
    assert sum(p.b in met[p.a] for p in pairing.pairs) == fewest


@given(fields(8))
def test_nobody_gets_a_second_bye_while_anybody_else_is_without_one(
    field: list[Contender],
) -> None:
    byes = {player.id: player.byes for player in field}
    for name, _ in pair(field).byes:
        assert byes[name] == min(byes.values())


@given(fields(8), st.randoms(use_true_random=False))
def test_the_order_in_which_players_are_passed_changes_nothing(
    field: list[Contender], chance: random.Random
) -> None:
    shuffled = field.copy()
    chance.shuffle(shuffled)
    assert pair(shuffled) == pair(field)


@given(fields_with_forbidden(8))
def test_everybody_is_paired_or_sits_out_once_and_nobody_forbidden_meets(
    setting: tuple[list[Contender], list[frozenset[str]]],
) -> None:
    field, forbidden = setting
    pairing = pair(field, forbidden)
    seen = [name for p in pairing.pairs for name in (p.a, p.b)]
    seen += [name for name, _ in pairing.byes]
    assert sorted(seen) == sorted(player.id for player in field)
    assert not met_in(pairing) & set(forbidden)


# --- whole tournaments -------------------------------------------------------------------


@pytest.mark.parametrize("size", [*range(2, 20), 31, 32, 47, 64])
def test_a_whole_tournament_has_no_rematch_and_no_second_bye_before_it_must(size: int) -> None:
    rounds = min(7, size - 1 if size % 2 == 0 else size)
    played = Played(pair_swiss, size, rounds, random.Random(size)).run()
    byes = [name for pairing in played.paired for name, _ in pairing.byes]
    assert len(byes) == rounds * (size % 2)
    assert len(set(byes)) == len(byes)
    if size > 2 * rounds:  # then everybody has half the field left, and Dirac's theorem holds
        assert all(times == 1 for player in played.field for times in player.met.values())


def test_a_small_field_that_has_met_goes_on_with_as_few_repeats_as_can_be() -> None:
    played = Played(pair_swiss, 4, 9, random.Random(4)).run()
    assert all(set(player.met.values()) == {3} for player in played.field)


# --- cases by hand -----------------------------------------------------------------------


def test_in_the_first_round_the_upper_half_meets_the_lower_half() -> None:
    pairing = pair_swiss(newcomers(8), round_number=1, rounds=3)
    assert [(p.a, p.b) for p in pairing.pairs] == [
        ("p1", "p5"),
        ("p2", "p6"),
        ("p3", "p7"),
        ("p4", "p8"),
    ]


def test_the_last_of_an_odd_group_floats_down_to_the_head_of_the_next() -> None:
    field = [contender(f"a{n}", points=4, seed=n) for n in (1, 2, 3)]
    field += [contender(f"b{n}", points=2, seed=n) for n in (4, 5, 6)]
    assert met_in(pair(field)) == {
        frozenset(("a1", "a2")),
        frozenset(("a3", "b4")),
        frozenset(("b5", "b6")),
    }


def test_a_group_that_receives_one_and_sends_one_down_halves_the_rest() -> None:
    field = [contender("a", points=6, seed=1), contender("c", points=2, seed=9)]
    field += [contender(f"b{n}", points=4, seed=n) for n in (2, 3, 4, 5)]
    pairing = pair(field)
    assert [(p.a, p.b) for p in pairing.pairs] == [("a", "b2"), ("b3", "b4"), ("b5", "c")]
    assert pairing.pairs[1].reason == "both on 2 points: upper half against lower half"


def test_who_floated_down_in_the_last_round_stays_if_another_can_float() -> None:
    field = [contender(f"a{n}", points=4, seed=n) for n in (1, 2)]
    field += [contender("a3", points=4, seed=3, floats=(DOWN, 0))]
    field += [contender("b4", points=2, seed=4)]
    assert frozenset(("a3", "b4")) not in met_in(pair(field))


def test_the_lowest_who_has_had_no_bye_sits_out() -> None:
    field = [
        contender("a", points=4, seed=1),
        contender("b", points=2, seed=2),
        contender("c", points=0, seed=3, byes=1),
    ]
    assert [name for name, _ in pair(field).byes] == ["b"]


def test_a_win_by_forfeit_counts_as_a_bye_when_byes_are_given() -> None:
    field = [
        contender("a", points=4, seed=1),
        contender("b", points=2, seed=2),
        contender("c", points=2, seed=3, forfeit_wins=1),
    ]
    assert [name for name, _ in pair(field).byes] == ["b"]


def test_a_late_entrant_plays_rather_than_sits_out() -> None:
    field = [*newcomers(2), contender("new", seed=3, late=True)]
    assert [name for name, _ in pair(field).byes] == ["p2"]


def test_the_bye_goes_to_the_next_in_turn_if_the_rest_would_have_to_meet_again() -> None:
    field = [
        contender("a", points=4, seed=1, met=["b"]),
        contender("b", points=2, seed=2, met=["a"]),
        contender("c", points=0, seed=3),
    ]
    pairing = pair(field)
    assert [name for name, _ in pairing.byes] == ["b"]
    assert met_in(pairing) == {frozenset(("a", "c"))}


def test_two_whom_the_organiser_keeps_apart_both_sit_out_if_nobody_else_is_there() -> None:
    pairing = pair(newcomers(2), [frozenset(("p1", "p2"))])
    assert pairing.pairs == ()
    assert {name for name, _ in pairing.byes} == {"p1", "p2"}


def test_an_empty_field_is_paired_to_nothing_and_a_single_player_sits_out() -> None:
    assert pair([]) == Pairing((), ())
    assert pair(newcomers(1)).byes == (("p1", "nobody else is in this round"),)


def test_a_player_who_stands_twice_in_the_field_is_an_error() -> None:
    with pytest.raises(ValueError, match="twice"):
        pair([*newcomers(2), contender("p1", seed=9)])


@pytest.mark.parametrize("number", [0, 6])
def test_a_round_outside_the_tournament_is_an_error(number: int) -> None:
    with pytest.raises(ValueError, match=f"no round {number} of 5"):
        pair_swiss(newcomers(2), round_number=number, rounds=5)


# --- reasons -----------------------------------------------------------------------------


def test_each_pair_says_why_in_plain_words() -> None:
    field = [contender(f"a{n}", points=4, seed=n) for n in (1, 2, 3)]
    field += [contender("b4", points=3, seed=4)]
    reasons = {(p.a, p.b): p.reason for p in pair(field).pairs}
    assert reasons == {
        ("a1", "a2"): "both on 2 points: upper half against lower half",
        ("a3", "b4"): "2 points against 1½ points: not everybody can be paired on equal points",
    }


def test_a_pair_off_the_fold_does_not_claim_it() -> None:
    field = [
        contender("a", points=1, seed=1, met=["c"]),
        contender("b", points=1, seed=2),
        contender("c", points=1, seed=3, met=["a"]),
        contender("d", points=1, seed=4),
    ]
    assert {p.reason for p in pair(field).pairs} == {
        "both on ½ point: as near to upper half against lower half as this round allows"
    }


def test_a_rematch_says_that_it_could_not_be_avoided() -> None:
    field = [contender("a", seed=1, met=["b", "b"]), contender("b", seed=2, met=["a", "a"])]
    assert pair(field).pairs[0].reason == (
        "both on 0 points, met 2× before: this round cannot do without a rematch"
    )


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        (newcomers(3), "last in the standings"),
        (
            [*newcomers(2), contender("p3", seed=3, byes=1)],
            "last of those without a bye, a win by forfeit or a late entry",
        ),
        (
            [contender(f"p{n}", seed=n, byes=1) for n in (1, 2, 3)],
            "everybody has had a bye, the fewest and then the lowest first",
        ),
        (
            [contender(f"p{n}", seed=n, forfeit_wins=1) for n in (1, 2, 3)],
            "everybody has had a bye or a win by forfeit",
        ),
        (
            [
                contender("p1", seed=1, met=["p2"]),
                contender("p2", seed=2, met=["p1"]),
                contender("p3", seed=3),
            ],
            "who comes first in turn is needed to pair the others",
        ),
    ],
)
def test_a_bye_says_why_it_is_this_player(field: list[Contender], reason: str) -> None:
    [(_, said)] = pair(field).byes
    assert said == f"odd number: {reason}"
