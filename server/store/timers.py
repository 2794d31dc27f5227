"""Timers that outlive every node: whoever is there acts on what is due.

A claim puts the timer off by a lease, so that it comes due again if its claimant dies.
The same timer can thus come up twice: the guards of the journal make the second harmless.
"""

import asyncio
import zlib
from collections.abc import Mapping
from typing import NamedTuple

from server.store import keys, lua
from server.store.pool import Pool


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
        await self._pool.ask("ZADD", _shard(member), due, member)

    async def set_all(self, dues: Mapping[str, int]) -> None:
        """Set many timers; as `set` does, and with its errors."""
        await self._pool.batch([("ZADD", _shard(each), due, each) for each, due in dues.items()])

    async def claim(self, lease_ms: int, limit: int, *, now: int | None = None) -> list[Claim]:
        """Claim up to `limit` timers that are due by the store's clock (or at `now`).

        Raises:
            Unavailable: the store does not answer; what was claimed comes due again.
        """
        share = -(-limit // keys.TIMER_SHARDS)
        replies = await asyncio.gather(
            *(
                self._pool.run(
                    lua.CLAIM, [keys.timers(shard)], "" if now is None else now, lease_ms, share
                )
                for shard in range(keys.TIMER_SHARDS)
            )
        )
        return [
            Claim(member.decode(), int(until))
            for reply in replies
            for member, until in zip(reply[::2], reply[1::2], strict=True)
        ]

    async def done(self, claim: Claim, next_due: int | None = None) -> bool:
        """End a claimed timer or set it for `next_due`; False if it was set anew meanwhile.

        Raises:
            Unavailable: the store does not answer.
        """
        reply = await self._pool.run(
            lua.SETTLE,
            [_shard(claim.member)],
            claim.member,
            claim.until,
            "" if next_due is None else next_due,
        )
        return bool(reply)

    async def drop(self, member: str) -> None:
        """End a timer, whoever has it; errors as in `set`."""
        await self._pool.ask("ZREM", _shard(member), member)

    async def next_due(self) -> int | None:
        """Read when the next timer is due; None without any; errors as in `set`."""
        firsts = await self._pool.batch(
            [
                ("ZRANGE", keys.timers(shard), 0, 0, "WITHSCORES")
                for shard in range(keys.TIMER_SHARDS)
            ]
        )
        return min((int(score) for rows in firsts for _, score in rows), default=None)


def _shard(member: str) -> str:
    return keys.timers(zlib.crc32(member.encode()) % keys.TIMER_SHARDS)
