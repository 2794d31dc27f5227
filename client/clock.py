"""The server's clock as seen from here: offset by the quickest of several pings.

Pure. Instants of the server are Unix milliseconds; instants of this machine are seconds of
its monotonic clock, which no one can set while a race runs.
"""

from dataclasses import dataclass

KEPT = 16  # samples; old ones leave, since clocks drift


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured offset and how long the round trip took."""

    offset_ms: float
    trip_ms: float


@dataclass(frozen=True, slots=True)
class Clock:
    """What is known of the server's clock."""

    samples: tuple[Sample, ...] = ()
    stamp_ms: float | None = None  # offset by a stamp in a message: late by the way here

    def stamped(self, now_ms: int, at: float) -> "Clock":
        """Take in a message that says the server's time, heard at `at`."""
        offset = now_ms - at * 1000
        if self.stamp_ms is not None:
            offset = max(offset, self.stamp_ms)  # the least delayed stamp is the nearest
        return Clock(self.samples, offset)

    def ponged(self, server_ms: int, sent: float, heard: float) -> "Clock":
        """Take in the answer to a ping: the server's time lies halfway of the trip."""
        trip = max(0.0, heard - sent) * 1000
        sample = Sample(server_ms - (sent * 1000 + trip / 2), trip)
        return Clock((*self.samples, sample)[-KEPT:], self.stamp_ms)

    @property
    def trip_ms(self) -> float | None:
        """The last round trip, None before the first."""
        return self.samples[-1].trip_ms if self.samples else None

    def server_ms(self, at: float) -> float | None:
        """Give the server's time at a local instant, None while nothing is known."""
        if self.samples:
            best = min(self.samples, key=lambda sample: sample.trip_ms)
            return at * 1000 + best.offset_ms
        return at * 1000 + self.stamp_ms if self.stamp_ms is not None else None
