"""The store as the rest of the server sees it: one thing to open and to close."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Self

from server.store.address import Kind, Site, read
from server.store.client import fixed
from server.store.clock import Clock
from server.store.cluster import Cluster
from server.store.connection import Limits
from server.store.deals import Deals
from server.store.directory import ROOMS, TOURNAMENTS, Directory
from server.store.errors import Unavailable, Unfit, Unreachable
from server.store.hooks import Hooks
from server.store.journal import Journals
from server.store.line import Line
from server.store.nodes import Nodes
from server.store.players import Players
from server.store.pool import Pool
from server.store.ratings import Ratings
from server.store.shard import OneShard, Shard, Shards, WatchedShard
from server.store.timers import Timers
from server.store.tournaments import Tournaments

log = logging.getLogger(__name__)

REDIS_MIN = (7, 0)  # sharded pub/sub
VALKEY_MIN = (7, 2)


class Store:
    """Everything that is kept, wherever it is."""

    def __init__(self, shards: Shards, kind: Kind) -> None:
        self._shards = shards
        self._kind: Kind = kind
        self._examining: set[asyncio.Task[None]] = set()
        shards.on_state(self._state)
        self.refusals = 0  # writes refused for reasons of the store's own
        self.refused_at = 0  # the last of them, by the store's clock
        self._pool = pool = Pool(shards, self._refused)
        self.journals = Journals(shards, self._refused)
        self.players = Players(pool)
        self.directory = Directory(pool, ROOMS)
        self.programme = Directory(pool, TOURNAMENTS)
        self.deals = Deals(pool)
        self.timers = Timers(pool)
        self.hooks = Hooks(pool)
        self.nodes = Nodes(pool)
        self.tournaments = Tournaments(pool)
        self.ratings = Ratings(pool)

    @classmethod
    async def open(
        cls, url: str, *, limits: Limits | None = None, patience_s: float = 10.0
    ) -> Self:
        """Connect to a store, waiting up to `patience_s` for it to answer.

        Of a Cluster, a part is enough in the end.

        Raises:
            Unreachable: it does not answer.
            Unfit: the URL is none, the store is too old, or it evicts keys.
        """
        site = read(url)
        shards = _shards(site, limits)
        try:
            await shards.open(patience_s)
            for shard in shards.all():
                if shard.line.up:
                    await _examine(shard, site.kind)
            if site.kind == "cluster":
                await _ask_coverage(shards)
        except Unavailable as error:
            await shards.close()
            raise Unreachable(str(error)) from error
        except BaseException:
            await shards.close()
            raise
        return cls(shards, site.kind)

    @property
    def up(self) -> bool:
        """Tell whether the store answers, or at least a part of it, as far as is known."""
        return self.journals.up

    @property
    def is_whole(self) -> bool:
        """Tell whether every part of the store answers, as far as is known."""
        return all(shard.line.up for shard in self._shards.all())

    @property
    def clock(self) -> Clock:
        """Give the estimate of the store's time; see `Journals.now_at`."""
        return self.journals.clock

    async def wait_up(self, limit_s: float) -> bool:
        """Wait until the store, or a part of it, answers; False if not within `limit_s`."""
        waits = [asyncio.create_task(shard.line.wait_up(limit_s)) for shard in self._shards.all()]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return self.up

    @property
    def lines(self) -> Sequence[Line]:
        """Give the lines to all parts of the store, for their counts."""
        return [shard.line for shard in self._shards.all()]

    @property
    def line(self) -> Line:
        """Give the first line."""
        return self._shards.all()[0].line

    async def drain(self, limit_s: float) -> bool:
        """Wait for what is in flight; False if something still is after `limit_s`."""
        return all(
            await asyncio.gather(*(shard.line.drain(limit_s) for shard in self._shards.all()))
        )

    async def close(self) -> None:
        """Give everything up; drain first to lose nothing."""
        for task in self._examining:
            task.cancel()
        await self._shards.close()

    def _refused(self) -> None:
        self.refusals += 1
        self.refused_at = self.clock.now()

    def _state(self, up: bool) -> None:
        if up:  # what answers may not be what answered before
            task = asyncio.create_task(self._examine_all(), name="store check")
            self._examining.add(task)
            task.add_done_callback(self._examining.discard)

    async def _examine_all(self) -> None:
        for shard in tuple(self._shards.all()):
            try:
                await _examine(shard, self._kind)
            except Unfit as error:
                log.error("%s", error)
            except Unavailable:
                pass  # it is looked at when it is back


async def _examine(shard: Shard, kind: Kind) -> None:
    check(_info(await shard.line.ask("INFO")), shard.line.label, kind)


def _shards(site: Site, limits: Limits | None) -> Shards:
    match site.kind:
        case "one":
            return OneShard(fixed(site.master), limits)
        case "sentinel":
            return WatchedShard(site, limits)
        case "cluster":
            return Cluster(site, limits)


async def _ask_coverage(shards: Shards) -> None:
    """Warn of a Cluster that stands still as a whole when a part of it is away."""
    try:
        settings = await shards.all()[0].line.ask("CONFIG", "GET", "cluster-require-full-coverage")
    except Unavailable:
        return  # it is away, or a service that does not tell
    if settings.get(b"cluster-require-full-coverage") == b"yes":
        log.warning(
            "when one master of the Cluster is away all rooms wait for it, not only its own: set"
            " cluster-require-full-coverage to no"
        )


def check(info: Mapping[str, str], label: str, kind: Kind = "one") -> None:
    """Look at what a store says of itself (INFO).

    Raises:
        Unfit: it is too old, takes no writes or not for every key, or drops keys when memory
            is short.
    """
    name, least = ("Valkey", VALKEY_MIN) if "valkey_version" in info else ("Redis", REDIS_MIN)
    version = info.get("valkey_version") or info.get("redis_version", "0")
    if tuple(int(part) for part in version.split(".")[:2]) < least:
        raise Unfit(
            f"the store at {label} is {name} {version}: it must be Redis 7.0, Valkey 7.2 or newer"
        )
    if kind == "one" and info.get("role", "master") != "master":
        raise Unfit(f"the store at {label} is a read-only replica: name its master")
    if kind != "cluster" and info.get("cluster_enabled", "0") != "0":
        raise Unfit(
            f"the store at {label} is one node of a Cluster, which holds only some keys: name the"
            f" whole with cluster://{label}"
        )
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        trouble = (
            f"the store at {label} drops keys when memory is short (maxmemory-policy {policy})"
        )
        if info.get("maxmemory", "0") != "0":
            raise Unfit(f"{trouble}: rooms would vanish; set it to noeviction")
        log.warning("%s: set it to noeviction before you limit its memory", trouble)
    if info.get("aof_enabled") == "0":
        log.warning("the store at %s has no append-only file: a crash of it loses moves", label)


def _info(reply: Any) -> dict[str, str]:
    text = reply[1] if isinstance(reply, list) else reply  # a verbatim string has its kind first
    pairs = (line.partition(":") for line in text.decode().splitlines() if ":" in line)
    return {name: value for name, _, value in pairs}
