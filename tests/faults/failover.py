"""Fleets on stores of more than one process: a master that Sentinels watch, and a Cluster."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

import redis
from redis.cluster import RedisCluster
from redis.exceptions import RedisClusterException

from server.store import keys
from server.store.slots import SLOTS, slot_of
from tests.faults.fleet import Fleet, Race
from tests.faults.processes import HOST, ValkeyProcess, until
from tests.faults.stores import DOWN_AFTER_MS, MASTER_NAME, ClusterTrio, SentinelTrio, Trio

T = TypeVar("T", bound=Trio)


class TrioFleet(Fleet, Generic[T]):
    """Nodes on a store of more than one process."""

    def __init__(
        self, folder: Path, trio: T, url: str, *, nodes: int, chance: Random | None
    ) -> None:
        super().__init__(folder, nodes=nodes, chance=chance)
        self.trio: T = trio
        for berth in self.berths:
            berth.node.options[1] = url

    async def _start_store(self) -> None:
        await self.trio.__aenter__()

    def _end_store(self) -> None:
        self.trio.end()


class WatchedFleet(TrioFleet[SentinelTrio]):
    """Nodes on a master that Sentinels watch."""

    def __init__(
        self,
        folder: Path,
        *,
        nodes: int = 3,
        chance: Random | None = None,
        down_after_ms: int = DOWN_AFTER_MS,
    ) -> None:
        trio = SentinelTrio(folder, down_after_ms=down_after_ms)
        doors = ",".join(f"{host}:{port}" for host, port in trio.addresses)
        url = f"sentinel://{doors}/{MASTER_NAME}"
        super().__init__(folder, trio, url, nodes=nodes, chance=chance)

    def _client(self) -> redis.Redis:
        return self.trio.master.client()

    @property
    def stores(self) -> list[ValkeyProcess]:
        return [self.trio.first, self.trio.second]

    def is_whole(self) -> bool:
        """Whether the master has its replica again, and the Sentinels know of both."""
        masters, followers = roles(self.stores)
        is_settled = masters == [self.trio.master] and self.trio.agree(replicas=1)
        return is_settled and len(followers) == 1

    def served_by(self, master: ValkeyProcess, races: Sequence[Race]) -> list[Race]:
        """The races whose rooms a master has."""
        return list(races)


class ClusteredFleet(TrioFleet[ClusterTrio]):
    """Nodes on a Cluster whose masters each serve on whatever the others do."""

    def __init__(
        self, folder: Path, *, nodes: int = 3, replicas: bool = True, chance: Random | None = None
    ) -> None:
        trio = ClusterTrio(folder, replicas=replicas)
        for member in trio.members:
            member.options["cluster-require-full-coverage"] = "no"
        doors = ",".join(f"{HOST}:{member.port}" for member in trio.masters)
        super().__init__(folder, trio, f"cluster://{doors}", nodes=nodes, chance=chance)

    def _client(self) -> RedisCluster:
        fit = [each for each in self.trio.members if each.is_alive and not each.frozen]
        try:
            return RedisCluster(host=HOST, port=fit[0].port, socket_timeout=2.0)
        except RedisClusterException as error:  # is none of the library's own errors
            raise redis.ConnectionError(str(error)) from error

    @property
    def stores(self) -> list[ValkeyProcess]:
        return self.trio.members

    def is_whole(self) -> bool:
        """Whether each master has its replica again, and all slots are served."""
        masters, followers = roles(self.stores)
        is_even = len(masters) == len(followers) == 3
        return is_even and self.trio.is_ok(*self.stores)

    def served_by(self, master: ValkeyProcess, races: Sequence[Race]) -> list[Race]:
        """The races whose rooms a master has."""
        with self._client() as client:
            return [race for race in races if _port(client, _key(race.room)) == master.port]

    def port_of(self, key: str) -> int:
        """The port of the master that has a key."""
        with self._client() as client:
            return _port(client, key)


def _port(client: RedisCluster, key: str) -> int:
    port: int = client.get_node_from_key(key).port  # type: ignore[no-untyped-call]
    return port


def third_of(room: str) -> int:
    """Which of three masters has a room."""
    return slot_of(_key(room)) // -(-SLOTS // 3)


def _key(room: str) -> str:
    return keys.journal(keys.room(room)).journal


async def replace_master(fleet: WatchedFleet | ClusteredFleet, victim: ValkeyProcess) -> None:
    """Kills a master, and waits until its replica has taken over."""
    before = roles(fleet.stores)[0]
    await victim.kill()
    await until(lambda: has_heir(fleet, before), f"an heir of {victim.name}")


def has_heir(fleet: WatchedFleet | ClusteredFleet, before: Sequence[ValkeyProcess]) -> bool:
    """Whether one is a master that was none before, and is known to be by all who are asked.

    A former master that is back sooner takes in what nodes say that have not noticed yet.
    """
    heirs = [store for store in roles(fleet.stores)[0] if store not in before]
    return bool(heirs) and (isinstance(fleet, ClusteredFleet) or fleet.trio.all_name(heirs))


def roles(stores: Sequence[ValkeyProcess]) -> tuple[list[ValkeyProcess], list[ValkeyProcess]]:
    """Those that are masters, and those that follow one and have all it has."""
    masters, followers = [], []
    for store in stores:
        try:
            with store.client(limit_s=0.5) as client:
                role, *rest = client.execute_command("ROLE")
        except redis.RedisError:
            continue
        if role == b"master":
            masters.append(store)
        elif rest[2] == b"connected":
            followers.append(store)
    return masters, followers


async def all_racing(races: Sequence[Race], limit_s: float = 60.0) -> None:
    """Waits until everybody is on their boards, on a line."""
    for race in races:
        await race.running(limit_s)


async def all_go_on(races: Sequence[Race], plays: int, limit_s: float = 60.0) -> None:
    """Waits until so many more plays count in each race."""
    goals = [race.plays + plays for race in races]
    await until(
        lambda: all(race.plays >= goal for race, goal in zip(races, goals, strict=True)),
        f"{plays} more plays in each of {len(races)} races",
        limit_s,
    )
