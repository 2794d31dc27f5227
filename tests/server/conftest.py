"""Nodes in this process, and what acts for tournaments on one, with a line of its own."""

from collections.abc import AsyncIterator

import pytest

from server.store import Store
from tests.server.floor import node
from tests.server.stage import Crew


@pytest.fixture
async def crew(store_url: str) -> AsyncIterator[Crew]:
    store = await Store.open(store_url)
    made = Crew(store)
    yield made
    await made.close()
    await store.close()


@pytest.fixture
async def port(store_url: str) -> AsyncIterator[int]:
    """The port of a node."""
    async with node(store_url) as started:
        yield started.port


@pytest.fixture
async def ports(store_url: str) -> AsyncIterator[list[int]]:
    """The ports of two nodes on one store."""
    async with node(store_url) as one, node(store_url) as other:
        yield [one.port, other.port]
