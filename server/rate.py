"""How often something may happen. Time is a parameter, in seconds of any steady clock."""

from collections import OrderedDict


class Rate:
    """A token bucket, kept as the instant at which it would be full again.

    `burst` events may come at once, then `per_s` of them a second.
    """

    __slots__ = ("_full", "_slack", "_step")

    def __init__(self, per_s: float, burst: int) -> None:
        self._step = 1.0 / per_s
        self._slack = burst * self._step
        self._full = 0.0

    def takes(self, now: float) -> bool:
        """Take one event in; false when it is one too many."""
        full = self._full
        if full < now:
            full = now
        full += self._step
        # A hair of tolerance: sums of steps are not exact.
        if full - now > self._slack + 1e-9:
            return False
        self._full = full
        return True


class Quota:
    """A rate for each of many, of whom those not seen for long are forgotten."""

    def __init__(self, per_s: float, burst: int, most: int = 10_000) -> None:
        """`most` are remembered at a time."""
        self._per_s = per_s
        self._burst = burst
        self._most = most
        self._rates: OrderedDict[str, Rate] = OrderedDict()

    def takes(self, whose: str, now: float) -> bool:
        """Take one event of somebody in; false when it is one too many."""
        rate = self._rates.pop(whose, None) or Rate(self._per_s, self._burst)
        self._rates[whose] = rate
        if len(self._rates) > self._most:
            self._rates.popitem(last=False)
        return rate.takes(now)
