"""Timers of rooms that come due together, with a bad one among them, or too late."""

import asyncio

import pytest
from msgspec.structs import replace

from server import events as ev
from server import referee
from server.race import Race
from server.rooms import Rooms
from server.store import keys
from tests.faults.inside import timer
from tests.faults.processes import ValkeyProcess, until
from tests.server.floor import QUICK, Someone, node, race_of
from wire import messages as m


def overdue(store: ValkeyProcess, *codes: str) -> None:
    """Makes the timers of rooms due."""
    with store.client() as client:
        for code in codes:
            for shard in range(keys.TIMER_SHARDS):
                if client.zscore(keys.timers(shard), code) is not None:
                    client.zadd(keys.timers(shard), {code: 1})


async def test_one_bad_room_does_not_keep_the_timers_of_the_others(store: ValkeyProcess) -> None:
    async with node(store.url) as one:
        bad, _ = await race_of(one.port, "anna")
        good, _ = await race_of(one.port, "ben")
    with store.client() as client:
        client.rpush(keys.journal(keys.room(bad)).journal, b"1 no event")
        client.hset(keys.journal(keys.room(good)).summary, "deadline", 1)
        key = keys.journal(keys.room(good)).journal
        for index, line in enumerate(client.lrange(key, 0, -1)):
            at, _, event = line.partition(b" ")
            client.lset(key, index, b"%d %s" % (int(at) - 3_600_000, event))
    overdue(store, bad, good)
    async with node(store.url) as two:

        def is_over() -> bool:
            with store.client() as client:
                return b'"e":"over"' in client.lindex(key, -1)

        await until(is_over, "the good race ends")
        # The bad one is looked at again, but not at once and not for ever. (While it is
        # looked at, its timer stands at the end of a lease of some seconds.)
        await until(lambda: (timer(store, bad) or 0) > two._store.clock.now() + 30_000, "put off")


async def test_many_timers_that_are_due_at_once_are_acted_on_together(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with node(store.url) as one:
        codes = {await one._rooms.open(QUICK, "nobody") for _ in range(40)}
    overdue(store, *codes)
    begun: set[str] = set()
    done: set[str] = set()
    look = Rooms.look

    async def no_sooner_than_all(rooms: Rooms, code: str) -> int | None:
        begun.add(code)
        await until(lambda: begun == codes, "all are looked at")
        again = await look(rooms, code)
        done.add(code)
        return again

    monkeypatch.setattr(Rooms, "look", no_sooner_than_all)
    async with node(store.url) as two:
        await until(lambda: done == codes, "all are done")
        assert two.tally.room_faults == 0


async def test_a_race_that_starts_while_its_room_is_looked_at_is_not_waited_for(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as started:
        anna = await Someone.arrive(started.port)
        await anna.say(m.Create(settings=replace(QUICK, start="host")))
        code = (await anna.hear(m.Room)).room
        async with started._rooms.held(code) as room:

            async def start_and_go() -> bool:
                await anna.say(m.Start())
                await anna.hear(m.Board)
                anna.vanish()
                await anna.closed()
                return True

            room.settle_presence = start_and_go  # type: ignore[method-assign]
            assert await started._rooms.look(code) == room.race.ends
        assert not any(task.get_name().startswith("await return") for task in asyncio.all_tasks())


def sit_down(race: Race) -> list[ev.AnyEvent]:
    return [] if race.phase == "over" else [ev.Joined(p="anna", name="Anna")]


async def test_whoever_is_outrun_by_the_end_of_a_room_leaves_no_timer_of_it(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as started:
        code = await started._rooms.open(QUICK, "zoe")
        async with started._rooms.held(code) as room:
            real, begun, may_go = room.set_timer, asyncio.Event(), asyncio.Event()

            async def set_late(due: int) -> None:
                begun.set()
                await may_go.wait()
                await real(due)

            room.set_timer = set_late  # type: ignore[method-assign]
            late = asyncio.create_task(room.commit(sit_down))
            await begun.wait()
            room.set_timer = real  # type: ignore[method-assign]
            await room.commit(referee.decide_abort)
            await until(lambda: timer(store, code) is None, "the room is put away")
            may_go.set()
            assert not await late
            assert timer(store, code) is None
