"""Servers of a test's own, of which nothing is left when the test is over."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

HOST = "127.0.0.1"


@asynccontextmanager
async def listening(
    serve: Serve, path: Path | None = None, *, host: str = HOST, **options: Any
) -> AsyncIterator[int]:
    """A server on a Unix socket or on a port, which is given; each line is served on its own.

    A line that outlived its test would be found by the next one as a socket that nobody closed.
    """
    lines: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the other side went
        finally:
            writer.close()

    # No coroutine, which might be cancelled before it has begun and could close its line.
    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines[asyncio.create_task(talk(reader, writer))] = writer

    if path is None:
        server = await asyncio.start_server(accept, host, 0, **options)
    else:
        server = await asyncio.start_unix_server(accept, str(path), **options)
    try:
        yield 0 if path is not None else server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.sleep(0)  # one that was just being accepted
        for task in lines:
            task.cancel()
        ended = await asyncio.gather(*lines, return_exceptions=True)
        for writer in lines.values():
            writer.transport.abort()
        await asyncio.sleep(0)
    for each in ended:
        if isinstance(each, Exception):
            raise each
