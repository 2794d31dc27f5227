"""The list of public rooms."""

from dataclasses import dataclass

from server.store import keys
from server.store.errors import Unavailable
from server.store.pool import Pool

LISTED = 10_000  # rooms kept in the list; the oldest give way


@dataclass(frozen=True, slots=True)
class Listing:
    """A public room and the summary of its journal."""

    code: str
    opened: int  # ms
    summary: dict[str, str]


class Directory:
    """Lists rooms, the newest first. A room stays at most `keys.LISTED_S` after its listing."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, code: str, opened: int) -> None:
        """List a room whose journal exists; again is the same.

        Raises:
            Unavailable: the store does not answer.
        """
        await self._pool.batch(
            [
                ("ZADD", keys.LOBBY, opened, code),
                ("ZREMRANGEBYSCORE", keys.LOBBY, "-inf", opened - keys.LISTED_S * 1000),
                ("ZREMRANGEBYRANK", keys.LOBBY, 0, -LISTED - 1),
                ("EXPIRE", keys.LOBBY, keys.LISTED_S),
            ]
        )

    async def remove(self, code: str) -> None:
        """Take a room off the list; errors as in `add`."""
        await self._pool.ask("ZREM", keys.LOBBY, code)

    async def newest(self, limit: int = 50) -> list[Listing]:
        """Read the newest rooms; those that are gone are taken off on the way.

        Raises:
            Unavailable: the store does not answer.
        """
        rows = await self._pool.ask("ZRANGE", keys.LOBBY, 0, limit - 1, "REV", "WITHSCORES")
        listed = [(code.decode(), int(opened)) for code, opened in rows]
        summaries = await self._pool.each(
            [("HGETALL", keys.journal(keys.room(code)).summary) for code, _ in listed]
        )
        listings, gone = [], []
        for (code, opened), fields in zip(listed, summaries, strict=True):
            if isinstance(fields, Unavailable):
                continue  # not to be seen just now
            if fields:
                summary = {name.decode(): value.decode() for name, value in fields.items()}
                listings.append(Listing(code, opened, summary))
            else:
                gone.append(code)
        if gone:
            await self._pool.ask("ZREM", keys.LOBBY, *gone)
        return listings
