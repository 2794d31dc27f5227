"""The store suite runs on the private Valkey and, where one is installed, on a Redis too."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from server.store import Embedded, Entry, Limits, Store
from tests.conftest import flush

REDIS = shutil.which("redis-server")
# Quick to come back, and slow to blame a store that only waits for a busy machine.
BRISK = Limits(reply_s=5.0, connect_s=5.0, pulse_s=0.1, backoff_s=0.01, backoff_max_s=0.1)
# For tests in which the store stands still.
HASTY = Limits(reply_s=0.4, connect_s=0.4, pulse_s=0.1, backoff_s=0.01, backoff_max_s=0.1)

KINDS = [
    "valkey",
    pytest.param("redis", marks=pytest.mark.skipif(REDIS is None, reason="no redis-server here")),
]


def binary(kind: str) -> Path | None:
    """The program of a kind; None is the private store's own choice."""
    return Path(REDIS) if kind == "redis" and REDIS else None


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def redis_url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    async with Embedded(tmp_path_factory.mktemp("redis"), binary=binary("redis")) as url:
        yield url


@pytest.fixture(params=KINDS)
def store_url(request: pytest.FixtureRequest) -> str:
    name = "redis_url" if request.param == "redis" else "embedded_url"
    url: str = request.getfixturevalue(name)
    flush(url)
    return url


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    """An open store with nothing in it."""
    store = await Store.open(store_url)
    yield store
    await store.close()


@pytest.fixture
async def other(store: Store, store_url: str) -> AsyncIterator[Store]:
    """Another node's view of the same store."""
    other = await Store.open(store_url)
    yield other
    await other.close()


@pytest.fixture(params=KINDS)
async def private(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Embedded]:
    """A store of the test's own, to be ill-treated; it acknowledges what is on the disk."""
    embedded = Embedded(tmp_path / "data", binary=binary(request.param), fsync="always")
    await embedded.start()
    yield embedded
    await embedded.stop()


class Ear:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.notes: list[bytes] = []
        self.resyncs = 0

    def on_entry(self, entry: Entry) -> None:
        self.entries.append(entry)

    def on_note(self, note: bytes) -> None:
        self.notes.append(note)

    def on_resync(self) -> None:
        self.resyncs += 1


async def until(condition: Callable[[], bool], limit_s: float = 10.0) -> None:
    """Wait for something that another process has to do first."""
    async with asyncio.timeout(limit_s):
        while not condition():  # noqa: ASYNC110 - nothing in this process could tell
            await asyncio.sleep(0.005)


def outcome(send: Callable[[Callable[..., None]], None]) -> Awaitable:
    """Wait for what a callback is given."""
    waiter = asyncio.get_running_loop().create_future()
    send(waiter.set_result)
    return waiter
