"""Whether anybody is still there: when a line that looks open is asked, and when given up.

Pure. A server that stands still, or a line that carries bytes one way only, looks open until
the keepalive gives up after half a minute. A play that is not answered tells much sooner. Only
an answer counts as a sign of life: what the server pushes may come though nothing of ours
arrives. While the server says that its store is away, nothing is owed.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

ASK_AFTER: Final = 3.0  # seconds that a play may go unanswered
ANSWER_LIMIT: Final = 4.0  # seconds for the answer to a ping then
TRIPS: Final = 3  # a slow line gets as many of its round trips, where that is longer

Step = Literal["rest", "ask", "give up"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """Since when an answer is missed, and since when a ping that asks for one; seconds."""

    owed_since: float | None = None
    asked_at: float | None = None

    def look(self, now: float, *, is_owed: bool, trip_s: float) -> tuple["Doubt", Step]:
        """Look at the line, about once a second; `trip_s` is how long its answers take."""
        if self.asked_at is not None:
            is_over = now - self.asked_at >= max(ANSWER_LIMIT, TRIPS * trip_s)
            return self, "give up" if is_over else "rest"
        if not is_owed:
            return Doubt(), "rest"
        since = now if self.owed_since is None else self.owed_since
        if now - since < max(ASK_AFTER, TRIPS * trip_s):
            return replace(self, owed_since=since), "rest"
        return self.asked(now), "ask"

    def asked(self, now: float) -> "Doubt":
        """Take in that the server is asked for a sign of life."""
        return replace(self, asked_at=now)
