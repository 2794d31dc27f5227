"""Who was absent from a race, and who only could not play."""

import pytest

from server import events as ev
from server.results import absent_at, excuse
from tests.server.journal import Told

NO_SHOW_S = 60


def ended(after_s: int) -> Told:
    """A race in which nobody plays until its end, so long after its start."""
    told = Told()
    told.start("anna", "ben")
    told.tell(ev.Over(why="time"), after_ms=1000 * after_s)
    return told


def started(told: Told) -> int:
    assert told.race.started_at is not None
    return told.race.started_at


def test_absence_is_counted_from_the_start_or_from_when_all_could_play() -> None:
    told = ended(300)
    assert absent_at(told.race, 0, NO_SHOW_S) == started(told) + 60_000
    assert absent_at(told.race, started(told) + 1, NO_SHOW_S) == started(told) + 60_001


@pytest.mark.parametrize(
    ("back_s", "is_excused"),
    [(-10, False), (0, False), (1, False), (240, False), (241, True), (300, True), (999, True)],
)
def test_who_had_less_than_the_limit_after_an_outage_is_excused(
    back_s: int, is_excused: bool
) -> None:
    told = ended(300)
    assert bool(excuse(told.race, started(told) + 1000 * back_s, NO_SHOW_S)) is is_excused


def test_a_race_shorter_than_the_limit_excuses_nobody_by_itself() -> None:
    told = ended(20)
    assert excuse(told.race, started(told), NO_SHOW_S) == ""
