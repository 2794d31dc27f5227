"""The bell: it rings for what a player must not miss, and for nothing else."""

from dataclasses import replace

import pytest

from client.attention import is_wanted
from client.model import State
from client.tournament.tour import Tour
from tests.client.stage import NOW, room
from wire.tournaments import Called

OPEN = State(room=room(phase="open"))
CALL = Called(
    tournament="CUP",
    title="Cup",
    race=1,
    match="1",
    room="QQQQQQ",
    opponents=["bob"],
    starts=NOW,
    no_show_s=9,
)


@pytest.mark.parametrize("phase", ["locked", "running", "over"])
def test_a_race_that_comes_nearer_or_ends_rings(phase: str) -> None:
    after = replace(OPEN, room=room(phase=phase))
    assert is_wanted(OPEN, after)
    assert not is_wanted(after, after)


def test_the_race_of_others_and_a_race_one_comes_back_to_ring_not() -> None:
    watched = State(room=room(phase="locked", seat=None))
    assert not is_wanted(replace(watched, room=room(phase="open", seat=None)), watched)
    assert not is_wanted(State(), State(room=room(phase="running")))
    assert not is_wanted(State(room=room(phase="over", room="ZZZZZZ")), State(room=room()))


def test_a_call_of_a_tournament_rings_once() -> None:
    called = State(tour=Tour(called=CALL))
    assert is_wanted(State(), called)
    assert not is_wanted(called, replace(called, room=room(phase="open")))
