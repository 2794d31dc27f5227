"""What spectators see of a room that lets them lag behind."""

import asyncio
from collections import deque
from collections.abc import Callable

from server.audience import Audience, Presence
from server.race import Race
from server.store import Entry
from wire import messages as m


class Lag:
    """A second replica of a race, fed the room's delay after the events happened."""

    def __init__(self, live: Audience, presence: Presence, now: Callable[[], int]) -> None:
        """`live` is the room's audience without delay."""
        self._delay_ms = live.race.settings.delay_s * 1000
        self._now = now
        # In order and with a single timer: events of one instant keep their order.
        self._feed: deque[tuple[int, Entry | m.Chatted]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self.audience = Audience(
            Race(live.race.secret), presence, locked=live.locked, now=self._shown_now
        )

    def _shown_now(self) -> int:
        return self._now() - self._delay_ms

    def put(self, entry: Entry) -> None:
        """Take a journal entry in, to be shown when its time has come."""
        if entry.version == 1:
            self.audience.race.apply(entry.at, entry.payload)
        else:
            self._put(entry.at, entry)

    def say(self, said: m.Chatted) -> None:
        """Take a line of chat in, to be shown when its time has come."""
        self._put(said.at, said)

    def _put(self, at: int, item: Entry | m.Chatted) -> None:
        self._feed.append((at + self._delay_ms, item))
        self._show_due()

    def _show_due(self) -> None:
        now = self._now()
        while self._feed and self._feed[0][0] <= now:
            _, item = self._feed.popleft()
            if isinstance(item, Entry):
                self.audience.take(item.at, item.payload)
            else:
                for viewer in self.audience.viewers:
                    viewer.send(item)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._feed:
            wait = max(0.01, (self._feed[0][0] - now) / 1000)
            self._timer = asyncio.get_running_loop().call_later(wait, self._show_due)

    def close(self) -> None:
        """Stop feeding."""
        if self._timer is not None:
            self._timer.cancel()
        self._feed.clear()
        self.audience.close()
