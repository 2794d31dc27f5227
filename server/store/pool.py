"""Requests off the hot path, over redis-py: one client, bounded in connections and time.

Every request made through here has the same effect when it is made twice. So one that
meets a connection broken by a restart is made again at once; one that is not answered
in time is not, and its caller hears that the store is unavailable.

A caller that is cancelled leaves its request to end by itself: cancelled in the middle it
would cost the connection, and redis-py can swallow a cancellation while it opens one.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError as BrokenError
from redis.exceptions import NoScriptError, RedisError

from server.store.connection import Arg
from server.store.errors import Unavailable
from server.store.lua import Script

CONNECTIONS = 16
WAIT_S = 2.0  # for a free connection, for a new one
REPLY_S = 3.0
RETRIES = 2


class Pool:
    """Runs commands and scripts, each on a connection of its own."""

    def __init__(self, url: str) -> None:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=WAIT_S,
            socket_connect_timeout=WAIT_S,
            socket_timeout=REPLY_S,
            retry=Retry(ConstantBackoff(0.05), RETRIES, supported_errors=(BrokenError,)),
            decode_responses=False,
            legacy_responses=False,
            protocol=3,
        )
        self._client: Redis = Redis(connection_pool=pool)
        # Replies as the store gives them: redis-py would turn the old value of SET into a bool.
        self._client.response_callbacks.clear()
        self._requests: set[asyncio.Task[Any]] = set()  # each ends by its own time limits
        self._execute: Callable[..., Coroutine[Any, Any, Any]] = self._client.execute_command
        self._pool = pool

    async def ask(self, *args: Arg) -> Any:
        """Run a command.

        Raises:
            Unavailable: the store does not answer, or refuses.
        """
        return await self._finished(self._execute(*args))

    async def run(self, script: Script, keys: Sequence[str], *args: Arg) -> Any:
        """Run a script; errors as in `ask`."""
        return await self._finished(self._run(script, (len(keys), *keys, *args)))

    async def batch(self, commands: Sequence[tuple[Arg, ...]]) -> list[Any]:
        """Run commands together, though not as one; errors as in `ask`."""
        if not commands:
            return []
        replies: list[Any] = await self._finished(self._batch(commands))
        return replies

    async def close(self) -> None:
        """Let what is under way end, then close all connections."""
        if self._requests:
            await asyncio.wait(self._requests)
        await self._client.aclose()
        await self._pool.disconnect()

    async def _run(self, script: Script, args: Sequence[Arg]) -> Any:
        try:
            return await self._execute("EVALSHA", script.sha, *args)
        except NoScriptError:
            return await self._execute("EVAL", script.text, *args)

    async def _batch(self, commands: Sequence[tuple[Arg, ...]]) -> list[Any]:
        async with self._client.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            replies: list[Any] = await pipe.execute()
            return replies

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._requests.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has heard it, or was called off and does not care

    async def _finished(self, request: Coroutine[Any, Any, Any]) -> Any:
        task = asyncio.create_task(request, name="store request")
        self._requests.add(task)
        task.add_done_callback(self._ended)
        try:
            return await asyncio.shield(task)
        except (RedisError, OSError, RuntimeError) as error:
            # A RuntimeError is what uvloop makes of a write to a line that has just broken.
            raise Unavailable(
                f"the store does not answer: {error or type(error).__name__}"
            ) from error
