"""One open websocket.

`websockets.server.ServerProtocol` speaks the protocol. The gateway cuts the stream into
frames before it, for two reasons. A whole short binary frame, which is what nearly every
message is, then goes to the handler without the protocol's machinery (bench/echo.py has
the figures); and that is safe only where the protocol stands between two frames, which is
known because it is never given a part of one. Frames to the client are written directly
for the same reason, and only while the connection is open, so that nothing follows a
close frame.
"""

import logging
import socket
from asyncio import Protocol, TimerHandle, Transport
from collections.abc import Callable
from contextlib import suppress

from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from server.gateway.frames import (
    BINARY_MESSAGE,
    LONGEST_HEADER,
    MASKED,
    apply_mask,
    binary,
    frame_size,
)
from server.gateway.register import Handler, Register
from server.rate import Rate
from wire.messages import Close

log = logging.getLogger("dk.gateway")

ABNORMAL = 1006  # never on the wire: the line broke without a close frame
CLOCK_STEP = 0.001  # uvloop counts milliseconds, so a timer may come early by as much
STOOD_STILL = 1.0  # a timer that is later than this: it is we who were away
REASON_SIZE = 123  # a close frame holds 125 bytes, two of them for the code


class Peer(Protocol):
    """One connection as its handler sees it: `send`, `pause`, `close`.

    All methods return at once. After the connection began to close, from whichever side,
    sends are dropped and no message is handed over any more.
    """

    def __init__(
        self, transport: Transport, protocol: ServerProtocol, register: Register, address: str
    ) -> None:
        limits = register.limits
        self.id = next(register.ids)
        self.address = address
        self.messages_in = self.messages_out = self.bytes_in = self.bytes_out = 0
        self.is_slow = False
        self._transport = transport
        self._protocol = protocol
        self._register = register
        self._limits = limits
        self._now: Callable[[], float] = register.loop.time
        self._messages = Rate(limits.messages_per_s, limits.message_burst)
        self._controls = Rate(limits.controls_per_s, limits.control_burst)
        self._handler: Handler | None = None
        self._writable: Callable[[], None] | None = None
        self._open = False  # messages may pass in both directions
        self._closing = False  # the end of the stream is sent or the transport cut
        self._held = False  # reading is paused by the handler
        self._rest = b""  # of what was read: a part of a frame, or all there is while held
        self._parts: list[bytes] | None = None  # of a fragmented message
        self._latest: dict[str, bytes] = {}
        self._slow_since = 0.0
        self._since = self._heard = self._now()
        self._timer: TimerHandle | None = None
        self._due = 0.0
        self._code = 0  # of the close, 0 until it is known
        self._cause = ""

    # --- for the door -----------------------------------------------------------------

    def open(self, early: bytes, connect: Callable[["Peer"], Handler]) -> None:
        """Begin, after the handshake was answered; `early` is what the peer sent since."""
        self._open = True
        self._register.enter(self)
        self._transport.set_write_buffer_limits(high=self._limits.write_high)
        _set_user_timeout(self._transport, self._limits.silence)
        self._arm(self._limits.ping_after)
        try:
            self._handler = connect(self)
            self._writable = getattr(self._handler, "writable", None)
        except Exception:
            self._fault("connect")
        if early:
            self.data_received(early)

    # --- for the handler --------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Send one binary message, after all that was sent before.

        A peer that leaves more than `write_bound` bytes unread is cut.
        """
        if not self._open or self._transport.is_closing():
            return  # closing too is a line that broke in this turn of the loop
        self._transport.write(binary(data))
        self.messages_out += 1
        self.bytes_out += len(data)
        if self.is_slow:
            self._check_bound()

    def send_latest(self, kind: str, data: bytes) -> None:
        """Send a message that replaces earlier ones of its kind.

        While the peer is slow only the newest of a kind is kept, until it has caught up.
        """
        if self.is_slow:
            self._latest[kind] = data
        else:
            self.send(data)

    def pause(self) -> None:
        """Hand over no further message until `resume`, and stop reading."""
        if not self._held and self._open and not self._transport.is_closing():
            self._held = True
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read on after `pause`."""
        if not self._held:
            return
        self._held = False
        self._heard = self._now()
        if self._closing or self._transport.is_closing():
            return
        self._transport.resume_reading()
        if self._rest:
            # Not from here: the handler may be in the middle of a message.
            self._register.loop.call_soon(self.data_received, b"")

    def close(self, code: int, reason: str = "") -> None:
        """Begin the closing handshake; a peer that does not answer in time is cut."""
        if not self._open:
            return
        reason = reason.encode()[:REASON_SIZE].decode(errors="ignore")
        self._protocol.send_close(code, reason)
        self._open = False
        self._settle(code, reason or "closed by the server")
        self._flush()
        self._arm(self._limits.close_timeout)
        self.resume()  # the answer has to be read

    def abort(self) -> None:
        """Cut the line at once, whatever is unsent."""
        self._cut(ABNORMAL, "aborted by the server")

    # --- for the transport ------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take what was read; the first lines are every message's path."""
        now = self._heard = self._now()
        size = len(data)
        if (
            5 < size < 132
            and data[0] == BINARY_MESSAGE
            and data[1] == MASKED + size - 6
            and self._open
            and not self._rest
            and self._parts is None
            and not self._held
        ):
            self._deliver(data[6:], data[2:6], now)
        elif not self._closing:
            self._rest += data
            self._cut_frames(now)

    def eof_received(self) -> None:
        """Take the end of what the peer sends: the line is done either way."""
        self._finish(ABNORMAL, "the peer hung up")

    def pause_writing(self) -> None:
        """The peer reads slower than we write."""
        self.is_slow = True
        self._slow_since = self._now()
        self._check_bound()

    def resume_writing(self) -> None:
        """The peer has caught up: send what was held back."""
        self.is_slow = False
        latest, self._latest = self._latest, {}
        for kind, data in latest.items():
            self.send_latest(kind, data)
        if self._open and self._writable is not None:
            try:
                self._writable()
            except Exception:
                self._fault("writable")

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the handler, once."""
        self._open = False
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
        self._settle(ABNORMAL, "the line broke")
        self._register.leave(self, self._code)
        self._log_end()
        handler, self._handler, self._writable = self._handler, None, None
        if handler is not None:
            try:
                handler.closed(self._code)
            except Exception:
                log.exception("handler failed in closed", extra=self._who())

    # --- frames -----------------------------------------------------------------------

    def accepts(self, opcode: Opcode) -> bool:
        """Whether messages of this kind are taken; others close with 1003."""
        return opcode is Opcode.BINARY

    def _cut_frames(self, now: float) -> None:
        data, start = self._rest, 0
        end = len(data)
        self._rest = b""  # nothing below may take it twice
        while start < end and not self._held and not self._closing:
            size = frame_size(data, start)
            stop = start + size
            if size > self._limits.message_size + LONGEST_HEADER:
                stop = end  # never whole: the protocol refuses it by its header
            elif size == 0 or stop > end:
                break
            frame = data[start:stop]
            start = stop
            if (
                frame[0] == BINARY_MESSAGE
                and MASKED <= frame[1] < MASKED + 126
                and self._open
                and self._parts is None
            ):
                self._deliver(frame[6:], frame[2:6], now)
            else:
                self._frame(frame, now)
        self._rest = data[start:] if start else data

    def _deliver(self, masked: bytes, mask: bytes, now: float) -> None:
        if self._messages.takes(now):
            self._message(apply_mask(masked, mask))
        else:
            self._fail(Close.FLOOD, "too many messages")

    def _message(self, data: bytes) -> None:
        self.messages_in += 1
        self.bytes_in += len(data)
        handler = self._handler
        if handler is None:
            return
        try:
            handler.received(data)
        except Exception:
            self._fault("received")

    def _frame(self, data: bytes, now: float) -> None:
        protocol = self._protocol
        if data[0] & 0x0F == Opcode.CLOSE and data[1] < MASKED + 126:
            # The peer may close between the fragments of a message (RFC 6455, 5.4), which
            # the protocol takes for an error.
            protocol.current_size = self._parts = None
        protocol.receive_data(data)
        for event in protocol.events_received():
            if isinstance(event, Frame):
                self._event(event, now)
        if protocol.state is not State.OPEN and self._open:
            self._open = False
            self._settle_by_protocol()
        self._flush()

    def _event(self, frame: Frame, now: float) -> None:
        if frame.opcode is Opcode.CLOSE or not self._open:
            return
        if frame.opcode in (Opcode.PING, Opcode.PONG):
            if not self._controls.takes(now):
                self._fail(Close.FLOOD, "too many pings")
        elif not self._messages.takes(now):
            self._fail(Close.FLOOD, "too many fragments")
        else:
            self._fragment(frame)

    def _fragment(self, frame: Frame) -> None:
        data = bytes(frame.data)
        if frame.opcode is not Opcode.CONT:
            if not self.accepts(frame.opcode):
                self._fail(Close.UNSUPPORTED, "only binary frames are understood")
                return
            self._parts = []
        parts = self._parts
        if parts is None:
            return
        parts.append(data)
        if len(parts) > self._limits.fragments:
            self._fail(Close.TOO_BIG, "too many fragments")
        elif frame.fin:
            self._parts = None
            self._message(b"".join(parts))

    # --- ends -------------------------------------------------------------------------

    def _fail(self, code: int, reason: str) -> None:
        """Close without waiting for what the peer still has to say."""
        self._open = False
        self._settle(code, reason)
        self._protocol.fail(code, reason)
        self._flush()

    def _fault(self, where: str) -> None:
        log.exception("handler failed in %s", where, extra=self._who())
        self.close(Close.INTERNAL)

    def _settle_by_protocol(self) -> None:
        """Note why the protocol closed: the peer's wish, or the peer's fault."""
        wish, fault = self._protocol.close_rcvd, self._protocol.close_sent
        if wish is not None:
            self._settle(wish.code, wish.reason or "closed by the peer")
        elif fault is not None:
            self._settle(fault.code, fault.reason)

    def _settle(self, code: int, cause: str) -> None:
        if not self._code:
            self._code, self._cause = int(code), cause

    def _flush(self) -> None:
        """Write what the protocol has to say: pongs, close frames, the end of the stream."""
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._end_stream()
        if self.is_slow:
            self._check_bound()

    def _end_stream(self) -> None:
        """End our side, and the line if the peer has said its goodbye too.

        If not, the peer may still send, and a line that closes then is reset, which would
        take the close frame from the peer: so what comes is dropped until it has ended,
        or for `close_timeout`.
        """
        self._closing = True
        self._open = False
        self._rest = b""
        self._arm(self._limits.close_timeout)
        if self._transport.is_closing():
            return
        if self._protocol.close_rcvd is None and self._transport.can_write_eof():
            self._transport.write_eof()
        else:
            self._transport.close()

    def _finish(self, code: int, cause: str) -> None:
        self._open = False
        self._closing = True
        self._settle(code, cause)
        self._arm(self._limits.close_timeout)  # what is unsent may never go
        self._transport.close()

    def _cut(self, code: int, cause: str) -> None:
        self._open = False
        self._closing = True
        self._settle(code, cause)
        self._transport.abort()

    def _check_bound(self) -> None:
        if self._transport.get_write_buffer_size() > self._limits.write_bound:
            self._cut(Close.SLOW, "too much unread")

    # --- time -------------------------------------------------------------------------

    def _arm(self, delay: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = self._now() + delay + CLOCK_STEP
        self._timer = self._register.loop.call_later(delay + CLOCK_STEP, self._tick)

    def _tick(self) -> None:
        """Look after the line; only a timer that finds it alive is set again.

        The timer is not moved when something is heard, which would cost every message,
        but looks how long ago that was.
        """
        limits, now = self._limits, self._now()
        if not self._open:
            self._cut(ABNORMAL, "the closing handshake took too long")
            return
        if self._held:
            self._heard = now  # we do not listen, so silence proves nothing
        elif now - self._due > STOOD_STILL:
            # This process has not run. What the peer said meanwhile may still be unread (uvloop
            # looks at its timers first), so it is asked anew before it is judged.
            self._heard = max(self._heard, now - limits.ping_after)
            self._slow_since = now
        silent = now - self._heard
        if silent >= limits.silence:
            self._cut(ABNORMAL, "silent for too long")
        elif self.is_slow and now - self._slow_since >= limits.stall:
            self._cut(Close.SLOW, "slow for too long")
        elif silent >= limits.ping_after:
            self._protocol.send_ping(b"")
            self._flush()
            self._arm(limits.silence - silent)
        else:
            self._arm(limits.ping_after - silent)

    # --- log --------------------------------------------------------------------------

    def _who(self) -> dict[str, object]:
        return {"connection": self.id, "address": self.address}

    def _log_end(self) -> None:
        duration = self._now() - self._since
        log.info(
            "connection %d from %s ended after %.1f s: %d %s",
            self.id,
            self.address,
            duration,
            self._code,
            self._cause,
            extra={
                **self._who(),
                "duration_s": round(duration, 3),
                "messages_in": self.messages_in,
                "messages_out": self.messages_out,
                "bytes_in": self.bytes_in,
                "bytes_out": self.bytes_out,
                "code": self._code,
                "cause": self._cause,
            },
        )


def _set_user_timeout(transport: Transport, seconds: float) -> None:
    """Let the kernel give up on a peer that acknowledges nothing; a backstop, on Linux."""
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    line = transport.get_extra_info("socket")
    if option is not None and line is not None and line.family != socket.AF_UNIX:
        with suppress(OSError):  # of a line that is broken already
            line.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))
