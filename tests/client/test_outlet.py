"""Writing to a terminal: all of it, in its own time, and nothing else waits for that."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from client.outlet import Outlet
from tests.client.stage import LIMIT

MUCH = bytes(range(256)) * 2048  # more than any pipe holds

Pipe = tuple[int, int]


@pytest.fixture(params=[True, False], ids=["blocking", "non-blocking"])
def pipe(request: pytest.FixtureRequest) -> Iterator[Pipe]:
    """A pipe with its writing end left in either mode."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, request.param)
    yield ours, theirs
    for end in (ours, theirs):
        os.close(end)


async def drained(descriptor: int, count: int) -> bytes:
    """Read so many bytes, in a thread, so that the loop goes on."""

    def read() -> bytes:
        parts: list[bytes] = []
        while sum(map(len, parts)) < count:
            parts.append(os.read(descriptor, 65_536))
        return b"".join(parts)

    return await asyncio.wait_for(asyncio.to_thread(read), LIMIT)


async def test_all_is_written_while_the_loop_goes_on(pipe: Pipe) -> None:
    ours, theirs = pipe
    outlet = Outlet(theirs)
    writing = asyncio.create_task(outlet.write(MUCH))
    begun = await drained(ours, 1)
    assert not writing.done()
    assert begun + await drained(ours, len(MUCH) - len(begun)) == MUCH
    await asyncio.wait_for(writing, LIMIT)
    outlet.close()


async def test_what_is_under_way_at_the_end_is_given_up(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.outlet.CLOSE_LIMIT", 0.01)
    monkeypatch.setattr("client.outlet.LOOK_GAP", 0.01)
    ours, theirs = pipe
    outlet = Outlet(theirs)
    writing = asyncio.create_task(outlet.write(MUCH))
    assert await drained(ours, 1)
    outlet.close()
    await asyncio.wait_for(writing, LIMIT)
