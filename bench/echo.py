"""Server CPU a message: our gateway against the high-level server of websockets.

Both echo the same frames to the same clients, on uvloop, in processes of their own, in
turns; each tells its own CPU time. The last line is the ratio, gateway to websockets.

`python -m bench.echo [--connections N] [--messages N] [--size BYTES] [--rounds N]`
"""

import argparse
import asyncio
import os
import subprocess
import sys
import time
from contextlib import suppress
from statistics import median
from typing import cast

import uvloop
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as websockets_serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from server.gateway import Answer, Gateway, Limits, PageRequest, Peer

HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
KINDS = ("websockets", "gateway")
ROUND_TIMEOUT = 60.0


# --- servers --------------------------------------------------------------------------


class Echo:
    def __init__(self, peer: Peer) -> None:
        self.received = peer.send

    def closed(self, code: int) -> None: ...


async def no_page(request: PageRequest) -> Answer | None:
    return None


async def serve_gateway() -> int:
    limits = Limits(messages_per_s=1e9, connections_per_address=10_000)
    gateway = Gateway(connect=Echo, page=no_page, limits=limits)
    return await gateway.listen("127.0.0.1", 0)


async def serve_websockets() -> int:
    async def echo(connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):  # the clients hang up without a close frame
            async for message in connection:
                await connection.send(message)

    server = await websockets_serve(
        echo, "127.0.0.1", 0, compression=None, max_size=4096, max_queue=8
    )
    port: int = server.sockets[0].getsockname()[1]
    return port


async def run_server(kind: str) -> None:
    """Serve until standard input ends; each line in asks for the CPU seconds so far."""
    port = await (serve_gateway() if kind == "gateway" else serve_websockets())
    print(port, flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(time.process_time(), flush=True)


class Server:
    """A server process and its CPU clock."""

    def __init__(self, kind: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve", kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = int(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def cpu(self) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._line())

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


# --- clients --------------------------------------------------------------------------


class Client(asyncio.Protocol):
    """Sends a frame, waits for its echo, sends the next."""

    def __init__(self, frame: bytes, echo_size: int, messages: int) -> None:
        self._frame, self._echo_size, self._left = frame, echo_size, messages
        self._have = 0
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = loop.create_future()
        self.done: asyncio.Future[None] = loop.create_future()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is no subclass
        self._transport.write(HANDSHAKE)

    def data_received(self, data: bytes) -> None:
        if not self.ready.done():
            assert data.endswith(b"\r\n\r\n"), data
            self.ready.set_result(None)
            return
        self._have += len(data)
        if self._have >= self._echo_size:
            self._have = 0
            self.next()

    def next(self) -> None:
        if self._left:
            self._left -= 1
            self._transport.write(self._frame)
        else:
            self.done.set_result(None)
            self._transport.abort()


async def load(server: Server, connections: int, messages: int, size: int) -> float:
    """Return the server's CPU microseconds a message."""
    payload = os.urandom(size)
    frame = Frame(Opcode.BINARY, payload).serialize(mask=True)
    echo_size = len(Frame(Opcode.BINARY, payload).serialize(mask=False))
    each = messages // connections
    loop = asyncio.get_running_loop()
    clients: list[Client] = []
    for _ in range(connections):
        _, client = await loop.create_connection(
            lambda: Client(frame, echo_size, each), "127.0.0.1", server.port
        )
        clients.append(client)
    await asyncio.gather(*(client.ready for client in clients))
    before = server.cpu()
    for client in clients:
        client.next()
    await asyncio.gather(*(client.done for client in clients))
    return (server.cpu() - before) / (each * connections) * 1e6


def main() -> None:
    """Run the servers in turns and print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--size", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        uvloop.run(run_server(options.serve))
        return
    servers = {kind: Server(kind) for kind in KINDS}
    costs: dict[str, list[float]] = {kind: [] for kind in KINDS}
    try:
        for _ in range(options.rounds):
            for kind, server in servers.items():
                run = load(server, options.connections, options.messages, options.size)
                costs[kind].append(uvloop.run(asyncio.wait_for(run, ROUND_TIMEOUT)))
    finally:
        for server in servers.values():
            server.stop()
    for kind in KINDS:
        print(f"{kind:10} {median(costs[kind]):6.2f} us CPU a message")
    print(f"ratio {median(costs['gateway']) / median(costs['websockets']):.2f}")


if __name__ == "__main__":
    main()
