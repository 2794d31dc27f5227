"""Who is connected to a room, over all nodes.

Soft state: every node that has the room open says now and then who is connected to it
there, and at once when that changes. What a node said is forgotten when it has been silent
for a while, so a node that dies leaves nothing behind.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

TELL_EVERY_S = 10.0
ANSWER_S = 0.3  # how long other nodes are given to say who is connected to them
FORGET_AFTER_S = 25.0  # two messages may be lost
LATE_S = 5.0  # a timer that comes so late was held up, and so was all that others said


@dataclass(slots=True)
class _Said:
    players: frozenset[str] = frozenset()
    spectators: int = 0
    heard: float = field(default_factory=time.monotonic)


class Presence:
    """The presence of one room as this node knows it."""

    def __init__(
        self,
        node: str,
        say: Callable[[str, dict[str, object]], None],
        changed: Callable[[], None],
    ) -> None:
        """`say` publishes a note to all nodes, `changed` hears that `here` is another."""
        self._node = node
        self._say = say
        self._changed = changed
        self._players: Counter[str] = Counter()  # connections here
        self._spectators = 0
        self._others: dict[str, _Said] = {}
        self._seen: dict[str, float] = {}  # when a player was last known to be here
        self._since = time.monotonic()
        self._timer: asyncio.TimerHandle | None = None
        self._tell_at = 0.0

    @property
    def here(self) -> frozenset[str]:
        """Players with a live connection somewhere."""
        result = frozenset(self._players)
        for said in self._others.values():
            result |= said.players
        return result

    @property
    def spectators(self) -> int:
        """Spectators on all nodes."""
        return self._spectators + sum(said.spectators for said in self._others.values())

    def enter(self, player: str, *, watching: bool) -> None:
        """Count a connection of this node in."""
        if watching:
            self._spectators += 1
        else:
            self._players[player] += 1
        self.tell()
        self._changed()

    def exit(self, player: str, *, watching: bool) -> None:
        """Count a connection of this node out."""
        if watching:
            self._spectators -= 1
        else:
            self._players[player] -= 1
            if self._players[player] <= 0:
                del self._players[player]
                self._seen[player] = time.monotonic()
        self.tell()
        self._changed()

    def away(self, players: Iterable[str], limit_ms: int) -> list[str]:
        """Give those who have had no connection for so long, as far as this node knows."""
        here, now = self.here, time.monotonic()
        return [
            player
            for player in players
            if player not in here and (now - self._seen.get(player, self._since)) * 1000 >= limit_ms
        ]

    def tell(self) -> None:
        """Say who is connected here, now and every few seconds from now on."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._forget()
        players = sorted(self._players)
        self._say("here", {"node": self._node, "p": players, "spectators": self._spectators})
        if players or self._spectators:
            self._tell_at = time.monotonic() + TELL_EVERY_S
            self._timer = asyncio.get_running_loop().call_later(TELL_EVERY_S, self._tell_again)

    def _tell_again(self) -> None:
        if time.monotonic() > self._tell_at + LATE_S:
            self.start_over()
        else:
            self.tell()

    def start_over(self) -> None:
        """Count from now on who is away: for some time nothing could be heard of anybody."""
        self._since = time.monotonic()
        self._seen.clear()
        for said in self._others.values():
            said.heard = self._since
        self.tell()
        self.ask()

    def ask(self) -> None:
        """Ask the other nodes who is connected there."""
        self._say("who", {})

    def heard(self, value: dict[str, object]) -> None:
        """Take in what a node said."""
        node, players, spectators = value["node"], value["p"], value["spectators"]
        if node == self._node:
            return
        if type(node) is not str or type(players) is not list or type(spectators) is not int:
            raise ValueError("a presence note has node, p and spectators")
        before = self.here, self.spectators
        now = time.monotonic()
        former = self._others.pop(node, _Said())
        for player in former.players:
            self._seen[player] = now
        if players or spectators:
            self._others[node] = _Said(frozenset(map(str, players)), spectators)
        if before != (self.here, self.spectators):
            self._changed()

    def _forget(self) -> None:
        limit = time.monotonic() - FORGET_AFTER_S
        silent = [node for node, said in self._others.items() if said.heard < limit]
        for node in silent:
            for player in self._others[node].players:
                self._seen[player] = self._others[node].heard
            del self._others[node]
        if silent:
            self._changed()

    def close(self) -> None:
        """Say that nobody is connected here any more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._players or self._spectators:
            self._say("here", {"node": self._node, "p": [], "spectators": 0})
