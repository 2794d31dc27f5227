"""The webhook of a tournament: where to, with what secret, and how far it has been told.

Kept apart from the journal and its summary, which others may see.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from server.store import keys, lua
from server.store.pool import Pool

ALL_PARTS = 1_000_000  # more than an entry makes


@dataclass(frozen=True, slots=True)
class Hook:
    """One tournament's webhook."""

    url: str
    secret: str
    kinds: frozenset[str]
    version: int  # the journal's entry that was told last, and all before it
    part: int  # the notice of that entry that was told last
    tries: int = 0  # at the next one that have failed
    since: int = 0  # the instant of the first of them


class Hooks:
    """Keeps one webhook for each tournament."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def keep(
        self, code: str, url: str, secret: str, kinds: Sequence[str], version: int
    ) -> None:
        """Keep a webhook in place of any former one, to be told what follows `version`.

        Raises:
            Unavailable: the store does not answer.
        """
        fields = {
            "url": url,
            "secret": secret,
            "kinds": ",".join(kinds),
            "version": str(version),
            "part": str(ALL_PARTS),
            "tries": "0",
            "since": "0",
        }
        flat = [text for pair in fields.items() for text in pair]
        await self._pool.ask("HSET", keys.hook(code), *flat)
        await self._pool.ask("EXPIRE", keys.hook(code), keys.TOURNAMENT_S)

    async def get(self, code: str) -> Hook | None:
        """Read a tournament's webhook; errors as in `keep`."""
        found = await self._pool.ask("HGETALL", keys.hook(code))
        texts = {name.decode(): value.decode() for name, value in found.items()}
        if "url" not in texts:
            return None
        return Hook(
            url=texts["url"],
            secret=texts["secret"],
            kinds=frozenset(filter(None, texts["kinds"].split(","))),
            version=int(texts["version"]),
            part=int(texts["part"]),
            tries=int(texts["tries"]),
            since=int(texts["since"]),
        )

    async def told(self, code: str, version: int, part: int) -> None:
        """Note how far it has been told; nothing for one that is gone; errors as in `keep`."""
        await self._amend(code, version=version, part=part, tries=0, since=0)

    async def failed(self, code: str, tries: int, since: int) -> None:
        """Note that telling has failed; as `told` does."""
        await self._amend(code, tries=tries, since=since)

    async def drop(self, code: str) -> None:
        """Forget a tournament's webhook; errors as in `keep`."""
        await self._pool.ask("DEL", keys.hook(code))

    async def _amend(self, code: str, **fields: int) -> None:
        pairs = [text for name, value in fields.items() for text in (name, str(value))]
        await self._pool.run(lua.AMEND, [keys.hook(code)], *pairs)
