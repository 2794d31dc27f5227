"""Fleets on stores of more than one process: a master that Sentinels watch, and a Cluster."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

from redis.cluster import RedisCluster

from server.store import keys
from server.store.slots import SLOTS, slot_of
from tests.faults.fleet import Fleet, Race
from tests.faults.processes import HOST, ValkeyProcess, until
from tests.faults.stores import MASTER_NAME, ClusterTrio, SentinelTrio


class WatchedFleet(Fleet):
    """Nodes on a master that Sentinels watch."""

    def __init__(self, folder: Path, *, nodes: int = 3, chance: Random | None = None) -> None:
        super().__init__(folder, nodes=nodes, chance=chance)
        self.trio = SentinelTrio(folder)
        doors = ",".join(f"{host}:{port}" for host, port in self.trio.addresses)
        for berth in self.berths:
            berth.node.options[1] = f"sentinel://{doors}/{MASTER_NAME}"

    async def _start(self) -> None:
        await self.trio.__aenter__()
        await start_nodes(self)

    async def close(self) -> None:
        await super().close()
        self.trio.end()

    def journal(self, room: str) -> list[str]:
        with self.trio.master.client() as client:
            entries = client.lrange(keys.journal(keys.room(room)).journal, 0, -1)
        return [entry.decode() for entry in entries]


class ClusteredFleet(Fleet):
    """Nodes on a Cluster whose masters each serve on whatever the others do."""

    def __init__(
        self, folder: Path, *, nodes: int = 3, replicas: bool = True, chance: Random | None = None
    ) -> None:
        super().__init__(folder, nodes=nodes, chance=chance)
        self.trio = ClusterTrio(folder, replicas=replicas)
        for member in self.trio.members:
            member.options["cluster-require-full-coverage"] = "no"
        doors = ",".join(f"{HOST}:{member.port}" for member in self.trio.masters)
        for berth in self.berths:
            berth.node.options[1] = f"cluster://{doors}"

    async def _start(self) -> None:
        await self.trio.__aenter__()
        await start_nodes(self)

    async def close(self) -> None:
        await super().close()
        self.trio.end()

    def journal(self, room: str) -> list[str]:
        alive = next(member for member in self.trio.members if member.is_alive)
        with RedisCluster(host=HOST, port=alive.port) as client:
            entries = client.lrange(keys.journal(keys.room(room)).journal, 0, -1)
        return [entry.decode() for entry in entries]

    def master_of(self, race: Race) -> ValkeyProcess:
        """The master that has a race's room, as the slots were given at first."""
        return self.trio.masters[third_of(race.room)]


def third_of(room: str) -> int:
    """Which of three masters has a room."""
    return slot_of(keys.journal(keys.room(room)).journal) // -(-SLOTS // 3)


async def start_nodes(fleet: Fleet) -> None:
    """Starts a fleet's nodes; its store is there."""
    for berth in fleet.berths:
        await berth.front.start()
        berth.begin()
    for berth in fleet.berths:
        await berth.ready()


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
