"""What terminal and pages read out of a tournament."""

from typing import get_args

import pytest

from server.tournament.tiebreak import LESS_IS_BETTER, TIEBREAKS
from tests.client.tournament.scenes import match, race
from wire.lines import TournamentPhase
from wire.reading import COLUMNS, PHASES, TIMES, points, won


def test_every_phase_can_be_read_out() -> None:
    assert PHASES.keys() == set(get_args(TournamentPhase))


def test_every_tie_break_has_a_head_and_a_meaning() -> None:
    assert set(TIEBREAKS) <= COLUMNS.keys()
    assert TIMES == LESS_IS_BETTER


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.5, "½"), (1, "1"), (2.5, "2½"), (1e-9, "0")]
)
def test_half_a_point_is_written_as_a_half(value: float, text: str) -> None:
    assert points(value) == text


def test_an_equal_race_of_a_series_is_half_a_race_won() -> None:
    races = [
        race(("p1", 1, 9), ("p2", 1, 9)),
        race(("p2", 1, 9), ("p1", 2, 8)),
        race(("p1", 1, 9), ("p2", 2, 8), state="void"),
    ]
    series = match("1.1", "p1", "p2", races=races)
    assert (won(series, "p1"), won(series, "p2")) == (0.5, 1.5)
