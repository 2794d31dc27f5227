"""A gateway on a real port, for each test on both event loops."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

import pytest
import pytest_asyncio
import uvloop

from tests.gateway.rig import Rig

LoopFactory = Callable[[], asyncio.AbstractEventLoop]


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, LoopFactory]:
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest_asyncio.fixture
async def rig() -> AsyncIterator[Rig]:
    """A gateway to be started; afterwards it closes and must have let go of everything."""
    rig = Rig()
    yield rig
    await rig.stop()


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a client does, no fault is logged, unless a test takes it away first."""
    caplog.set_level(logging.INFO, "dk.gateway")
    yield
    faults = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.getMessage() for record in faults] == []
