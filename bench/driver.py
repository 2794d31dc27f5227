"""A client that costs next to nothing, so that the server is what a bench measures.

It speaks just enough of the websocket protocol: frames are made beforehand, with a mask of
zeros, and answers are recognised by their first bytes.
"""

import asyncio
from collections.abc import Sequence
from struct import pack
from typing import cast

from wire.codec import encode
from wire.messages import ClientMessage

REQUEST = (
    "GET /ws HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def frame(message: ClientMessage) -> bytes:
    """Make the frame of a short message."""
    payload = encode(message)
    return pack("!BB4x", 0x82, 0x80 | len(payload)) + payload


class Driver(asyncio.Protocol):
    """Sends frames one by one, each when the former has its answer."""

    def __init__(self, tag: bytes) -> None:
        """`tag` is what the first bytes of an answer contain; any frame counts if empty."""
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tag = tag
        self._frames: Sequence[bytes] = ()
        self._next = 0
        self._rest = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for a websocket."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(REQUEST.encode())

    def connection_lost(self, exc: Exception | None) -> None:
        """Let nobody wait for what does not come."""
        for future in (self.opened, self.done):
            if not future.done():
                future.set_exception(ConnectionError("the server hung up"))

    def run(self, frames: Sequence[bytes]) -> None:
        """Send the first of these; `done` is set when the last has its answer."""
        if self.done.done():
            self.done = asyncio.get_running_loop().create_future()
        self._frames, self._next = frames, 1
        self._transport.write(frames[0])

    def say(self, message: ClientMessage) -> None:
        """Send something whose answer nobody waits for."""
        self._transport.write(frame(message))

    def close(self) -> None:
        """Hang up."""
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Go through the frames that came."""
        data = self._rest + data
        if not self.opened.done():
            head, end, data = data.partition(b"\r\n\r\n")
            if not end:
                self._rest = head
                return
            self.opened.set_result(None)
        start, size = 0, len(data)
        while size - start >= 2:
            length, header = data[start + 1], 2
            if length == 126:
                if size - start < 4:
                    break
                length, header = int.from_bytes(data[start + 2 : start + 4], "big"), 4
            if size - start < header + length:
                break
            body = start + header
            if self._tag in data[body : body + 12]:
                self._answered()
            start = body + length
        self._rest = data[start:]

    def _answered(self) -> None:
        if self._next < len(self._frames):
            self._transport.write(self._frames[self._next])
            self._next += 1
        elif self._frames and not self.done.done():
            self.done.set_result(None)


async def drive(port: int, tag: bytes) -> Driver:
    """Connect a driver."""
    loop = asyncio.get_running_loop()
    _, driver = await loop.create_connection(lambda: Driver(tag), "127.0.0.1", port)
    await driver.opened
    return driver
