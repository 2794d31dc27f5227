"""Timers that a store has lost with its master, set again by whoever has their things open.

A replica that takes over may lack the last moments. Within one master that does no harm: what
stands in a journal came after its timer. But in a Cluster they lie on different masters, and one
that is lost alone leaves a thing at which nobody looks any more.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping

from server import tasks
from server.store import Store, Unavailable

log = logging.getLogger("dk.timers")

AGAIN_S = 1.0  # a store that is just back may fail once more without a word of it

# The instants at which what is open on this node is to be looked at, by timer.
Dues = Callable[[], Mapping[str, int]]


class Reminder:
    """Brings timers forward whenever a part of the store is there again."""

    def __init__(self, store: Store, *dues: Dues) -> None:
        """Watch the lines to the store from now on."""
        self._store = store
        self._all_dues = dues
        self._dues: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        store.journals.on_state(self._state)

    def _state(self, up: bool) -> None:
        # What is open when the line breaks may not be open any more when it is back.
        for dues in self._all_dues:
            self._dues.update(dues())
        is_idle = self._task is None or self._task.done()
        if up and self._dues and is_idle and not self._is_closed:
            self._task = asyncio.create_task(self._remind(), name="remind")

    async def _remind(self) -> None:
        while self._dues:
            dues, self._dues = self._dues, {}
            try:
                await self._store.timers.bring_forward(dues)
            except Unavailable as error:
                log.warning("timers are not set again yet", extra={"error": str(error)})
                self._dues = dues | self._dues
                await asyncio.sleep(AGAIN_S)

    async def close(self) -> None:
        """Set no more timers."""
        self._is_closed = True
        if self._task is not None:
            await tasks.cancel([self._task])
