"""What a master had taken in and not passed on when it died: it is lost, and its players are told.

The master passes on nothing any more from a moment on, so that what comes then is lost for certain.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.faults.conftest import Arrive
from tests.faults.failover import WatchedFleet, replace_master
from tests.faults.fleet import Race
from tests.faults.processes import until
from tests.faults.racer import Plan
from tests.faults.stores import hold_back
from wire import messages as m
from wire.values import Settings

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

PAIR = Settings(countdown_s=0, seats=2, time_limit_s=60)
QUICK = Plan(plays=10, per_s=10)


@pytest_asyncio.fixture(loop_scope="module")
async def fleet(tmp_path: Path) -> AsyncIterator[WatchedFleet]:
    async with WatchedFleet(tmp_path, nodes=2) as fleet:
        yield fleet


async def lose(fleet: WatchedFleet) -> None:
    """Has the master die with all that it has not passed on."""
    await replace_master(fleet, fleet.trio.master)


async def test_a_room_is_lost_and_all_in_it_are_told(fleet: WatchedFleet, arrive: Arrive) -> None:
    anna = await arrive(fleet.berths[0].port, "anna")
    ben = await arrive(fleet.berths[1].port, "ben")
    await hold_back(fleet.trio.master)
    await anna.say(m.Create(settings=PAIR))
    room = (await anna.hear(m.Room)).room
    await ben.say(m.Join(room=room))
    await ben.hear(m.Room)
    await lose(fleet)
    for player in (anna, ben):
        assert await player.hear(m.Left) == m.Left(room=room, kind="lost")
        assert (await player.refused(m.Join(room=room))).code == "no-room"
    await anna.say(m.Create(settings=PAIR))
    assert (await anna.hear(m.Room)).seat == 0


async def test_a_seat_is_lost_and_had_again(fleet: WatchedFleet, arrive: Arrive) -> None:
    anna = await arrive(fleet.berths[0].port, "anna")
    ben = await arrive(fleet.berths[1].port, "ben")
    await anna.say(m.Create(settings=PAIR))
    room = (await anna.hear(m.Room)).room
    await hold_back(fleet.trio.master)
    await anna.say(m.Ready(salt=b"salt"))
    await anna.hear(m.Room, lambda shown: shown.seats[0].ready)
    await ben.say(m.Join(room=room))
    await ben.hear(m.Room, lambda shown: shown.seat == 1)
    await lose(fleet)
    assert await ben.hear(m.Left) == m.Left(room=room, kind="lost")
    assert all(shown.seat == 1 for shown in ben.all(m.Room))  # never there without a seat
    await anna.hear(m.Room, lambda shown: not shown.seats[0].ready)
    await anna.hear(m.News, lambda news: news.kind == "resynchronised")
    await ben.say(m.Join(room=room))
    await ben.hear(m.Room, lambda shown: shown.seat == 1)
    for player in (anna, ben):
        await player.say(m.Ready())
    for player in (anna, ben):
        await player.hear(m.Board)


async def test_a_player_is_lost_and_comes_in_as_somebody_new(
    fleet: WatchedFleet, arrive: Arrive
) -> None:
    await hold_back(fleet.trio.master)
    anna = await arrive(fleet.berths[0].port, "anna")
    await lose(fleet)
    with pytest.raises(AssertionError, match=str(int(m.Close.BAD_TOKEN))):
        await arrive(fleet.berths[1].port, token=anna.token)
    again = await arrive(fleet.berths[1].port, "anna")
    assert again.welcome.player != anna.welcome.player


@pytest.mark.parametrize("lost", ["all of it", "its guest", "all before its guest comes"])
async def test_a_race_that_is_lost_while_it_is_opened_keeps_nobody_waiting(
    fleet: WatchedFleet, lost: str
) -> None:
    """The racers of `make faults` come to an end, whatever was lost."""
    race = Race(fleet, [QUICK], PAIR)
    if lost != "its guest":
        await hold_back(fleet.trio.master)
    await race.begin()
    if lost == "its guest":
        await hold_back(fleet.trio.master)
    if lost == "all before its guest comes":
        await lose(fleet)
        guest = race.launch(QUICK, race.room)
    else:
        guest = race.launch(QUICK, race.room)
        await guest.entered.wait()
        await lose(fleet)
    await until(guest.entered.is_set, "the guest is in, or knows that it cannot be")
    for racer in race.racers:
        racer.others_are_there.set()
    verdict = await race.end()
    assert verdict.is_clean, verdict.findings
    assert all(racer.done.is_set() for racer in race.racers)
    assert verdict.gone == (lost != "its guest")
