"""One connection to a store: RESP3 over a transport, replies matched in order.

Callbacks instead of futures, one write per turn of the event loop, hiredis for the
bytes: this carries every move. A connection dies once and is not mended; `Line` makes
the next one.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from hiredis import ProtocolError, PushNotification, Reader, ReplyError, pack_command

from server.store.errors import Lost
from server.store.lua import Script

log = logging.getLogger(__name__)

Arg = str | bytes | int
Done = Callable[[Any], None]  # a reply, a ReplyError or Lost
OnMessage = Callable[[bytes, bytes], None]  # channel, message

# Replies that say "not this server, or not yet": after a failover or a restart the same
# address may answer for something else, so the connection is given up and looked up anew.
UNFIT = ("READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN The cluster")
# Replies of one member of a Cluster about a key that is, or is about to be, another's.
ASTRAY = ("MOVED ", "ASK ", "TRYAGAIN")
HOPS = 3  # two members may know of different steps of the same move
# Subscriptions follow their channels by the line, not by the command.
_SETTLED = ("SSUBSCRIBE", "SUNSUBSCRIBE")

_TICKS = 4  # the watchdog looks so many times within the limit
_NOTHING = object()


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one connection and of the tries to make the next."""

    reply_s: float = 3.0  # silence with a reply owed, before the connection is given up
    in_flight: int = 20_000  # commands without a reply
    connect_s: float = 3.0
    pulse_s: float = 1.0  # between looks at the store's clock, which also prove it alive
    backoff_s: float = 0.05  # before the second try; doubled with each further one
    backoff_max_s: float = 2.0


class Guide(Protocol):
    """Knows, in a Cluster, where commands belong."""

    def lead(
        self, word: str, args: tuple[Arg, ...], done: Done, script: Script | None, hops: int
    ) -> None:
        """Take over a command that is another member's by the store's word (MOVED and so on)."""

    def doubt(self) -> None:
        """Learn that what is known of the members may be out of date."""


class Connection(asyncio.Protocol):
    """A live connection: commands go out, replies and messages come in."""

    def __init__(
        self,
        limits: Limits,
        on_message: OnMessage,
        on_closed: Callable[["Connection", str], None],
        *,
        guide: Guide | None = None,
        on_ended: Callable[[bytes], None] | None = None,
    ) -> None:
        """Make the protocol of a connection.

        `on_ended` hears of channels that the store gives away; without it that ends the
        connection.
        """
        self._limits = limits
        self._on_message = on_message
        self._on_closed = on_closed
        self._guide = guide
        self._on_ended = on_ended
        self._loop = asyncio.get_running_loop()
        self._reader = Reader(notEnoughData=_NOTHING)
        self._buffer: list[bytes] = []
        # Commands whose reply is owed, the oldest first; and by how many others they came here.
        self.in_flight: deque[tuple[Done, tuple[Arg, ...], Script | None, int]] = deque()
        self._transport: asyncio.Transport | None = None
        self._watchdog: asyncio.TimerHandle | None = None
        self._silent_ticks = 0
        self._is_deaf = False
        self._reason = "closed by the store"
        self.closed = asyncio.Event()

    # --- commands ---------------------------------------------------------------------

    def send(
        self,
        args: tuple[Arg, ...],
        done: Done,
        script: Script | None = None,
        *,
        hops: int = 0,
    ) -> None:
        """Send a command with this turn's others; `done` gets its reply, or Lost.

        With `script`, the command is an EVALSHA of it and is sent again whole if the store
        has forgotten the script. `hops` counts the members of a Cluster that have led it
        here. Never calls `done` within this call.
        """
        if self.closed.is_set():
            self._loop.call_soon(done, Lost(sent=False))
            return
        packed: bytes = pack_command(args)  # type: ignore[arg-type]
        if not self._buffer:
            self._loop.call_soon(self._flush)
        self._buffer.append(packed)
        self.in_flight.append((done, args, script, hops))

    def unsubscribe(self, channel: bytes) -> None:
        """Stop hearing a channel."""
        self.send(("SUNSUBSCRIBE", channel), _ignore)
        if self._guide is not None:
            # A member may give the channel away just before it reads this. Its word of that
            # looks like the confirmation and takes its place, and then an error follows that
            # no other command may take for its own: it ends up here.
            self.send(("PING", channel), _fence)

    async def ask(self, *args: Arg) -> Any:
        """Send a command and wait for its reply.

        Raises:
            ReplyError: the store refuses.
            ConnectionError: the connection died first.
        """
        waiter: asyncio.Future[Any] = self._loop.create_future()

        def done(reply: Any) -> None:
            if not waiter.done():
                waiter.set_result(reply)

        self.send(args, done)
        reply = await waiter
        if isinstance(reply, ReplyError):
            raise reply
        if isinstance(reply, Lost):
            raise ConnectionError(self._reason)
        return reply

    def abort(self, reason: str) -> None:
        """Give the connection up; what is in flight is lost."""
        if self._transport is not None and not self._transport.is_closing():
            self._reason = reason
            self._transport.abort()

    def _flush(self) -> None:
        if self._transport is not None:
            self._transport.write(b"".join(self._buffer))
        self._buffer.clear()

    # --- transport --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._tick()

    def data_received(self, data: bytes) -> None:
        gets = self._reader.gets
        try:
            self._reader.feed(data)
            while not self._is_deaf and (reply := gets()) is not _NOTHING:
                if type(reply) is PushNotification:
                    self._push(reply)
                else:
                    self._answer(reply)
        except ProtocolError as error:
            self.abort(f"what the store sent is not its protocol: {error}")

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()
        self._transport = None
        reason = f"{self._reason}: {exc}" if exc else self._reason
        self.closed.set()
        # The line must know first, so that nothing new is sent from the callbacks below.
        self._on_closed(self, reason)
        while self.in_flight:
            self._call(self.in_flight.popleft()[0], Lost())

    def _tick(self) -> None:
        # Counted in turns of this loop, not in time: after a stall of our own process the
        # replies may be waiting in the socket, and must be read before the store is blamed.
        self._watchdog = self._loop.call_later(self._limits.reply_s / _TICKS, self._tick)
        if not self.in_flight:
            self._silent_ticks = 0
            return
        self._silent_ticks += 1
        if self._silent_ticks > _TICKS:
            self.abort(f"no reply within {self._limits.reply_s:g} s")

    # --- replies ----------------------------------------------------------------------

    def _answer(self, reply: Any) -> None:
        self._silent_ticks = 0
        if not self.in_flight:
            self.abort("a reply without a command")
            return
        done, args, script, hops = command = self.in_flight.popleft()
        if type(reply) is ReplyError:
            text = str(reply)
            if text.startswith(UNFIT):
                self.abort(f"the store says: {text}")
            elif done is _fence:
                self.in_flight.appendleft(command)
                return
            elif script is not None and text.startswith("NOSCRIPT"):
                self.send(("EVAL", script.text, *args[2:]), done, hops=hops)
                return
            elif self._guide and text.startswith(ASTRAY) and args[0] not in _SETTLED:
                if hops < HOPS:
                    self._guide.lead(text, args, done, script, hops + 1)
                else:
                    self._call(done, Lost(sent=False))
                return
        elif done is _fence and reply != args[1]:
            self._is_deaf = True
            self.abort("replies are out of step")
        self._call(done, reply)

    def _push(self, push: list[Any]) -> None:
        kind = push[0]
        if kind == b"smessage":
            try:
                self._on_message(push[1], push[2])
            except Exception:
                log.exception("a listener of %r failed", push[1])
        elif kind in (b"ssubscribe", b"sunsubscribe"):
            self._confirm(kind.upper().decode(), push[1], push[2])

    def _confirm(self, command: str, channel: bytes | None, count: int) -> None:
        # RESP3 confirms a subscription by a push instead of a reply, but still in the order
        # of the commands: one that does not fit the oldest command was not asked for. The
        # store sends such when it gives a channel away (a moved slot).
        if self.in_flight:
            args = self.in_flight[0][1]
            if args[0] == command and (channel is None or args[1] == channel):
                self._silent_ticks = 0
                self._call(self.in_flight.popleft()[0], count)
                return
        if self._on_ended is not None and command == "SUNSUBSCRIBE" and channel is not None:
            self._on_ended(channel)
        else:
            self.abort(f"the store ended the subscription to {channel!r}")

    def _call(self, done: Done, reply: Any) -> None:
        try:
            done(reply)
        except Exception:
            log.exception("taking in a reply failed")


def _ignore(reply: Any) -> None:
    """Take a reply nobody waits for."""


def _fence(reply: Any) -> None:
    """Take the reply that shows that all before it are in."""
