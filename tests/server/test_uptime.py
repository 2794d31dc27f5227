"""Since when everybody could play, as far as a node can know."""

from collections.abc import AsyncIterator

import pytest

from server.store import Appended, Store, Unavailable, keys
from server.uptime import Uptime
from tests.server.floor import until

JID = keys.room("UPTIME")


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    opened = await Store.open(store_url)
    yield opened
    await opened.close()


async def test_it_begins_with_the_node(store: Store) -> None:
    before = store.clock.now()
    uptime = Uptime(store)
    assert before <= uptime.since <= store.clock.now()


async def test_it_begins_anew_when_the_store_is_back(store: Store) -> None:
    uptime = Uptime(store)
    uptime._since = 0
    store.line.leave("a test")

    async def is_back() -> bool:
        return store.is_whole and 0 < uptime.since < store.clock.now()

    await until(is_back)


@pytest.mark.parametrize("what", ["a play", "a timer", "a sign of life"])
async def test_it_begins_anew_when_the_store_takes_something_in_again(
    store: Store, what: str
) -> None:
    """Whatever it would not take: nobody may have tried to play just then."""

    async def write() -> None:
        if what == "a timer":
            await store.timers.set("UPTIME", 0)
        elif what == "a sign of life":
            await store.nodes.beat("node", 0, {})
        elif not isinstance(
            await store.journals.append(JID, [b"{}"], expect=0, ttl_s=60), Appended
        ):
            raise Unavailable("refused")

    uptime = Uptime(store)
    uptime._since = 0
    await store.timers.drop("NOBODY")
    assert uptime.since == 0
    await store.line.ask("CONFIG", "SET", "min-replicas-to-write", "1")
    try:
        before = store.clock.now()
        with pytest.raises(Unavailable):
            await write()
    finally:
        await store.line.ask("CONFIG", "SET", "min-replicas-to-write", "0")
    assert store.is_whole
    assert store.refusals == 1
    assert before - 50 <= uptime.since <= store.clock.now()
