"""Faults that can be arranged exactly: nodes in this process on a store of their own."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from server.app import Node
from server.race import Race
from server.store import Limits, Lost, Outcome, keys, pool
from tests.faults.processes import HOST, ValkeyProcess, until
from tests.faults.proxy import Proxy
from tests.server.floor import QUICK, Someone, node, race_of
from wire import messages as m


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ValkeyProcess]:
    with ValkeyProcess("store", tmp_path) as store:
        yield await store.start()


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes nodes of this process notice a store that is away much sooner."""
    limits = partial(Limits, reply_s=0.4, connect_s=0.4, pulse_s=0.1, backoff_max_s=0.1)
    monkeypatch.setattr("server.store.line.Limits", limits)
    monkeypatch.setattr(pool, "REPLY_S", 0.4)
    monkeypatch.setattr(pool, "WAIT_S", 0.4)


def journals(store: ValkeyProcess) -> int:
    """How many journals the store holds."""
    with store.client() as client:
        return sum(1 for _ in client.scan_iter("dk:{r:*}:journal"))


async def lose_the_answer(started: Node, line: Proxy, happened: Callable[[], bool]) -> list[object]:
    """Has the next append done by the store and its answer lost; gives what the node heard."""
    journals, heard = started._store.journals, []
    real = journals.append

    async def append(*args: Any, **options: Any) -> Outcome:
        if heard:
            return await real(*args, **options)
        line.hold("down")
        asked = asyncio.create_task(real(*args, **options))
        await until(happened, "the store has done it")
        line.cut()
        line.calm()
        heard.append(await asked)
        return heard[0]

    journals.append = append  # type: ignore[method-assign]
    return heard


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


@pytest.mark.usefixtures("brisk")
async def test_who_comes_back_while_the_store_is_away_is_let_in_when_it_answers(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as started:
        _, (anna,) = await race_of(started.port, "anna")
        await anna.play(1, "d")
        store.freeze()
        await until(lambda: not started._store.up, "the store is away")
        anna.vanish()
        coming = asyncio.create_task(Someone.arrive(started.port, token=anna.token))
        await asyncio.sleep(0.3)
        assert not coming.done()
        store.thaw()
        assert (await (await coming).hear(m.Board)).n == 1


@pytest.mark.usefixtures("brisk")
async def test_who_cannot_be_let_in_for_too_long_is_sent_away_to_come_back_later(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.patience.Patience.__init__.__defaults__", (0.1,))
    async with node(store.url) as started:
        store.freeze()
        await until(lambda: not started._store.up, "the store is away")
        with pytest.raises(AssertionError, match=str(int(m.Close.OVERLOAD))):
            await Someone.arrive(started.port)
        store.thaw()


@pytest.mark.usefixtures("brisk")
async def test_who_cannot_enter_another_room_is_told_to_be_in_none(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.patience.Patience.__init__.__defaults__", (0.1,))
    async with node(store.url) as started:
        codes = [(await race_of(started.port, name))[0] for name in ("anna", "ben")]
        wanda = await Someone.arrive(started.port, "wanda")
        await wanda.say(m.Spectate(room=codes[0]))
        await wanda.hear(m.Room)
        store.freeze()
        await until(lambda: not started._store.up, "the store is away")
        await wanda.say(m.Spectate(room=codes[1]))
        assert (await wanda.hear(m.Left)).room == codes[0]
        assert (await wanda.hear(m.Refused)).code == "store"
        store.thaw()
        await until(lambda: started._store.up, "the store is back")
        await wanda.say(m.Spectate(room=codes[1]))
        assert (await wanda.hear(m.Room)).room == codes[1]


async def test_a_play_that_fails_on_our_side_is_that_player_s_trouble_alone(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide = Race.decide_move

    def broken(race: Race, player: str, n: int, text: str):  # type: ignore[no-untyped-def]
        if text == "9>8":
            raise RuntimeError("a fault of ours")
        return decide(race, player, n, text)

    monkeypatch.setattr(Race, "decide_move", broken)
    async with node(store.url) as started:
        _, (anna, ben) = await race_of(started.port, "anna", "ben")
        for n, text in enumerate(("d", "9>8", "d"), 1):  # the second waits for the first
            await anna.say(m.Move(n=n, m=text))
        assert (await anna.hear(m.Error)).code == "internal"
        assert (await anna.hear(m.Refused)).n == 3
        assert (await ben.play(1, "d")).n == 1
        assert (await anna.play(2, "d")).n == 2
        assert started.tally.room_faults == 1


async def test_a_message_of_what_the_store_has_lost_since_does_not_keep_a_node_reading(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as started:
        code, (anna,) = await race_of(started.port, "anna")
        async with started._rooms.held(code) as room:
            reads = 0
            real = room._read_from

            async def read(start: int):  # type: ignore[no-untyped-def]
                nonlocal reads
                reads += 1
                return await real(start)

            room._read_from = read  # type: ignore[method-assign]
            room._heard = room.race.version + 5
            async with asyncio.timeout(5):
                await room.catch_up()
            assert 1 <= reads <= 3
        assert (await anna.play(1, "d")).n == 1


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


async def test_a_request_that_nobody_waits_for_any_more_fails_without_a_word(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pool, "REPLY_S", 0.2)
    asked = pool.Pool(store.url)
    await asked.ask("PING")
    store.freeze()
    request = asyncio.create_task(asked.ask("PING"))
    await asyncio.sleep(0)
    request.cancel()
    await asked.close()
    store.thaw()
    gc.collect()
    assert caplog.records == []
