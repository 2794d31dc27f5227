"""Masters that die and are replaced while races run: by Sentinels, and in a Cluster."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.faults.checker import Verdict
from tests.faults.failover import ClusteredFleet, WatchedFleet, all_go_on, all_racing, third_of
from tests.faults.fleet import Race
from tests.faults.processes import until
from tests.faults.racer import Plan
from tests.faults.test_nodes import BUSY, ROOM
from wire.values import Settings

pytestmark = pytest.mark.slow

SMALL = Settings(countdown_s=0, seats=2, undo="safe", time_limit_s=300)
GENTLE = [Plan(plays=10_000, per_s=2), Plan(plays=10_000, per_s=2, undo=True)]


async def ended(races: Sequence[Race], what: str) -> Verdict:
    """Lets everybody resign, and has all races compared."""
    for race in races:
        for racer in race.racers:
            racer.stop()
    verdict = Verdict()
    for each in await asyncio.gather(*(race.end() for race in races)):
        verdict += each
    print(f"{what}: {verdict.races} races, {verdict.plays} plays, {verdict.excused} excused")
    print(verdict.text())
    assert verdict.findings == []
    assert verdict.zeros == (0, 0, 0, 0)
    assert sum(record.thrown_out for race in races for record in race.records) == 0
    return verdict


async def test_races_go_on_when_sentinels_have_a_replica_take_over(tmp_path: Path) -> None:
    async with WatchedFleet(tmp_path) as fleet:
        races = [await Race(fleet, BUSY, ROOM).begin() for _ in range(4)]
        await all_racing(races)
        await all_go_on(races, 20)
        await fleet.trio.first.kill()
        began = time.monotonic()
        await all_go_on(races, 1)
        print(f"plays again after {time.monotonic() - began:.1f} s")
        assert all(record.waits for race in races for record in race.records)
        await all_go_on(races, 20)
        await ended(races, "Sentinel, killed")
        await fleet.trio.first.start()


async def test_races_go_on_when_a_watched_master_stands_still(tmp_path: Path) -> None:
    async with WatchedFleet(tmp_path) as fleet:
        races = [await Race(fleet, BUSY, ROOM).begin() for _ in range(4)]
        await all_racing(races)
        await all_go_on(races, 20)
        fleet.trio.first.freeze()
        began = time.monotonic()
        await all_go_on(races, 1)
        print(f"plays again after {time.monotonic() - began:.1f} s")
        fleet.trio.first.thaw()
        await all_go_on(races, 40)
        await ended(races, "Sentinel, frozen and thawed")


async def one_in_each_third(fleet: ClusteredFleet) -> list[Race]:
    """A race on each master; those that come out elsewhere are raced as well."""
    races: list[Race] = []
    while {third_of(race.room) for race in races} != {0, 1, 2}:
        races.append(await Race(fleet, BUSY, ROOM).begin())
    await all_racing(races)
    return races


async def test_of_a_cluster_only_the_races_of_the_dead_master_wait(tmp_path: Path) -> None:
    async with ClusteredFleet(tmp_path, replicas=False) as fleet:
        races = await one_in_each_third(fleet)
        await all_go_on(races, 10)
        hit = [race for race in races if third_of(race.room) == 0]
        others = [race for race in races if third_of(race.room) != 0]
        await fleet.trio.masters[0].kill()
        await until(
            lambda: all(record.waits for race in hit for record in race.records), "they are told"
        )
        before = [race.plays for race in hit]
        await all_go_on(others, 30)
        assert [race.plays for race in hit] == before
        assert [record.waits for race in others for record in race.records] == [0] * (
            3 * len(others)
        )
        for berth in fleet.berths:
            assert (await berth.page("/readyz"))[0] == 200
            assert await berth.figure("dk_store_up") == 0
        # Rooms that are opened meanwhile are opened where it is possible.
        meanwhile = await Race(fleet, GENTLE, SMALL).begin()
        assert third_of(meanwhile.room) != 0
        await fleet.trio.masters[0].start()
        await all_go_on(hit, 20)
        await ended([*races, meanwhile], "Cluster, one killed and started again")


async def test_races_go_on_when_the_replica_of_a_killed_master_takes_over(tmp_path: Path) -> None:
    async with ClusteredFleet(tmp_path) as fleet:
        races = await one_in_each_third(fleet)
        await all_go_on(races, 20)
        hit = [race for race in races if third_of(race.room) == 0]
        await fleet.trio.masters[0].kill()
        began = time.monotonic()
        await all_go_on(hit, 1)
        print(f"plays again after {time.monotonic() - began:.1f} s")
        await all_go_on(races, 20)
        await fleet.trio.masters[0].start()
        await all_go_on(races, 20)
        await ended(races, "Cluster, one killed, its replica took over")


async def test_many_small_rooms_over_a_cluster_live_through_the_death_of_a_master(
    tmp_path: Path,
) -> None:
    async with ClusteredFleet(tmp_path) as fleet:
        races = [Race(fleet, GENTLE, SMALL) for _ in range(50)]
        for first in range(0, len(races), 10):
            await asyncio.gather(*(race.begin() for race in races[first : first + 10]))
        await all_racing(races)
        await all_go_on(races, 5)
        await fleet.trio.masters[1].kill()
        began = time.monotonic()
        hit = [race for race in races if third_of(race.room) == 1]
        await all_go_on(hit, 1)
        print(f"{len(hit)} of {len(races)} hit; again after {time.monotonic() - began:.1f} s")
        await all_go_on(races, 5)
        for berth in fleet.berths:
            assert await berth.figure("dk_room_faults_total") == 0
        await ended(races, "Cluster, many small rooms")
