"""A master and what leads to it. A store is one such, or several that share the keys."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from server.store import lua
from server.store.address import Site
from server.store.client import Client, Elsewhere
from server.store.connection import Limits
from server.store.line import Fit, Line, Where
from server.store.sentinel import Sentinels

# The scripts that journals need at once; every other one is sent when it is missed.
SCRIPTS = (lua.APPEND, lua.ACT, lua.ATTACH)

CONNECT_S = 2.0
BACKOFF_MAX_S = 0.5

OnState = Callable[[bool], None]
OnChange = Callable[[], None]


class Shard:
    """The line to one master, which carries journals, and the client for all else."""

    def __init__(self, line: Line, client: Client) -> None:
        self.line = line
        self.client = client
        line.on_state(self._state)

    def _state(self, up: bool) -> None:
        # When it is up again, too: what was opened meanwhile may lead to a former master.
        self.client.doubt()

    async def close(self) -> None:
        """Give it up for good."""
        await self.line.close()
        await self.client.close()


class Shards(Protocol):
    """Knows which master serves a key, or a channel."""

    def of(self, key: str) -> Shard:
        """Give the shard of a key."""

    def all(self) -> Sequence[Shard]:
        """Give every shard; the first one is nothing special."""

    async def led(self, elsewhere: Elsewhere) -> Shard | None:
        """Give the shard that another one has named as the one to ask; None if it is unknown."""

    def on_state(self, callback: OnState) -> None:
        """Call `callback(up)` when the line to any shard comes up or goes down."""

    def on_change(self, callback: OnChange) -> None:
        """Call `callback()` when keys are served by other shards than before."""

    async def open(self, patience_s: float) -> None:
        """Keep lines up from now on; return when they are, or at least one of them.

        Raises:
            Unreachable: none came up within `patience_s`.
            Unfit: a store answers and refuses, which waiting does not change.
        """

    async def close(self) -> None:
        """Give everything up."""


class OneShard:
    """The shard of a store that holds every key."""

    def __init__(
        self,
        where: Where,
        limits: Limits | None,
        *,
        fit: Fit | None = None,
        follows: bool = False,
    ) -> None:
        """Plan the line; see `Line`."""
        line = Line(where, SCRIPTS, limits, fit=fit, follows=follows)
        self._shard = Shard(line, Client(where))

    def of(self, key: str) -> Shard:
        """Give the shard."""
        return self._shard

    def all(self) -> Sequence[Shard]:
        """Give the shard, alone."""
        return (self._shard,)

    async def led(self, elsewhere: Elsewhere) -> Shard | None:
        """Know no other one."""
        return None

    def on_state(self, callback: OnState) -> None:
        """Call `callback(up)` when the line comes up or goes down."""
        self._shard.line.on_state(callback)

    def on_change(self, callback: OnChange) -> None:
        """Never call it."""

    async def open(self, patience_s: float) -> None:
        """Keep the line up from now on; see `Shards.open`."""
        await self._shard.line.open(patience_s)

    async def close(self) -> None:
        """Give everything up."""
        await self._shard.close()


class WatchedShard(OneShard):
    """The shard whose master Sentinels know, and replace."""

    def __init__(self, site: Site, limits: Limits | None) -> None:
        self._sentinels = Sentinels(site)
        super().__init__(
            self._sentinels.where,
            impatient(limits),
            fit=self._sentinels.look_at_role,
            follows=True,
        )

    async def close(self) -> None:
        """Give everything up."""
        await super().close()
        await self._sentinels.close()


def impatient(limits: Limits | None) -> Limits:
    """Bound the time of a try and the pause after it: another master takes over within seconds."""
    limits = limits or Limits()
    return replace(
        limits,
        connect_s=min(limits.connect_s, CONNECT_S),
        backoff_max_s=min(limits.backoff_max_s, BACKOFF_MAX_S),
    )
