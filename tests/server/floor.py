"""A node on a real socket, and players who speak the wire to it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Self, TypeVar

from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from server.app import Node
from server.config import Config
from wire import messages as m
from wire.codec import decode_server, encode
from wire.values import Settings

M = TypeVar("M", bound=m.ServerMessage)
PATIENCE_S = 30.0

QUICK = Settings(seed="42", countdown_s=0, seats=2)


@asynccontextmanager
async def node(store_url: str, **options: Any) -> AsyncIterator[Node]:
    """A node in this process, on a free port."""
    made = Node(Config(port=0, redis=store_url, drain_seconds=0.0, **options))
    await made.start()
    try:
        yield made
    finally:
        made.stop()
        await made.close()


class Someone:
    """A connection that keeps all it hears, bytes and messages."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.frames: list[bytes] = []
        self.heard: list[m.ServerMessage] = []
        self.welcome: m.Welcome
        self.token = ""
        self._news = asyncio.Event()
        self._reader = asyncio.create_task(self._read())
        self._seen = 0

    @classmethod
    async def arrive(
        cls, port: int, name: str = "anna", *, token: str | None = None, bot: bool = False
    ) -> Self:
        socket = await connect(
            f"ws://127.0.0.1:{port}/ws",
            proxy=None,
            compression=None,
            subprotocols=[Subprotocol("dk.v1")],
        )
        someone = cls(socket)
        await someone.say(m.Hello(v=m.PROTOCOL, name=None if token else name, token=token, bot=bot))
        someone.welcome = await someone.hear(m.Welcome)
        someone.token = token or someone.welcome.token or ""
        return someone

    async def _read(self) -> None:
        try:
            async for frame in self.socket:
                assert isinstance(frame, bytes)
                self.frames.append(frame)
                message = decode_server(frame)
                assert message is not None
                self.heard.append(message)
                self._news.set()
        except ConnectionClosed:
            pass
        finally:
            self._news.set()

    async def say(self, message: m.ClientMessage) -> None:
        await self.socket.send(encode(message))

    async def hear(self, kind: type[M], where: Callable[[M], bool] = lambda _: True) -> M:
        """The next message of a kind, after the last one that was waited for."""
        async with self._within(PATIENCE_S, kind):
            while True:
                for index in range(self._seen, len(self.heard)):
                    message = self.heard[index]
                    if isinstance(message, kind) and where(message):
                        self._seen = index + 1
                        return message
                if self._reader.done():
                    raise AssertionError(f"the line ended ({self.socket.close_code}) before {kind}")
                await self.news()

    @asynccontextmanager
    async def _within(self, limit_s: float, kind: type) -> AsyncIterator[None]:
        """Says what was heard in place of what was waited for."""
        try:
            async with asyncio.timeout(limit_s):
                yield
        except TimeoutError:
            heard = "\n".join(map(str, self.heard[-5:]))
            raise AssertionError(f"no {kind.__name__} in {limit_s:g} s, but\n{heard}") from None

    async def news(self) -> None:
        """Wait for whatever comes next."""
        self._news.clear()
        await self._news.wait()

    async def since(self, mark: int, kind: type[M]) -> M | None:
        """The first message of a kind after so many; None if the race ends or refuses before."""
        while True:
            for message in self.heard[mark:]:
                if isinstance(message, kind):
                    return message
                if isinstance(message, m.Refused | m.Standings | m.Left):
                    return None
            if self._reader.done():
                return None
            mark = len(self.heard)
            await self.news()

    async def find(
        self,
        kind: type[M],
        where: Callable[[M], bool] = lambda _: True,
        limit_s: float = PATIENCE_S,
    ) -> M:
        """A message of a kind, heard before or to come."""
        async with self._within(limit_s, kind):
            while True:
                for message in self.heard:
                    if isinstance(message, kind) and where(message):
                        return message
                if self._reader.done():
                    raise AssertionError(f"the line ended before {kind}")
                await self.news()

    def last(self, kind: type[M]) -> M:
        return next(message for message in reversed(self.heard) if isinstance(message, kind))

    def all(self, kind: type[M]) -> list[M]:
        return [message for message in self.heard if isinstance(message, kind)]

    async def refused(self, message: m.ClientMessage) -> m.Refused:
        await self.say(message)
        return await self.hear(m.Refused)

    async def play(self, n: int, text: str) -> m.Moved:
        await self.say(m.Move(n=n, m=text))
        return await self.hear(m.Moved, lambda moved: moved.n == n)

    async def closed(self) -> int:
        """Wait for the end of the line; its close code."""
        async with asyncio.timeout(PATIENCE_S):
            await self._reader
        return self.socket.close_code or 1006

    async def go(self) -> None:
        await self.socket.close()
        await self._reader

    def vanish(self) -> None:
        """Cut the line without a word."""
        self.socket.transport.abort()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something that no message tells."""
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():  # noqa: ASYNC110 - the store is asked, it does not tell
            await asyncio.sleep(0.05)


async def race_of(port: int, *names: str, settings: Settings = QUICK) -> tuple[str, list[Someone]]:
    """A running race of these players; its room and they, the host first."""
    seats = max(settings.seats, len(names))
    players = [await Someone.arrive(port, name) for name in names]
    host = players[0]
    await host.say(m.Create(settings=replace(settings, seats=seats, start="host")))
    code = (await host.hear(m.Room)).room
    for player in players[1:]:
        await player.say(m.Join(room=code))
        await player.hear(m.Room, lambda room: room.seat is not None)
    await host.say(m.Start())
    for player in players:
        await player.hear(m.Board)
    return code, players
