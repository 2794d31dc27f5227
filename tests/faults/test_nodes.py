"""Nodes that die, stand still, or are sent away while races run on them."""

import asyncio
import re
import signal
import time
from contextlib import suppress

import pytest
from msgspec.structs import replace
from websockets.exceptions import ConnectionClosed

from tests.faults.conftest import Arrive
from tests.faults.fleet import Berth, Fleet, Race
from tests.faults.processes import until
from tests.faults.racer import Plan
from tests.server.floor import QUICK
from wire import messages as m
from wire.values import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOM = Settings(countdown_s=0, seats=3, undo="safe", time_limit_s=120)
BUSY = [Plan(plays=10_000, per_s=20), Plan(plays=10_000, per_s=20, undo=True), Plan(plays=10_000)]


async def finish(race: Race, *, clean: bool = True) -> None:
    """Lets everybody resign, and has the race compared."""
    for racer in race.racers:
        racer.stop()
    verdict = await race.end()
    assert verdict.findings == []
    assert verdict.zeros == (0, 0, 0, 0)
    assert [record.thrown_out for record in race.records] == [0] * len(race.records)


async def test_a_race_survives_the_kill_of_each_node_it_is_on_one_after_the_other(
    fleet: Fleet,
) -> None:
    race = await Race(fleet, BUSY, ROOM).begin()
    await race.running()
    for berth in fleet.berths:
        await race.go_on(5)
        await berth.node.kill()
        berth.begin()
        await race.go_on(5)
        await berth.ready()
    await finish(race)
    assert sum(len(record.resumes) for record in race.records) >= 3


@pytest.mark.slow
async def test_with_all_nodes_dead_at_once_the_race_waits_and_goes_on(fleet: Fleet) -> None:
    race = await Race(fleet, BUSY, ROOM).begin()
    await race.running()
    await race.go_on(10)
    for berth in fleet.berths:
        await berth.node.kill()
    for berth in fleet.berths:
        berth.begin()
    for berth in fleet.berths:
        await berth.ready()
    await race.go_on(10)
    await finish(race)


async def stand_still(fleet: Fleet, seconds: float) -> None:
    """A node stands still; one of its players comes back at once, the other has to notice."""
    race = await Race(fleet, [*BUSY, *BUSY[:1]], replace(ROOM, seats=4)).begin()
    await race.running()
    await race.go_on(10)
    quick, patient = race.racers[0], race.racers[3]
    berth = fleet.berth_of(quick)
    assert fleet.berth_of(patient) is berth
    berth.node.freeze()
    began = time.monotonic()
    quick.take_over()
    await until(lambda: quick.door != berth.door and quick.is_racing, "one comes back")
    await until(lambda: patient.door != berth.door and patient.is_racing, "the other notices")
    await race.go_on(10)
    await asyncio.sleep(max(0.0, seconds - (time.monotonic() - began)))
    berth.node.thaw()
    # What the old line still has to say was said by somebody who has been replaced since.
    await until(lambda: quick.ghosts[0].code is not None, "the old line is closed")
    assert quick.ghosts[0].code == m.Close.REPLACED
    await race.go_on(10)
    assert await berth.figure("dk_store_up") == 1
    await finish(race)


async def test_a_node_that_stands_still_for_longer_than_an_answer_may_take_harms_nothing(
    fleet: Fleet,
) -> None:
    await stand_still(fleet, 3.5)


@pytest.mark.slow
async def test_a_node_that_stands_still_for_longer_than_any_limit_harms_nothing(
    fleet: Fleet,
) -> None:
    await stand_still(fleet, 65)


async def drained(berth: Berth) -> str:
    """Waits for the end of a node that was told to stop; gives what it said."""
    assert await berth.node.ended() == 0
    return berth.node.said


async def test_a_node_that_is_told_to_stop_sends_its_players_elsewhere_and_the_race_goes_on(
    fleet: Fleet, arrive: Arrive
) -> None:
    race = await Race(fleet, BUSY, ROOM).begin()
    await race.running()
    await race.go_on(10)
    berth = fleet.berth_of(race.racers[0])
    idle = [await arrive(berth.port, f"guest-{number}") for number in range(8)]
    berth.node.send(signal.SIGTERM)
    await until(lambda: "node stopping" in berth.node.said, "it stops")
    status, text = await berth.page("/readyz")
    assert (status, text.strip()) == (503, "draining")
    assert (await berth.page("/healthz"))[0] == 200
    began = time.monotonic()
    for guest in idle:
        with suppress(ConnectionClosed):
            await guest.say(m.Create(settings=QUICK))
    ends = []
    for guest in idle:
        assert await guest.closed() == m.Close.RESTART
        ends.append(time.monotonic() - began)
        assert guest.all(m.Room) == []
    # Spread over the window (here 4 s), not all at once; those still there open no room.
    assert max(ends) > 0.5
    refused = [refused.code for guest in idle for refused in guest.all(m.Refused)]
    assert set(refused) == {"draining"}
    await drained(berth)
    await race.go_on(10)
    await berth.restart()
    losses = race.racers[0].record.losses
    assert losses[m.Close.RESTART] == 1, losses
    await finish(race)


@pytest.mark.slow
async def test_a_second_signal_ends_a_node_before_its_window_is_over(fleet: Fleet) -> None:
    berth = fleet.berths[0]
    berth.node.options += ["--drain-seconds", "600"]
    await berth.node.kill()
    await berth.restart()
    race = await Race(fleet, BUSY, ROOM).begin()
    await race.running()
    berth.node.send(signal.SIGTERM)
    await until(lambda: "node stopping" in berth.node.said, "it stops")
    await race.go_on(20)
    berth.node.send(signal.SIGTERM)
    assert await berth.node.ended(20) == 0
    berth.node.options[-1] = "2"
    await berth.restart()
    await finish(race)


async def test_nothing_was_logged_that_should_wake_anybody(fleet: Fleet) -> None:
    for berth in fleet.berths:
        lines = [line for line in berth.logged("ERROR") if not re.search("pool|store", line)]
        assert lines == []
