"""Requests off the hot path to one store, over redis-py, bounded in connections and time.

Every request made through here has the same effect when it is made twice. So one that
meets a connection broken by a restart is made again at once; one that is not answered
in time is not, and its caller hears that the store is unavailable.

A caller that is cancelled leaves its request to end by itself: cancelled in the middle it
would cost the connection, and redis-py can swallow a cancellation while it opens one.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import (
    AskError,
    AuthenticationError,
    MovedError,
    NoScriptError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as BrokenError

from server.reasons import reason_of
from server.store.address import Address
from server.store.connection import Arg
from server.store.errors import Unavailable
from server.store.line import Where
from server.store.lua import Script

CONNECTIONS = 16
WAIT_S = 2.0  # for a free connection, for a new one
REPLY_S = 3.0
RETRIES = 2


class Elsewhere(Unavailable):
    """What is asked for is another member's of a Cluster; `to` is HOST:PORT."""

    def __init__(self, to: str, *, asking: bool) -> None:
        super().__init__(f"the store says that {to} has it")
        self.to = to
        self.asking = asking  # for this once: it is still on its way there


class Refused(Unavailable):
    """The store answers, and will not."""


class _Found(AbstractConnection):
    """A connection to wherever the store is when it is made."""

    def __init__(self, *, where: Where, doubts: Callable[[], int], **options: Any) -> None:
        """Take `doubts`, which says how often it has been doubted where the store is."""
        super().__init__(**options)
        self._where = where
        self._doubts = doubts
        self._doubts_before = 0
        self._label = "a store that is not found"

    def repr_pieces(self) -> list[tuple[str, str]]:
        return [("to", self._label)]

    def _host_error(self) -> str:
        return self._label

    async def _connect(self) -> None:
        async with asyncio.timeout(self.socket_connect_timeout):
            self._doubts_before = self._doubts()
            address = await self._where()
            self._label = address.label()
            self.username, self.password = address.username, address.password
            self.db = address.db
            if address.path is not None:
                ends = await asyncio.open_unix_connection(address.path)
            else:
                tls_name = address.host if address.tls else None
                ends = await asyncio.open_connection(
                    address.host, address.port, ssl=address.tls, server_hostname=tls_name
                )
        self._reader, self._writer = ends

    async def _send_packed_command(self, command: Iterable[bytes]) -> None:
        # redis-py begins this in a task of its own, before which a doubt may close the line.
        if self._writer is None:
            raise BrokenError(f"the line to {self._label} is closed")
        await super()._send_packed_command(command)

    async def on_connect_check_health(self, check_health: bool = True) -> None:
        """Say who we are; then this has to be the place where the store is still."""
        await super().on_connect_check_health(check_health=check_health)
        if self._doubts() != self._doubts_before:
            raise BrokenError(f"{self._label} may be the store no more")


def fixed(address: Address) -> Where:
    """Make what says that a store is always in the same place."""

    async def where() -> Address:
        return address

    return where


class Client:
    """Runs commands and scripts on one store, each on a connection of its own."""

    def __init__(self, where: Where) -> None:
        self._doubts = 0
        self._pool = BlockingConnectionPool(
            max_connections=CONNECTIONS,
            timeout=WAIT_S,
            connection_class=_Found,
            where=where,
            doubts=lambda: self._doubts,
            socket_connect_timeout=WAIT_S,
            socket_timeout=REPLY_S,
            retry=Retry(ConstantBackoff(0.05), RETRIES, supported_errors=(BrokenError,)),
            driver_info=None,
            decode_responses=False,
            legacy_responses=False,
            protocol=3,
        )
        self._redis: Redis = Redis(connection_pool=self._pool)
        # Replies as the store gives them: redis-py would turn the old value of SET into a bool.
        self._redis.response_callbacks.clear()
        self._requests: set[asyncio.Task[Any]] = set()  # each ends by its own time limits
        self._execute: Callable[..., Coroutine[Any, Any, Any]] = self._redis.execute_command

    async def ask(self, *args: Arg) -> Any:
        """Run a command.

        Raises:
            Unavailable: the store does not answer, or refuses, or another one has the key.
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

    def doubt(self) -> None:
        """Close all connections, soon: they may lead to what is the store no more.

        Also those in use, whose requests are made again: a master that stood still while it
        was replaced answers them when it wakes up, and knows nothing of what was since.
        """
        self._doubts += 1
        task = asyncio.create_task(self._pool.disconnect(), name="store doubt")
        self._requests.add(task)
        task.add_done_callback(self._ended)

    async def close(self) -> None:
        """Let what is under way end, then close all connections."""
        if self._requests:
            await asyncio.wait(self._requests)
        await self._redis.aclose()
        await self._pool.disconnect()

    async def _run(self, script: Script, args: Sequence[Arg]) -> Any:
        try:
            return await self._execute("EVALSHA", script.sha, *args)
        except NoScriptError:
            return await self._execute("EVAL", script.text, *args)

    async def _batch(self, commands: Sequence[tuple[Arg, ...]]) -> list[Any]:
        async with self._redis.pipeline(transaction=False) as pipe:
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
        except AskError as error:
            host, port = error.node_addr
            raise Elsewhere(f"{host}:{port}", asking=not isinstance(error, MovedError)) from error
        except ReadOnlyError as error:  # it was the master when the connection was made
            self.doubt()
            raise Refused(f"the store refuses: {_words(error)}") from error
        except (ResponseError, AuthenticationError) as error:
            raise Refused(f"the store refuses: {_words(error)}") from error
        except (RedisError, OSError, RuntimeError) as error:
            # A RuntimeError is what uvloop makes of a write to a line that has just broken.
            raise Unavailable(
                f"the store does not answer: {reason_of(error) or type(error).__name__}"
            ) from error


def _words(error: Exception) -> str:
    """Give what the store says, without the command that redis-py puts before it."""
    return str(error).rpartition(" caused error: ")[2]
