"""A Cluster: one line for each master, and the slots that lead to it.

When a master is replaced its line goes on to the replica that took over its slots, as a
line does whose store has come up elsewhere. When slots move, their keys and channels are
served over other lines from then on.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from server.store.address import Address, Site
from server.store.client import Client, Elsewhere, Refused, fixed
from server.store.connection import Arg, Connection, Done, Limits
from server.store.errors import Lost, Unavailable, Unfit, Unreachable
from server.store.line import Line
from server.store.lua import Script
from server.store.shard import SCRIPTS, OnChange, OnState, Shard, impatient
from server.store.slots import SLOTS, Place, View, is_ok, read_view, slot_of
from server.store.survey import survey

log = logging.getLogger(__name__)

T = TypeVar("T")

ASKED = 5  # members at once; the best answer counts
LOOK_EVERY_S = 0.1  # at most


class Member(Shard):
    """The shard of one master, whichever process that is."""

    def __init__(self, address: Address, cluster: "Cluster", limits: Limits) -> None:
        self.address = address
        self.is_retired = False
        self._cluster = cluster
        line = Line(self._where, SCRIPTS, limits, fit=self._fit, guide=cluster)
        super().__init__(line, Client(self._last_known))

    @property
    def place(self) -> Place:
        """Give the host and port of the master."""
        return self.address.host, self.address.port

    def move(self, address: Address) -> None:
        """Go on to the master that has taken over the slots."""
        self.address = address
        self.line.leave("its slots have another master now")
        self.client.doubt()

    async def _where(self) -> Address:
        await self._cluster.look()
        if self.is_retired:
            raise ConnectionError("it has no slots any more")
        return self.address

    async def _last_known(self) -> Address:
        # The line is the one that looks: it notices first, and the client must not be held up.
        return self.address

    @staticmethod
    async def _fit(connection: Connection) -> None:
        if not is_ok(await connection.ask("CLUSTER", "INFO")):
            raise ConnectionError("the Cluster is down, or this member is cut off from it")


class Cluster:
    """The shards of a Cluster, and who serves what."""

    def __init__(self, site: Site, limits: Limits | None) -> None:
        self._site = site
        self._limits = impatient(limits)
        self._members: list[Member] = []
        self._by_slot: list[Member] = []
        self._known: dict[Place, Client] = {}  # to be asked when no line is up
        self._looking: asyncio.Task[None] | None = None
        self._looked_at = float("-inf")
        self._failure: Exception = Unavailable("nobody was asked")
        self._on_state: list[OnState] = []
        self._on_change: list[OnChange] = []
        self._retiring: set[asyncio.Task[None]] = set()
        self._closing = False

    # --- who serves what --------------------------------------------------------------

    def of(self, key: str) -> Shard:
        """Give the shard of a key."""
        return self._by_slot[slot_of(key)]

    def all(self) -> Sequence[Shard]:
        """Give every shard."""
        return self._members

    async def led(self, elsewhere: Elsewhere) -> Shard | None:
        """Give the shard that another one has named; None if it is unknown."""
        if not elsewhere.asking:
            await self.look()
        return self._at(elsewhere.to)

    def lead(
        self, word: str, args: tuple[Arg, ...], done: Done, script: Script | None, hops: int
    ) -> None:
        """Send a command to the member that the store has named; see `Guide`."""
        kind, _, rest = word.partition(" ")
        target = self._at(rest.rpartition(" ")[2])
        if kind == "MOVED":
            self.doubt()
        if kind == "TRYAGAIN" or target is None:
            done(Lost(sent=False))
        else:
            target.line.lead(args, done, script, hops, asking=kind == "ASK")

    def doubt(self) -> None:
        """Look anew at who serves what; see `Guide`."""
        if not self._closing:
            self._begin_look()

    def _at(self, label: str) -> Member | None:
        return next((each for each in self._members if each.address.label() == label), None)

    # --- looking ----------------------------------------------------------------------

    async def look(self) -> None:
        """Find out who serves what; it stays as it was where nobody answers."""
        if self._closing:
            raise ConnectionError("the store is closed")
        await asyncio.shield(self._begin_look())

    def _begin_look(self) -> "asyncio.Task[None]":
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="cluster look")
        return self._looking

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._looked_at + LOOK_EVERY_S - loop.time()))
        self._looked_at = loop.time()
        up = [each for each in self._members if each.line.up]
        views = await self._views([self._by_line(each) for each in _some(up)])
        if not views:
            views = await self._views([self._by_client(place) for place in _some([*self._known])])
        if views and not self._closing:
            self._adopt(max(views, key=lambda view: view.rank))

    async def _views(self, asking: list[Awaitable[View]]) -> list[View]:
        views, errors = await survey(asking)
        if errors:
            self._failure = errors[-1]
        if views and not any(view.masters for view in views):
            self._failure = Unavailable("no slots are given to its members yet")
        return [view for view in views if view.masters]

    async def _by_line(self, member: Member) -> View:
        return await _view(member.line.ask, member.place)

    async def _by_client(self, place: Place) -> View:
        return await _view(self._known[place].ask, place)

    # --- taking in --------------------------------------------------------------------

    def _adopt(self, view: View) -> None:
        placed = self._placed(view)
        anyone = next(iter(placed.values()))
        # What nobody serves just now stays with the one that did, or with anyone.
        by_slot = [anyone if each.is_retired else each for each in self._by_slot]
        by_slot = by_slot or [anyone] * SLOTS
        for place, ranges in view.masters.items():
            for slots in ranges:
                by_slot[slots.start : slots.stop] = [placed[place]] * len(slots)
        is_news = bool(self._by_slot) and by_slot != self._by_slot
        self._by_slot, self._members = by_slot, list(placed.values())
        self._remember({*view.masters, *view.replicas})
        if is_news:
            log.warning("slots of the store have another master now")
            for callback in tuple(self._on_change):
                callback()

    def _placed(self, view: View) -> dict[Place, Member]:
        """Give a member to each master: its own, that of the one it replaces, or a new one."""
        placed = {each.place: each for each in self._members if each.place in view.masters}
        orphans = [each for each in self._members if each.place not in view.masters]
        for place, ranges in view.masters.items():
            if place in placed:
                continue
            address = self._site.master.at(*place)
            heir = self._predecessor(ranges, orphans)
            if heir is None:
                placed[place] = self._new(address)
            else:
                orphans.remove(heir)
                heir.move(address)
                placed[place] = heir
        for orphan in orphans:
            orphan.is_retired = True
            self._close_soon(orphan.close())
        return placed

    def _predecessor(self, ranges: list[range], orphans: list[Member]) -> Member | None:
        """Give the orphan that had most of these slots."""
        had = Counter(self._by_slot[slot] for slots in ranges for slot in slots if self._by_slot)
        return max(
            (each for each in orphans if had[each]), key=lambda each: had[each], default=None
        )

    def _new(self, address: Address) -> Member:
        member = Member(address, self, self._limits)
        member.line.on_state(self._state)
        member.line.begin()
        return member

    def _remember(self, places: set[Place]) -> None:
        doors = {(door.host, door.port) for door in self._site.doors}
        for place in places - self._known.keys():
            self._known[place] = Client(fixed(self._site.master.at(*place)))
        for place in self._known.keys() - places - doors:
            self._close_soon(self._known.pop(place).close())

    # --- life -------------------------------------------------------------------------

    def on_state(self, callback: OnState) -> None:
        """Call `callback(up)` when the line to any master comes up or goes down."""
        self._on_state.append(callback)

    def on_change(self, callback: OnChange) -> None:
        """Call `callback()` when slots are served over other lines than before."""
        self._on_change.append(callback)

    def _state(self, up: bool) -> None:
        for callback in tuple(self._on_state):
            callback(up)

    async def open(self, patience_s: float) -> None:
        """Find the masters and keep lines to them up from now on; see `Shards.open`."""
        self._remember({(door.host, door.port) for door in self._site.doors})
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience_s
        while not self._members:
            await self.look()
            if not self._members and isinstance(self._failure, Refused):
                raise Unfit(f"{self._site.label()}: {self._failure}")
            if not self._members and loop.time() > deadline:
                raise Unreachable(f"{self._site.label()}: {self._failure}")
        waits = [each.line.wait_first(deadline - loop.time()) for each in self._members]
        failures = [
            error
            for error in await asyncio.gather(*waits, return_exceptions=True)
            if error is not None
        ]
        for error in failures:
            if not isinstance(error, Unreachable) or len(failures) == len(waits):
                raise error
            log.warning("a part of the store is away: %s", error)

    async def close(self) -> None:
        """Give everything up."""
        self._closing = True
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        clients = [client.close() for client in self._known.values()]
        await asyncio.gather(*(each.close() for each in self._members), *clients, *self._retiring)

    def _close_soon(self, closing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(closing, name="cluster farewell")
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)


async def _view(ask: Callable[..., Awaitable[Any]], place: Place) -> View:
    slots, info = await asyncio.gather(ask("CLUSTER", "SLOTS"), ask("CLUSTER", "INFO"))
    return read_view(slots, info, place)


def _some(choices: list[T]) -> list[T]:
    return random.sample(choices, min(ASKED, len(choices)))
