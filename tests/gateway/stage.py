"""A peer without a socket: a transport of lists and a clock that is turned by hand."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from server.gateway.limits import Limits, Proxies
from server.gateway.peer import Peer
from server.gateway.register import Register
from tests.gateway.rig import Notes, no_page


class Timer:
    """What the clock gives for a call in the future."""

    def __init__(self, at: float, call: Callable[[], None]) -> None:
        self.at, self.call, self.is_cancelled = at, call, False

    def cancel(self) -> None:
        self.is_cancelled = True


class Clock:
    """As much of an event loop as a peer needs."""

    def __init__(self) -> None:
        self.early = 0.0  # by how much timers come too soon
        self._now = 1_000.0
        self._timers: list[Timer] = []

    def time(self) -> float:
        return self._now

    def call_later(self, delay: float, call: Callable[..., None], *args: object) -> Timer:
        at = max(self._now, self._now + delay - self.early)
        timer = Timer(at, lambda: call(*args))
        self._timers.append(timer)
        return timer

    def call_soon(self, call: Callable[..., None], *args: object) -> Timer:
        return self.call_later(0, call, *args)

    @property
    def pending(self) -> int:
        """How many calls are still to come."""
        return sum(not timer.is_cancelled for timer in self._timers)

    def turn(self, seconds: float = 0) -> None:
        """Let time pass, and what was due meanwhile happen at its instant."""
        end = self._now + seconds
        calls = 0
        while due := [t for t in self._timers if not t.is_cancelled and t.at <= end]:
            timer = min(due, key=lambda timer: timer.at)
            self._timers.remove(timer)
            self._now = max(self._now, timer.at)
            timer.call()
            calls += 1
            assert calls < 1_000 + 100 * seconds, "timers are set again and again"
        self._now = end

    def stand_still(self, seconds: float) -> None:
        """Let time pass while nothing runs; what was due meanwhile happens at the end of it."""
        self._now += seconds
        self.turn()


class Line:
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        self.written = b""
        self.buffered = 0  # what the test says is unsent
        self.is_reading = True
        self.end = ""  # "eof", "closed" or "cut"
        self.lost: Callable[[], None] = lambda: None

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.end in ("closed", "cut")

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.end = "eof"

    def close(self) -> None:
        self.end = self.end if self.is_closing() else "closed"

    def abort(self) -> None:
        self.end = "cut"

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def set_write_buffer_limits(self, high: int) -> None: ...

    def get_write_buffer_size(self) -> int:
        return self.buffered

    def get_extra_info(self, name: str) -> None: ...


class Stage:
    """One open peer, its line, its handler and the clock."""

    def __init__(self, handler: Callable[[Peer], Notes] = Notes, **limits: Any) -> None:
        self.clock = Clock()
        self.line = Line()
        self.register = Register(
            loop=cast(asyncio.AbstractEventLoop, self.clock),
            connect=handler,
            stand=lambda path: None,
            page=no_page,
            limits=Limits(**limits),
            origins=None,
            proxies=Proxies(),
            peer_type=Peer,
        )
        protocol = ServerProtocol(state=OPEN, max_size=self.register.limits.message_size)
        transport = cast(asyncio.Transport, self.line)
        self.peer = Peer(transport, protocol, self.register, "192.0.2.1")
        self.peer.open(b"", handler)
        assert isinstance(self.peer._handler, Notes)
        self.notes = self.peer._handler

    def take(self) -> bytes:
        """Return what was written since the last time."""
        written, self.line.written = self.line.written, b""
        return written
