"""Ending tasks."""

import asyncio

from server import tasks


async def test_a_task_that_swallows_a_cancellation_is_asked_again() -> None:
    heard = 0

    async def deaf_once() -> None:
        nonlocal heard
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                heard += 1
                if heard == 2:
                    raise

    task = asyncio.create_task(deaf_once())
    await asyncio.sleep(0)
    await tasks.cancel([task])
    assert task.cancelled()
    assert heard == 2


async def test_tasks_that_are_done_are_left_alone() -> None:
    async def nothing() -> int:
        return 1

    task = asyncio.create_task(nothing())
    await task
    await tasks.cancel([task])
    assert task.result() == 1
