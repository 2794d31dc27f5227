"""A store that restarts, stands still, loses its last moments, or refuses to write."""

import asyncio
import re
import shutil
import time
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import redis

from tests.faults.conftest import Arrive
from tests.faults.fleet import Fleet, Race
from tests.faults.processes import HOST, NodeProcess, ValkeyProcess, until
from tests.faults.racer import Plan
from tests.faults.test_nodes import BUSY, ROOM, finish
from wire import messages as m
from wire.values import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fleet]:
    """Two nodes, each with a proxy between it and the store."""
    folder = tmp_path_factory.mktemp("fleet")
    async with Fleet(folder, nodes=2, through_proxies=True) as fleet:
        yield fleet


def pushed(race: Race) -> list[int]:
    """How often the store's absence was told to each."""
    return [record.waits for record in race.records]


async def test_a_restart_with_scripts_and_subscriptions_gone_is_survived(fleet: Fleet) -> None:
    race = await Race(fleet, BUSY, ROOM).begin()
    await race.running()
    with fleet.store.client() as client:
        client.script_flush()
    await race.go_on(15)
    await fleet.store.kill()
    await fleet.store.start()
    await race.go_on(15)
    with fleet.store.client() as client:
        client.execute_command("CLIENT", "KILL", "TYPE", "PUBSUB")
        client.execute_command("CLIENT", "KILL", "TYPE", "NORMAL")
    # Each sees the others' plays, so news pass again between the nodes.
    await race.go_on(15)
    heard = [racer.rivals_plays for racer in race.racers]
    await until(
        lambda: all(
            racer.rivals_plays > before for racer, before in zip(race.racers, heard, strict=True)
        ),
        "scores go round",
    )
    await finish(race)


async def test_while_the_store_stands_still_moves_wait_and_the_players_are_told(
    fleet: Fleet,
) -> None:
    race = await Race(fleet, BUSY, ROOM).begin()
    await race.running()
    fleet.store.freeze()
    await until(lambda: all(pushed(race)), "all are told that the store is away")
    assert (await fleet.berths[0].page("/readyz"))[0] == 503
    before = race.plays
    await asyncio.sleep(0.5)
    assert race.plays == before  # nothing is acknowledged that is not in the journal
    fleet.store.thaw()
    await race.go_on(15)
    await until(lambda: not any(racer.store_is_away for racer in race.racers), "it is back")
    assert (await fleet.berths[0].page("/readyz"))[0] == 200
    await finish(race)


@pytest.mark.slow
async def test_a_stall_of_the_store_for_ten_seconds_costs_time_and_nothing_else(
    fleet: Fleet,
) -> None:
    race = await Race(fleet, BUSY, ROOM).begin()
    await race.running()
    fleet.store.freeze()
    await asyncio.sleep(10)
    fleet.store.thaw()
    await race.go_on(30)
    await finish(race)
    assert [record.losses.total() for record in race.records] == [0, 0, 0]


@pytest.mark.slow
async def test_a_bad_line_to_the_store_costs_time_and_nothing_else(fleet: Fleet) -> None:
    race = await Race(fleet, BUSY, ROOM).begin()
    await race.running()
    line = fleet.berths[0].store
    assert line is not None
    line.delay(0.05, 0.05)
    await race.go_on(5)
    line.trickle(40)
    await race.go_on(5)
    line.calm()
    line.cut()
    await race.go_on(5)
    line.hold("down")  # the store hears the node, the node does not hear the store
    await asyncio.sleep(0.3)
    line.cut()
    line.calm()
    await race.go_on(5)
    line.half_open("up")
    await race.go_on(10)
    await finish(race)


@pytest.mark.slow
async def test_a_store_killed_in_mid_race_has_all_that_was_acknowledged(fleet: Fleet) -> None:
    race = await Race(fleet, [Plan(plays=10_000, per_s=100, ahead=8)] * 3, ROOM).begin()
    await race.running()
    for _ in range(3):
        await race.go_on(20)
        await fleet.store.kill()
        await fleet.store.start()
    await race.go_on(20)
    await finish(race)


async def test_a_store_that_lost_its_last_moments_is_noticed_and_the_players_are_told(
    fleet: Fleet, tmp_path: Path
) -> None:
    race = await Race(fleet, BUSY, ROOM).begin()
    await race.running()
    await race.go_on(15)
    older = tmp_path / "older"
    shutil.copytree(fleet.store.data, older)
    await race.go_on(15)
    await fleet.store.kill()
    shutil.rmtree(fleet.store.data)
    shutil.copytree(older, fleet.store.data)
    await fleet.store.start()
    await until(
        lambda: all(record.resynchronised for record in race.records), "all are told of the loss"
    )
    await race.go_on(15)
    for racer in race.racers:
        racer.stop()
    verdict = await race.end()
    assert verdict.findings == []
    assert verdict.excused > 0
    assert await fleet.berths[0].figure("dk_rollbacks_total") == 1


async def test_a_store_without_its_rooms_ends_them_here_and_now(
    fleet: Fleet, arrive: Arrive
) -> None:
    anna = await arrive(fleet.berths[0].port, "anna")
    await anna.say(m.Create(settings=Settings()))
    await anna.hear(m.Room)
    with fleet.store.client() as client:
        client.flushall()
        client.execute_command("CLIENT", "KILL", "TYPE", "PUBSUB")
    assert (await anna.hear(m.Left)).kind == "lost"
    # Her record is gone as well: nobody has her token, and she can begin anew.
    anna.vanish()
    with pytest.raises(AssertionError, match=str(int(m.Close.BAD_TOKEN))):
        await arrive(fleet.berths[1].port, token=anna.token)
    again = await arrive(fleet.berths[1].port, "anna")
    await again.say(m.Create(settings=Settings()))
    await again.hear(m.Room)


@pytest.mark.parametrize("setting", ["maxmemory", "min-replicas-to-write"])
async def test_a_store_that_refuses_to_write_makes_moves_wait(fleet: Fleet, setting: str) -> None:
    race = await Race(fleet, BUSY, ROOM).begin()
    await race.running()
    with fleet.store.client() as client:
        client.config_set(setting, "1")
        await asyncio.sleep(1)
        before = race.plays
        calls = _calls(client)
        began = time.monotonic()
        await asyncio.sleep(1.5)
        assert race.plays == before
        # It is asked again now and then, not as fast as it can refuse.
        assert (_calls(client) - calls) / (time.monotonic() - began) < 200
        assert await asyncio.to_thread(_refused, fleet) > 0  # for the host, who must make room
        client.config_set(setting, "0")
    await race.go_on(15)
    await finish(race)


def _refused(fleet: Fleet) -> float:
    """Writes refused by the store, as the nodes tell their host."""
    total = 0.0
    for berth in fleet.berths:
        url = f"http://{HOST}:{berth.node.port}/metrics"
        with urllib.request.urlopen(url, timeout=10) as answer:
            (line,) = re.findall(r"^dk_store_refusals_total (\S+)$", answer.read().decode(), re.M)
        total += float(line)
    return total


def _calls(client: redis.Redis) -> int:
    return int(client.info("stats")["total_commands_processed"])


async def test_a_store_that_drops_keys_is_refused_at_the_start(tmp_path: Path) -> None:
    with ValkeyProcess(
        "evicting", tmp_path, maxmemory="100mb", **{"maxmemory-policy": "allkeys-lru"}
    ) as store:
        await store.start()
        with NodeProcess("node", tmp_path, store.url) as node:
            node.begin()
            assert await node.ended() == 2
            assert "drops keys when memory is short (maxmemory-policy allkeys-lru)" in node.said
        with store.client() as client:
            client.config_set("maxmemory", 0)
        with NodeProcess("warned", tmp_path, store.url) as node:
            await node.start()
            assert "set it to noeviction before you limit its memory" in node.said
