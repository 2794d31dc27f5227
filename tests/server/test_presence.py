"""Who counts as away, and when nobody can tell."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import pytest

from server.presence import FORGET_AFTER_S, TELL_EVERY_S, Presence

AWAY_MS = 60_000


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("server.presence.time.monotonic", clock.monotonic)
    return clock


@pytest.fixture
def said() -> list[tuple[str, dict[str, object]]]:
    return []


@pytest.fixture
async def here(clock: Clock, said: list[tuple[str, dict[str, object]]]) -> AsyncIterator[Presence]:
    here = Presence("here", lambda kind, value: said.append((kind, value)), lambda: None)
    yield here
    here.close()


def hears(here: Presence, *players: str) -> None:
    """Another node says who is connected there."""
    here.heard({"node": "there", "p": list(players), "spectators": 0})


async def test_who_has_no_line_anywhere_is_away_after_the_limit(
    here: Presence, clock: Clock
) -> None:
    here.enter("anna", watching=False)
    clock.now += 5
    here.exit("anna", watching=False)
    clock.now += 59
    assert here.away(["anna"], AWAY_MS) == []
    clock.now += 2
    assert here.away(["anna"], AWAY_MS) == ["anna"]


async def test_a_node_that_is_silent_is_forgotten_with_its_players(
    here: Presence, clock: Clock
) -> None:
    hears(here, "ben")
    clock.now += FORGET_AFTER_S + 1
    here.tell()
    assert "ben" not in here.here
    clock.now += 60
    assert here.away(["ben"], AWAY_MS) == ["ben"]


async def test_after_a_time_in_which_nothing_could_be_heard_nobody_is_away(
    here: Presence, clock: Clock, said: list[tuple[str, dict[str, object]]]
) -> None:
    hears(here, "ben")
    clock.now += 300  # the store was away: so was every word of the others
    here.start_over()
    assert said[-1][0] == "who"
    assert here.away(["ben", "anna"], AWAY_MS) == []
    hears(here)
    clock.now += 59
    assert here.away(["ben"], AWAY_MS) == []
    clock.now += 2
    assert here.away(["ben"], AWAY_MS) == ["ben"]


async def test_a_node_that_stood_still_blames_itself_and_not_the_others(
    here: Presence, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    later: list[Callable[[], None]] = []

    def call_later(delay: float, call: Callable[[], None]) -> _Handle:
        later.append(call)
        return _Handle()

    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", call_later)
    here.enter("anna", watching=False)
    hears(here, "ben")
    clock.now += 300  # its own timer comes that late
    later[-1]()
    assert "ben" in here.here
    clock.now += TELL_EVERY_S
    later[-1]()
    assert "ben" in here.here


class _Handle:
    def cancel(self) -> None:
        pass
