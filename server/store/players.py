"""Who somebody is: a record and a secret token that leads to it.

The token itself is given out once and kept nowhere; its SHA-256 is.
"""

import hashlib
import secrets
from dataclasses import dataclass

from server.store import keys, lua
from server.store.errors import Missing, Unavailable
from server.store.pool import Pool

# No 0/o, 1/l/i: ids are read aloud now and then.
ID_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
ID_LENGTH = 8
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Player:
    """A player's record."""

    id: str
    name: str
    bot: bool = False
    room: str | None = None
    role: str = ""  # in that room
    epoch: int = 0  # how many connections there have been; the newest one speaks


class Players:
    """Creates players and finds them again."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def create(self, name: str, bot: bool = False) -> tuple[Player, str]:
        """Create a player; the token with it is the only way back.

        Raises:
            Unavailable: the store does not answer.
        """
        token = secrets.token_urlsafe(32)
        token_hash = _hash(token)
        for _ in range(_TRIES):
            player = Player(
                "".join(secrets.choice(ID_LETTERS) for _ in range(ID_LENGTH)), name, bot
            )
            # The record first: a token never leads nowhere, and a record without one expires.
            if await self._pool.run(
                lua.ENROL,
                [keys.player(player.id)],
                keys.PLAYER_S,
                token_hash,
                "name",
                name,
                "bot",
                int(bot),
            ):
                await self._pool.ask("SET", keys.token(token_hash), player.id, "EX", keys.PLAYER_S)
                return player, token
        raise Unavailable("no free player id was found")

    async def find(self, token: str) -> Player | None:
        """Find the player of a token.

        Raises:
            Unavailable: the store does not answer.
        """
        player_id = await self._pool.ask("GET", keys.token(_hash(token)))
        return None if player_id is None else await self.get(player_id.decode())

    async def get(self, player_id: str) -> Player | None:
        """Read a player's record; errors as in `find`."""
        fields = await self._pool.ask("HGETALL", keys.player(player_id))
        if not fields:
            return None
        texts = {name.decode(): value.decode() for name, value in fields.items()}
        return Player(
            id=player_id,
            name=texts["name"],
            bot=texts["bot"] == "1",
            room=texts.get("room") or None,
            role=texts.get("role", ""),
            epoch=int(texts["epoch"]),
        )

    async def connect(self, player_id: str, run: str = "", line: int = 0) -> int:
        """Count a new connection; its number is greater than that of every earlier one.

        `run` and `line` are how the client counts its own connections: 0 comes back for one
        that is older than another of the same run.

        Raises:
            Missing: there is no such player.
            Unavailable: the store does not answer.
        """
        reply = await self._pool.run(
            lua.CONNECT, [keys.player(player_id)], keys.PLAYER_S, run, line
        )
        if reply is None:
            raise Missing(f"there is no player {player_id}")
        epoch, token_hash = reply
        await self._pool.ask("EXPIRE", keys.token(token_hash.decode()), keys.PLAYER_S)
        return int(epoch)

    async def rename(self, player_id: str, name: str) -> None:
        """Give a player another name; errors as in `connect`."""
        await self._amend(player_id, "name", name)

    async def set_room(self, player_id: str, code: str | None, role: str = "") -> None:
        """Note the room a player is in, to be led back there; errors as in `connect`."""
        await self._amend(player_id, "room", code or "", "role", role if code else "")

    async def _amend(self, player_id: str, *pairs: str) -> None:
        if not await self._pool.run(lua.AMEND, [keys.player(player_id)], *pairs):
            raise Missing(f"there is no player {player_id}")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
