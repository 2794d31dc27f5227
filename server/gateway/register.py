"""Who is connected, what was counted, and what all connections of a gateway share."""

from asyncio import AbstractEventLoop, Event, Task
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Protocol

from server.gateway.limits import Count, Limits, Proxies
from server.gateway.pages import Answer, PageRequest
from wire.messages import Close

if TYPE_CHECKING:
    from server.gateway.door import Door
    from server.gateway.peer import Peer

KNOWN_CODES = frozenset({*Close, 1005, 1006})


class Handler(Protocol):
    """What serves one connection.

    A handler may also have a method `writable()`, called when a slow peer has caught up.
    """

    def received(self, data: bytes) -> None:
        """Take one whole binary message."""

    def closed(self, code: int) -> None:
        """Take the end of the connection, exactly once: 1006 is a line that broke."""


@dataclass
class Tally:
    """Counts since the start, for metrics."""

    opened: int = 0
    messages_in: int = 0
    messages_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    closed: Counter[int] = field(default_factory=Counter)  # by close code, 0 for unknown ones
    refused: Counter[str] = field(default_factory=Counter)  # by reason
    answered: Counter[int] = field(default_factory=Counter)  # pages by status
    # The state now:
    open: int = 0
    waiting: int = 0
    slow: int = 0


@dataclass
class Register:
    """The settings and the living connections of one gateway."""

    loop: AbstractEventLoop
    connect: Callable[["Peer"], Handler]
    stand: Callable[[str], Callable[["Peer"], Handler] | None]
    page: Callable[[PageRequest], Awaitable[Answer | None]]
    limits: Limits
    origins: Sequence[str | None] | None
    proxies: Proxies
    peer_type: type["Peer"]
    draining: bool = False  # no websocket is let in
    closed: bool = False  # nobody is let in
    doors: set["Door"] = field(default_factory=set)
    peers: set["Peer"] = field(default_factory=set)
    tasks: set[Task[None]] = field(default_factory=set)  # pages being made
    ids: "count[int]" = field(default_factory=lambda: count(1))
    past: Tally = field(default_factory=Tally)  # of connections that have ended
    empty: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        limits = self.limits
        self.open = Count(limits.connections, limits.connections_per_address)
        self.waiting = Count(limits.waiting, limits.waiting_per_address)
        self.empty.set()

    def enter(self, peer: "Peer") -> None:
        """Note a websocket that has opened."""
        self.peers.add(peer)
        self.open.join(peer.address)
        self.past.opened += 1
        self.empty.clear()

    def leave(self, peer: "Peer", code: int) -> None:
        """Note a websocket that has ended."""
        self.peers.remove(peer)
        self.open.leave(peer.address)
        # A client may choose among thousands of codes; metrics should not grow with them.
        self.past.closed[code if code in KNOWN_CODES else 0] += 1
        self._add(self.past, peer)
        if not self.peers:
            self.empty.set()

    def tally(self) -> Tally:
        """Return the counts so far, living connections included."""
        past = self.past
        now = replace(
            past,
            closed=Counter(past.closed),
            refused=Counter(past.refused),
            answered=Counter(past.answered),
        )
        for peer in self.peers:
            self._add(now, peer)
            now.slow += peer.is_slow
        now.open, now.waiting = self.open.total, self.waiting.total
        return now

    @staticmethod
    def _add(tally: Tally, peer: "Peer") -> None:
        tally.messages_in += peer.messages_in
        tally.messages_out += peer.messages_out
        tally.bytes_in += peer.bytes_in
        tally.bytes_out += peer.bytes_out
