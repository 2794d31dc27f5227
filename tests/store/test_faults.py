"""A store that dies, stalls and comes back, by real signals to a real process."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from server.store import (
    ActOutcome,
    Appended,
    Conflict,
    Denied,
    Embedded,
    Lost,
    Outcome,
    Store,
    Unavailable,
    keys,
    lua,
)
from server.store.address import parse
from server.store.client import Client, fixed
from tests.store.conftest import BRISK, HASTY, Ear, appended, known, outcome, running, until

ROOM = keys.room("ABCDEF")


@pytest.fixture
async def patient(private: Embedded, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    """A node on the private store, to which a reply is worth waiting for."""
    for limit in ("WAIT_S", "REPLY_S"):
        monkeypatch.setattr(f"server.store.client.{limit}", 30.0)
    store = await Store.open(private.url, limits=BRISK)
    yield store
    await store.close()


@pytest.fixture
async def hasty(private: Embedded) -> AsyncIterator[Store]:
    """A node on the private store that soon takes silence for an answer."""
    store = await Store.open(private.url, limits=HASTY)
    yield store
    await store.close()


@contextmanager
def stalled(private: Embedded) -> Iterator[None]:
    os.kill(running(private), signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(running(private), signal.SIGCONT)


async def append(store: Store, *payloads: bytes, expect: int, **more: Any) -> Outcome:
    return await store.journals.append(ROOM, payloads, expect=expect, ttl_s=600, **more)


async def race(store: Store) -> None:
    await append(
        store,
        b"started",
        expect=0,
        sets={"phase": "running"},
        offsets={"start": 0, "deadline": 600_000},
    )


async def play(store: Store, n: int) -> ActOutcome:
    return await outcome(
        lambda done: store.journals.act(ROOM, "ann", 1, n, b"play %d" % n, {}, done)
    )


async def test_what_was_acknowledged_is_there_after_the_store_is_killed(
    private: Embedded, patient: Store
) -> None:
    await race(patient)
    acknowledged = 0
    for _ in range(3):
        for _ in range(50):
            assert isinstance(await play(patient, acknowledged + 1), Appended)
            acknowledged += 1
        os.kill(running(private), signal.SIGKILL)
        await until(lambda: not patient.up)
        assert await play(patient, acknowledged + 1) == Lost(sent=False)
        await until(lambda: patient.up)
    entries = await patient.journals.read(ROOM, 1)
    assert [entry.payload for entry in entries] == [b"play %d" % n for n in range(1, 151)]


async def test_a_store_that_syncs_once_a_second_may_lose_the_last_and_nothing_else(
    tmp_path: Path,
) -> None:
    # While the disk is being synced, such a store holds back what it writes to its file, and
    # acknowledges it all the same: this much is lost when it is killed.
    private = Embedded(tmp_path / "data", fsync="everysec")
    await private.start()
    node = await Store.open(private.url, limits=BRISK)
    await race(node)
    await node.line.ask("WAITAOF", 1, 0, 0)  # the start is on the disk
    known = 0
    for _ in range(3):
        for n in range(known + 1, known + 51):
            assert await play(node, n) == Appended(n + 1, await last_at(node))
        os.kill(running(private), signal.SIGKILL)
        await until(lambda: not node.up)
        await until(lambda: node.up)
        there = [entry.payload for entry in await node.journals.read(ROOM, 1)]
        assert there == [b"play %d" % n for n in range(1, len(there) + 1)]
        assert known <= len(there) <= known + 50
        known = len(there)
        assert await play(node, known + 2) == Denied("gap", known)
    await node.close()
    await private.stop()


async def last_at(store: Store) -> int:
    return int((await store.journals.summary(ROOM))["at"])


async def test_a_restarted_store_is_told_the_scripts_again(
    private: Embedded, patient: Store
) -> None:
    await race(patient)
    os.kill(running(private), signal.SIGKILL)
    await until(lambda: not patient.up)
    await until(lambda: patient.up)
    (known,) = await patient.line.ask("SCRIPT", "EXISTS", lua.ACT.sha)
    assert known == 1
    assert isinstance(await play(patient, 1), Appended)


async def test_listeners_resync_and_hear_again_after_the_store_is_killed(
    private: Embedded, patient: Store
) -> None:
    ear, other = Ear(), Ear()
    states: list[bool] = []
    patient.journals.on_state(states.append)
    await race(patient)
    await patient.journals.subscribe(ROOM, ear)
    await patient.journals.subscribe(keys.room("OTHER"), other)
    os.kill(running(private), signal.SIGKILL)
    await until(lambda: ear.resyncs == 1 and other.resyncs == 1)
    assert states == [False, True]
    done = appended(await play(patient, 1))
    await until(lambda: bool(ear.entries))
    assert ear.entries[0].version == done.version


async def test_the_gap_of_a_broken_line_is_read_from_the_journal(
    private: Embedded, patient: Store
) -> None:
    await race(patient)
    ear = Ear()
    await patient.journals.subscribe(ROOM, ear)
    away = await Store.open(private.url)
    client_id = await patient.line.ask("CLIENT", "ID")
    # In one write: the store cuts the line, then appends, before the cut can be noticed.
    away.line.send(("CLIENT", "KILL", "ID", client_id), lambda reply: None)
    missed = appended(await play(away, 1))
    await until(lambda: ear.resyncs == 1)
    assert ear.entries == []
    assert [entry.version for entry in await patient.journals.read(ROOM, 1)] == [missed.version]
    heard = appended(await play(away, 2))
    await until(lambda: bool(ear.entries))
    assert [entry.version for entry in ear.entries] == [heard.version]
    await away.close()


async def test_a_stalled_store_is_noticed_within_the_bound(private: Embedded, hasty: Store) -> None:
    await race(hasty)
    with stalled(private):
        async with asyncio.timeout(20 * HASTY.reply_s):  # left alone it would take for ever
            assert await play(hasty, 1) == Lost()
        assert not hasty.up
        with pytest.raises(Unavailable):
            await hasty.journals.read(ROOM)
    await until(lambda: hasty.up)


async def test_a_stall_is_noticed_by_a_node_that_only_listens(
    private: Embedded, hasty: Store
) -> None:
    ear = Ear()
    await race(hasty)
    await hasty.journals.subscribe(ROOM, ear)
    with stalled(private):
        await until(lambda: not hasty.up)
    await until(lambda: ear.resyncs == 1)


async def test_a_lost_play_counts_once_when_it_is_made_again(
    private: Embedded, hasty: Store
) -> None:
    await race(hasty)
    with stalled(private):
        assert await play(hasty, 1) == Lost()
    await until(lambda: hasty.up)
    # The stalled store read it after all, or it did not: the number makes both right.
    again = await play(hasty, 1)
    assert isinstance(again, Appended) or again == Denied("repeat", 1)
    assert [entry.payload for entry in await hasty.journals.read(ROOM, 1)] == [b"play 1"]


async def test_a_lost_append_is_a_conflict_when_it_is_made_again(
    private: Embedded, hasty: Store
) -> None:
    await race(hasty)
    with stalled(private):
        assert await append(hasty, b"over", expect=1) == Lost()
    await until(lambda: hasty.up)
    again = await append(hasty, b"over", expect=1)
    assert isinstance(again, Appended) or again == Conflict(2)
    assert await hasty.journals.version(ROOM) == 2


async def test_paused_writes_are_lost_while_reading_goes_on(
    private: Embedded, hasty: Store
) -> None:
    await race(hasty)
    await hasty.line.ask("CLIENT", "PAUSE", 5000, "WRITE")
    assert await play(hasty, 1) == Lost()
    await until(lambda: hasty.up)
    assert await hasty.journals.summary(ROOM)


async def test_a_stall_shorter_than_the_bound_loses_nothing(
    private: Embedded, patient: Store
) -> None:
    await race(patient)
    await patient.line.ask("CLIENT", "PAUSE", 200, "ALL")
    assert isinstance(await play(patient, 1), Appended)
    assert patient.line.counts.connects == 1


async def test_requests_off_the_hot_path_end_within_their_bound(
    private: Embedded, patient: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    player, token = await patient.players.create("Ann")
    monkeypatch.setattr("server.store.client.REPLY_S", 0.3)
    asked = Client(fixed(parse(private.url)))
    with stalled(private), pytest.raises(Unavailable):
        await asyncio.wait_for(asked.ask("PING"), 20)
    assert await patient.players.find(token) == player
    await asked.close()


async def test_connections_broken_by_a_restart_are_replaced_without_an_error(
    private: Embedded, patient: Store
) -> None:
    player, token = await patient.players.create("Ann")
    await asyncio.gather(*(patient.players.find(token) for _ in range(50)))
    os.kill(running(private), signal.SIGKILL)
    await until(lambda: not patient.up)
    await until(lambda: patient.up)
    found = await asyncio.gather(*(patient.players.find(token) for _ in range(50)))
    assert set(found) == {player}


async def test_cancelled_requests_leave_no_reply_behind(patient: Store) -> None:
    tokens = {}
    for name in ("Ann", "Bob", "Cid"):
        player, token = await patient.players.create(name)
        tokens[token] = player
    wanted = list(tokens.items()) * 40
    tasks = [asyncio.create_task(patient.players.find(token)) for token, _ in wanted]
    for i, task in enumerate(tasks):
        if i % 3 == 0:
            await asyncio.sleep(0)
            task.cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    right = [
        f == player
        for f, (_, player) in zip(found, wanted, strict=True)
        if isinstance(f, type(player))
    ]
    assert right
    assert all(right)


async def test_a_request_whose_connection_is_cut_is_made_again(
    private: Embedded, patient: Store
) -> None:
    player, _ = await patient.players.create("Ann")
    await patient.line.ask("CLIENT", "PAUSE", 200, "WRITE")
    connecting = asyncio.create_task(patient.players.connect(player.id))
    await asyncio.sleep(0.05)  # until it waits in the store
    assert await patient.line.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") > 0
    assert await connecting == known(await patient.players.get(player.id)).epoch


async def test_a_subscription_that_failed_is_not_kept(private: Embedded, hasty: Store) -> None:
    ear = Ear()
    with stalled(private), pytest.raises(Unavailable):
        await hasty.journals.subscribe(ROOM, ear)
    await until(lambda: hasty.up)
    assert await hasty.line.ask("SPUBLISH", keys.journal(ROOM).news, b"0 hi") == 0
    assert ear.resyncs == 0


@pytest.mark.parametrize("private", ["valkey"], indirect=True)
async def test_ten_thousand_rooms_come_and_go_and_leave_nothing(
    private: Embedded, patient: Store
) -> None:
    ear = Ear()
    rooms = [keys.room(f"R{i}") for i in range(10_000)]
    await asyncio.gather(*(patient.journals.subscribe(jid, ear) for jid in rooms))
    assert await subscriptions(patient) == 10_000
    os.kill(running(private), signal.SIGKILL)
    await until(lambda: ear.resyncs == 10_000)
    assert await subscriptions(patient) == 10_000
    tasks = asyncio.all_tasks()
    for jid in rooms:
        patient.journals.unsubscribe(jid, ear)
    assert await subscriptions(patient) == 0
    assert asyncio.all_tasks() <= tasks
    os.kill(running(private), signal.SIGKILL)
    await until(lambda: not patient.up)
    await until(lambda: patient.up)
    assert ear.resyncs == 10_000


async def subscriptions(store: Store) -> int:
    return len(await store.line.ask("PUBSUB", "SHARDCHANNELS"))
