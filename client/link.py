"""The line to the server: one socket after another, and one player throughout.

A link connects, says hello, keeps the token, measures the clock, and comes back by itself
when the line drops. Plays are numbered and kept until they are answered; after the welcome
and a fresh board, those that the board does not count are sent again in order. What the
server says goes to `hear`, one message at a time, and so does every change of the line.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from random import SystemRandom
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from client.clock import Clock
from client.doubt import Doubt
from client.identity import Identity
from client.line import Line, Loss, Verdict, judge
from client.loss import FAILURES, SILENT, loss_of
from client.plays import NumberedPlay, Play, Plays
from wire import codec
from wire.messages import (
    PROTOCOL,
    STORE_WAIT_S,
    SUBPROTOCOL,
    Board,
    ClientMessage,
    Countdown,
    Error,
    Hello,
    Left,
    Moved,
    Ping,
    Pong,
    Refused,
    Room,
    ServerMessage,
    Snapshot,
    Standings,
    Store,
    Welcome,
)

log = logging.getLogger(__name__)

Heard = ServerMessage | Line

CLIENT_NAME: Final = f"klondike {version('double-klondike')}"
PLAY_TAGS: Final = ("move", "undo", "finish")
ANSWERS: Final = (Welcome, Moved, Refused, Pong, Store)  # prove that the line holds both ways
WELCOME_LIMIT: Final = STORE_WAIT_S + 5.0  # seconds for the server's first word
HELD_UP_AFTER: Final = 2.0  # seconds without it, after which the player is told
MOST_WAITING: Final = 100  # plays without an answer
OUTBOX: Final = 256  # messages that wait for the socket; all plays of a resume have room
FIRST_PINGS: Final = 5
FIRST_PING_GAP: Final = 0.2
PING_GAP: Final = 10.0
LOOK_GAP: Final = 1.0  # seconds at most between looks whether an answer is missed
STEADY_AFTER: Final = 10.0  # seconds on line after which earlier failures are forgotten


class Link:
    """A player's connection to one server, for as long as `run` runs."""

    def __init__(
        self,
        url: str,
        identity: Identity,
        hear: Callable[[Heard], None],
        *,
        name: str | None = None,
        bot: bool = False,
        patience: float | None = None,
    ) -> None:
        """`patience` is how many seconds without a connection it bears; None: for ever."""
        self.url = url
        self.line = Line()
        self.clock = Clock()
        self.plays = Plays()
        self.name = name or identity.name
        self._identity = identity
        self._hear = hear
        self._bot = bot
        self._patience = patience
        self._chance = SystemRandom()
        self._run = secrets.token_hex(8)
        self._lines = 0  # opened so far
        self._socket: ClientConnection | None = None
        self._outbox: asyncio.Queue[ClientMessage] = asyncio.Queue(OUTBOX)
        self._hurry = asyncio.Event()
        self._closing = False
        self._pings: dict[int, float] = {}
        self._heard_at = 0.0
        self._doubt = Doubt()
        self._store_is_away = False
        self._is_given_up = False  # this connection, by us, for want of an answer
        self._room: str | None = None
        self._seat: int | None = None
        self._error: Error | None = None
        self._was_online = False
        self._attempt: asyncio.Task[Loss] | None = None
        self._farewell: asyncio.Task[None] | None = None

    # --- what a player does -----------------------------------------------------------

    def send(self, message: ClientMessage) -> bool:
        """Send a message that is worth nothing later; False when there is no line."""
        if self.line.status != "online":
            return False
        with suppress(asyncio.QueueFull):
            self._outbox.put_nowait(message)
            return True
        return False

    def play(self, text: str) -> bool:
        """Ask for a play: now, or as soon as the line is back; False when too many wait."""
        if self.plays.waiting >= MOST_WAITING:
            return False
        self._keep(self.plays.ask(Play(text)))
        return True

    def rename(self, name: str) -> None:
        """Come back under another name."""
        self.name = name
        if self._socket is not None:
            self._hurry.set()
            self._socket.transport.abort()

    def poke(self) -> None:
        """Look at once whether the line still holds; for after a sleep of the machine."""
        if self._socket is None or self.line.status != "online":
            self._hurry.set()
            return
        self._ping()
        self._doubt = self._doubt.asked(time.monotonic())

    def close(self) -> None:
        """End: `run` says goodbye to the server and returns."""
        self._closing = True
        self._hurry.set()
        if self._socket is None:
            if self._attempt is not None:
                self._attempt.cancel()
        else:
            self._farewell = asyncio.create_task(self._socket.close(), name="link-close")

    # --- the life of a link -----------------------------------------------------------

    async def run(self) -> Line:
        """Keep the line until `close`, or until there is no use in coming back."""
        failures, offline_since = 0, time.monotonic()
        while not self._closing:
            self._become(Line("connecting", self.line.why))
            began = time.monotonic()
            loss = await self._attempted()
            now = time.monotonic()
            if self._was_online:
                offline_since = now
                failures = 0 if now - began > STEADY_AFTER else failures
            if self._closing:
                break
            verdict = judge(loss, failures)
            if verdict.forget_token and self._identity.token is not None:
                self._begin_anew()
                continue
            is_tired = self._patience is not None and now - offline_since >= self._patience
            if verdict.is_final or verdict.forget_token or is_tired:
                return self._become(Line("ended", verdict.why))
            await self._pause(verdict)
            failures += 1
        return self._become(Line("ended"))

    async def _attempted(self) -> Loss:
        self._attempt = asyncio.create_task(self._connection(), name="link-connection")
        try:
            return await self._attempt
        except asyncio.CancelledError:
            if self._closing:  # by `close`, in the middle of connecting
                return Loss(None, "")
            raise

    def _begin_anew(self) -> None:
        self._identity.forget()
        self.plays, self._room, self._seat = Plays(), None, None

    async def _pause(self, verdict: Verdict) -> None:
        seconds = 0.0 if self._hurry.is_set() else verdict.delay(self._chance)
        at = time.monotonic() + seconds
        self._become(Line("waiting", verdict.why, at, is_answered=verdict.is_answered))
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
        if not self._closing:
            self._hurry.clear()

    async def _connection(self) -> Loss:
        self._was_online = self._store_is_away = self._is_given_up = False
        self._error = None
        self._doubt = Doubt()
        try:
            async with connect(
                self.url,
                proxy=None,
                compression=None,
                subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
                max_size=2**20,
                open_timeout=10,
                close_timeout=2,
                ping_interval=15,
                ping_timeout=15,
            ) as socket:
                return await self._serve(socket)
        except ConnectionClosed as closed:
            return self._closed(closed.rcvd.code if closed.rcvd else None, closed)
        except FAILURES as error:
            return loss_of(error, self.url, was_there=self._lines > 0)
        finally:
            self._socket = None
            self.plays = self.plays.dropped()

    def _closed(self, code: int | None, closed: ConnectionClosed) -> Loss:
        if self._is_given_up:
            return Loss(None, SILENT)
        reason = closed.rcvd.reason if closed.rcvd else ""
        return Loss(code, reason or (self._error.reason if self._error else ""))

    async def _serve(self, socket: ClientConnection) -> Loss:
        if socket.subprotocol != SUBPROTOCOL:
            return Loss(None, f"{self.url} does not speak {SUBPROTOCOL}", is_final=True)
        self._socket = socket
        self._outbox = asyncio.Queue(OUTBOX)
        self._pings.clear()
        self._lines += 1
        hello = Hello(
            v=PROTOCOL,
            client=CLIENT_NAME,
            name=self.name,
            token=self._identity.token,
            bot=self._bot,
            run=self._run,
            line=self._lines,
        )
        await socket.send(codec.encode(hello))
        fault = await self._welcome(socket)
        if fault is not None:
            return fault
        tasks = [
            asyncio.create_task(self._write(socket), name="link-write"),
            asyncio.create_task(self._measure(), name="link-measure"),
            asyncio.create_task(self._watch(socket), name="link-watch"),
        ]
        try:
            while True:
                self._take(await socket.recv())
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _welcome(self, socket: ClientConnection) -> Loss | None:
        """Wait for the answer to the hello; gives a loss where there is no use in it."""
        loop = asyncio.get_running_loop()
        told = loop.call_later(HELD_UP_AFTER, self._become, Line("held up"))
        try:
            async with asyncio.timeout(WELCOME_LIMIT):
                while not self._was_online:
                    self._take(await socket.recv())
                    if self._error is not None and self._error.code == "bad-frame":
                        # No close follows: the server waits for a better hello, and none will come.
                        return Loss(None, self._error.reason, is_final=True)
        finally:
            told.cancel()
        return None

    async def _write(self, socket: ClientConnection) -> None:
        with suppress(ConnectionClosed):  # the reader sees it too, and says why
            while True:
                message = await self._outbox.get()
                await socket.send(codec.encode(message))

    async def _measure(self) -> None:
        for _ in range(FIRST_PINGS):
            self._ping()
            await asyncio.sleep(FIRST_PING_GAP)
        while True:
            await asyncio.sleep(PING_GAP)
            self._ping()

    async def _watch(self, socket: ClientConnection) -> None:
        while not self._is_given_up:
            # Spread, so that those who wait for one server do not come back all at once.
            await asyncio.sleep(self._chance.uniform(LOOK_GAP / 2, LOOK_GAP))
            is_owed = bool(self.plays.sent)
            trip_s = (self.clock.trip_ms or 0.0) / 1000
            if self._store_is_away:
                self._doubt = Doubt()
                continue
            self._doubt, step = self._doubt.look(time.monotonic(), is_owed=is_owed, trip_s=trip_s)
            if step == "ask":
                self._ping()
            elif step == "give up":
                self._is_given_up = True
                socket.transport.abort()

    def _ping(self) -> None:
        number = max(self._pings, default=0) + 1
        if self.send(Ping(c=number)):
            self._pings[number] = time.monotonic()

    def _become(self, line: Line) -> Line:
        self.line = line
        self._hear(line)
        return line

    # --- what the server says ---------------------------------------------------------

    def _take(self, data: str | bytes) -> None:
        self._heard_at = time.monotonic()
        if isinstance(data, str):
            log.warning("ignored a text frame of %d characters", len(data))
            return
        try:
            message = codec.decode_server(data)
        except codec.BadFrame as error:
            log.warning("ignored a message of the server: %s", error)
            return
        if message is not None:
            self._note(message)
            self._hear(message)

    def _note(self, message: ServerMessage) -> None:
        if isinstance(message, ANSWERS):
            self._doubt = Doubt()
        match message:
            case Welcome():
                self._welcomed(message)
            case Room():
                self.clock = self.clock.stamped(message.now, self._heard_at)
                if message.room != self._room:
                    self.plays = Plays()
                self._room, self._seat = message.room, message.seat
            case Countdown():
                now = message.starts - message.remaining_ms
                self.clock = self.clock.stamped(now, self._heard_at)
            case Board() if message.seat == self._seat:
                self._keep(self.plays.resumed(message.n))
            case Moved():
                self._keep(self.plays.moved(message.n))
            case Refused() if message.re in PLAY_TAGS:
                self._play_refused(message)
            case Standings() | Left():
                self.plays = Plays()
            case Pong():
                self._ponged(message)
            case Store():
                self._store_is_away = message.waiting
            case Error():
                self._error = message
                if isinstance(message.n, int):
                    # It failed there, and may count or not: the board tells.
                    self._keep(self.plays.refused(message.n))
                    self.send(Snapshot())
            case _:
                pass

    def _play_refused(self, refused: Refused) -> None:
        if isinstance(refused.n, int):
            self._keep(self.plays.refused(refused.n))
        if refused.code == "gap":
            self.send(Snapshot())

    def _welcomed(self, welcome: Welcome) -> None:
        self._identity.keep(welcome.token, welcome.name)
        self.name = welcome.name
        self.clock = Clock().stamped(welcome.now, self._heard_at)
        if welcome.room is None or welcome.room != self._room:
            self.plays, self._room, self._seat = Plays(), None, None
        self._was_online = True
        self._become(Line("online"))

    def _ponged(self, pong: Pong) -> None:
        sent = self._pings.pop(pong.c, None)
        if sent is not None:
            self.clock = self.clock.ponged(pong.s, sent, self._heard_at)
            self._become(replace(self.line, trip_ms=self.clock.trip_ms))

    def _keep(self, result: tuple[Plays, list[NumberedPlay]]) -> None:
        self.plays, messages = result
        for message in messages:
            if not self.send(message) and self._socket is not None:
                # A play must not be left out between others: the resume sends it again.
                self._socket.transport.abort()
                return
