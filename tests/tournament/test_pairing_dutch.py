"""FIDE Dutch through py4swiss, and what it has in common with our own matching."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.tournament.pairing import Contender, Pairing, dutch, pair_dutch, pair_swiss
from server.tournament.pairing.field import DOWN
from tests.tournament.fields import Played, contender, fields, newcomers

pytest.importorskip("py4swiss", reason="py4swiss is not built for this platform")


def pair(field: Sequence[Contender], forbidden: Sequence[frozenset[str]] = ()) -> Pairing:
    return pair_dutch(field, round_number=3, rounds=5, forbidden=forbidden)


def met_in(pairing: Pairing) -> set[frozenset[str]]:
    return {frozenset((p.a, p.b)) for p in pairing.pairs}


def gaps(pairing: Pairing, field: Sequence[Contender]) -> list[int]:
    points = {player.id: player.points for player in field}
    return [abs(points[p.a] - points[p.b]) for p in pairing.pairs]


def rematches(pairing: Pairing, field: Sequence[Contender]) -> int:
    met = {player.id: player.met for player in field}
    return sum(p.b in met[p.a] for p in pairing.pairs)


@pytest.mark.parametrize("size", [2, 3, 8, 9, 33])
def test_the_first_round_is_that_of_our_own_matching(size: int) -> None:
    field = newcomers(size)
    ours = pair_swiss(field, round_number=1, rounds=5)
    theirs = pair_dutch(field, round_number=1, rounds=5)
    assert met_in(theirs) == met_in(ours)
    assert [name for name, _ in theirs.byes] == [name for name, _ in ours.byes]


@pytest.mark.parametrize("size", [*range(1, 20), 40, 41])
def test_the_first_round_is_paired_without_the_engine_as_the_engine_would(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = random.Random(size).sample(newcomers(size), size)
    with monkeypatch.context() as without:
        without.delattr(dutch, "_engine_pairs")
        ours = pair_dutch(field, round_number=1, rounds=5)
    monkeypatch.setattr(dutch, "_is_new", lambda contender: False)
    assert pair_dutch(field, round_number=1, rounds=5) == ours


def test_whoever_may_not_meet_does_not_in_the_first_round_either() -> None:
    field = newcomers(8)
    forbidden = frozenset((field[0].id, field[4].id))
    assert forbidden in met_in(pair_dutch(field, round_number=1, rounds=5))
    found = pair_dutch(field, round_number=1, rounds=5, forbidden=[forbidden])
    assert forbidden not in met_in(found)


@settings(max_examples=60)
@given(fields(8))
def test_wherever_dutch_finds_a_pairing_ours_is_as_legal_and_no_further_apart(
    field: list[Contender],
) -> None:
    theirs = pair(field)
    if any("no legal pairing" in p.reason for p in theirs.pairs) or not theirs.pairs:
        return
    ours = pair_swiss(field, round_number=3, rounds=5)
    assert rematches(theirs, field) == rematches(ours, field) == 0
    points = {player.id: player.points for player in field}
    if len(field) % 2:
        [(their_bye, _)], [(our_bye, _)] = theirs.byes, ours.byes
        assert points[their_bye] == points[our_bye] or any(player.late for player in field)
    else:
        assert ours.byes == theirs.byes == ()
        assert sum(g**2 for g in gaps(ours, field)) <= sum(g**2 for g in gaps(theirs, field))


@settings(max_examples=60)
@given(fields(8), st.randoms(use_true_random=False))
def test_the_order_in_which_players_are_passed_changes_nothing(
    field: list[Contender], chance: random.Random
) -> None:
    shuffled = field.copy()
    chance.shuffle(shuffled)
    assert pair(shuffled) == pair(field)


@pytest.mark.parametrize("size", [6, 11, 24])
def test_a_whole_tournament_has_no_rematch_and_no_second_bye(size: int) -> None:
    played = Played(pair_dutch, size, 4, random.Random(size)).run()
    assert all(times == 1 for player in played.field for times in player.met.values())
    assert all(player.byes <= 1 for player in played.field)


def test_the_bye_goes_to_the_lowest_score_without_one_as_in_our_own_matching() -> None:
    field = [contender(f"p{n}", points=2, seed=n) for n in (1, 2, 3, 4)]
    field += [contender("p5", points=0, seed=5, byes=1)]
    points = {player.id: player.points for player in field}
    [(theirs, _)] = pair(field).byes
    [(ours, _)] = pair_swiss(field, round_number=3, rounds=5).byes
    assert points[theirs] == points[ours] == 2


def test_floats_of_the_last_round_are_not_repeated() -> None:
    field = [contender(f"a{n}", points=4, seed=n) for n in (1, 2)]
    field += [contender("a3", points=4, seed=3, floats=(DOWN, 0)), contender("b4", 2, 4)]
    assert frozenset(("a3", "b4")) not in met_in(pair(field))


def test_whom_the_organiser_keeps_apart_does_not_meet() -> None:
    apart = frozenset(("p1", "p5"))
    assert apart in met_in(pair(newcomers(8)))
    assert apart not in met_in(pair(newcomers(8), [apart, frozenset(("p1", "away"))]))


def test_who_has_left_the_tournament_is_no_matter() -> None:
    field = [contender("a", seed=1, met=["gone"]), contender("b", seed=2)]
    assert met_in(pair(field)) == {frozenset(("a", "b"))}


def test_where_dutch_has_no_legal_pairing_the_round_is_paired_all_the_same() -> None:
    field = [contender("a", seed=1, met=["b"]), contender("b", seed=2, met=["a"])]
    [only] = pair(field).pairs
    assert only.reason.startswith("the Dutch system has no legal pairing left; both on 0 points")


def test_each_pair_says_why() -> None:
    field = [contender("a", 4, 1), contender("b", 3, 2), contender("c", 2, 3), contender("d", 2, 4)]
    assert [p.reason for p in pair(field).pairs] == [
        "Dutch system: 2 points floats down to 1½ points",
        "Dutch system: both on 1 point",
    ]


def test_a_server_without_the_engine_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dutch, "find_spec", lambda name: None)
    assert not dutch.is_dutch_available()
    with pytest.raises(RuntimeError, match="install py4swiss or choose Swiss"):
        pair(newcomers(2))


def test_a_round_outside_the_tournament_is_an_error() -> None:
    with pytest.raises(ValueError, match="no round 9 of 5"):
        pair_dutch(newcomers(2), round_number=9, rounds=5)
