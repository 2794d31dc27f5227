"""The channels that are heard over a line, through all its connections.

A store confirms a subscription in the order of the commands; from there on nothing is
missed. So whoever keeps a copy reads what may be missing when it hears of the gap.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hiredis import ReplyError

from server.store.connection import ASTRAY, Connection, Guide
from server.store.errors import Lost

AGAIN_S = 0.25  # until a channel that is another store's by now is asked for again

OnMessage = Callable[[bytes], None]
OnGap = Callable[[], None]


@dataclass(frozen=True, slots=True)
class _Ears:
    on_message: OnMessage
    on_gap: OnGap


class Channels:
    """What is heard, whichever connection there is just now."""

    def __init__(self, guide: Guide | None) -> None:
        self._guide = guide
        self._ears: dict[bytes, _Ears] = {}
        self._connection: Connection | None = None

    def add(self, name: bytes, on_message: OnMessage, on_gap: OnGap) -> None:
        """Hear a channel with the next connection, and with this one once it is asked for.

        `on_gap` is called whenever messages may have been missed, and none are from there on.
        """
        self._ears[name] = _Ears(on_message, on_gap)

    def remove(self, name: bytes) -> None:
        """Stop hearing a channel."""
        if self._ears.pop(name, None) is not None and self._connection is not None:
            self._connection.unsubscribe(name)

    def rise(self, connection: Connection) -> None:
        """Ask for all of them over a new connection."""
        self._connection = connection
        for name in self._ears:
            self.ask(name)

    def fall(self) -> None:
        """Do without a connection."""
        self._connection = None

    def ask(self, name: bytes) -> None:
        """Ask for a channel; where there is no connection the next one does it."""
        if name in self._ears and self._connection is not None:
            self._connection.send(("SSUBSCRIBE", name), lambda reply: self._asked(name, reply))

    def _asked(self, name: bytes, reply: Any) -> None:
        ears = self._ears.get(name)
        if isinstance(reply, ReplyError):
            if self._guide is not None and str(reply).startswith(ASTRAY):
                # It goes to another line when it is known which; till then this one tries.
                self._guide.doubt()
                asyncio.get_running_loop().call_later(AGAIN_S, self.ask, name)
            elif self._connection is not None:
                self._connection.abort(f"the store refuses a subscription: {reply}")
        elif ears is not None and not isinstance(reply, Lost):
            ears.on_gap()

    def ended(self, name: bytes) -> None:
        """Act on the store's word that a channel is not its own any more."""
        if name in self._ears:
            if self._guide is not None:
                self._guide.doubt()
            self.ask(name)

    def message(self, name: bytes, message: bytes) -> None:
        """Hand a message on."""
        ears = self._ears.get(name)
        if ears is not None:
            ears.on_message(message)
