"""The store suite runs on the private Valkey and, where one is installed, on a Redis too."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
import pytest_asyncio

from server.store import Appended, Embedded, Entry, Limits, Outcome, Player, Store
from server.store.address import parse
from tests.conftest import flush
from tests.faults.processes import HOST
from tests.faults.stores import MASTER_NAME, ClusterTrio, SentinelTrio

REDIS = shutil.which("redis-server")
# Quick to come back, and slow to blame a store that only waits for a busy machine.
BRISK = Limits(reply_s=5.0, connect_s=5.0, pulse_s=0.1, backoff_s=0.01, backoff_max_s=0.1)
# For tests in which the store stands still.
HASTY = Limits(reply_s=1.0, connect_s=1.0, pulse_s=0.1, backoff_s=0.01, backoff_max_s=0.1)

SINGLE = [
    "valkey",
    pytest.param("redis", marks=pytest.mark.skipif(REDIS is None, reason="no redis-server here")),
]
# The same promises from a store of several processes; see tests/faults/stores.py.
KINDS = [
    *SINGLE,
    pytest.param("sentinel", marks=pytest.mark.slow),
    pytest.param("cluster", marks=pytest.mark.slow),
]


def binary(kind: str) -> Path | None:
    """The program of a kind; None is the private store's own choice."""
    return Path(REDIS) if kind == "redis" and REDIS else None


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def redis_url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    async with Embedded(tmp_path_factory.mktemp("redis"), binary=binary("redis")) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sentinels(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SentinelTrio]:
    """A master, its replica and three Sentinels, not to be ill-treated."""
    async with SentinelTrio(tmp_path_factory.mktemp("sentinels")) as trio:
        yield trio


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ClusterTrio]:
    """Three masters that share the slots, not to be ill-treated."""
    async with ClusterTrio(tmp_path_factory.mktemp("cluster")) as trio:
        yield trio


@pytest.fixture(params=KINDS)
def store_url(request: pytest.FixtureRequest) -> str:
    match request.param:
        case "sentinel":
            trio = request.getfixturevalue("sentinels")
            flush(trio.first.url)
            return sentinel_url(trio)
        case "cluster":
            return empty(request.getfixturevalue("cluster"))
        case _:
            name = "redis_url" if request.param == "redis" else "embedded_url"
            url: str = request.getfixturevalue(name)
            flush(url)
            return url


def sentinel_url(trio: SentinelTrio) -> str:
    """The URL of a master that Sentinels watch."""
    doors = ",".join(f"{host}:{port}" for host, port in trio.addresses)
    return f"sentinel://{doors}/{MASTER_NAME}"


def cluster_url(trio: ClusterTrio) -> str:
    """The URL of a Cluster."""
    return "cluster://" + ",".join(f"{HOST}:{member.port}" for member in trio.masters)


def empty(trio: ClusterTrio) -> str:
    """Empty a Cluster, and give its URL."""
    for member in trio.masters:
        flush(member.url)
    return cluster_url(trio)


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


@pytest.fixture(params=SINGLE)
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


async def until(condition: Callable[[], bool], limit_s: float = 30.0) -> None:
    """Wait for something that another process has to do first."""
    async with asyncio.timeout(limit_s):
        while not condition():  # noqa: ASYNC110 - nothing in this process could tell
            await asyncio.sleep(0.005)


T = TypeVar("T")


def outcome(send: Callable[[Callable[[T], None]], None]) -> Awaitable[T]:
    """Wait for what a callback is given."""
    waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    send(waiter.set_result)
    return waiter


def appended(outcome: Outcome) -> Appended:
    """What was appended, where it must have been."""
    assert isinstance(outcome, Appended)
    return outcome


def known(player: Player | None) -> Player:
    """A player who must be there."""
    assert player is not None
    return player


def running(private: Embedded) -> int:
    """The process of a store that must be running."""
    assert private.pid is not None
    return private.pid


def socket_of(url: str) -> Path:
    """The socket of a private store."""
    path = parse(url).path
    assert path is not None
    return Path(path)
