"""Ratings of players by rules, with their history; a match is applied once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from server.store import keys, lua
from server.store.pool import Pool

HISTORY = 200  # changes kept of a player
NAMED = 200  # lines of a leaderboard read at once, at most


@dataclass(frozen=True, slots=True)
class Rated:
    """One player's part of what a match does to the ratings; the texts are the caller's."""

    player: str
    before: str  # "" for none
    after: str
    shown: int  # what the leaderboard is ordered by
    line: str  # of the history


class Ratings:
    """Keeps ratings. What stands in a rating's text is no matter here."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def read(self, rules: str, players: Sequence[str]) -> dict[str, str]:
        """Read players' ratings; those without one are not in it.

        Raises:
            Unavailable: the store does not answer.
        """
        if not players:
            return {}
        found = await self._pool.ask("HMGET", keys.ratings(rules).ratings, *players)
        pairs = zip(players, found, strict=True)
        return {player: text.decode() for player, text in pairs if text is not None}

    async def apply(
        self, rules: str, tournament: str, match: str, rated: Iterable[Rated]
    ) -> bool | None:
        """Write what a match does, all or nothing; True also if it was written before.

        None: a rating is not what it was computed from any more. Errors as in `read`.
        """
        names = keys.ratings(rules)
        parts = list(rated)
        args: list[str | int] = [match, keys.RATING_S, keys.TOURNAMENT_S, HISTORY]
        for each in parts:
            args += [each.player, each.before, each.after, each.shown, each.line]
        reply = await self._pool.run(
            lua.RATE,
            [
                names.ratings,
                names.leaders,
                names.applied(tournament),
                *(names.history(each.player) for each in parts),
            ],
            *args,
        )
        return None if reply < 0 else True

    async def leaders(self, rules: str, start: int, count: int) -> tuple[int, list[str]]:
        """Read how many are rated, and some of them, best first; errors as in `read`."""
        key = keys.ratings(rules).leaders
        total, rows = await self._pool.batch(
            [("ZCARD", key), ("ZRANGE", key, start, start + min(count, NAMED) - 1, "REV")]
        )
        return int(total), [player.decode() for player in rows]

    async def history(self, rules: str, player: str, count: int) -> list[str]:
        """Read the newest lines of a player's history, latest first; errors as in `read`."""
        rows = await self._pool.ask("LRANGE", keys.ratings(rules).history(player), 0, count - 1)
        return [row.decode() for row in rows]
