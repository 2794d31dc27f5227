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
    enrolled: str = ""  # the tournament whose organiser made this player, and gave the token out
    epoch: int = 0  # how many connections there have been; the newest one speaks


class Players:
    """Creates players and finds them again."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def create(
        self, name: str, bot: bool = False, *, enrolled: str = ""
    ) -> tuple[Player, str]:
        """Create a player; the token with it is the only way back.

        `enrolled` is the code of the tournament whose organiser does so, who may `renew` it.

        Raises:
            Unavailable: the store does not answer.
        """
        token = secrets.token_urlsafe(32)
        token_hash = _hash(token)
        for _ in range(_TRIES):
            player_id = "".join(secrets.choice(ID_LETTERS) for _ in range(ID_LENGTH))
            player = Player(player_id, name, bot, enrolled=enrolled)
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
                "enrolled",
                enrolled,
            ):
                await self._pool.ask("SET", keys.token(token_hash), player.id, "EX", keys.PLAYER_S)
                return player, token
        raise Unavailable("no free player id was found")

    async def find(self, token: str) -> Player | None:
        """Find the player of a token.

        Raises:
            Unavailable: the store does not answer.
        """
        token_hash = _hash(token)
        player_id = await self._pool.ask("GET", keys.token(token_hash))
        if player_id is None:
            return None
        texts = await self._record(player_id.decode())
        # A token that another one has replaced may still lead here.
        is_current = texts.get("token") == token_hash
        return _player(player_id.decode(), texts) if is_current else None

    async def get(self, player_id: str) -> Player | None:
        """Read a player's record; errors as in `find`."""
        texts = await self._record(player_id)
        return _player(player_id, texts) if texts else None

    async def _record(self, player_id: str) -> dict[str, str]:
        fields = await self._pool.ask("HGETALL", keys.player(player_id))
        return {name.decode(): value.decode() for name, value in fields.items()}

    async def renew(self, player_id: str, enrolled: str) -> str | None:
        """Give a player another token, and let the former one lead nowhere from now on.

        None where the player was not made by the organiser of the tournament `enrolled`.

        Raises:
            Unavailable: the store does not answer; the former token may be dead already.
        """
        token = secrets.token_urlsafe(32)
        token_hash = _hash(token)
        # First, as in `create`: which token counts is the record's to say.
        await self._pool.ask("SET", keys.token(token_hash), player_id, "EX", keys.PLAYER_S)
        former = await self._pool.run(lua.RENEW, [keys.player(player_id)], enrolled, token_hash)
        useless = token_hash if former is None else former.decode()
        if former is None or useless != token_hash:
            await self._pool.ask("DEL", keys.token(useless))
        return token if former is not None else None

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


def _player(player_id: str, texts: dict[str, str]) -> Player:
    return Player(
        id=player_id,
        name=texts["name"],
        bot=texts["bot"] == "1",
        room=texts.get("room") or None,
        role=texts.get("role", ""),
        enrolled=texts.get("enrolled", ""),
        epoch=int(texts["epoch"]),
    )
