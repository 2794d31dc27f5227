"""What a race means for its tournament, decided when the store takes it in."""

import pytest

from server import events as ev
from server.steward import _absent, _ended
from server.tournament import calls
from server.tournament import events as tev
from server.tournament.settings import Single
from server.uptime import Uptime
from tests.server.journal import Told as Race
from tests.tournament.told import Told, settings


class Known(Uptime):
    """A store that has been there since an instant, by the clock at another."""

    since = 0

    def __init__(self, since: int, now: int = 0) -> None:
        self.since = since
        self._now = now

    def now(self) -> int:
        return self._now


@pytest.fixture
def told() -> Told:
    made = Told(settings(Single()))
    made.enter(2)
    made.start()
    return made


def test_whoever_is_absent_is_so_only_where_the_store_was_there_all_the_time(told: Told) -> None:
    (call,) = calls(told.t)
    race = Race()
    race.start(*dict(call.players))
    started = race.race.started_at or 0
    limit = started + 1000 * call.no_show_s
    (absent, *_) = _absent(call, race.race, Known(started, limit), told.t)
    assert isinstance(absent, tev.Absent)
    assert _absent(call, race.race, Known(started, limit - 1), told.t) == []
    # Refused at first, tried again: by then it is known that nobody could play.
    assert _absent(call, race.race, Known(started + 1, limit), told.t) == []


def test_a_race_that_nobody_could_play_is_void_by_the_time_it_is_noted(told: Told) -> None:
    (call,) = calls(told.t)
    race = Race()
    race.start(*dict(call.players))
    started = race.race.started_at or 0
    race.tell(ev.Over(why="time"), after_ms=1000 * call.no_show_s)
    (absent, *_) = _ended(call, race.race, Known(started), told.t)
    assert isinstance(absent, tev.Absent)
    (void, *_) = _ended(call, race.race, Known(started + 1), told.t)
    assert isinstance(void, tev.RaceVoided)
