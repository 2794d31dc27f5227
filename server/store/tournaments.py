"""The list of tournaments, and which ones a player is in."""

import asyncio
from collections.abc import Iterable

from server.store import keys, lua
from server.store.directory import Listing
from server.store.errors import Unavailable
from server.store.pool import Pool

LISTED = 2_000  # tournaments kept in the list; the oldest give way
AT_ONCE = 8  # scripts under way of one request
ENTERED = 32  # tournaments remembered of a player; the oldest give way


class Tournaments:
    """Lists tournaments, and keeps what a player's connections have to know of them."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    # --- the list ---------------------------------------------------------------------

    async def enlist(self, code: str, opened: int) -> None:
        """List a tournament whose journal exists; again is the same.

        Raises:
            Unavailable: the store does not answer.
        """
        await self._pool.batch(
            [
                ("ZADD", keys.PROGRAMME, opened, code),
                ("ZREMRANGEBYSCORE", keys.PROGRAMME, "-inf", opened - keys.TOURNAMENT_S * 1000),
                ("ZREMRANGEBYRANK", keys.PROGRAMME, 0, -LISTED - 1),
                ("EXPIRE", keys.PROGRAMME, keys.TOURNAMENT_S),
            ]
        )

    async def newest(self, limit: int) -> list[Listing]:
        """Read the newest tournaments; those that are gone are taken off on the way.

        Raises:
            Unavailable: the store does not answer.
        """
        rows = await self._pool.ask("ZRANGE", keys.PROGRAMME, 0, limit - 1, "REV", "WITHSCORES")
        listed = [(code.decode(), int(opened)) for code, opened in rows]
        summaries = await self._pool.each(
            [("HGETALL", keys.journal(keys.tournament(code)).summary) for code, _ in listed]
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
            await self._pool.ask("ZREM", keys.PROGRAMME, *gone)
        return listings

    # --- players ----------------------------------------------------------------------

    async def enter(self, players: Iterable[str], code: str, now: int) -> None:
        """Remember that players have a place in a tournament; errors as in `enlist`."""
        commands: list[tuple[str | int, ...]] = []
        for player in players:
            key = keys.entered(player)
            commands += [
                ("ZADD", key, now, code),
                ("ZREMRANGEBYRANK", key, 0, -ENTERED - 1),
                ("EXPIRE", key, keys.PLAYER_S),
            ]
        await self._pool.batch(commands)

    async def leave(self, player: str, code: str) -> None:
        """Forget that a player has a place in a tournament; errors as in `enlist`."""
        await self._pool.ask("ZREM", keys.entered(player), code)

    async def of(self, player: str) -> list[str]:
        """Read the tournaments in which a player has a place, the newest first."""
        return [
            code.decode()
            for code in await self._pool.ask("ZRANGE", keys.entered(player), 0, ENTERED - 1, "REV")
        ]

    async def engage(self, players: Iterable[str], code: str, over: str = "") -> dict[str, str]:
        """Note that players play in a tournament; gives those who play in another, and which.

        What is noted of the tournament `over` does not stand any more. Errors as in `enlist`.
        """
        wanted = list(players)
        stand: list[bytes] = []
        # A few at a time: a whole field at once would leave no connection for anybody else.
        for first in range(0, len(wanted), AT_ONCE):
            some = wanted[first : first + AT_ONCE]
            stand += await asyncio.gather(
                *(self._pool.run(lua.ENGAGE, [keys.player(each)], code, over) for each in some)
            )
        return {
            player: held.decode()
            for player, held in zip(wanted, stand, strict=True)
            if held.decode() != code
        }
