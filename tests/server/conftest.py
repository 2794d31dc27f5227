"""What acts for tournaments on one node, with a line of its own to the store."""

from collections.abc import AsyncIterator

import pytest

from server.store import Store
from tests.server.stage import Crew


@pytest.fixture
async def crew(store_url: str) -> AsyncIterator[Crew]:
    store = await Store.open(store_url)
    made = Crew(store)
    yield made
    await made.close()
    await store.close()
