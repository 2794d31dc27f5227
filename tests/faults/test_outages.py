"""The store is away, stands still or breaks a line: who waits for it, and how long."""

import asyncio
import gc

import pytest

from server.store import Unavailable, client, keys
from server.store.address import parse
from server.store.client import Client, fixed
from tests.faults.processes import ValkeyProcess, until
from tests.server.floor import Someone, node, race_of
from wire import messages as m


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
async def test_a_play_waits_for_the_store_so_long_and_is_then_refused_to_be_sent_again(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.patience.Patience.__init__.__defaults__", (0.5,))
    async with node(store.url) as started:
        code, (anna,) = await race_of(started.port, "anna")
        store.freeze()
        await anna.say(m.Move(n=1, m="d"))
        await anna.hear(m.Store, lambda store: store.waiting)
        refused = await anna.hear(m.Refused)
        assert (refused.re, refused.n, refused.code) == ("move", 1, "store")
        assert anna.all(m.Moved) == []
        store.thaw()
        await anna.hear(m.Store, lambda store: not store.waiting)
        # It may have reached the store; either way it counts once, under its own number.
        assert (await anna.play(1, "d")).n == 1
        assert (await anna.play(2, "d")).moves == 2
        with store.client() as client:
            lines = client.lrange(keys.journal(keys.room(code)).journal, 0, -1)
        assert sum(b'"e":"played"' in line for line in lines) == 2


@pytest.mark.parametrize("who", ["anna", "ben"])
async def test_who_has_been_told_that_the_store_takes_nothing_in_is_told_when_it_does_again(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    """By whatever it takes in first, and each of it once."""
    monkeypatch.setattr("server.patience.Patience.__init__.__defaults__", (0.5,))
    async with node(store.url) as started:
        _, players = await race_of(started.port, "anna", "ben")
        with store.client() as client:
            client.config_set("min-replicas-to-write", 1)
            for _ in range(2):
                for each in players:
                    await each.say(m.Move(n=1, m="d"))
                for each in players:
                    assert (await each.hear(m.Refused)).code == "store"
            client.config_set("min-replicas-to-write", 0)
        await players[who == "ben"].play(1, "d")
        for each in players:
            await each.hear(m.Scores)
            assert [told.waiting for told in each.all(m.Store)] == [True, False]


@pytest.mark.usefixtures("brisk")
async def test_who_cannot_enter_another_room_stays_where_they_are(
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
        assert (await wanda.hear(m.Refused)).code == "store"
        assert wanda.all(m.Left) == []
        store.thaw()
        await until(lambda: started._store.up, "the store is back")
        await wanda.say(m.Spectate(room=codes[1]))
        assert (await wanda.hear(m.Room)).room == codes[1]


async def test_a_request_that_nobody_waits_for_any_more_fails_without_a_word(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(client, "REPLY_S", 0.2)
    asked = Client(fixed(parse(store.url)))
    await asked.ask("PING")
    store.freeze()
    request = asyncio.create_task(asked.ask("PING"))
    await asyncio.sleep(0)
    request.cancel()
    await asked.close()
    store.thaw()
    gc.collect()
    assert caplog.records == []


async def test_a_line_that_breaks_under_a_request_is_a_store_away_in_every_loop_s_words(
    store: ValkeyProcess,
) -> None:
    asked = Client(fixed(parse(store.url)))

    async def broken(*args: object) -> None:
        raise RuntimeError("unable to perform operation: the handler is closed")

    asked._execute = broken
    with pytest.raises(Unavailable, match="handler is closed"):
        await asked.ask("PING")
    await asked.close()
