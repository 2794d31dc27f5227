"""Faults that can be arranged exactly: nodes in this process on a store of their own."""

import asyncio
from collections.abc import Callable
from typing import Any

from server.app import Node
from server.store import Outcome, keys
from tests.faults.processes import ValkeyProcess, until
from tests.faults.proxy import Proxy


def journals(store: ValkeyProcess) -> int:
    """How many journals the store holds."""
    with store.client() as client:
        return sum(1 for _ in client.scan_iter("dk:{r:*}:journal"))


def timer(store: ValkeyProcess, code: str) -> float | None:
    """When a room's timer is due, in ms; None if it has none."""
    with store.client() as client:
        scores = [client.zscore(keys.timers(shard), code) for shard in range(keys.TIMER_SHARDS)]
    return next((score for score in scores if score is not None), None)


async def lose_the_answer(
    started: Node, line: Proxy, happened: Callable[[], bool]
) -> list[Outcome]:
    """Has the next append done by the store and its answer lost; gives what the node heard."""
    journals = started._store.journals
    heard: list[Outcome] = []
    real = journals.append

    async def append(*args: Any, **options: Any) -> Outcome:
        if heard:
            return await real(*args, **options)
        line.hold("down")
        asked = asyncio.create_task(real(*args, **options))
        await until(happened, "the store has done it")
        line.cut()
        line.calm()
        heard.append(await asked)
        return heard[0]

    journals.append = append  # type: ignore[method-assign]
    return heard
