"""How tasks of this server are ended."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

log = logging.getLogger("dk.tasks")

ASK_AGAIN_S = 0.5
TRIES = 20


async def cancel(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Cancel tasks and wait for their end.

    Asked again until they end: redis-py can swallow a cancellation that comes while it
    opens a connection, and the task would go on as if nothing had been said.
    """
    left = {task for task in tasks if not task.done()}
    for _ in range(TRIES):
        for task in left:
            task.cancel()
        if not left:
            return
        _, left = await asyncio.wait(left, timeout=ASK_AGAIN_S)
    log.error("tasks do not end", extra={"tasks": sorted(task.get_name() for task in left)})
