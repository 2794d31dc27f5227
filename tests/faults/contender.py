"""Players of a tournament who come back whatever happens to their node."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Final, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from wire import messages as m
from wire import tournaments as w
from wire.codec import decode_server, encode

M = TypeVar("M", bound=m.ServerMessage)

LOST: Final = (OSError, ConnectionClosed, InvalidHandshake, InvalidMessage, TimeoutError)
ANSWER_S: Final = 8.0
AGAIN_S: Final = 0.1
AGAIN: Final = ("store", "conflict")  # refusals after which the same may be said once more


class Line:
    """One connection after the other, of one player."""

    def __init__(self, name: str, doors: Sequence[str], chance: Random) -> None:
        self.name = name
        self.doors = list(doors)
        self.player = ""
        self.returns = 0
        self.errors: list[m.Error] = []
        self._chance = chance
        self._token: str | None = None
        self._socket: ClientConnection | None = None

    async def open(self) -> None:
        """Says hello by some door, again and again until one opens."""
        while True:
            try:
                await self._open()
            except LOST:
                await asyncio.sleep(AGAIN_S + self._chance.random() * 0.2)
            else:
                return

    async def _open(self) -> None:
        await self.close()
        async with asyncio.timeout(ANSWER_S):
            self._socket = await connect(
                self._chance.choice(self.doors),
                proxy=None,
                compression=None,
                subprotocols=["dk.v1"],  # type: ignore[list-item]
                max_size=2**22,
            )
            name = None if self._token else self.name
            await self.say(m.Hello(v=m.PROTOCOL, name=name, token=self._token, bot=True))
            welcome = await self.hear(m.Welcome)
        self.returns += self._token is not None
        self._token = self._token or welcome.token
        self.player = welcome.player

    async def say(self, message: m.ClientMessage) -> None:
        assert self._socket is not None
        await self._socket.send(encode(message))

    async def next(self) -> m.ServerMessage:
        """The next message of a kind that is known."""
        assert self._socket is not None
        while True:
            frame = await self._socket.recv()
            assert isinstance(frame, bytes)
            message = decode_server(frame)
            if isinstance(message, m.Error):
                self.errors.append(message)
            if message is not None:
                return message

    async def hear(self, kind: type[M]) -> M:
        while True:
            message = await self.next()
            if isinstance(message, kind):
                return message

    async def close(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            with suppress(*LOST):
                await socket.close()


class Contender(Line):
    """Enters a tournament and races whatever it is called to."""

    def __init__(self, name: str, doors: Sequence[str], chance: Random, code: str) -> None:
        super().__init__(name, doors, chance)
        self.entered = asyncio.Event()
        self.over = asyncio.Event()
        self.races = 0
        self._code = code
        self._plays = 0
        self._called = self._room = ""
        self._n = 0

    async def run(self) -> None:
        """Plays until it is cancelled."""
        while True:
            await self.open()
            self._room = ""
            try:
                await self.say(w.Enter(tournament=self._code))
                while True:
                    await self._take(await self.next())
            except LOST:
                await asyncio.sleep(AGAIN_S)

    async def _take(self, message: m.ServerMessage) -> None:
        match message:
            case w.Place():
                if message.entry is not None:
                    self.entered.set()
                if message.phase in ("finished", "cancelled"):
                    self.over.set()
            case w.Called():
                self._called = message.room
                if message.room != self._room:
                    await self.say(m.Join(room=message.room))
            case m.Left(kind="lost"):
                self._room = ""  # it is opened again, or the race is called anew
                await self.say(m.Join(room=self._called))
            case m.Room():
                if message.room != self._room:
                    self._room, self._plays = message.room, self._chance.randint(1, 6)
                    self.races += 1
            case m.Board() if message.outcome == "playing":
                self._n = message.n
                await self._go_on()
            case m.Moved() if message.outcome == "playing":
                self._n = message.n
                await self._go_on()
            case m.Hints():
                text = self._chance.choice(message.moves or ["d"])
                await self.say(m.Move(n=self._n + 1, m=text))
            case m.Refused() if message.re == "enter":
                if message.code in AGAIN:
                    await self.say(w.Enter(tournament=self._code))
                else:
                    self.over.set()
            case m.Refused() if message.re == "join":
                if message.code != "held":
                    await asyncio.sleep(AGAIN_S)
                    await self.say(m.Join(room=self._called))
            case m.Refused() if message.re == "move" or message.code in AGAIN:
                await self.say(m.Snapshot())  # the board that comes is played on
            case _:
                pass

    async def _go_on(self) -> None:
        if self._n >= self._plays:
            await self.say(m.Resign())
        else:
            await self.say(m.Hint())


class Chief(Line):
    """The organiser, who does not give up either."""

    def __init__(self, doors: Sequence[str], chance: Random) -> None:
        super().__init__("chief", doors, chance)
        self.keys: w.Organised

    async def ask(self, message: m.ClientMessage, kind: type[M]) -> M:
        """Say something until it is answered; a refusal for want of a store is no answer."""
        while True:
            try:
                async with asyncio.timeout(ANSWER_S):
                    await self.say(message)
                    while True:
                        answer = await self.next()
                        if isinstance(answer, kind):
                            return answer
                        if isinstance(answer, m.Refused):
                            if answer.code not in AGAIN:
                                raise AssertionError(f"{message}: {answer}")
                            break
            except LOST:
                await self.open()
