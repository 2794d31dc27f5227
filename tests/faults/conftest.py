"""A fleet that the tests of one module share where they do it no lasting harm; stores; guests."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from server.store import Limits, client
from tests.faults.fleet import Fleet
from tests.faults.processes import ValkeyProcess
from tests.server.floor import Someone


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ValkeyProcess]:
    """A store of the test's own, to be stopped and killed."""
    with ValkeyProcess("store", tmp_path) as store:
        yield await store.start()


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes nodes of this process notice a store that is away much sooner."""
    limits = partial(Limits, reply_s=0.4, connect_s=0.4, pulse_s=0.1, backoff_max_s=0.1)
    monkeypatch.setattr("server.store.line.Limits", limits)
    monkeypatch.setattr(client, "REPLY_S", 0.4)
    monkeypatch.setattr(client, "WAIT_S", 0.4)


class Arrive:
    """Lets somebody arrive at a port, and sees all off in the end."""

    def __init__(self) -> None:
        self.guests: list[Someone] = []

    async def __call__(self, port: int, name: str = "anna", *, token: str | None = None) -> Someone:
        guest = await Someone.arrive(port, name, token=token)
        self.guests.append(guest)
        return guest

    async def end(self) -> None:
        for guest in self.guests:
            guest.vanish()
            await guest.closed()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fleet]:
    """Three nodes on one store."""
    folder = tmp_path_factory.mktemp("fleet")
    async with Fleet(folder, options=["--drain-seconds", "4"]) as fleet:
        yield fleet


@pytest_asyncio.fixture(loop_scope="module")
async def arrive() -> AsyncIterator[Arrive]:
    """Lets somebody arrive at a port, and sees them all off when the test is over."""
    arrive = Arrive()
    yield arrive
    await arrive.end()
