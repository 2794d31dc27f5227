"""Faults that can be arranged exactly: nodes in this process on a store of their own."""

import asyncio
import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace
from websockets.asyncio.client import connect

from server import referee
from server.app import Node
from server.events import Played
from server.race import Race
from server.store import Entry, JournalId, Limits, Lost, Outcome, Unavailable, client, keys
from server.store.address import parse
from server.store.client import Client, fixed
from tests.faults import solvable
from tests.faults.processes import HOST, ValkeyProcess, until
from tests.faults.proxy import Proxy
from tests.server.floor import QUICK, Someone, node, race_of
from wire import messages as m


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes nodes of this process notice a store that is away much sooner."""
    limits = partial(Limits, reply_s=0.4, connect_s=0.4, pulse_s=0.1, backoff_max_s=0.1)
    monkeypatch.setattr("server.store.line.Limits", limits)
    monkeypatch.setattr(client, "REPLY_S", 0.4)
    monkeypatch.setattr(client, "WAIT_S", 0.4)


def journals(store: ValkeyProcess) -> int:
    """How many journals the store holds."""
    with store.client() as client:
        return sum(1 for _ in client.scan_iter("dk:{r:*}:journal"))


def is_at(n: int, board: m.Board) -> bool:
    return board.n == n


async def lose_the_answer(
    started: Node, line: Proxy, happened: Callable[[], bool]
) -> list[Outcome]:
    """Has the next append done by the store and its answer lost; gives what the node heard."""
    journals = started._store.journals
    heard: list[Outcome] = []
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


async def test_a_play_that_fails_on_our_side_is_that_player_s_trouble_alone(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide = referee.decide_move

    def broken(race: Race, player: str, n: int, text: str) -> Played:
        if text == "9>8":
            raise RuntimeError("a fault of ours")
        return decide(race, player, n, text)

    monkeypatch.setattr(referee, "decide_move", broken)
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

            async def read(start: int, limit: int | None = None) -> list[Entry]:
                nonlocal reads
                reads += 1
                return await real(start, limit)

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


async def test_who_drops_in_the_middle_of_finishing_leaves_nothing_that_waits(
    store: ValkeyProcess,
) -> None:
    async with Proxy((HOST, store.port)) as line, node(f"redis://{HOST}:{line.port}") as started:
        _, (anna,) = await race_of(started.port, "anna", settings=solvable.settings(1))
        for n, text in enumerate(solvable.CLEARING, 1):
            await anna.say(m.Move(n=n, m=text))
        await anna.hear(m.Moved, lambda moved: "finish" in moved.can)
        line.hold("down")
        await anna.say(m.Finish(n=len(solvable.CLEARING) + 1))
        await until(lambda: finishing() == 1, "it is under way")
        anna.vanish()
        await anna.closed()
        await until(lambda: finishing() == 0, "nobody waits any more")
        line.calm()
        back = await Someone.arrive(started.port, token=anna.token)
        board = await back.hear(m.Board)
        await back.say(m.Finish(n=board.n + 1))
        assert (await back.hear(m.Finished)).outcome == "solved"


async def test_finishing_twice_is_finishing_once_and_answered_twice(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as started:
        code, (anna, _) = await race_of(started.port, "anna", "ben", settings=solvable.settings(2))
        for n, text in enumerate(solvable.CLEARING, 1):
            await anna.say(m.Move(n=n, m=text))
        n = len(solvable.CLEARING) + 1
        refused = await anna.refused(m.Finish(n=n + 5))
        assert (refused.code, refused.n) == ("gap", n + 5)
        for _ in range(2):
            await anna.say(m.Finish(n=n))
        numbers = [n + k for k in range(len(solvable.HOMEWARD))]
        for _ in range(2):
            answers = [await anna.hear(m.Moved, lambda moved: moved.n >= n) for _ in numbers]
            assert [answer.n for answer in answers] == numbers
            assert answers[-1].outcome == "solved"
        # The same after half of it: what counts is answered, what does not is played.
        back = await Someone.arrive(started.port, token=anna.token)
        await back.say(m.Finish(n=n + 10))
        assert (await back.hear(m.Moved)).n == n + 10
        await back.say(m.Ping(c=1))
        await back.hear(m.Pong)
        assert back.all(m.Refused) == []


async def test_half_a_finish_is_gone_on_with(store: ValkeyProcess) -> None:
    async with node(store.url) as started:
        _, (anna,) = await race_of(started.port, "anna", settings=solvable.settings(1))
        half = [*solvable.CLEARING, *solvable.HOMEWARD[:12]]
        for n, text in enumerate(half, 1):
            await anna.say(m.Move(n=n, m=text))
        await anna.hear(m.Moved, lambda moved: moved.n == len(half))
        await anna.say(m.Finish(n=len(solvable.CLEARING) + 1))
        assert (await anna.hear(m.Finished)).outcome == "solved"
        assert anna.all(m.Refused) == []


def finishing() -> int:
    """How many requests to finish are under way in this process."""
    return sum(task.get_name().endswith("Finish") for task in asyncio.all_tasks())


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


# --- following a journal --------------------------------------------------------------


def channels(store: ValkeyProcess) -> int:
    """How many rooms are listened to."""
    with store.client() as client:
        return len(client.execute_command("PUBSUB", "SHARDCHANNELS"))


async def test_what_happens_while_a_room_is_being_read_is_not_lost_on_it(
    store: ValkeyProcess,
) -> None:
    fair = replace(QUICK, seed=None)
    async with node(store.url) as one, node(store.url) as two:
        code, (anna, _) = await race_of(one.port, "anna", "ben", settings=fair)
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
    async with node(store.url) as one, node(store.url) as two:
        code, (anna,) = await race_of(one.port, "anna")
        journal = keys.journal(keys.room(code)).journal
        with store.client() as client:
            client.rpush(journal, b"1 no event")
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
    async with node(store.url) as one, node(store.url) as two:
        code, _ = await race_of(one.port, "anna")
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
    async with node(store.url) as one, node(store.url) as two:
        code, (anna,) = await race_of(one.port, "anna")
        key = keys.journal(keys.room(code)).journal
        with store.client() as client:
            first = client.lindex(key, 0)
            client.lset(key, 0, first.replace(b'"format":1', b'"format":99'))
        wanda = await Someone.arrive(two.port, "wanda")
        assert (await wanda.refused(m.Spectate(room=code))).code == "newer-room"
        with pytest.raises(AssertionError, match=str(int(m.Close.RESTART))):
            await Someone.arrive(two.port, token=anna.token)


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


def timer(store: ValkeyProcess, code: str) -> float | None:
    """When a room's timer is due, in ms; None if it has none."""
    with store.client() as client:
        scores = [client.zscore(keys.timers(shard), code) for shard in range(keys.TIMER_SHARDS)]
    return next((score for score in scores if score is not None), None)


async def test_a_race_whose_deal_the_store_has_lost_is_called_off(store: ValkeyProcess) -> None:
    fair = replace(QUICK, seed=None, countdown_s=1, start="host", seats=1)
    async with node(store.url) as one:
        anna = await Someone.arrive(one.port)
        await anna.say(m.Create(settings=fair))
        code = (await anna.hear(m.Room)).room
        await anna.say(m.Start())
        await anna.hear(m.Countdown)
    with store.client() as client:
        client.delete(*client.keys("dk:deal:*"))
    async with node(store.url) as two:
        back = await Someone.arrive(two.port, token=anna.token)
        assert (await back.hear(m.Standings)).reason == "aborted"
        assert back.last(m.Room).room == code


# --- timers ---------------------------------------------------------------------------


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
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as one:
        codes = [await one._rooms.open(QUICK, "nobody") for _ in range(40)]
    overdue(store, *codes)
    async with node(store.url) as two:
        # Each takes a third of a second, in which others are heard.
        now = two._store.clock.now()
        await until(
            lambda: all((timer(store, code) or 0) > now for code in codes), "all are done", 8
        )


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


# --- lifetimes ------------------------------------------------------------------------


def lifetimes(store: ValkeyProcess, pattern: str) -> list[int]:
    """How long the keys of a pattern have to live, in seconds."""
    with store.client() as client:
        return [client.ttl(key) for key in client.scan_iter(pattern)]


async def test_a_room_whose_race_never_started_is_soon_forgotten(store: ValkeyProcess) -> None:
    async with node(store.url) as started:
        anna = await Someone.arrive(started.port)
        await anna.say(m.Create(settings=replace(QUICK, seed=None)))
        await anna.hear(m.Room)
        await anna.say(m.Leave())
        await anna.hear(m.Left)
        await until(lambda: not lobby(store), "it is off the list")
        assert max(lifetimes(store, "dk:{r:*")) <= keys.ABORTED_S
        assert 0 < max(lifetimes(store, "dk:deal:*")) < keys.DEAL_S / 10


def lobby(store: ValkeyProcess) -> list[bytes]:
    """The codes of the listed rooms."""
    with store.client() as client:
        listed: list[bytes] = client.zrange(keys.LOBBY, 0, -1)
        return listed


async def test_a_started_race_keeps_its_deal_for_as_long_as_its_record(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as started:
        await race_of(started.port, "anna", settings=replace(QUICK, seed=None))
        assert min(lifetimes(store, "dk:deal:*")) > keys.FINISHED_S


async def test_a_room_for_a_start_in_some_days_is_still_there_then(store: ValkeyProcess) -> None:
    async with node(store.url) as started:
        anna = await Someone.arrive(started.port)
        week = 7 * 24 * 3_600_000
        at_time = replace(QUICK, start="time", start_at=started._store.clock.now() + week)
        await anna.say(m.Create(settings=at_time))
        await anna.hear(m.Room)
        assert min(lifetimes(store, "dk:{r:*")) > week // 1000
        never = replace(QUICK, start="time", start_at=started._store.clock.now() + 5 * week)
        ben = await Someone.arrive(started.port, "ben")
        assert (await ben.refused(m.Create(settings=never))).code == "start-at"


async def test_the_list_of_rooms_is_mended_by_who_reads_it(store: ValkeyProcess) -> None:
    async with node(store.url) as started:
        codes = [await started._rooms.open(QUICK, "nobody") for _ in range(3)]
        with store.client() as client:
            client.hset(keys.journal(keys.room(codes[0])).summary, "phase", "over")
        lines = await started._rooms.lobby()
        assert {line.room for line in lines} == set(codes[1:])
        await until(lambda: len(lobby(store)) == 2, "it is off the list")


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
