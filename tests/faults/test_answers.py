"""Answers of the store that are lost or late: what was done is done once."""

from typing import Any

import pytest
from msgspec.structs import replace
from websockets.asyncio.client import connect

from server.store import Lost, keys
from tests.faults.inside import journals, lose_the_answer
from tests.faults.processes import HOST, ValkeyProcess
from tests.faults.proxy import Proxy
from tests.server.floor import QUICK, Someone, node, race_of
from wire import messages as m


async def test_a_room_whose_opening_was_not_answered_is_opened_once(store: ValkeyProcess) -> None:
    async with Proxy((HOST, store.port)) as line, node(f"redis://{HOST}:{line.port}") as started:
        anna = await Someone.arrive(started.port)
        line.cut()
        await anna.say(m.Create(settings=QUICK))
        await anna.hear(m.Room)
        assert journals(store) == 1
        ben = await Someone.arrive(started.port)
        heard = await lose_the_answer(started, line, lambda: journals(store) == 2)
        await ben.say(m.Create(settings=QUICK))
        await ben.hear(m.Room)
        assert heard == [Lost()]
        assert journals(store) == 2


async def test_a_start_whose_answer_was_lost_is_a_start(store: ValkeyProcess) -> None:
    async with Proxy((HOST, store.port)) as line, node(f"redis://{HOST}:{line.port}") as started:
        anna = await Someone.arrive(started.port)
        await anna.say(m.Create(settings=replace(QUICK, countdown_s=30, start="host")))
        code = (await anna.hear(m.Room)).room

        def is_locked() -> bool:
            with store.client() as client:
                last = client.lindex(keys.journal(keys.room(code)).journal, -1)
            return b'"e":"locked"' in last

        heard = await lose_the_answer(started, line, is_locked)
        await anna.say(m.Start())
        assert (await anna.hear(m.Room, lambda room: room.phase == "locked")).starts
        await anna.say(m.Ping(c=1))
        await anna.hear(m.Pong)
        assert heard == [Lost()]
        assert anna.all(m.Refused) == []


@pytest.mark.parametrize("counts", [True, False])
async def test_a_hello_that_was_held_up_does_not_throw_out_the_line_opened_since(
    store: ValkeyProcess, counts: bool
) -> None:
    async with (
        Proxy((HOST, store.port)) as line,
        node(f"redis://{HOST}:{line.port}") as slow,
        node(store.url) as quick,
    ):
        _, (anna,) = await race_of(quick.port, "anna")
        await anna.play(1, "d")
        anna.vanish()
        await anna.closed()
        runs = [{"run": "r1", "line": number} if counts else {} for number in (2, 3)]
        line.hold()
        held = await said_hello(slow.port, anna.token, **runs[0])
        newer = await said_hello(quick.port, anna.token, **runs[1])
        assert (await newer.hear(m.Board)).n == 1
        line.calm()
        if not counts:
            # All that the server can go by is which hello it took last.
            assert await newer.closed() == m.Close.REPLACED
            return
        assert await held.closed() == m.Close.REPLACED
        assert (await newer.play(2, "d")).n == 2


async def said_hello(port: int, token: str, **runs: Any) -> Someone:
    """Somebody who has said hello and does not wait for the answer."""
    socket = await connect(f"ws://{HOST}:{port}/ws", proxy=None, compression=None)
    someone = Someone(socket)
    await someone.say(m.Hello(v=m.PROTOCOL, token=token, **runs))
    return someone
