"""Players hear of their races, and of their own place, wherever they are connected."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from server import guestbook as guestbooks
from server.codes import new_room_code
from server.guestbook import Guestbook
from server.hall import Hall
from server.refusal import store_away
from server.tournament import Call, due
from server.tournament.acts import decide_start
from server.tournament.around import Around
from tests.server.fair import settings
from tests.server.floor import until
from tests.server.onlookers import Visitor, announce, enter
from tests.server.stage import Crew
from wire import tournaments as w
from wire.formats import Swiss

AROUND = Around(new_room_code)


class Rooms:
    """Opens rooms, or does not."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.failures = 0

    async def arrange(self, hall: Hall, call: Call) -> None:
        if self.failures:
            self.failures -= 1
            raise store_away()
        self.opened.append(call.room)


@pytest.fixture
def rooms() -> Rooms:
    return Rooms()


@pytest.fixture
async def book(
    crew: Crew, rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Guestbook]:
    monkeypatch.setattr(guestbooks, "PLACES_WITHIN_S", 0.05)
    wanted = settings(Swiss(rounds=2), break_s=600)
    code = (await crew.halls.open(wanted, public=True)).tournament
    for player in ("ann", "bob", "cem"):
        await enter(crew, code, player)
    made = Guestbook(await crew.halls.hold(code), rooms.arrange, lambda: None)
    yield made
    made.close()


async def start(hall: Hall) -> None:
    """Start, and call the first round: ann meets bob, cem has a bye."""
    await hall.commit(lambda t: decide_start(t, "owner", AROUND))
    for _ in range(2):
        await hall.commit(lambda t: due(t, hall.now(), AROUND))


async def called(guest: Visitor, times: int) -> list[w.Called]:
    async def is_called() -> bool:
        return len(guest.all(w.Called)) == times

    await until(is_called)
    return guest.all(w.Called)


async def placed(guest: Visitor) -> None:
    async def is_told() -> bool:
        return any(place.phase == "running" for place in guest.all(w.Place))

    await until(is_told)


async def test_a_race_calls_its_players_on_every_connection_when_its_room_is_open(
    book: Guestbook, rooms: Rooms
) -> None:
    guests = [Visitor("ann"), Visitor("ann"), Visitor("bob"), Visitor("cem")]
    for guest in guests:
        book.enter(guest)
    await start(book.hall)
    first, again, other = [(await called(guest, 1))[0] for guest in guests[:3]]
    assert first == again
    assert (first.opponents, other.opponents) == (["bob"], ["ann"])
    assert first.room == other.room
    assert rooms.opened[0] == first.room
    await placed(guests[3])
    assert guests[3].all(w.Called) == []


async def test_who_comes_while_a_race_waits_is_called_at_once_and_once(book: Guestbook) -> None:
    await start(book.hall)
    await asyncio.sleep(0)  # the call itself is over
    guest = Visitor("bob")
    book.enter(guest)
    book.enter(guest)
    await called(guest, 1)
    await asyncio.sleep(0.05)
    assert len(guest.all(w.Called)) == 1


async def test_a_room_that_cannot_be_opened_yet_is_tried_again_before_anybody_is_called(
    book: Guestbook, rooms: Rooms
) -> None:
    guest = Visitor("ann")
    book.enter(guest)
    rooms.failures = 1
    await start(book.hall)
    assert guest.all(w.Called) == []
    (call,) = await called(guest, 1)
    assert rooms.opened == [call.room]


async def test_who_has_gone_is_told_nothing(book: Guestbook) -> None:
    gone, here = Visitor("ann"), Visitor("bob")
    for guest in (gone, here):
        book.enter(guest)
    book.exit(gone)
    await start(book.hall)
    await called(here, 1)
    await placed(here)
    assert gone.heard == []
    assert set(book.guests) == {"bob"}


async def test_a_burst_of_news_is_one_message_to_each_whom_it_concerns(
    book: Guestbook, crew: Crew
) -> None:
    guest = Visitor("cem")
    book.enter(guest)
    for number in range(5):
        await announce(crew, book.hall.code, f"news {number}")
    await start(book.hall)
    await placed(guest)
    await asyncio.sleep(0.1)
    assert len(guest.all(w.Place)) <= 3
