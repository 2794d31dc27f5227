"""Stores of more than one process: a master watched by Sentinels, and a Cluster.

The binary of the embedded store carries both: `--sentinel` makes a Sentinel of it, and it
runs in cluster mode. Each is ready when its own word says so, and fails over in about two
seconds.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from server.store.embedded import find_binary
from server.store.slots import SLOTS
from tests.faults.processes import HOST, Process, ValkeyProcess, free_port, until

MASTER_NAME: Final = "dk"
DOWN_AFTER_MS: Final = 800


class SentinelProcess(Process):
    """One Sentinel."""

    def __init__(
        self, name: str, folder: Path, master: ValkeyProcess, quorum: int, down_after_ms: int
    ) -> None:
        super().__init__(name, folder)
        self.port = free_port()
        self.settings = folder / f"{name}.conf"  # it writes to it what it learns
        self.settings.write_text(
            f"port {self.port}\nbind {HOST}\ndir {folder}\n"
            f"sentinel monitor {MASTER_NAME} {HOST} {master.port} {quorum}\n"
            f"sentinel down-after-milliseconds {MASTER_NAME} {down_after_ms}\n"
            f"sentinel failover-timeout {MASTER_NAME} 4000\n"
        )

    def begin(self) -> None:
        self.launch([str(find_binary()), str(self.settings), "--sentinel"])

    def ask(self, *words: str) -> dict[str, str]:
        """What it says of the master, as names and values; nothing while it does not answer."""
        try:
            with redis.Redis(
                host=HOST,
                port=self.port,
                socket_timeout=0.5,
                retry=Retry(NoBackoff(), 0),
                decode_responses=True,
            ) as client:
                reply = client.execute_command("SENTINEL", *words)
        except redis.RedisError:
            return {}
        if isinstance(reply, dict):
            return {str(name): str(value) for name, value in reply.items()}
        return dict(zip(reply[::2], reply[1::2], strict=False))


class Trio(ABC):
    """The processes of one store, started and ended together."""

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            self.end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self.end()

    @abstractmethod
    async def _start(self) -> None:
        """Starts all of it."""

    @abstractmethod
    def end(self) -> None:
        """Ends all of it."""


async def hold_back(master: ValkeyProcess) -> None:
    """Has a master pass on nothing any more of what it takes in: with it, that is lost."""
    with master.client() as client:
        client.execute_command("ACL", "SETUSER", "default", "-sync", "-psync")
        client.execute_command("CLIENT", "KILL", "TYPE", "REPLICA")

    def is_alone() -> bool:
        with master.client() as client:
            return bool(client.info("replication")["connected_slaves"] == 0)

    await until(is_alone, f"{master.name} has no replica")


class SentinelTrio(Trio):
    """A master, a replica and three Sentinels of which two have to agree."""

    def __init__(self, folder: Path, *, down_after_ms: int = DOWN_AFTER_MS) -> None:
        self.first = ValkeyProcess("first", folder)
        self.second = ValkeyProcess("second", folder, replicaof=f"{HOST} {self.first.port}")
        for store in (self.first, self.second):
            store.options["repl-diskless-sync-delay"] = 0
        self.sentinels = [
            SentinelProcess(f"sentinel-{number}", folder, self.first, 2, down_after_ms)
            for number in (1, 2, 3)
        ]

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Where the Sentinels are."""
        return [(HOST, sentinel.port) for sentinel in self.sentinels]

    @property
    def master(self) -> ValkeyProcess:
        """The store that the Sentinels name as the master."""
        ports = [sentinel.ask("MASTER", MASTER_NAME).get("port") for sentinel in self.sentinels]
        named = next((port for port in ports if port), str(self.first.port))
        return self.second if named == str(self.second.port) else self.first

    def all_name(self, stores: Sequence[ValkeyProcess]) -> bool:
        """Whether every Sentinel names one of some stores as the master."""
        ports = {sentinel.ask("MASTER", MASTER_NAME).get("port") for sentinel in self.sentinels}
        return ports <= {str(store.port) for store in stores}

    def agree(self, *, replicas: int) -> bool:
        """Whether every Sentinel knows the others and so many replicas that follow."""
        for sentinel in self.sentinels:
            known = sentinel.ask("MASTER", MASTER_NAME)
            if known.get("num-other-sentinels") != "2" or known.get("num-slaves") != str(replicas):
                return False
        return True

    async def _start(self) -> None:
        await self.first.start()
        await self.second.start()
        for sentinel in self.sentinels:
            sentinel.begin()
        await until(self._follows, "the replica follows")
        await until(lambda: self.agree(replicas=1), "the Sentinels know each other")

    def _follows(self) -> bool:
        try:
            with self.second.client() as client:
                return bool(client.info("replication").get("master_link_status") == "up")
        except redis.RedisError:
            return False

    def end(self) -> None:
        for process in (*self.sentinels, self.second, self.first):
            process.end()


class ClusterTrio(Trio):
    """Three masters that share the slots, each with a replica where asked."""

    def __init__(self, folder: Path, *, replicas: bool = False) -> None:
        self.masters = [self._member(f"master-{number}", folder) for number in (1, 2, 3)]
        self.replicas = (
            [self._member(f"replica-{number}", folder) for number in (1, 2, 3)] if replicas else []
        )

    @staticmethod
    def _member(name: str, folder: Path) -> ValkeyProcess:
        member = ValkeyProcess(name, folder)
        member.options |= {
            "cluster-enabled": "yes",
            "cluster-node-timeout": 1500,
            "cluster-port": free_port(),
            "cluster-replica-validity-factor": 0,
            "repl-diskless-sync-delay": 0,
        }
        return member

    @property
    def members(self) -> list[ValkeyProcess]:
        return [*self.masters, *self.replicas]

    async def _start(self) -> None:
        for member in self.members:
            member.begin()
        for member in self.members:
            await member.ready()
        share = -(-SLOTS // 3)
        first = self.masters[0]
        for number, master in enumerate(self.masters):
            with master.client() as client:
                last = min(SLOTS, (number + 1) * share) - 1
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", number * share, last)
                client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        with first.client() as client:
            for member in self.members[1:]:
                bus = member.options["cluster-port"]
                client.execute_command("CLUSTER", "MEET", HOST, member.port, bus)
        await until(lambda: self.knows(len(self.members)), "the members know each other")
        for master, replica in zip(self.masters, self.replicas, strict=False):
            with master.client() as above, replica.client() as below:
                below.execute_command("CLUSTER", "REPLICATE", self._id(above))
        await until(lambda: self.is_ok(*self.members), "the Cluster is whole")

    @staticmethod
    def _id(client: redis.Redis) -> str:
        name = client.execute_command("CLUSTER", "MYID")  # type: ignore[no-untyped-call]
        return name.decode() if isinstance(name, bytes) else str(name)

    def knows(self, members: int) -> bool:
        """Whether every member knows all the others."""
        return all(self._said(each, "cluster_known_nodes") == str(members) for each in self.members)

    def is_ok(self, *members: ValkeyProcess) -> bool:
        """Whether all slots are served, as these members see it."""
        return all(self._said(member, "cluster_state") == "ok" for member in members)

    @staticmethod
    def _said(member: ValkeyProcess, name: str) -> str:
        try:
            with member.client(limit_s=0.5) as client:
                said: bytes = client.execute_command("CLUSTER", "INFO")
        except redis.RedisError:
            return ""
        lines = (line.partition(":") for line in said.decode().splitlines())
        return {key: value for key, _, value in lines}.get(name, "")

    def end(self) -> None:
        for member in self.members:
            member.end()
