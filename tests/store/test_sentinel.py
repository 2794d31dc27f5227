"""A master that Sentinels watch: who is believed, and how a new master is followed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import redis

from server.store import (
    ActOutcome,
    Appended,
    Denied,
    Lost,
    Store,
    Unavailable,
    Unfit,
    Unreachable,
    keys,
)
from server.store.address import read
from server.store.sentinel import Sentinels
from tests.faults.processes import HOST, ValkeyProcess, free_port
from tests.faults.stores import MASTER_NAME, SentinelTrio
from tests.listener import listening
from tests.store.conftest import BRISK, Ear, outcome, sentinel_url, until

ROOM = keys.room("ABCDEF")


async def begin(store: Store) -> None:
    await store.journals.append(
        ROOM,
        [b"started"],
        expect=0,
        ttl_s=600,
        sets={"phase": "running"},
        offsets={"start": 0, "deadline": 600_000},
    )


async def play(store: Store, n: int) -> ActOutcome:
    return await outcome(
        lambda done: store.journals.act(ROOM, "ann", 1, n, b"play %d" % n, {}, done)
    )


# --- who is believed ------------------------------------------------------------------


def bulk(*texts: str) -> bytes:
    return b"".join(b"$%d\r\n%s\r\n" % (len(text), text.encode()) for text in texts)


def named(port: int, epoch: int) -> bytes:
    """What a Sentinel says of a master."""
    fields = {"name": MASTER_NAME, "ip": HOST, "port": str(port), "config-epoch": str(epoch)}
    flat = [text for pair in fields.items() for text in pair]
    return b"%%%d\r\n%s" % (len(fields), bulk(*flat))


@asynccontextmanager
async def sentinels(*answers: bytes | None) -> AsyncIterator[Sentinels]:
    """Sentinels that answer like this; None for one that says nothing."""

    def serve(answer: bytes | None) -> Callable[..., Awaitable[None]]:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(65536):
                if b"HELLO" in data:
                    writer.write(b"%1\r\n" + bulk("proto") + b":3\r\n")
                elif answer is not None:
                    writer.write(answer)

        return talk

    async with AsyncExitStack() as stack:
        ports = [await stack.enter_async_context(listening(serve(answer))) for answer in answers]
        doors = ",".join(f"{HOST}:{port}" for port in ports)
        asked = Sentinels(read(f"sentinel://:secret@{doors}/{MASTER_NAME}/2"))
        stack.push_async_callback(asked.close)
        yield asked


async def test_the_sentinel_with_the_newest_configuration_is_believed() -> None:
    async with sentinels(named(1, 7), named(2, 9), named(3, 8)) as asked:
        where = await asked.where()
    assert (where.host, where.port, where.db, where.password) == (HOST, 2, 2, "secret")


async def test_one_that_says_nothing_holds_nobody_up_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("server.store.client.REPLY_S", 1.0)  # how long the last one is left alone
    monkeypatch.setattr("server.store.survey.LIMIT_S", 1000.0)
    async with sentinels(None, named(2, 9), b"-IDK no idea\r\n") as asked:
        assert (await asked.where()).port == 2


async def test_where_none_knows_the_master_their_word_is_told() -> None:
    async with sentinels(*[b"-ERR No such master with that name\r\n"] * 2) as asked:
        with pytest.raises(Unfit, match=f"asked for {MASTER_NAME}: .*No such master"):
            await asked.where()


async def test_where_none_answers_they_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.store.survey.LIMIT_S", 0.3)
    monkeypatch.setattr("server.store.client.REPLY_S", 1.0)
    async with sentinels(None) as asked:
        with pytest.raises(Unavailable, match=f"none of the Sentinels {HOST}:"):
            await asked.where()


async def test_at_the_start_a_wrong_name_is_refused_and_silence_is_waited_for() -> None:
    with pytest.raises(Unreachable, match="none of the Sentinels"):
        await Store.open(f"sentinel://{HOST}:{free_port()}/x", limits=BRISK, patience_s=2.0)
    async with sentinels(b"-ERR No such master with that name\r\n") as asked:
        door = asked._site.doors[0].label()
        with pytest.raises(Unfit, match="No such master"):
            await Store.open(f"sentinel://{door}/x", limits=BRISK)


async def test_a_replica_that_is_named_as_master_is_not_taken_for_one(tmp_path: Path) -> None:
    with ValkeyProcess("store", tmp_path, replicaof=f"{HOST} {free_port()}") as replica:
        await replica.start()
        async with sentinels(named(replica.port, 1)) as asked:
            door = asked._site.doors[0].label()
            with pytest.raises(Unreachable, match="cannot be used: it is a slave, no master"):
                await Store.open(f"sentinel://{door}/x", limits=BRISK, patience_s=2.0)


async def test_a_line_leaves_a_master_that_is_none_any_more_though_it_answers(
    tmp_path: Path,
) -> None:
    # Cut off from the Sentinels and not from us, it would take moves that are lost.
    with ValkeyProcess("first", tmp_path) as first, ValkeyProcess("second", tmp_path) as second:
        await first.start()
        await second.start()
        now = [named(first.port, 1)]

        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(65536):
                hello = b"%1\r\n" + bulk("proto") + b":3\r\n"
                writer.write(hello if b"HELLO" in data else now[0])

        async with listening(talk) as port:
            store = await Store.open(f"sentinel://{HOST}:{port}/x", limits=BRISK)
            player, token = await store.players.create("Ann")
            now[0] = named(second.port, 2)
            await until(lambda: store.line.label == f"{HOST}:{second.port}" and store.up)
            assert await store.players.find(token) is None
            assert player.id
            await store.close()


# --- the real ones --------------------------------------------------------------------


@pytest.fixture
async def trio(tmp_path: Path) -> AsyncIterator[SentinelTrio]:
    """A master, a replica and three Sentinels, to be ill-treated."""
    async with SentinelTrio(tmp_path) as trio:
        yield trio


@pytest.mark.slow
async def test_a_replica_that_takes_over_is_followed(trio: SentinelTrio) -> None:
    store = await Store.open(sentinel_url(trio), limits=BRISK)
    ear = Ear()
    await begin(store)
    await store.journals.subscribe(ROOM, ear)
    player, token = await store.players.create("Ann")
    assert isinstance(await play(store, 1), Appended)
    before = (await store.journals.read(ROOM))[-1].at
    with trio.first.client() as client:
        assert client.wait(1, 2_000) == 1
    await trio.first.kill()
    await until(lambda: not store.up)
    assert await play(store, 2) == Lost(sent=False)
    assert await store.wait_up(20)
    assert store.line.label == f"{HOST}:{trio.second.port}"
    after = await play(store, 2)
    assert isinstance(after, Appended)
    assert after.at >= before
    await until(lambda: ear.resyncs == 1 and ear.entries[-1].version == 3)
    assert await store.players.find(token) == player
    await trio.first.start()
    assert isinstance(await play(store, 3), Appended)
    assert store.line.counts.connects == 2
    await store.close()


@pytest.mark.slow
async def test_a_master_that_stands_still_is_left_for_good(trio: SentinelTrio) -> None:
    store = await Store.open(sentinel_url(trio), limits=BRISK)
    await begin(store)
    with trio.first.client() as client:
        assert client.wait(1, 2_000) == 1
    trio.first.freeze()
    await until(lambda: store.up and store.line.label == f"{HOST}:{trio.second.port}", 30)
    trio.first.thaw()
    assert isinstance(await play(store, 1), Appended)
    await until(lambda: _is_replica(trio.first), 40)
    assert isinstance(await play(store, 2), Appended)
    assert store.line.label == f"{HOST}:{trio.second.port}"
    await store.close()


@pytest.mark.slow
async def test_a_failover_that_the_operator_wants_is_followed(trio: SentinelTrio) -> None:
    store = await Store.open(sentinel_url(trio), limits=BRISK)
    await begin(store)
    with redis.Redis(port=trio.sentinels[0].port, host=HOST) as client:
        client.execute_command("SENTINEL", "FAILOVER", MASTER_NAME)
    n = 0
    async with asyncio.timeout(30):
        while store.line.label != f"{HOST}:{trio.second.port}":
            n += 1
            while isinstance(await play(store, n), Lost):
                await store.wait_up(1)
    outcome = await play(store, n + 1)
    assert isinstance(outcome, Appended | Denied)
    await store.close()


def _is_replica(process: ValkeyProcess) -> bool:
    try:
        with process.client() as client:
            said = client.info("replication")
    except redis.RedisError:
        return False
    return bool(said["role"] == "slave" and said["master_link_status"] == "up")
