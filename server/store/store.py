"""The store as the rest of the server sees it: one thing to open and to close."""

import logging
from collections.abc import Mapping
from typing import Any, Self

from server.store import address, lua
from server.store.clock import Clock
from server.store.connection import Limits
from server.store.deals import Deals
from server.store.directory import Directory
from server.store.errors import Unavailable, Unfit, Unreachable
from server.store.hooks import Hooks
from server.store.journal import Journals, OneLine
from server.store.line import Line
from server.store.nodes import Nodes
from server.store.players import Players
from server.store.pool import Pool
from server.store.ratings import Ratings
from server.store.timers import Timers
from server.store.tournaments import Tournaments

log = logging.getLogger(__name__)

REDIS_MIN = (7, 0)  # sharded pub/sub
VALKEY_MIN = (7, 2)


class Store:
    """Everything that is kept, over one address."""

    def __init__(self, line: Line, pool: Pool) -> None:
        self._line = line
        self._pool = pool
        self.journals = Journals(OneLine(line))
        self.players = Players(pool)
        self.directory = Directory(pool)
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

        Raises:
            Unreachable: it does not answer.
            Unfit: the URL is none, the store is too old, or it evicts keys.
        """
        where = address.parse(url)

        async def find() -> address.Address:
            return where

        line = Line(find, (lua.APPEND, lua.ACT, lua.ATTACH), limits)
        await line.open(patience_s)
        pool = Pool(url)
        store = cls(line, pool)
        try:
            check(_info(await line.ask("INFO")), where.label())
        except Unavailable as error:
            await store.close()
            raise Unreachable(str(error)) from error
        except BaseException:
            await store.close()
            raise
        return store

    @property
    def up(self) -> bool:
        """Tell whether the store answers, as far as is known."""
        return self.journals.up

    @property
    def clock(self) -> Clock:
        """Give the estimate of the store's time."""
        return self.journals.clock

    async def wait_up(self, limit_s: float) -> bool:
        """Wait until the store answers again; False if it does not within `limit_s`."""
        return await self._line.wait_up(limit_s)

    @property
    def line(self) -> Line:
        """Give the line, for its counts."""
        return self._line

    async def drain(self, limit_s: float) -> bool:
        """Wait for what is in flight; False if something still is after `limit_s`."""
        return await self._line.drain(limit_s)

    async def close(self) -> None:
        """Give everything up; drain first to lose nothing."""
        await self._line.close()
        await self._pool.close()


def check(info: Mapping[str, str], label: str) -> None:
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
    if info.get("role", "master") != "master":
        raise Unfit(f"the store at {label} is a read-only replica: name its master")
    if info.get("cluster_enabled", "0") != "0":
        raise Unfit(f"the store at {label} is one node of a Cluster, which holds only some keys")
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
