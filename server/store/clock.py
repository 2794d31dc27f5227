"""The store's clock, as well as it can be known from here."""

import time
from collections import deque
from collections.abc import Callable

# Samples kept: an old one with a quick round trip is outlived by the drift of the clocks
# long before it is a minute old.
SAMPLES = 16


class Clock:
    """Estimates the store's time from the quickest of the last round trips.

    The estimate steps when the store's clock does.
    """

    def __init__(self, local: Callable[[], float] = time.monotonic) -> None:
        self._local = local
        self._samples: deque[tuple[float, float]] = deque(maxlen=SAMPLES)  # round trip, offset
        self._offset = time.time() - local()

    def local(self) -> float:
        """Read the local clock that samples are taken with, in seconds."""
        return self._local()

    def sample(self, sent: float, received: float, store_s: float) -> None:
        """Take in the store's time, read between two instants of the local clock."""
        self._samples.append((received - sent, store_s - (sent + received) / 2))
        self._offset = min(self._samples)[1]

    def forget(self) -> None:
        """Drop all samples: the next is of another store's clock."""
        self._samples.clear()

    def now(self) -> int:
        """Estimate the store's time in milliseconds since 1970."""
        return int((self._local() + self._offset) * 1000)
