"""The proxy does to a line what it says, and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from tests.faults.processes import HOST, until
from tests.faults.proxy import Proxy, Target, Way
from tests.listener import listening

PATIENCE_S = 30.0


class Echo:
    """A server that sends back what it hears."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1000):
                writer.write(data)
                await writer.drain()
        finally:
            self.ended.set()


@asynccontextmanager
async def echo(path: Path | None = None) -> AsyncIterator[tuple[Echo, Target]]:
    heard = Echo()
    async with listening(heard.serve, path) as port:
        yield heard, str(path) if path is not None else (HOST, port)


class Caller:
    """The near end of a line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    @asynccontextmanager
    async def dial(cls, proxy: Proxy) -> AsyncIterator["Caller"]:
        caller = cls(*await asyncio.open_connection("127.0.0.1", proxy.port))
        try:
            yield caller
        finally:
            caller.writer.transport.abort()
            await asyncio.sleep(0)

    def say(self, data: bytes) -> None:
        self.writer.write(data)

    async def hear(self, size: int) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.readexactly(size)

    async def hears_nothing(self, for_s: float = 0.15) -> bool:
        try:
            async with asyncio.timeout(for_s):
                await self.reader.read(1)
        except TimeoutError:
            return True
        return False

    async def broken(self) -> bool:
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read() == b""
            except OSError:
                return True


async def test_a_calm_line_passes_everything_in_both_directions_and_its_end() -> None:
    async with echo() as (heard, target), Proxy(target) as proxy, Caller.dial(proxy) as caller:
        data = Random(1).randbytes(300_000)
        caller.say(data)
        assert await caller.hear(len(data)) == data
        caller.writer.write_eof()
        assert await caller.broken()
        assert heard.ended.is_set()


async def test_a_socket_with_a_path_is_as_good_as_a_port(tmp_path: Path) -> None:
    far, near = tmp_path / "far", tmp_path / "near"
    async with echo(far) as (_, target), await Proxy(target).start(path=str(near)):
        caller = Caller(*await asyncio.open_unix_connection(str(near)))
        caller.say(b"hello")
        assert await caller.hear(5) == b"hello"
        caller.writer.close()
        await caller.writer.wait_closed()


async def test_a_cut_line_is_over_for_both_ends_and_the_next_one_is_not() -> None:
    async with echo() as (heard, target), Proxy(target) as proxy:
        async with Caller.dial(proxy) as caller:
            caller.say(b"x")
            await caller.hear(1)
            assert proxy.cut() == 1
            assert await caller.broken()
            await asyncio.wait_for(heard.ended.wait(), PATIENCE_S)
        async with Caller.dial(proxy) as again:
            again.say(b"y")
            assert await again.hear(1) == b"y"


@pytest.mark.parametrize("way", ["up", "down"])
async def test_a_black_hole_holds_what_comes_and_gives_it_back_in_order(way: Way) -> None:
    async with echo() as (_, target), Proxy(target) as proxy, Caller.dial(proxy) as caller:
        proxy.hold(way)
        for part in (b"one", b"two", b"three"):
            caller.say(part)
        assert await caller.hears_nothing()
        proxy.release()
        assert await caller.hear(11) == b"onetwothree"


async def test_a_half_open_line_is_over_for_one_end_and_silent_for_the_other() -> None:
    async with echo() as (heard, target), Proxy(target) as proxy:
        async with Caller.dial(proxy) as caller:
            caller.say(b"x")
            await caller.hear(1)
            assert proxy.half_open("up") == 1
            await asyncio.wait_for(heard.ended.wait(), PATIENCE_S)
            caller.say(b"anybody?")
            assert await caller.hears_nothing()
        await until(lambda: not proxy.lines, "the line is over")


@pytest.mark.parametrize("way", ["up", "down"])
async def test_what_is_swallowed_never_comes_and_a_new_line_is_whole(way: Way) -> None:
    async with echo() as (heard, target), Proxy(target) as proxy, Caller.dial(proxy) as caller:
        caller.say(b"x")
        await caller.hear(1)
        assert proxy.swallow(way) == 1
        caller.say(b"anybody?")
        assert await caller.hears_nothing()
        assert not heard.ended.is_set()
        async with Caller.dial(proxy) as other:
            other.say(b"y")
            assert await other.hear(1) == b"y"


async def test_a_slow_line_is_late_and_a_trickle_comes_in_pieces() -> None:
    async with (
        echo() as (_, target),
        Proxy(target, Random(7)) as proxy,
        Caller.dial(proxy) as caller,
    ):
        loop = asyncio.get_running_loop()
        proxy.delay(0.1)
        began = loop.time()
        caller.say(b"x")
        await caller.hear(1)
        assert loop.time() - began >= 0.19
        proxy.calm()
        proxy.trickle(4)
        caller.say(Random(2).randbytes(100))
        assert len(await caller.reader.read(1000)) <= 8
        proxy.calm()


async def test_who_is_refused_sees_a_closed_line() -> None:
    async with echo() as (_, target), Proxy(target) as proxy:
        proxy.refuse()
        async with Caller.dial(proxy) as caller:
            assert await caller.broken()
        proxy.calm()
        async with Caller.dial(proxy) as caller:
            caller.say(b"x")
            assert await caller.hear(1) == b"x"


async def test_nobody_behind_the_proxy_looks_like_a_dead_host() -> None:
    async with Proxy(("127.0.0.1", 1)) as proxy, Caller.dial(proxy) as caller:
        assert await caller.broken()
