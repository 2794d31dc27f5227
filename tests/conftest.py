"""What holds for every test, and the store that tests share."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from importlib import import_module

import pytest
import pytest_asyncio
import redis
from hypothesis import HealthCheck, settings

from server.store import Embedded

# No deadline and no check of slowness: the machine is shared. No database: tests leave nothing
# behind. The examples are the same each time, so that no change is refused for what another has
# done; --hypothesis-profile=new tries new ones.
settings.register_profile(
    "quick",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
    derandomize=True,
)
settings.register_profile("new", settings.get_profile("quick"), derandomize=False)
settings.load_profile("quick")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def embedded_url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The URL of a private store that lives as long as the test session."""
    async with Embedded(tmp_path_factory.mktemp("store")) as url:
        yield url


@pytest.fixture
def store_url(embedded_url: str) -> str:
    """The URL of a store with nothing in it, not even scripts."""
    flush(embedded_url)
    return embedded_url


def flush(url: str) -> None:
    """Empty a store."""
    with redis.Redis.from_url(url) as client:
        client.flushall()
        client.script_flush()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have each of several workers compile a part of the tests, for all of them.

    Left to themselves they take the files in the same order at the same time, and each compiles
    all: the rewriting of assertions is half of what it costs to collect the tests.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    whole = session.config.args == session.config.getini("testpaths")
    if not worker or not whole or sys.dont_write_bytecode:
        return
    root, place = session.config.rootpath, int(worker.removeprefix("gw"))
    files = sorted(root.joinpath("tests").rglob("test_*.py"))
    for file in files[place :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]:
        # Where one cannot be imported, its collection says so.
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(file.relative_to(root).with_suffix("").parts))
