"""How long a request waits for a store that is away, or that answers and refuses."""

import asyncio
from typing import Final, Protocol

from server.refusal import store_away
from wire.messages import STORE_WAIT_S

FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 1.0


class Waited(Protocol):
    """What is waited for."""

    async def wait_up(self, limit_s: float) -> bool:
        """Wait until it answers; False if it does not within `limit_s`."""


class Patience:
    """What one request bears over all its attempts: so much time, in ever longer pauses.

    A store that is up may still refuse to write (no memory, no disk): without the pauses
    it would be asked as fast as it can refuse.
    """

    def __init__(self, store: Waited, limit_s: float = STORE_WAIT_S) -> None:
        """Begin to count; the first attempt after a broken line is made at once."""
        self._store = store
        self._until = asyncio.get_running_loop().time() + limit_s
        self._pause_s = 0.0

    @property
    def is_tried(self) -> bool:
        """Whether the store has answered and that has not helped."""
        return self._pause_s > FIRST_PAUSE_S

    async def wait(self) -> None:
        """Wait until the next attempt is worth making.

        Raises:
            Refusal: the time is over.
        """
        left = self._until - asyncio.get_running_loop().time()
        if left <= 0 or not await self._store.wait_up(left):
            raise store_away()
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(LONGEST_PAUSE_S, max(FIRST_PAUSE_S, 2 * self._pause_s))
