"""Timers that outlive every node: whoever is there acts on what is due.

A claim puts the timer off by a lease, so that it comes due again if its claimant dies.
The same timer can thus come up twice: the guards of the journal make the second harmless.
So a timer that belongs to a part of the store which is away just now is kept by another
part, whatever the first one still has of it.
"""

import asyncio
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from server.store import keys, lua
from server.store.connection import Arg
from server.store.errors import Unavailable
from server.store.pool import Pool

_PLACES = tuple(keys.timers(shard) for shard in range(keys.TIMER_SHARDS))


class Claim(NamedTuple):
    """A due timer, ours until `until`."""

    member: str
    until: int  # ms of the store's clock


class Timers:
    """Sets timers and claims the due ones. A member is any text; it has one timer."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def set(self, member: str, due: int) -> None:
        """Set a timer, or set it anew, for an instant in ms of the store's clock.

        Raises:
            Unavailable: the store does not answer.
        """
        await self._pool.ask("ZADD", self._places(member)[0], due, member)

    async def set_all(self, dues: Mapping[str, int]) -> None:
        """Set many timers; as `set` does, and with its errors."""
        await self._pool.batch(
            [("ZADD", self._places(each)[0], due, each) for each, due in dues.items()]
        )

    async def bring_forward(self, dues: Mapping[str, int]) -> None:
        """Set timers that are not there, or set for later; as `set` does, with its errors."""
        await self._pool.batch(
            [("ZADD", self._places(each)[0], "LT", due, each) for each, due in dues.items()]
        )

    async def claim(self, lease_ms: int, limit: int, *, now: int | None = None) -> list[Claim]:
        """Claim up to `limit` timers that are due by the store's clock (or at `now`).

        Raises:
            Unavailable: the store does not answer; what was claimed comes due again.
        """
        share = -(-limit // keys.TIMER_SHARDS)
        args = "" if now is None else now, lease_ms, share
        claims = [self._claim(place, *args) for place in self._that_are_up(_PLACES)]
        replies = await asyncio.gather(*claims)
        answers = [reply for reply in replies if not isinstance(reply, Unavailable)]
        if not answers:
            raise Unavailable(str(replies[0]))
        return [
            Claim(member.decode(), int(until))
            for reply in answers
            for member, until in zip(reply[::2], reply[1::2], strict=True)
        ]

    async def _claim(self, place: str, *args: Arg) -> Any:
        try:
            return await self._pool.run(lua.CLAIM, [place], *args)
        except Unavailable as error:
            return error

    async def done(self, claim: Claim, next_due: int | None = None) -> bool:
        """End a claimed timer or set it for `next_due`; False if it was set anew meanwhile.

        Raises:
            Unavailable: the store does not answer.
        """
        args = claim.member, claim.until, "" if next_due is None else next_due
        for place in self._places(claim.member):
            if await self._pool.run(lua.SETTLE, [place], *args):
                return True
        return False

    async def drop(self, member: str) -> None:
        """End a timer, whoever has it; errors as in `set`."""
        await self._pool.batch([("ZREM", place, member) for place in self._places(member)])

    def _places(self, member: str) -> list[str]:
        """Give the keys that may have a timer, the one that should have it first."""
        first = zlib.crc32(member.encode()) % keys.TIMER_SHARDS
        return self._that_are_up([*_PLACES[first:], *_PLACES[:first]])

    def _that_are_up(self, places: Sequence[str]) -> list[str]:
        up = [place for place in places if self._pool.is_up(place)]
        return up or [places[0]]
