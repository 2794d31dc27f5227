"""Ratings: each match counts once, whoever tells of it and how often."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from server.ladder import Ladder, full, rated_matches
from server.refusal import Refusal
from server.store import Store
from server.tournament import Tournament
from server.tournament.acts import decide_override
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


async def test_a_ruling_after_the_end_changes_no_rating_that_counts_already(store: Store) -> None:
    t = await played(store)
    before = await texts(store)
    crew = Crew(store)
    final = next(match for match in t.matches.values() if match.slot == "W2.1")
    assert final.result is not None
    loser, winner = sorted(final.entries, key=final.result.winner.__eq__)
    async with crew.halls.held(t.code) as hall:
        await crew.director.act(
            hall,
            lambda t: decide_override(t, "owner", 0, final.id, [[loser], [winner]], "typed it"),
        )
    await finish(store, t.code, crew)
    await crew.close()
    ruled = await fold(store, t.code)
    result = ruled.matches[final.id].result
    assert result is not None
    assert (ruled.phase, result.winner) == ("finished", loser)
    await Ladder(store).apply(ruled)
    assert await texts(store) == before


async def test_what_is_raced_after_a_tournament_was_reopened_counts_too(store: Store) -> None:
    code = await opened(store, settings(Single()), 4)
    crew = Crew(store)
    await finish(store, code, crew)
    players = [f"p{number:03}" for number in range(4)]
    before = await Ladder(store).of(RULES, players)
    async with crew.halls.held(code) as hall:  # as somebody who looks keeps it
        first = next(match for match in hall.t.matches.values() if match.slot == "W1.1")
        assert first.result is not None
        loser, winner = sorted(first.entries, key=first.result.winner.__eq__)
        places = [[loser], [winner]]
        await crew.director.act(
            hall,
            lambda t: decide_override(t, "owner", 0, first.id, places, "typed it", confirm=True),
        )
        assert hall.t.phase == "running"
        await finish(store, code, crew)
        assert hall.t.phase == "finished"
    await crew.close()
    after = await Ladder(store).of(RULES, players)
    assert after[winner] == before[winner]
    assert after[loser].races == before[loser].races + 1


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
