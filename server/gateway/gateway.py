"""Listens, lets connections in, and sends them away in good order."""

import asyncio
import socket
from asyncio import AbstractServer
from collections.abc import Awaitable, Callable, Collection, Sequence
from ssl import SSLContext
from typing import ClassVar

from server.gateway.door import Door
from server.gateway.limits import Limits, Proxies, checked_origins
from server.gateway.pages import Answer, PageRequest
from server.gateway.peer import Peer
from server.gateway.register import Handler, Register, Tally
from wire.messages import Close

SEND_BUFFER = 64 * 1024  # bytes that the kernel may hold for one connection; it doubles them


def _nothing(path: str) -> None:
    """Give nobody: there is a websocket at the usual paths only."""


class Gateway:
    """All the sockets of one node.

    `connect` makes the handler of each new websocket, `page` answers plain HTTP (None for
    an unknown path). `stand` gives what makes the handlers of websockets at other paths,
    which show what is public to anybody who looks; None where there is none. `origins` lists the web pages' origins that may connect, None lets
    all in; clients that are no browser send none and always may. `proxies` lists the
    networks whose X-Forwarded-For is believed. Made inside a running event loop;
    ValueError names a setting that is wrong.
    """

    peer_type: ClassVar[type[Peer]] = Peer

    def __init__(
        self,
        *,
        connect: Callable[[Peer], Handler],
        page: Callable[[PageRequest], Awaitable[Answer | None]],
        stand: Callable[[str], Callable[[Peer], Handler] | None] = _nothing,
        limits: Limits | None = None,
        origins: Collection[str] | None = None,
        proxies: Collection[str] = (),
    ) -> None:
        allowed = None if origins is None else [None, *checked_origins(origins)]
        self._limits = limits or Limits()
        self._register = Register(
            loop=asyncio.get_running_loop(),
            connect=connect,
            stand=stand,
            page=page,
            limits=self._limits,
            origins=allowed,
            proxies=Proxies(proxies),
            peer_type=self.peer_type,
        )
        self._servers: list[AbstractServer] = []

    async def listen(
        self,
        host: str,
        port: int,
        *,
        ssl: SSLContext | None = None,
        reuse_port: bool = False,
    ) -> int:
        """Accept connections; returns the port, which matters where 0 was asked for."""
        loop = self._register.loop
        timeout = None if ssl is None else self._limits.open_timeout
        server = await loop.create_server(
            lambda: Door(self._register),
            host,
            port,
            ssl=ssl,
            ssl_handshake_timeout=timeout,
            reuse_port=reuse_port or None,
            backlog=1024,
        )
        for listening in server.sockets:
            # Accepted sockets inherit it. Left to itself the kernel takes up to some
            # megabytes for each reader that stalls, beside what is counted here.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self._servers.append(server)
        bound: int = server.sockets[0].getsockname()[1]
        return bound

    def tally(self) -> Tally:
        """Return what was counted so far, for metrics."""
        return self._register.tally()

    @property
    def peers(self) -> Sequence[Peer]:
        """The open connections."""
        return tuple(self._register.peers)

    @property
    def is_draining(self) -> bool:
        return self._register.draining

    async def drain(self, over_s: float) -> None:
        """Send all peers away with 1012, spread over `over_s` seconds.

        Meanwhile and afterwards no websocket is let in; pages are still answered.
        """
        self._register.draining = True
        loop = self._register.loop
        peers = list(self._register.peers)
        begin = loop.time()
        for index, peer in enumerate(peers):
            wait = begin + over_s * index / len(peers) - loop.time()
            if wait > 0:
                await asyncio.sleep(wait)
            peer.close(Close.RESTART, "the server restarts")
        await self._wait_until_empty()

    async def close(self) -> None:
        """Stop listening and end every connection; nothing is left afterwards.

        First no new sockets, then the goodbyes, then whoever did not answer them is cut,
        last the pages that nobody waits for any more.
        """
        register = self._register
        register.draining = register.closed = True
        for server in self._servers:
            server.close()
        for peer in list(register.peers):
            peer.close(Close.GOING_AWAY, "the server goes down")
        await self._wait_until_empty()
        for door in list(register.doors):
            door.abort()
        await asyncio.gather(*register.tasks, return_exceptions=True)

    async def _wait_until_empty(self) -> None:
        register = self._register
        # Each peer's own timer cuts it after close_timeout; the second is for the loop.
        try:
            async with asyncio.timeout(self._limits.close_timeout + 1.0):
                await register.empty.wait()
        except TimeoutError:
            for peer in list(register.peers):
                peer.abort()
            await register.empty.wait()
