"""The fleet that the tests of one module share where they do it no lasting harm."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from tests.faults.fleet import Fleet
from tests.server.floor import Someone

Arrive = Callable[..., Awaitable[Someone]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fleet]:
    """Three nodes on one store."""
    folder = tmp_path_factory.mktemp("fleet")
    async with Fleet(folder, options=["--drain-seconds", "2"]) as fleet:
        yield fleet


@pytest_asyncio.fixture(loop_scope="module")
async def arrive() -> AsyncIterator[Arrive]:
    """Lets somebody arrive at a port, and sees them all off when the test is over."""
    guests: list[Someone] = []

    async def arrive(port: int, name: str = "anna", *, token: str | None = None) -> Someone:
        guests.append(await Someone.arrive(port, name, token=token))
        return guests[-1]

    yield arrive
    for guest in guests:
        guest.vanish()
        await guest.closed()
