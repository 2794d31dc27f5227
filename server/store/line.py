"""The line to a store: one connection at a time, made anew for as long as it is wanted.

Commands and subscriptions share the connection, in order. So a read that is sent after a
subscription sees at least what came before the first message, and a store that does not
answer is noticed by both at once.
"""

import asyncio
import contextlib
import logging
import random
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hiredis import ReplyError

from server.reasons import reason_of
from server.store.address import Address
from server.store.channels import Channels, OnGap, OnMessage
from server.store.clock import Clock
from server.store.connection import UNFIT, Arg, Connection, Done, Guide, Limits
from server.store.errors import Lost, StoreError, Unavailable, Unfit, Unreachable
from server.store.greeting import dial, greet
from server.store.lua import Script

log = logging.getLogger(__name__)

# Where the store is now: asked before each try, so that a failover is followed.
Where = Callable[[], Awaitable[Address]]
# Looks at what answers there; raises ConnectionError where it is not what is wanted.
Fit = Callable[[Connection], Awaitable[None]]
OnState = Callable[[bool], None]

# How long a store may be about to listen when a server starts.
NOBODY_S = 1.5


@dataclass(slots=True)
class Counts:
    """What a line has done, for the metrics."""

    connects: int = 0
    sent: int = 0
    lost: int = 0


class Line:
    """Commands to one store by callback, messages from its channels, and its clock."""

    def __init__(
        self,
        where: Where,
        scripts: Sequence[Script] = (),
        limits: Limits | None = None,
        *,
        fit: Fit | None = None,
        guide: Guide | None = None,
        follows: bool = False,
    ) -> None:
        """Plan a line.

        `fit` looks at whatever answers. The `guide` is that of a Cluster. A line that
        `follows` asks where its store is even while it is up, and goes there.
        """
        self._where = where
        self._fit = fit
        self._guide = guide
        self._follows = follows
        self._label = ""  # of where it leads, or led
        self._scripts = scripts
        self._limits = limits or Limits()
        self._connection: Connection | None = None
        self._channels = Channels(guide)
        self._task: asyncio.Task[None] | None = None
        self._first: asyncio.Future[None] | None = None  # set by the first connection
        self._on_state: list[OnState] = []
        self._risen = asyncio.Event()  # set while the line is up
        self._failure = ""
        self._opened_at = 0.0
        self._closing = False
        self.clock = Clock()
        self.counts = Counts()

    # --- life -------------------------------------------------------------------------

    @property
    def up(self) -> bool:
        """Tell whether commands can be sent now."""
        return self._connection is not None

    @property
    def label(self) -> str:
        """Name the place that the line leads to, or led to last."""
        return self._label

    def on_state(self, callback: OnState) -> None:
        """Call `callback(up)` whenever the line comes up (subscriptions included) or goes down."""
        self._on_state.append(callback)

    def begin(self) -> None:
        """Keep the line up from now on."""
        self._first = asyncio.get_running_loop().create_future()
        self._opened_at = self.clock.local()
        self._task = asyncio.create_task(self._live(), name="store line")

    async def wait_first(self, patience_s: float) -> None:
        """Wait until the line is up for the first time.

        Raises:
            Unreachable: it did not come up within `patience_s`, or nobody listens there; it
                goes on trying.
            Unfit: the store answers and refuses, which waiting does not change.
        """
        assert self._first is not None
        try:
            async with asyncio.timeout(patience_s):
                await asyncio.shield(self._first)
        except TimeoutError:
            raise Unreachable(self._failure) from None

    async def open(self, patience_s: float = 10.0) -> None:
        """Keep the line up from now on; return when it is up for the first time.

        Errors as in `wait_first`; with one, the line is closed.
        """
        self.begin()
        try:
            await self.wait_first(patience_s)
        except BaseException:
            await self.close()
            raise

    def leave(self, reason: str) -> None:
        """Give the connection up, and ask anew where the store is."""
        if self._connection is not None:
            self._connection.abort(reason)

    async def wait_up(self, limit_s: float) -> bool:
        """Wait until commands can be sent; False if they cannot after `limit_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._risen.wait()
        return self.up

    async def drain(self, limit_s: float) -> bool:
        """Wait until nothing is in flight; False if something still is after `limit_s`."""
        connection = self._connection
        if connection is None or not connection.in_flight:
            return True
        with contextlib.suppress(TimeoutError, ConnectionError, ReplyError):
            async with asyncio.timeout(limit_s):
                # Replies come in order: once this one is there, so are all before it.
                await connection.ask("PING")
                return True
        return False

    async def close(self) -> None:
        """Give the line up for good; what is in flight is lost."""
        self._closing = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    # --- commands ---------------------------------------------------------------------

    def send(self, args: tuple[Arg, ...], done: Done) -> None:
        """Send a command; `done` gets its reply, a ReplyError or Lost, never within this call."""
        connection = self._ready(done)
        if connection is not None:
            connection.send(args, done)

    def run(self, script: Script, keys: Sequence[str], args: Sequence[Arg], done: Done) -> None:
        """Run a script; `done` as in `send`."""
        connection = self._ready(done)
        if connection is not None:
            connection.send(("EVALSHA", script.sha, len(keys), *keys, *args), done, script)

    def lead(
        self, args: tuple[Arg, ...], done: Done, script: Script | None, hops: int, *, asking: bool
    ) -> None:
        """Send a command that another member of a Cluster has led here; `done` as in `send`."""
        connection = self._ready(done)
        if connection is not None:
            if asking:  # of a key that is on its way here
                connection.send(("ASKING",), _ignore)
            connection.send(args, done, script, hops=hops)

    async def ask(self, *args: Arg) -> Any:
        """Send a command and wait for its reply.

        Raises:
            Unavailable: the line is down, or died before the reply.
        """
        return await _replied(lambda done: self.send(args, done))

    async def ask_script(self, script: Script, keys: Sequence[str], args: Sequence[Arg]) -> Any:
        """Run a script and wait for its reply; errors as in `ask`."""
        return await _replied(lambda done: self.run(script, keys, args, done))

    def _ready(self, done: Done) -> Connection | None:
        connection = self._connection
        if connection is not None and len(connection.in_flight) < self._limits.in_flight:
            self.counts.sent += 1
            return connection
        self.counts.lost += 1
        asyncio.get_running_loop().call_soon(done, Lost(sent=False))
        return None

    # --- channels ---------------------------------------------------------------------

    async def subscribe(
        self, channel: str, on_message: OnMessage, on_gap: OnGap = lambda: None
    ) -> None:
        """Hear a channel from now on, through all reconnections; return when it is active.

        `on_gap` is called whenever it is active again after an interruption.

        Raises:
            Unavailable: it is not active now, but will be with the next connection unless it
                is ended by `unsubscribe`.
        """
        name = channel.encode()
        self._channels.add(name, on_message, on_gap)
        await self.ask("SSUBSCRIBE", name)

    def take_over(self, channel: str, on_message: OnMessage, on_gap: OnGap) -> None:
        """Hear a channel that another line has heard so far; `on_gap` tells when it is active."""
        name = channel.encode()
        self._channels.add(name, on_message, on_gap)
        self._channels.ask(name)

    def unsubscribe(self, channel: str) -> None:
        """Stop hearing a channel."""
        # Past the bound on what is in flight: nothing may be heard for nobody.
        self._channels.remove(channel.encode())

    # --- the connection ---------------------------------------------------------------

    async def _live(self) -> None:
        tries = 0
        while True:
            since = self.clock.local()
            try:
                await self._serve(await self._connect())
            except Exception as error:  # whatever it was, the line is wanted and tried again
                log.log(logging.DEBUG if tries else logging.WARNING, "no store: %s", self._failure)
                self._settle_first(error)
            # A connection that came up only to fall again is not hammered either.
            if self.clock.local() - since > self._limits.connect_s + self._limits.backoff_max_s:
                tries = 0
            tries += 1
            delay = min(self._limits.backoff_max_s, self._limits.backoff_s * 2 ** min(tries, 10))
            await asyncio.sleep(delay * random.uniform(0.5, 1.0))

    async def _serve(self, connection: Connection) -> None:
        try:
            self._rise(connection)
            await self._pulse(connection)
        finally:
            connection.abort("the line was closed")
            await connection.closed.wait()

    async def _connect(self) -> Connection:
        aim = "the store's address could not be found"
        connection: Connection | None = None
        try:
            async with asyncio.timeout(self._limits.connect_s):
                address = await self._where()
                aim = f"{address.label()} does not answer"
                self._label = address.label()
                connection = await dial(address, self._make)
                await greet(connection, address, self._scripts)
                self.clock.forget()
                await self._look_at_clock(connection)
                aim = f"{address.label()} cannot be used"
                if self._fit is not None:
                    await self._fit(connection)
                return connection
        except BaseException as error:
            if connection is not None:
                connection.abort("the greeting failed")
            # A try that was broken off says less than the one before it.
            if not isinstance(error, asyncio.CancelledError) or not self._failure:
                reason = reason_of(error)
                self._failure = f"{aim}: {reason}" if reason else aim
            raise

    def _make(self) -> Connection:
        return Connection(
            self._limits,
            self._channels.message,
            self._fall,
            guide=self._guide,
            on_ended=self._channels.ended if self._guide is not None else None,
        )

    async def _look_at_clock(self, connection: Connection) -> None:
        sent = self.clock.local()
        seconds, micros = await connection.ask("TIME")
        self.clock.sample(sent, self.clock.local(), int(seconds) + int(micros) / 1e6)

    async def _pulse(self, connection: Connection) -> None:
        # The watchdog of the connection needs something in flight to notice a silent store.
        # No channel of its own is needed for that: messages come over this connection too.
        while not connection.closed.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._limits.pulse_s):
                    await connection.closed.wait()
                    return
            try:
                await self._look_at_clock(connection)
                if self._follows and not await self._is_there():
                    connection.abort("the store is another one now")
            except ConnectionError:
                return
            except ReplyError as error:
                connection.abort(f"the store says: {error}")

    async def _is_there(self) -> bool:
        """Whether the store is where the line leads; so it is where nobody can tell."""
        try:
            return (await self._where()).label() == self._label
        except (OSError, StoreError):
            return True

    def _rise(self, connection: Connection) -> None:
        if connection.closed.is_set():
            return
        self._connection = connection
        # Before anything else is sent, so that whatever is read from now on is not older
        # than the subscriptions.
        self._channels.rise(connection)
        self._risen.set()
        self.counts.connects += 1
        self._settle_first(None)
        if self.counts.connects > 1:
            log.warning("the store answers again: %s", self._label)
        self._tell(True)

    def _settle_first(self, error: Exception | None) -> None:
        if self._first is None or self._first.done():
            return
        if error is None:
            self._first.set_result(None)
        elif _is_refusal(error):
            self._first.set_exception(Unfit(self._failure))
        elif isinstance(error, ConnectionRefusedError | FileNotFoundError) and (
            self.clock.local() - self._opened_at > NOBODY_S and not self._follows
        ):
            self._first.set_exception(Unreachable(self._failure))
        if self._first.done():
            self._first.exception()  # nobody may be there to hear it

    def _fall(self, connection: Connection, reason: str) -> None:
        self.counts.lost += len(connection.in_flight)
        if connection is not self._connection:
            return
        self._connection = None
        self._channels.fall()
        self._risen.clear()
        self._failure = reason
        if not self._closing:
            log.warning("the line to the store is down: %s: %s", self._label, reason)
        self._tell(False)

    def _tell(self, up: bool) -> None:
        for callback in tuple(self._on_state):
            try:
                callback(up)
            except Exception:
                log.exception("taking in the state of the store failed")


def _is_refusal(error: Exception) -> bool:
    """Tell whether a try failed by something that waiting does not change."""
    if isinstance(error, ReplyError):
        return not str(error).startswith(UNFIT)
    return isinstance(error, ssl.SSLCertVerificationError | Unfit)


async def _replied(send: Callable[[Done], None]) -> Any:
    waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def done(reply: Any) -> None:
        if not waiter.done():
            waiter.set_result(reply)

    send(done)
    reply = await waiter
    if isinstance(reply, Lost):
        raise Unavailable("the store does not answer")
    if isinstance(reply, ReplyError):
        raise Unavailable(f"the store refuses: {reply}")
    return reply


def _ignore(reply: Any) -> None:
    """Take a reply nobody waits for."""
