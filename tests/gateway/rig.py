"""A gateway under test, handlers that note what they get, and a client made of bare bytes."""

import asyncio
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from websockets.asyncio.client import connect
from websockets.frames import Close, Opcode

from server.gateway import Answer, Gateway, Limits, PageRequest, Peer

WAIT = 20.0  # the longest that anything may take here; the machine is shared

UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
)


def upgrade(path: str = "/ws", *headers: str) -> bytes:
    """The request that opens a websocket."""
    return (UPGRADE.format(path=path) + "".join(f"{line}\r\n" for line in headers)).encode() + (
        b"\r\n"
    )


class Notes:
    """A handler that notes what it gets."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.messages: list[bytes] = []
        self.codes: list[int] = []
        self.caught_up = 0
        self._news = asyncio.Event()

    def received(self, data: bytes) -> None:
        self.messages.append(data)
        self._news.set()

    def writable(self) -> None:
        self.caught_up += 1
        self._news.set()

    def closed(self, code: int) -> None:
        self.codes.append(code)
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that this handler notes."""
        async with asyncio.timeout(WAIT):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def code(self) -> int:
        """Wait for the end and return its code."""
        await self.until(lambda: bool(self.codes))
        (code,) = self.codes
        return code


class Echo(Notes):
    """Sends back what it gets."""

    def received(self, data: bytes) -> None:
        super().received(data)
        self.peer.send(data)


class Rig:
    """One gateway and the clients of a test."""

    def __init__(self) -> None:
        self.handlers: list[Notes] = []
        self.port = 0
        self.gateway: Gateway
        self._clients: list[Client] = []
        self._arrived = asyncio.Event()

    async def start(
        self,
        handler: Callable[[Peer], Notes] = Echo,
        *,
        page: Callable[[PageRequest], Awaitable[Answer | None]] | None = None,
        stands: Mapping[str, Callable[[Peer], Notes]] | None = None,
        origins: Collection[str] | None = None,
        proxies: Collection[str] = (),
        tls: ssl.SSLContext | None = None,
        **limits: Any,
    ) -> Gateway:
        """Start the gateway with some limits of its own."""

        def serving(handler: Callable[[Peer], Notes]) -> Callable[[Peer], Notes]:
            def serve(peer: Peer) -> Notes:
                made = handler(peer)
                self.handlers.append(made)
                self._arrived.set()
                return made

            return serve

        others = {path: serving(other) for path, other in (stands or {}).items()}
        self.gateway = Gateway(
            connect=serving(handler),
            page=page or no_page,
            stand=others.get,
            limits=Limits(**limits),
            origins=origins,
            proxies=proxies,
        )
        self.port = await self.gateway.listen("127.0.0.1", 0, ssl=tls)
        return self.gateway

    async def dial(self, *, receive_buffer: int = 0) -> "Client":
        """Open a bare socket."""
        line = socket.socket()
        if receive_buffer:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        line.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", self.port))
        except OSError:
            line.close()
            raise
        client = Client(*await asyncio.open_connection(sock=line))
        self._clients.append(client)
        return client

    async def open(self, *, receive_buffer: int = 0) -> tuple["Client", Notes]:
        """Open a websocket on a bare socket; returns it and its handler."""
        client = await self.dial(receive_buffer=receive_buffer)
        client.write(upgrade())
        assert (await client.head()).startswith("HTTP/1.1 101 ")
        return client, self.handlers[-1]

    def connect(self, path: str = "/ws", **options: Any) -> connect:
        """Open a websocket with a client of the websockets library."""
        options = {"proxy": None, "compression": None, "ping_interval": None} | options
        scheme = "wss" if "ssl" in options else "ws"
        return connect(f"{scheme}://127.0.0.1:{self.port}{path}", **options)

    async def ask(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        """Send an HTTP request on a socket of its own; returns status, headers, body."""
        client = await self.dial()
        client.write(request)
        return await client.answer()

    async def until_waiting(self, count: int) -> None:
        """Wait until so many sockets are no websocket yet."""
        async with asyncio.timeout(WAIT):
            while self.gateway.tally().waiting != count:  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.001)

    async def stop(self) -> None:
        """Close everything, and see that the gateway has let go of it."""
        for client in self._clients:
            client.drop()
        if self.port:
            await self.gateway.close()
            await self.until_waiting(0)
            assert self.gateway.tally().open == 0
            assert all(len(handler.codes) == 1 for handler in self.handlers)


class Client:
    """A client that can do everything wrong."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def write(self, data: bytes) -> None:
        self.writer.write(data)

    def frame(self, opcode: int, data: bytes = b"", *, fin: bool = True) -> None:
        """Write one masked frame, however wrong."""
        self.write(frame(opcode, data, fin=fin))

    async def head(self) -> str:
        """Read an HTTP answer's status line and headers."""
        async with asyncio.timeout(WAIT):
            return (await self.reader.readuntil(b"\r\n\r\n")).decode()

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Read an HTTP answer to its end."""
        status, _, lines = (await self.head()).partition("\r\n")
        headers = dict(line.split(": ", 1) for line in lines.split("\r\n") if line)
        return int(status.split(" ")[1]), headers, await self.rest()

    async def rest(self) -> bytes:
        """Read to the end of the stream."""
        async with asyncio.timeout(WAIT):
            return await self.reader.read()

    async def read(self) -> tuple[int, bytes]:
        """Read one frame: its first byte's lower half, and its payload."""
        async with asyncio.timeout(WAIT):
            first, size = await self.reader.readexactly(2)
            assert first & 0x80, "the gateway sends whole messages"
            assert not size & 0x80, "a server does not mask"
            if size >= 126:
                width = 2 if size == 126 else 8
                size = int.from_bytes(await self.reader.readexactly(width), "big")
            return first & 0x0F, await self.reader.readexactly(size)

    async def close_code(self) -> int:
        """Read on until a close frame and return its code; then the stream must end."""
        while True:
            opcode, data = await self.read()
            if opcode == Opcode.CLOSE:
                break
        assert await self.rest() == b""
        return Close.parse(data).code

    async def cut(self) -> bytes:
        """Read whatever still comes until the line is cut; returns it."""
        got = b""
        try:
            async with asyncio.timeout(WAIT):
                while data := await self.reader.read(65_536):
                    got += data
        except ConnectionError:
            pass
        return got

    def drop(self) -> None:
        """Vanish without a goodbye."""
        self.writer.transport.abort()


def frame(opcode: int, data: bytes = b"", *, fin: bool = True) -> bytes:
    """A masked frame; the payload may be longer and the opcode stranger than allowed."""
    mask = os.urandom(4)
    size = len(data)
    if size < 126:
        length = bytes([0x80 | size])
    elif size < 65_536:
        length = bytes([0x80 | 126]) + size.to_bytes(2, "big")
    else:
        length = bytes([0x80 | 127]) + size.to_bytes(8, "big")
    masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
    return bytes([(0x80 if fin else 0) | opcode]) + length + mask + masked


async def no_page(request: PageRequest) -> Answer | None:
    return None
