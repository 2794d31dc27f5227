import asyncio
import contextlib
import logging
import os
import signal
from pathlib import Path

import pytest

from server.store import Embedded, Store, Unfit, Unreachable
from server.store.store import check
from tests.store.conftest import BRISK, running, socket_of, until


@pytest.mark.parametrize(
    "info",
    [
        {"redis_version": "7.0.0"},
        {"redis_version": "8.2.1", "maxmemory_policy": "noeviction", "maxmemory": "1000"},
        {"redis_version": "7.2.4", "valkey_version": "7.2.5"},
        {"redis_version": "7.2.4", "valkey_version": "9.1.0"},
        {"redis_version": "255.255.255"},
    ],
)
def test_a_fit_store_is_taken_without_a_word(
    info: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    check(info, "here")
    assert caplog.records == []


@pytest.mark.parametrize("version", ["6.2.14", "5.0", "0"])
def test_a_store_that_is_too_old_is_refused(version: str) -> None:
    with pytest.raises(Unfit, match=r"here is Redis .*must be Redis 7\.0"):
        check({"redis_version": version}, "here")


def test_a_store_that_drops_keys_is_refused() -> None:
    with pytest.raises(Unfit, match=r"allkeys-lru.*noeviction"):
        check(
            {"redis_version": "7.2.0", "maxmemory_policy": "allkeys-lru", "maxmemory": "1"}, "here"
        )


def test_a_replica_or_a_part_of_a_cluster_is_refused() -> None:
    with pytest.raises(Unfit, match="replica"):
        check({"redis_version": "7.2.0", "role": "slave"}, "here")
    with pytest.raises(Unfit, match="cluster://here"):
        check({"redis_version": "7.2.0", "role": "master", "cluster_enabled": "1"}, "here")
    check({"redis_version": "7.2.0", "role": "master", "cluster_enabled": "1"}, "here", "cluster")


def test_a_store_that_would_drop_keys_one_day_is_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        check(
            {"redis_version": "7.2.0", "maxmemory_policy": "volatile-lru", "maxmemory": "0"}, "here"
        )
    assert "volatile-lru" in caplog.text


def test_a_store_that_forgets_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        check({"redis_version": "7.2.0", "aof_enabled": "0"}, "here")
    assert "append-only" in caplog.text


async def test_where_nobody_answers_the_error_says_where(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match=r"nowhere.sock does not answer"):
        await Store.open(f"unix://{tmp_path}/nowhere.sock", limits=BRISK, patience_s=2.0)


async def test_where_nobody_listens_nobody_is_waited_for_long(tmp_path: Path) -> None:
    async with asyncio.timeout(30):
        with pytest.raises(Unreachable, match="does not answer"):
            await Store.open(f"unix://{tmp_path}/nowhere.sock", limits=BRISK, patience_s=60)


async def test_a_store_that_comes_up_late_is_waited_for(private: Embedded, tmp_path: Path) -> None:
    late = tmp_path / "late"
    opening = asyncio.create_task(Store.open(f"unix://{late}", limits=BRISK))
    await asyncio.sleep(0.05)
    os.symlink(socket_of(private.url), late)
    store = await opening
    assert store.up
    await store.close()


async def test_a_wrong_password_is_refused_at_once_and_not_told(private: Embedded) -> None:
    admin = await Store.open(private.url)
    await admin.line.ask("CONFIG", "SET", "requirepass", "right")
    with pytest.raises(Unfit, match="WRONGPASS") as refused:
        await Store.open(f"{private.url}?password=wrong-one", limits=BRISK)
    assert "wrong-one" not in str(refused.value)
    with pytest.raises(Unfit, match="NOAUTH"):
        await Store.open(private.url, limits=BRISK)
    store = await Store.open(f"{private.url}?password=right", limits=BRISK)
    assert await store.players.create("Ann")
    await store.close()
    await admin.close()


async def test_draining_waits_for_what_is_in_flight(store: Store) -> None:
    replies: list[object] = []
    for _ in range(100):
        store.line.send(("INCR", "n"), replies.append)
    assert await store.drain(5)
    assert replies == list(range(1, 101))


async def test_draining_has_a_limit(private: Embedded) -> None:
    store = await Store.open(private.url)
    await store.line.ask("CLIENT", "PAUSE", 1000, "WRITE")
    replies: list[object] = []
    store.line.send(("INCR", "n"), replies.append)
    assert not await store.drain(0.05)
    await store.close()
    assert len(replies) == 1


async def test_a_cancelled_request_ends_by_itself(store_url: str) -> None:
    before, after = await Store.open(store_url), await Store.open(store_url)
    for turns in range(20):
        asking = asyncio.create_task(before.players.create(f"Ann {turns}"))
        for _ in range(turns + 1):
            await asyncio.sleep(0)
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking
    await before.close()
    records = [await line.ask("KEYS", "dk:{p:*") for line in after.lines]
    assert sum(map(len, records)) == 20
    await after.close()


async def test_waiting_for_the_store_ends_when_it_is_up_or_at_the_limit(private: Embedded) -> None:
    store = await Store.open(private.url, limits=BRISK)
    assert await store.wait_up(0)
    os.kill(running(private), signal.SIGKILL)
    await until(lambda: not store.up)
    assert not await store.wait_up(0)
    assert await store.wait_up(10)
    await store.close()


async def test_opening_and_closing_leaves_nothing_behind(store_url: str) -> None:
    before = asyncio.all_tasks()
    for _ in range(5):
        store = await Store.open(store_url)
        await store.players.find("nobody")
        await store.close()
    assert asyncio.all_tasks() == before
