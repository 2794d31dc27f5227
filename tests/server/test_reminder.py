"""Timers that a store may have lost with its master."""

from collections.abc import AsyncIterator, Mapping

import pytest

from server.reminder import Reminder
from server.store import Store, Unavailable
from tests.server.floor import until
from tests.store.dues import dues


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    opened = await Store.open(store_url)
    yield opened
    await opened.close()


async def come_to(store: Store, expected: dict[str, int]) -> None:
    async def are_set() -> bool:
        try:
            return await dues(store) == expected
        except Unavailable:
            return False

    await until(are_set)


async def test_what_is_open_is_looked_at_in_time_when_the_store_is_back(store: Store) -> None:
    reminder = Reminder(store, lambda: {"LOST": 5000, "SOON": 5000}, lambda: {"LATE": 5000})
    await store.timers.set_all({"SOON": 4000, "LATE": 9000, "OTHER": 9000})
    store.line.leave("a test")
    await come_to(store, {"SOON": 4000, "LOST": 5000, "LATE": 5000, "OTHER": 9000})
    await reminder.close()


async def test_what_was_open_when_the_line_broke_is_not_forgotten(store: Store) -> None:
    found = {"ROOM": 5000}
    reminder = Reminder(store, lambda: found)
    store.journals.on_state(lambda up: found.clear())
    store.line.leave("a test")
    await come_to(store, {"ROOM": 5000})
    await reminder.close()


async def test_what_the_store_does_not_take_at_once_is_set_all_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.reminder.AGAIN_S", 0.01)
    failures, real = [Unavailable("not yet")] * 2, store.timers.bring_forward

    async def fail_first(dues: Mapping[str, int]) -> None:
        if failures:
            raise failures.pop()
        await real(dues)

    monkeypatch.setattr(store.timers, "bring_forward", fail_first)
    reminder = Reminder(store, lambda: {"ROOM": 5000})
    store.line.leave("a test")
    await come_to(store, {"ROOM": 5000})
    await reminder.close()


async def test_one_that_is_closed_sets_nothing_more(store: Store) -> None:
    reminder = Reminder(store, lambda: {"ROOM": 5000})
    await reminder.close()
    reminder._state(True)
    assert reminder._task is None
