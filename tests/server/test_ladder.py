"""Ratings: each match counts once, whoever tells of it and how often."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from server.ladder import Ladder, full, rated_matches
from server.refusal import Refusal
from server.store import Store
from server.tournament import Tournament
from tests.server.fair import settings
from tests.server.stage import Crew, finish, fold, opened
from wire.formats import Single

RULES = "double-klondike"


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    made = await Store.open(store_url)
    yield made
    await made.close()


async def played(store: Store, *, rated: bool = True) -> Tournament:
    """A knock-out of four that is over."""
    code = await opened(store, settings(Single(), rated=rated), 4)
    crew = Crew(store)
    await finish(store, code, crew)
    await crew.close()
    return await fold(store, code)


async def texts(store: Store) -> dict[str, str]:
    return await store.ratings.read(full(RULES), [f"p{number:03}" for number in range(4)])


async def test_a_finish_that_is_told_again_changes_no_rating(store: Store) -> None:
    t = await played(store)
    before = await texts(store)
    assert len(before) == 4
    for _ in range(3):
        await Ladder(store).apply(t)
    assert await texts(store) == before


async def test_nodes_that_tell_of_one_finish_at_once_count_it_once(store: Store) -> None:
    t = await played(store, rated=False)
    assert await texts(store) == {}
    t.settings = settings(Single())
    await asyncio.gather(*(Ladder(store).apply(t) for _ in range(4)))
    ratings = await Ladder(store).of(RULES, ["p000", "p001", "p002", "p003"])
    assert sorted(rating.races for rating in ratings.values()) == [1, 1, 2, 2]


async def test_a_tournament_that_is_not_rated_leaves_the_ratings_alone(store: Store) -> None:
    t = await played(store, rated=False)
    assert len(list(rated_matches(t))) == 3
    assert await texts(store) == {}


async def test_whoever_has_not_raced_yet_has_the_rating_of_a_newcomer(store: Store) -> None:
    ratings = await Ladder(store).of(RULES, ["nobody"])
    assert ratings["nobody"].shown == 1500
    assert ratings["nobody"].is_provisional
    assert (await Ladder(store).career(RULES, "nobody")).rating is None


async def test_there_is_no_ladder_of_rules_that_do_not_exist(store: Store) -> None:
    with pytest.raises(Refusal) as caught:
        await Ladder(store).board("no such game", 0, 10)
    assert caught.value.code == "rules"
