"""Which tournaments a player is in."""

import asyncio
from collections.abc import Iterable

from server.store import keys, lua
from server.store.pool import Pool

AT_ONCE = 8  # scripts under way of one request
ENTERED = 32  # tournaments remembered of a player; the oldest give way


class Tournaments:
    """Keeps what a player's connections have to know of tournaments."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def enter(self, players: Iterable[str], code: str, now: int) -> None:
        """Remember that players have a place in a tournament.

        Raises:
            Unavailable: the store does not answer.
        """
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
        """Forget that a player has a place in a tournament; errors as in `enter`."""
        await self._pool.ask("ZREM", keys.entered(player), code)

    async def of(self, player: str) -> list[str]:
        """Read the tournaments in which a player has a place, the newest first."""
        return [
            code.decode()
            for code in await self._pool.ask("ZRANGE", keys.entered(player), 0, ENTERED - 1, "REV")
        ]

    async def engage(self, players: Iterable[str], code: str, over: str = "") -> dict[str, str]:
        """Note that players play in a tournament; gives those who play in another, and which.

        What is noted of the tournament `over` does not stand any more. Errors as in `enter`.
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
