"""The nodes that are alive, for whoever looks after them; nothing is decided by it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from server.store import keys
from server.store.errors import Unavailable
from server.store.pool import Pool


@dataclass(frozen=True, slots=True)
class Node:
    """A node and what it says of itself."""

    id: str
    beat: int  # ms, when it was last heard
    about: dict[str, str]


class Nodes:
    """Keeps the signs of life of nodes; one that is silent for `keys.NODE_S` is not listed."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def beat(self, node_id: str, now: int, about: Mapping[str, str]) -> None:
        """Give a sign of life.

        Raises:
            Unavailable: the store does not answer.
        """
        await self._pool.batch(
            [
                ("SET", keys.node(node_id), json.dumps(dict(about)), "EX", keys.NODE_S),
                ("ZADD", keys.NODES, now, node_id),
                ("EXPIRE", keys.NODES, keys.NODES_S),
            ]
        )

    async def leave(self, node_id: str) -> None:
        """Go; errors as in `beat`."""
        await self._pool.batch([("DEL", keys.node(node_id)), ("ZREM", keys.NODES, node_id)])

    async def live(self) -> list[Node]:
        """List the nodes that are alive; the dead are forgotten; errors as in `beat`."""
        rows = await self._pool.ask("ZRANGE", keys.NODES, 0, -1, "WITHSCORES")
        beats = {node_id.decode(): int(beat) for node_id, beat in rows}
        texts = await self._pool.each([("GET", keys.node(node_id)) for node_id in beats])
        nodes, dead = [], []
        for (node_id, beat), text in zip(beats.items(), texts, strict=True):
            if text is None:
                dead.append(node_id)
            elif not isinstance(text, Unavailable):  # else nothing is known of it just now
                nodes.append(Node(node_id, beat, json.loads(text)))
        if dead:
            await self._pool.ask("ZREM", keys.NODES, *dead)
        return nodes
