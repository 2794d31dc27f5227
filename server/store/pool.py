"""Requests off the hot path, each to the store that has its key.

Every request made through here has the same effect when it is made twice; see `Client`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from server.store.client import Elsewhere, Refused
from server.store.connection import HOPS, Arg
from server.store.errors import Unavailable
from server.store.lua import Script
from server.store.shard import Shard, Shards


class Pool:
    """Runs commands whose first argument is their key, and scripts whose keys go together."""

    def __init__(self, shards: Shards, refused: Callable[[], None]) -> None:
        """`refused` hears whenever a store answers and will not."""
        self._shards = shards
        self._refused = refused

    def is_up(self, key: str) -> bool:
        """Tell whether the store that has a key answers, as far as is known."""
        return self._shards.of(key).line.up

    async def ask(self, *args: Arg) -> Any:
        """Run a command.

        Raises:
            Unavailable: the store does not answer, or refuses.
        """
        try:
            return await self._heard(self._shards.of(str(args[1])).client.ask(*args))
        except Elsewhere as elsewhere:
            return await self._led(elsewhere, args)

    async def run(self, script: Script, keys: Sequence[str], *args: Arg) -> Any:
        """Run a script; errors as in `ask`."""
        try:
            return await self._heard(self._shards.of(keys[0]).client.run(script, keys, *args))
        except Elsewhere as elsewhere:
            return await self._led(elsewhere, ("EVAL", script.text, len(keys), *keys, *args))

    async def batch(self, commands: Sequence[tuple[Arg, ...]]) -> list[Any]:
        """Run commands together, though not as one; errors as in `ask`."""
        replies = await self._each(commands)
        for reply in replies:
            if isinstance(reply, Unavailable):
                raise reply
        return replies

    async def each(self, commands: Sequence[tuple[Arg, ...]]) -> list[Any]:
        """Run commands together; one that cannot be run just now has its Unavailable for a reply.

        Raises:
            Unavailable: that is so for all of them.
        """
        replies = await self._each(commands)
        if replies and all(isinstance(reply, Unavailable) for reply in replies):
            raise replies[0]
        return replies

    async def _each(self, commands: Sequence[tuple[Arg, ...]]) -> list[Any]:
        places: dict[Shard, list[int]] = {}
        for place, command in enumerate(commands):
            places.setdefault(self._shards.of(str(command[1])), []).append(place)
        replies: list[Any] = [None] * len(commands)

        async def fill(shard: Shard, places: Sequence[int]) -> None:
            part = [commands[place] for place in places]
            for place, reply in zip(places, await self._part(shard, part), strict=True):
                replies[place] = reply

        await asyncio.gather(*(fill(shard, each) for shard, each in places.items()))
        return replies

    async def _part(self, shard: Shard, commands: Sequence[tuple[Arg, ...]]) -> list[Any]:
        try:
            replies: list[Any] = await self._heard(shard.client.batch(commands))
            return replies
        except Elsewhere:
            return list(await asyncio.gather(*(self._tried(command) for command in commands)))
        except Unavailable as error:
            return [error] * len(commands)

    async def _tried(self, command: tuple[Arg, ...]) -> Any:
        try:
            return await self.ask(*command)
        except Unavailable as error:
            return error

    async def _heard(self, request: Awaitable[Any]) -> Any:
        try:
            return await request
        except Refused:
            self._refused()
            raise

    async def _led(self, elsewhere: Elsewhere, command: tuple[Arg, ...]) -> Any:
        for _ in range(HOPS):
            shard = await self._shards.led(elsewhere)
            if shard is None:
                break
            try:
                if elsewhere.asking:
                    return (await self._heard(shard.client.batch([("ASKING",), command])))[1]
                return await self._heard(shard.client.ask(*command))
            except Elsewhere as further:
                elsewhere = further
        raise elsewhere
