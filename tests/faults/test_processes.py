"""The processes that fault tests are made of start, fail and end as they say."""

import os
from pathlib import Path

import pytest
from redis.cluster import RedisCluster

from tests.faults.processes import HOST, ValkeyProcess, until
from tests.faults.stores import ClusterTrio, SentinelTrio


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_a_store_keeps_its_port_and_its_data_over_a_kill(tmp_path: Path) -> None:
    with ValkeyProcess("store", tmp_path) as store:
        await store.start()
        with store.client() as client:
            client.set("k", "v")
        await store.kill()
        assert not store.answers
        await store.start()
        with store.client() as client:
            assert client.get("k") == b"v"
        pid = store.pid
    assert is_gone(pid)


async def test_a_frozen_process_does_nothing_and_goes_on_when_thawed(tmp_path: Path) -> None:
    with ValkeyProcess("store", tmp_path) as store:
        await store.start()
        store.freeze()
        assert not store.answers
        store.thaw()
        assert store.answers


@pytest.mark.slow
async def test_sentinels_make_the_replica_master_when_the_master_is_killed(tmp_path: Path) -> None:
    async with SentinelTrio(tmp_path) as trio:
        with trio.first.client() as client:
            client.set("k", "v")
        assert trio.master is trio.first
        await trio.first.kill()
        await until(lambda: trio.master is trio.second, "the replica is master")
        with trio.second.client() as client:
            assert client.get("k") == b"v"
            client.set("k", "w")


@pytest.mark.slow
async def test_a_cluster_is_whole_again_when_a_killed_master_is_back(tmp_path: Path) -> None:
    async with ClusterTrio(tmp_path) as trio:
        first, second, third = trio.masters
        with RedisCluster(host=HOST, port=second.port) as client:
            for number in range(30):
                client.set(f"k{number}", number)
        await first.kill()
        await until(lambda: not trio.is_ok(second), "the loss is noticed")
        await first.start()
        await until(lambda: trio.is_ok(*trio.members), "the Cluster is whole")
        with RedisCluster(host=HOST, port=third.port) as client:
            assert client.get("k7") == b"7"


@pytest.mark.slow
async def test_in_a_cluster_a_replica_takes_a_killed_master_s_place(tmp_path: Path) -> None:
    async with ClusterTrio(tmp_path, replicas=True) as trio:
        first, second, third = trio.masters
        await first.kill()
        await until(lambda: trio.is_ok(second, third), "the replica serves the slots")
