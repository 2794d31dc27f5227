"""Work that would hold up the event loop, done in a process of its own.

A thread would not do: the library that pairs players lets no other thread run while it
computes. The process is started when there is work, ends when there has been none for a while,
and does one piece after the other. It reads its work from a pipe, so that it ends with the
node however that ends. Work is a function of a module and its arguments, all of which can be
pickled, and gives what it would give here; it must change nothing.
"""

import asyncio
import contextlib
import logging
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

log = logging.getLogger("dk.aside")

P = ParamSpec("P")
R = TypeVar("R")

TRIES: Final = 2
LIMIT_S: Final = 120.0  # for one piece of work; thousands of players take a part of it
IDLE_S: Final = 60.0
LENGTH: Final = 8  # bytes in front of each piece and of each answer

# -P: a file of that name in the folder where the node was started is not taken for it.
COMMAND: Final = (sys.executable, "-P", "-m", "server.aside")


class Failed(Exception):
    """The work could not be done: the process died over it again, or took too long."""


class Aside:
    """Has work done in another process."""

    def __init__(self, command: tuple[str, ...] = COMMAND, *, limit_s: float = LIMIT_S) -> None:
        self._command = command
        self._limit_s = limit_s
        self._process: Process | None = None
        self._past: set[asyncio.Task[int]] = set()  # that are told to end
        self._turn = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return self._process.pid if self._process is not None else None

    async def do(self, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Do a piece of work and give what comes of it, or raise what it raises.

        Raises:
            Failed: it could not be done.
        """
        piece = await asyncio.to_thread(_packed, (work, args, named))
        async with self._turn:
            answer = await self._answer(piece)
        is_done, found = await asyncio.to_thread(pickle.loads, answer)
        if not is_done:
            raise found
        return found  # type: ignore[no-any-return]

    async def _answer(self, piece: bytes) -> bytes:
        for _ in range(TRIES):
            try:
                async with asyncio.timeout(self._limit_s):
                    return await self._ask(piece)
            except (OSError, asyncio.IncompleteReadError) as error:
                if isinstance(error, TimeoutError):
                    raise Failed(f"no answer within {self._limit_s:.0f} s") from None
                log.warning("the process aside has died", extra={"error": repr(error)})
        raise Failed("the process aside died over it, again and again")

    async def _ask(self, piece: bytes) -> bytes:
        if self._idle is not None:
            self._idle.cancel()
        process = self._process or await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(piece)
            await process.stdin.drain()
            length = await process.stdout.readexactly(LENGTH)
            answer = await process.stdout.readexactly(int.from_bytes(length))
        except BaseException:
            # Whatever it is about now, nobody waits for that answer any more.
            self._end()
            raise
        self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._end)
        return answer

    async def _start(self) -> Process:
        # In a session of its own: a signal to the terminal's programs is the node's to heed.
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, start_new_session=True
        )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()  # it has nothing to lose
            ended = asyncio.create_task(process.wait(), name="end of the process aside")
            self._past.add(ended)
            ended.add_done_callback(self._past.discard)

    async def close(self) -> None:
        """End the process, and whatever it is about."""
        if self._idle is not None:
            self._idle.cancel()
        self._end()
        await asyncio.gather(*self._past)


def _packed(value: Any) -> bytes:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(LENGTH) + data
