"""Nodes that follow a journal: read while it grows, unreadable, newer, or lost in part."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial

import pytest
from msgspec.structs import replace

from server.store import Entry, JournalId, keys
from tests.faults.inside import timer
from tests.faults.processes import LIMIT_S, ValkeyProcess, until
from tests.server.floor import QUICK, Someone, node, race_of
from wire import messages as m


def channels(store: ValkeyProcess) -> int:
    """How many rooms are listened to."""
    with store.client() as client:
        return len(client.execute_command("PUBSUB", "SHARDCHANNELS"))


# A second node is there only when all is arranged: it might be the one that looks at the start
# of the race, and have the room then.


async def test_what_happens_while_a_room_is_being_read_is_not_lost_on_it(
    store: ValkeyProcess,
) -> None:
    fair = replace(QUICK, seed=None)
    async with node(store.url) as one, AsyncExitStack() as later:
        code, (anna, _) = await race_of(one.port, "anna", "ben", settings=fair)
        two = await later.enter_async_context(node(store.url))
        read = two._store.journals.summary

        async def slowly(jid: JournalId) -> dict[str, str]:
            await anna.play(1, "d")
            await anna.play(2, "d")
            return await read(jid)

        two._store.journals.summary = slowly  # type: ignore[method-assign]
        wanda = await Someone.arrive(two.port, "wanda")
        await wanda.say(m.Spectate(room=code))
        assert (await wanda.hear(m.Room)).seats[0].moves == 2
        await anna.play(3, "d")
        await wanda.hear(m.Scores, lambda scores: scores.lines[0].moves == 3)
        assert two.tally.room_faults == 0


async def test_a_room_that_cannot_be_read_leaves_nothing_and_is_tried_anew(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as one, AsyncExitStack() as later:
        code, (anna,) = await race_of(one.port, "anna")
        journal = keys.journal(keys.room(code)).journal
        with store.client() as client:
            client.rpush(journal, b"1 no event")
        two = await later.enter_async_context(node(store.url))
        wanda = await Someone.arrive(two.port, "wanda")
        assert (await wanda.refused(m.Spectate(room=code))).code == "unreadable-room"
        # Her own race cannot be read there either: she may do something else meanwhile.
        back = await Someone.arrive(two.port, token=anna.token)
        assert back.welcome.room is None
        with store.client() as client:
            client.rpop(journal)
        await wanda.say(m.Spectate(room=code))
        await wanda.hear(m.Room)
        again = await Someone.arrive(two.port, token=anna.token)
        assert again.welcome.room == code
        assert channels(store) == 1


@pytest.mark.usefixtures("brisk")
async def test_a_room_that_nobody_waits_for_any_more_is_let_go_while_it_is_read(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.holding.UNLOAD_AFTER_S", 0.05)
    async with node(store.url) as one, AsyncExitStack() as later:
        code, _ = await race_of(one.port, "anna")
        two = await later.enter_async_context(node(store.url))
        never = asyncio.Event()

        async def hang(jid: JournalId) -> dict[str, str]:
            await never.wait()
            return {}

        two._store.journals.summary = hang  # type: ignore[method-assign]
        waiting = asyncio.create_task(two._rooms.hold(code))
        await until(lambda: bool(two._store.journals._listeners), "it is listened to")
        waiting.cancel()
        await until(lambda: not two._store.journals._listeners, "it is let go")
        assert len(two._rooms) == 0


async def test_a_room_begun_by_a_newer_server_is_left_to_it(store: ValkeyProcess) -> None:
    async with node(store.url) as one, AsyncExitStack() as later:
        code, (anna,) = await race_of(one.port, "anna")
        key = keys.journal(keys.room(code)).journal
        with store.client() as client:
            first = client.lindex(key, 0)
            client.lset(key, 0, first.replace(b'"format":1', b'"format":99'))
        two = await later.enter_async_context(node(store.url))
        wanda = await Someone.arrive(two.port, "wanda")
        assert (await wanda.refused(m.Spectate(room=code))).code == "newer-room"
        with pytest.raises(AssertionError, match=str(int(m.Close.RESTART))):
            await Someone.arrive(two.port, token=anna.token)


async def test_a_message_of_what_the_store_has_lost_since_does_not_keep_a_node_reading(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as started:
        code, (anna,) = await race_of(started.port, "anna")
        async with started._rooms.held(code) as room:
            reads = 0
            real = room._read_from

            async def read(start: int, limit: int | None = None) -> list[Entry]:
                nonlocal reads
                reads += 1
                return await real(start, limit)

            room._read_from = read  # type: ignore[method-assign]
            room._heard = room.race.version + 5
            async with asyncio.timeout(LIMIT_S):
                await room.catch_up()
            assert 1 <= reads <= 3
        assert (await anna.play(1, "d")).n == 1


def is_at(n: int, board: m.Board) -> bool:
    return board.n == n


async def lose(store: ValkeyProcess, code: str, player: str, count: int) -> None:
    """Has the store forget the last entries of a journal, all of them plays of one player."""
    journal, summary, _ = keys.journal(keys.room(code))
    with store.client() as client:
        for _ in range(count):
            client.rpop(journal)
        client.hincrby(summary, f"n:{player}", -count)
        for shard in range(keys.TIMER_SHARDS):
            client.delete(keys.timers(shard))


async def test_a_loss_is_noticed_by_the_next_play_even_where_the_line_never_broke(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as started:
        code, (anna, ben) = await race_of(started.port, "anna", "ben")
        for n in (1, 2, 3):
            await anna.play(n, "d")
        await lose(store, code, anna.welcome.player, 2)
        await ben.say(m.Move(n=1, m="3>2"))
        for player, n in ((anna, 1), (ben, 1)):
            assert (await player.hear(m.Board, partial(is_at, n))).moves == n
            await player.hear(m.News, lambda news: news.kind == "resynchronised")
        assert (await ben.play(2, "d")).n == 2
        assert (await anna.play(2, "d")).n == 2
        # Its timer was lost with it.
        await until(lambda: timer(store, code) is not None, "the timer is set anew")


@pytest.mark.parametrize("left", [None, bytes(32)], ids=["nothing", "another"])
async def test_a_race_whose_deal_the_store_has_lost_is_called_off(
    store: ValkeyProcess, left: bytes | None
) -> None:
    fair = replace(QUICK, seed=None, countdown_s=4, start="host", seats=1)
    async with node(store.url) as one:
        anna = await Someone.arrive(one.port)
        await anna.say(m.Create(settings=fair))
        code = (await anna.hear(m.Room)).room
        await anna.say(m.Start())
        await anna.hear(m.Countdown)
    with store.client() as client:
        for deal in client.keys("dk:deal:*"):
            client.delete(deal)
            if left is not None:
                client.set(deal, left)
    async with node(store.url) as two:
        back = await Someone.arrive(two.port, token=anna.token)
        assert (await back.hear(m.Standings)).reason == "aborted"
        assert back.last(m.Room).room == code
