"""What comes back when everybody is gone: tasks, rooms, channels, keys, files, memory."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from server.store import keys
from tests.faults.fleet import Berth, Fleet
from tests.server.floor import QUICK, Someone
from wire import messages as m
from wire.values import Settings

AT_ONCE = 20
MEGABYTE = 1_000_000
Visit = Callable[[Berth], Awaitable[None]]


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    options = ["--rooms-per-address", "1000000"]
    module = "tests.faults.brisk_node"
    async with Fleet(tmp_path, nodes=1, fsync="no", options=options, module=module) as fleet:
        yield fleet


@dataclass(frozen=True)
class Size:
    """How much a node and its store hold."""

    tasks: float
    rooms: float
    connections: float
    files: float
    channels: int
    timers: int
    listed: int
    memory: float

    @classmethod
    async def of(cls, fleet: Fleet) -> "Size":
        berth = fleet.berths[0]
        with fleet.store.client() as client:
            return cls(
                tasks=await berth.figure("dk_tasks"),
                rooms=await berth.figure("dk_rooms_open"),
                connections=await berth.figure("dk_connections"),
                files=await berth.figure("process_open_fds"),
                channels=len(client.execute_command("PUBSUB", "SHARDCHANNELS")),
                timers=sum(client.zcard(keys.timers(each)) for each in range(keys.TIMER_SHARDS)),
                listed=client.zcard(keys.LOBBY),
                memory=await berth.figure("process_resident_memory_bytes"),
            )

    def is_back_to(self, before: "Size") -> bool:
        """Whether nothing is left but what a pool keeps open and an allocator does not return."""
        return (
            self.tasks <= before.tasks
            and self.rooms == before.rooms
            and self.connections == before.connections
            and self.files <= before.files + 16
            and self.channels == before.channels
            and self.timers == before.timers
            and self.listed == before.listed
        )


async def open_and_leave(berth: Berth) -> None:
    """Opens a room, takes a seat, and leaves it."""
    guest = await Someone.arrive(berth.port, "guest")
    await guest.say(m.Create(settings=QUICK))
    await guest.hear(m.Room)
    await guest.say(m.Leave())
    await guest.hear(m.Left)
    await guest.go()


async def race_and_vanish(berth: Berth) -> None:
    """Races alone, gives up, and is gone without a word."""
    guest = await Someone.arrive(berth.port, "guest")
    await guest.say(m.Create(settings=Settings(seats=1, countdown_s=0)))
    await guest.hear(m.Room)
    await guest.say(m.Ready())
    await guest.hear(m.Board)
    await guest.play(1, "d")
    await guest.say(m.Resign())
    await guest.hear(m.Standings)
    guest.vanish()
    await guest.closed()


async def come_and_go(berth: Berth) -> None:
    """Opens a line and drops it, now with a hello and now without."""
    socket = await connect(
        f"ws://127.0.0.1:{berth.port}/ws", proxy=None, compression=None, ping_interval=None
    )
    socket.transport.abort()
    guest = await Someone.arrive(berth.port, "guest")
    guest.vanish()
    await guest.closed()


async def visit(fleet: Fleet, visits: Visit, count: int) -> None:
    """Has so many visits made, some at a time."""
    left = count

    async def guide() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await visits(fleet.berths[0])

    await asyncio.gather(*(guide() for _ in range(AT_ONCE)))


async def settled(fleet: Fleet, before: Size) -> Size:
    """Waits until everything is back to where it was; gives how much is left if it is not."""
    now = await Size.of(fleet)
    for _ in range(100):
        if now.is_back_to(before):
            break
        await asyncio.sleep(0.2)
        now = await Size.of(fleet)
    return now


def lifetimes(fleet: Fleet) -> list[int]:
    """How long the keys of rooms have to live, in seconds; -1 is for ever."""
    with fleet.store.client() as client:
        return [client.ttl(key) for key in client.scan_iter("dk:{r:*", count=1000)]


async def returns(fleet: Fleet, visits: Visit, count: int) -> float:
    """Makes visits and sees that nothing is left of them; gives the memory they cost, in bytes."""
    before = await Size.of(fleet)
    await visit(fleet, visits, 2 * AT_ONCE)  # what is made once and kept is there after this
    kept = await settled(fleet, replace(before, tasks=before.tasks + 50, files=before.files + 50))
    before = replace(kept, rooms=0, connections=0, channels=0, timers=before.timers)
    await visit(fleet, visits, count)
    after = await settled(fleet, before)
    assert after.is_back_to(before), (before, after)
    return after.memory - before.memory


@pytest.mark.parametrize("visits", [open_and_leave, race_and_vanish, come_and_go])
async def test_nothing_is_left_of_those_who_came_and_went(fleet: Fleet, visits: Visit) -> None:
    await returns(fleet, visits, 80)
    assert all(ttl > 0 for ttl in lifetimes(fleet))


@pytest.mark.slow
async def test_nothing_is_left_of_ten_thousand_rooms(fleet: Fleet) -> None:
    grown = [await returns(fleet, open_and_leave, 5_000) for _ in range(2)]
    assert all(0 < ttl <= keys.ABORTED_S for ttl in lifetimes(fleet))
    assert grown[1] < 10 * MEGABYTE, grown


@pytest.mark.slow
async def test_nothing_is_left_of_ten_thousand_connections(fleet: Fleet) -> None:
    grown = [await returns(fleet, come_and_go, 2_500) for _ in range(2)]
    assert grown[1] < 10 * MEGABYTE, grown
