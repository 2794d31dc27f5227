"""The same question to several who should know, some of whom may not answer."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")

GRACE_S = 0.25  # for the others, once one has answered
LIMIT_S = 2.0  # for the first answer


async def survey(asking: Iterable[Awaitable[T]]) -> tuple[list[T], list[Exception]]:
    """Give the answers that come in time, and the errors of those that cannot answer."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + LIMIT_S
    answers: list[T] = []
    errors: list[Exception] = []
    pending = {asyncio.ensure_future(each) for each in asking}
    try:
        while pending and (left := deadline - loop.time()) > 0:
            done, pending = await asyncio.wait(
                pending, timeout=left, return_when=asyncio.FIRST_COMPLETED
            )
            for each in done:
                error = each.exception()
                if error is None:
                    deadline = min(deadline, loop.time() + GRACE_S) if not answers else deadline
                    answers.append(each.result())
                elif isinstance(error, Exception):
                    errors.append(error)
    finally:
        for each in pending:
            each.cancel()
    return answers, errors
