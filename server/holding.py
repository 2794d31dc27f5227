"""What this node has open, by code: opened for the first who wants it, let go after the last."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from server.follower import Follower

UNLOAD_AFTER_S = 10.0  # kept so long without users, for who drops and comes back

F = TypeVar("F", bound=Follower[Any, Any])


class Holding(ABC, Generic[F]):
    """The followers of one kind on this node. Subclasses say how one is opened."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Task[F]] = {}
        self._users: dict[str, int] = {}  # connections and acts that hold one open
        self._unloading: dict[str, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return len(self._open)

    @property
    def opened(self) -> list[F]:
        """Give those that are open, and sound."""
        found = map(_opened, self._open.values())
        return [each for each in found if each is not None and not each.failed]

    @abstractmethod
    async def _read(self, code: str) -> F:
        """Open one; raises Refusal where that cannot be done."""

    async def hold(self, code: str) -> F:
        """Open one on this node, or find it open, until it is released.

        Raises:
            Refusal: there is none of that code, or the store does not answer.
        """
        handle = self._unloading.pop(code, None)
        if handle is not None:
            handle.cancel()
        self._users[code] = self._users.get(code, 0) + 1
        try:
            return await self._load(code)
        except BaseException:
            self.release(code)
            raise

    async def _load(self, code: str) -> F:
        task = self._open.get(code)
        opened = _opened(task)
        if task is not None and opened is not None and opened.failed:
            del self._open[code]
            opened.unload()
            task = None
        if task is None:
            task = asyncio.create_task(self._read(code), name=f"load {code}")
            self._open[code] = task
        try:
            return await asyncio.shield(task)
        except BaseException:
            # Whoever asks next tries anew; one who only stops waiting leaves it to the others.
            if task.done() and self._open.get(code) is task and _opened(task) is None:
                del self._open[code]
            raise

    def release(self, code: str) -> None:
        """Let go of one; after a while without users it is no longer followed."""
        self._users[code] -= 1
        if self._users[code] <= 0:
            del self._users[code]
            loop = asyncio.get_running_loop()
            self._unloading[code] = loop.call_later(UNLOAD_AFTER_S, self._unload, code)

    def _unload(self, code: str) -> None:
        self._unloading.pop(code, None)
        task = self._open.pop(code, None)
        if task is not None:
            _let_go(task)

    @asynccontextmanager
    async def held(self, code: str) -> AsyncIterator[F]:
        """Hold one for the length of a block."""
        opened = await self.hold(code)
        try:
            yield opened
        finally:
            self.release(code)

    def close(self) -> None:
        """Stop following all of them."""
        for handle in self._unloading.values():
            handle.cancel()
        for task in self._open.values():
            _let_go(task)
        self._open.clear()


def _opened(task: "asyncio.Task[F] | None") -> F | None:
    """Give what a task has opened, if it has."""
    if task is None or not task.done() or task.cancelled() or task.exception() is not None:
        return None
    return task.result()


def _let_go(task: "asyncio.Task[F]") -> None:
    opened = _opened(task)
    if opened is not None:
        opened.unload()
    else:
        task.cancel()  # it undoes what it has done so far
