"""The lists of what is public: rooms, and tournaments."""

from collections.abc import Callable
from dataclasses import dataclass

from server.store import keys
from server.store.errors import Unavailable
from server.store.keys import JournalId
from server.store.pool import Pool


@dataclass(frozen=True, slots=True)
class Listing:
    """Something public and the summary of its journal."""

    code: str
    opened: int  # ms
    summary: dict[str, str]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a list is of."""

    key: str
    journal: Callable[[str], JournalId]  # by code
    most: int  # kept in the list; the oldest give way
    keep_s: int  # at most so long after the listing


ROOMS = Kind(keys.LOBBY, keys.room, 10_000, keys.LISTED_S)
TOURNAMENTS = Kind(keys.PROGRAMME, keys.tournament, 2_000, keys.TOURNAMENT_S)


class Directory:
    """Lists what is of one kind, the newest first."""

    def __init__(self, pool: Pool, kind: Kind) -> None:
        self._pool = pool
        self._kind = kind

    async def add(self, code: str, opened: int) -> None:
        """List something whose journal exists; again is the same.

        Raises:
            Unavailable: the store does not answer.
        """
        kind = self._kind
        await self._pool.batch(
            [
                ("ZADD", kind.key, opened, code),
                ("ZREMRANGEBYSCORE", kind.key, "-inf", opened - kind.keep_s * 1000),
                ("ZREMRANGEBYRANK", kind.key, 0, -kind.most - 1),
                ("EXPIRE", kind.key, kind.keep_s),
            ]
        )

    async def remove(self, code: str) -> None:
        """Take something off the list; errors as in `add`."""
        await self._pool.ask("ZREM", self._kind.key, code)

    async def newest(self, limit: int) -> list[Listing]:
        """Read the newest; those that are gone are taken off on the way.

        Raises:
            Unavailable: the store does not answer.
        """
        key = self._kind.key
        rows = await self._pool.ask("ZRANGE", key, 0, limit - 1, "REV", "WITHSCORES")
        listed = [(code.decode(), int(opened)) for code, opened in rows]
        journals = (keys.journal(self._kind.journal(code)) for code, _ in listed)
        summaries = await self._pool.each([("HGETALL", each.summary) for each in journals])
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
            await self._pool.ask("ZREM", key, *gone)
        return listings
