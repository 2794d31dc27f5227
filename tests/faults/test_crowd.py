"""Many at once: a rolling restart under two hundred, a stalled reader among a hundred."""

import asyncio
import signal
import socket
import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.faults.checker import Verdict
from tests.faults.fleet import Berth, Fleet, Race
from tests.faults.processes import HOST
from tests.faults.racer import Plan
from wire import messages as m
from wire.codec import encode
from wire.values import Settings

pytestmark = pytest.mark.slow


@asynccontextmanager
async def racing(fleet: Fleet, count: int, seats: int, plan: Plan) -> AsyncIterator[list[Race]]:
    """So many races, all running."""
    settings = Settings(countdown_s=1, seats=seats, time_limit_s=600, spectators="boards")
    races = [Race(fleet, [plan] * seats, settings) for _ in range(count)]
    for number in range(0, count, 5):
        await asyncio.gather(*(race.begin() for race in races[number : number + 5]))
    try:
        for race in races:
            await race.running()
        yield races
    except BaseException:
        for race in races:
            await race.leave()
        raise


async def compared(races: list[Race]) -> Verdict:
    for race in races:
        for racer in race.racers:
            racer.stop()
    verdict = Verdict()
    for race in races:
        verdict += await race.end()
    return verdict


async def test_a_rolling_restart_of_three_nodes_under_two_hundred_players_loses_nothing(
    tmp_path: Path,
) -> None:
    async with Fleet(tmp_path, options=["--drain-seconds", "5"]) as fleet:
        plan = Plan(plays=10_000, per_s=1.5)
        async with racing(fleet, 50, 4, plan) as races:
            for berth in fleet.berths:
                berth.node.send(signal.SIGTERM)
                assert await berth.node.ended(60) == 0
                await berth.restart()
                await asyncio.sleep(2)
            verdict = await compared(races)
        resumes = sorted(
            seconds for race in races for record in race.records for seconds in record.resumes
        )
        figures = (
            f"{verdict.races} races, {verdict.plays} plays, {len(resumes)} resumes, "
            f"median {statistics.median(resumes):.2f} s, slowest {resumes[-1]:.2f} s"
        )
        print(figures)
        assert verdict.findings == []
        assert verdict.zeros == (0, 0, 0, 0)
        assert len(resumes) >= 200, figures
        assert resumes[-1] < 5, figures
        thrown_out = [record.name for race in races for record in race.records if record.thrown_out]
        assert thrown_out == []


async def look_on(berth: Berth, room: str, *, reads: bool) -> None:
    """Watches a room, asks for all of it again and again, and reads it or does not."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect((HOST, berth.port))
    line.setblocking(False)
    watcher = await connect(
        f"ws://{HOST}:{berth.port}/ws",
        sock=line,
        proxy=None,
        compression=None,
        ping_interval=None,
        max_queue=1,
    )
    reading = asyncio.create_task(_read(watcher)) if reads else None
    try:
        with suppress(ConnectionClosed):
            await watcher.send(encode(m.Hello(v=m.PROTOCOL, name="watcher")))
            await watcher.send(encode(m.Spectate(room=room)))
            while True:
                await watcher.send(encode(m.Snapshot()))
                await asyncio.sleep(0.0125)  # below what is taken for a flood
    finally:
        watcher.transport.abort()
        if reading is not None:
            reading.cancel()


async def _read(watcher: ClientConnection) -> None:
    with suppress(ConnectionClosed):
        while True:
            await watcher.recv()


async def test_a_reader_that_stalls_changes_nothing_for_a_hundred_others(tmp_path: Path) -> None:
    async with Fleet(tmp_path, nodes=1) as fleet:
        plan = Plan(plays=100_000, per_s=3, ahead=1)
        async with racing(fleet, 10, 10, plan) as races:
            berth = fleet.berths[0]
            trips: dict[bool, list[float]] = {False: [], True: []}
            # Beside a watcher who reads, beside one who does not, in turns: so what else the
            # machine does falls on both alike.
            for turn in range(12):
                is_stalled = turn % 2 == 1
                looking = look_on(berth, races[0].room, reads=not is_stalled)
                task = asyncio.create_task(looking, name="watcher")
                for race in races:
                    for record in race.records:
                        record.trips.clear()
                await asyncio.sleep(5)
                for race in races:
                    for record in race.records:
                        trips[is_stalled] += record.trips
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            cuts = await berth.figure('dk_connections_closed_total{code="4005"}')
            verdict = await compared(races)
        medians = {key: statistics.median(values) for key, values in trips.items()}
        ratio = medians[True] / medians[False]
        print(
            f"median of {len(trips[False])} moves {1000 * medians[False]:.2f} ms, "
            f"of {len(trips[True])} beside one who does not read {1000 * medians[True]:.2f} ms, "
            f"ratio {ratio:.3f}, cut {cuts:.0f} times"
        )
        assert cuts > 0
        assert verdict.zeros == (0, 0, 0, 0)
        assert ratio < 1.10
