"""Seeds and heats."""

import hmac
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.tournament.seeding import by_list, by_rating, random_by, snake


def test_the_highest_rating_is_seeded_first_and_equal_ones_by_name() -> None:
    assert by_rating({"b": 1500, "c": 1800, "a": 1500}) == ("c", "a", "b")


def test_the_organisers_list_comes_first_and_the_others_follow_by_name() -> None:
    assert by_list({"a", "b", "c", "d"}, ["c", "b"]) == ("c", "b", "a", "d")


def test_a_seed_list_with_a_stranger_or_a_name_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="who does not play: x, y"):
        by_list({"a"}, ["y", "a", "x"])
    with pytest.raises(ValueError, match="twice"):
        by_list({"a"}, ["a", "a"])


def test_anybody_can_draw_the_random_seeds_again_from_the_public_text() -> None:
    key = hmac.digest(b"dk-seeding/1", b"lottery of 1 May", "sha256")
    stream = hmac.digest(key, bytes(8), "sha256")
    words = [int.from_bytes(stream[at : at + 4], "big") for at in range(0, 32, 4)]
    names = list("abcde")
    for last in (4, 3, 2, 1):
        other = words.pop(0) % (last + 1)
        names[last], names[other] = names[other], names[last]
    assert random_by({"d", "a", "c", "e", "b"}, "lottery of 1 May") == tuple(names)


def test_random_seeds_hang_on_the_text_alone_and_favour_nobody() -> None:
    names = list(map(str, range(30)))
    assert random_by(names, "1") == random_by(names[::-1], "1") != random_by(names, "2")
    firsts = Counter(random_by("abcd", str(seed))[0] for seed in range(4000))
    assert all(abs(count - 1000) < 130 for count in firsts.values())  # 4.7 standard deviations


def test_heats_are_dealt_there_and_back() -> None:
    names = tuple("12345678")
    assert snake(names, 4) == (tuple("1458"), tuple("2367"))
    assert snake(tuple("1234567890"), 4) == (tuple("167"), tuple("258"), tuple("3490"))
    assert snake((), 4) == ()


@given(st.integers(1, 60), st.integers(1, 8))
def test_heats_hold_everybody_once_and_differ_by_one_at_most(players: int, size: int) -> None:
    names = tuple(map(str, range(players)))
    heats = snake(names, size)
    assert sorted(name for heat in heats for name in heat) == sorted(names)
    sizes = [len(heat) for heat in heats]
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
    assert len(heats) == -(-players // size)


def test_heats_of_nobody_are_an_error() -> None:
    with pytest.raises(ValueError, match="cannot have 0 players"):
        snake(("a",), 0)
