"""A real websocket server that plays a script, for tests of the client alone."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from client.line import Line
from client.link import Heard, Link
from wire import codec
from wire.messages import (
    PROTOCOL,
    SUBPROTOCOL,
    Board,
    ClientMessage,
    Close,
    Hello,
    Moved,
    Ping,
    Pong,
    Room,
    ServerMessage,
    Welcome,
)
from wire.values import Seat, Settings, Standing

M = TypeVar("M", bound=ClientMessage)
T = TypeVar("T")

LIMIT = 20.0  # seconds that anything in these tests may take
TOKEN = "t" * 32
NOW = 1_700_000_000_000

Script = Callable[["Actor"], Awaitable[None]]


class Actor:
    """The server's side of one connection."""

    def __init__(self, socket: ServerConnection, rest: asyncio.Event) -> None:
        self.socket = socket
        self._rest = rest

    async def say(self, *messages: ServerMessage) -> None:
        for message in messages:
            await self.socket.send(codec.encode(message))

    async def hear(self, kind: type[M]) -> M:
        """Give the next message that is no ping; it must be of this kind."""
        while True:
            data = await asyncio.wait_for(self.socket.recv(), LIMIT)
            assert isinstance(data, bytes)
            message = codec.decode_client(data)
            if isinstance(message, Ping):
                await self.say(Pong(c=message.c, s=NOW))
                continue
            assert isinstance(message, kind), f"expected {kind.__name__}, heard {message}"
            return message

    async def hears_nothing(self, seconds: float = 0.1) -> bool:
        try:
            message = await asyncio.wait_for(self.hear(ClientMessage), seconds)
        except TimeoutError:
            return True
        raise AssertionError(f"heard {message}")

    async def hear_hello(self) -> Hello:
        return await self.hear(Hello)

    async def welcome(self, **changes: Any) -> Hello:
        hello = await self.hear(Hello)
        await self.say(welcome(**changes))
        return hello

    async def close(self, code: Close, reason: str = "") -> None:
        await self.socket.close(int(code), reason)

    def drop(self) -> None:
        """Lose the line without a word."""
        self.socket.transport.abort()

    async def say_until_gone(self, message: ServerMessage, gap_s: float = 0.02) -> None:
        """Say one thing again and again, deaf to all, until the client has gone."""
        with suppress(ConnectionClosed):
            while True:
                await self.say(message)
                await asyncio.sleep(gap_s)

    async def stay(self) -> None:
        """Say and hear nothing more: the script is played."""
        self._rest.set()
        await self.socket.wait_closed()


class Stage:
    """A server whose connections each play the next script."""

    def __init__(self, scripts: tuple[Script, ...]) -> None:
        self.url = ""
        self.faults: list[BaseException] = []
        self.served = 0
        self._scripts = scripts
        self._rests = [asyncio.Event() for _ in scripts]

    async def played(self) -> None:
        """Wait until every script has come to its end, or to where it stays."""
        async with asyncio.timeout(LIMIT):
            for rest in self._rests:
                await rest.wait()

    async def _handle(self, socket: ServerConnection) -> None:
        number, self.served = self.served, self.served + 1
        if number >= len(self._scripts):
            await socket.wait_closed()
            return
        try:
            await self._scripts[number](Actor(socket, self._rests[number]))
        except BaseException as fault:
            self.faults.append(fault)
        finally:
            self._rests[number].set()


@asynccontextmanager
async def staged(*scripts: Script) -> AsyncIterator[Stage]:
    """Serve the scripts, one a connection in the order they come; their faults are raised."""
    stage = Stage(scripts)
    server: Server
    async with serve(
        stage._handle,
        "127.0.0.1",
        0,
        subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
        compression=None,
        close_timeout=0.2,
    ) as server:
        host, port = next(iter(server.sockets)).getsockname()[:2]
        stage.url = f"ws://{host}:{port}"
        yield stage
    for fault in stage.faults:
        raise fault


class Ear:
    """Hears what a link says, and lets a test wait for it."""

    def __init__(self) -> None:
        self.all: list[Heard] = []
        self._news = asyncio.Event()

    def __call__(self, heard: Heard) -> None:
        self.all.append(heard)
        self._news.set()

    async def until(self, kind: type[T], count: int = 1) -> T:
        """Wait until so many of a kind were heard, and give the last."""
        async with asyncio.timeout(LIMIT):
            while len(found := [each for each in self.all if isinstance(each, kind)]) < count:
                self._news.clear()
                await self._news.wait()
        return found[-1]

    async def until_line(self, status: str) -> Line:
        async with asyncio.timeout(LIMIT):
            while True:
                for each in self.all:
                    if isinstance(each, Line) and each.status == status:
                        return each
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def running(link: Link) -> AsyncIterator[asyncio.Task[Line]]:
    """Run a link for the length of a block."""
    task = asyncio.create_task(link.run())
    try:
        yield task
    finally:
        link.close()
        await asyncio.wait_for(task, LIMIT)


def welcome(**changes: Any) -> Welcome:
    fields: dict[str, Any] = {
        "v": PROTOCOL,
        "server": "stage",
        "player": "p1",
        "name": "ann",
        "now": NOW,
    }
    return Welcome(**(fields | changes))


def seat(name: str = "ann", **changes: Any) -> Seat:
    return Seat(player=f"p-{name}", name=name, **changes)


def standing(name: str = "ann", **changes: Any) -> Standing:
    """A line of the standings; of one who solved it, unless changed."""
    fields: dict[str, Any] = {
        "player": f"p-{name}",
        "name": name,
        "bot": False,
        "place": 1,
        "outcome": "solved",
        "cards": 104,
        "down": 0,
        "score": 104,
        "moves": 321,
        "undos": 0,
        "finished_ms": 272_000,
        "reached_ms": 272_000,
    }
    return Standing(**(fields | changes))


def room(**changes: Any) -> Room:
    fields: dict[str, Any] = {
        "room": "ABCDEF",
        "version": 1,
        "settings": Settings(),
        "phase": "running",
        "commitment": "c0" * 32,
        "seats": [seat("ann"), seat("bob", bot=True)],
        "seat": 0,
        "actions": ["move", "hint", "resign", "leave", "chat"],
        "now": NOW,
        "opened": NOW - 60_000,
        "starts": NOW - 5_000,
        "ends": NOW + 895_000,
    }
    return Room(**(fields | changes))


PILES = {
    "h": "59:",
    "w": "0:",
    **{f"f{number}": "0:" for number in range(1, 9)},
    "1": "0:KH",
    "2": "1:5D",
    "3": "2:KS",
    "4": "3:9S",
    "5": "4:QD",
    "6": "5:JS",
    "7": "6:2D",
    "8": "7:KC",
    "9": "8:6H",
}


def board(**changes: Any) -> Board:
    fields: dict[str, Any] = {
        "seat": 0,
        "n": 0,
        "piles": PILES,
        "cards": 0,
        "down": 36,
        "score": 0,
        "moves": 0,
        "undos": 0,
        "turn": 1,
        "passes": None,
        "can": ["draw"],
    }
    return Board(**(fields | changes))


def moved(n: int, m: str = "d", **changes: Any) -> Moved:
    fields: dict[str, Any] = {
        "n": n,
        "m": m,
        "piles": {},
        "cards": 0,
        "down": 36,
        "score": 0,
        "moves": n,
        "undos": 0,
        "turn": 1,
        "at": NOW,
    }
    return Moved(**(fields | changes))
