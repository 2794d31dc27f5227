"""A replica that follows its journal, and commits to it.

What rooms and tournaments have in common. Nobody owns a journal: a follower subscribes,
reads all, and folds what comes. A command is decided on the replica and appended under the
guard of its version; when another node was faster the append is refused, the replica
catches up and the command is decided anew.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from server.patience import Patience
from server.refusal import Refusal, race_lost, store_away
from server.store import (
    Appended,
    Conflict,
    Denied,
    Entry,
    JournalId,
    Lost,
    Store,
    Unavailable,
)
from server.tally import Tally

log = logging.getLogger("dk.follower")

ATTEMPTS = 20  # at a command that others get in the way of

DENIED: Mapping[str, str] = {
    "not-running": "The race is not running.",
    "early": "The race has not started yet.",
    "late": "The time is up.",
    "done": "Your race is done.",
    "gap": "An earlier play is missing; ask for a snapshot.",
    "missing": "The room is gone.",
    "replaced": "A newer connection of yours is in the room.",
}


def denied(code: str) -> Refusal:
    """Say what a guard of the store means."""
    return Refusal(code, DENIED.get(code, code))


class Replica(Protocol):
    """The state that the entries of a journal are folded into."""

    version: int
    last_line: bytes


R = TypeVar("R", bound=Replica)
E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Batch:
    """Events as they are appended, and what goes with them; see `Journals.append`."""

    payloads: Sequence[bytes]
    ttl_s: int
    sets: Mapping[str, str] = field(default_factory=dict)
    offsets: Mapping[str, int] = field(default_factory=dict)
    not_before: str | None = None
    # The instant at which somebody has to look again, where these events bring it about.
    due: int | None = None
    # Timers of others whom these events concern.
    others: Mapping[str, int] = field(default_factory=dict)


class Follower(ABC, Generic[R, E]):
    """One journal as this node follows it. Subclasses say what its entries mean."""

    def __init__(self, jid: JournalId, timer: str, store: Store, tally: Tally) -> None:
        """`timer` is the member of the store's timers that makes a node look at this."""
        self.jid = jid
        self.failed = False
        self._timer = timer
        self._store = store
        self._tally = tally
        self._news = asyncio.Lock()  # held while the journal is read, never across a send
        self._heard = 0  # the greatest version that a message has named
        self._is_made_anew = True  # the replica is, at first as well: what comes meanwhile waits
        self._tasks: set[asyncio.Task[None]] = set()

    # --- what subclasses say ----------------------------------------------------------

    @property
    @abstractmethod
    def replica(self) -> R:
        """Give the replica that commands are decided on."""

    @abstractmethod
    async def _rebuild(self) -> bool:
        """Make the replica anew from the journal; False where there is none."""

    @abstractmethod
    def _fold(self, entry: Entry) -> None:
        """Fold the next entry in and act on it."""

    @abstractmethod
    def _broken(self) -> None:
        """Tell those who look that the replica cannot go on."""

    @abstractmethod
    def _rolled_back(self, known: int, *, there: bool) -> None:
        """Act on a replica that was made anew, after the store had lost what was known."""

    @abstractmethod
    def _batch(self, events: Sequence[E]) -> Batch:
        """Give what is appended for events decided on the replica."""

    def _committed(self, events: Sequence[E]) -> None:
        """Act on events that this node, and no other, has brought about."""

    async def _outrun(self) -> None:
        """Act on what came before a commit from here, for which a timer is set already."""

    @abstractmethod
    def on_note(self, note: bytes) -> None:
        """Act on a passing note."""

    # --- following --------------------------------------------------------------------

    async def load(self) -> bool:
        """Subscribe, then read everything; False where there is no such journal.

        In this order, so that nothing falls between the reading and the first message.
        """
        await self._store.journals.subscribe(self.jid, self)
        try:
            async with self._news:
                found = await self._make_anew()
            if found and self._heard > self.replica.version:
                await self.catch_up()
        except BaseException:
            self._store.journals.unsubscribe(self.jid, self)
            raise
        if not found:
            self._store.journals.unsubscribe(self.jid, self)
        return found

    async def _make_anew(self) -> bool:
        self._is_made_anew = True
        try:
            return await self._rebuild()
        finally:
            self._is_made_anew = False

    def on_entry(self, entry: Entry) -> None:
        """Fold a message of the journal's channel in, or notice that some are missing."""
        if self.failed:
            return
        version = entry.version
        if version > self._heard:
            self._heard = version
        if self._is_made_anew:
            return
        known = self.replica.version
        if version == known + 1:
            self._take(entry)
        elif version > known and not self._news.locked():
            self.soon(self.catch_up, "catch-up")

    def on_resync(self) -> None:
        """The subscription was interrupted: read what was missed."""
        self.soon(self.catch_up, "resync")

    def _take(self, entry: Entry) -> None:
        try:
            self._fold(entry)
        except Exception:
            # A fault here ends this replica and nothing else; who comes back makes the
            # node read the journal anew.
            log.exception("replica failed", extra={"journal": self.jid})
            self._tally.room_faults += 1
            self.failed = True
            self._broken()

    async def catch_up(self) -> None:
        """Read what the journal has beyond the replica.

        Raises:
            Refusal: the store does not answer.
        """
        async with self._news:
            while True:
                heard = self._heard
                version, line = self.replica.version, self.replica.last_line
                entries = await self._read_from(max(0, version - 1))
                # The last entry known must stand in the journal as it was heard: after a
                # loss inside the store's durability window it does not, and the journal wins.
                if version and (not entries or entries[0].line() != line):
                    await self._roll_back()
                    if self._heard <= self.replica.version or self.failed:
                        return
                    continue
                for entry in entries:
                    if entry.version == self.replica.version + 1:
                        self._take(entry)
                if self._heard == heard:
                    # What was heard of and is not there by now, the store has lost.
                    self._heard = self.replica.version
                if self._heard <= self.replica.version or self.failed:
                    return

    async def _read_from(self, start: int, limit: int | None = None) -> list[Entry]:
        try:
            return await self._store.journals.read(self.jid, start, limit)
        except Unavailable:
            raise store_away() from None

    async def _roll_back(self) -> None:
        log.error("the store lost acknowledged events", extra={"journal": self.jid})
        self._tally.rollbacks += 1
        known = self.replica.version
        self._heard = 0
        there = await self._make_anew()
        self.failed = not there
        self._rolled_back(known, there=there)

    def _say(self, kind: str, value: dict[str, object]) -> None:
        """Pass a note to all nodes that follow this; see `on_note`."""
        self._store.journals.publish(self.jid, msgspec.json.encode((kind, value)))

    # --- committing -------------------------------------------------------------------

    async def commit(
        self, decide: Callable[[R], Sequence[E]], *, actor: tuple[str, int] | None = None
    ) -> bool:
        """Decide and append until nobody was faster; False where there was nothing to do.

        `actor` is the player who asks and the epoch of the connection that does.

        Raises:
            Refusal: what `decide` refuses, or the store does not answer.
        """
        patience = self.patience()
        for _ in range(ATTEMPTS):
            events = decide(self.replica)
            if not events:
                return False
            version = self.replica.version
            batch = self._batch(events)
            if batch.due is not None:
                # Before the event, so that a crash between the two leaves a timer without
                # an event, which does nothing, and never an event without its timer.
                await self.set_timer(batch.due)
            for member, due in batch.others.items():
                await self._set_timer(member, due)
            outcome = await self._store.journals.append(
                self.jid,
                batch.payloads,
                expect=version,
                sets=batch.sets,
                offsets=batch.offsets,
                not_before_field=batch.not_before,
                actor=actor,
                ttl_s=batch.ttl_s,
            )
            match outcome:
                case Appended():
                    first = outcome.version - len(batch.payloads) + 1
                    for number, payload in enumerate(batch.payloads):
                        self.on_entry(Entry(first + number, outcome.at, payload))
                    self._committed(events)
                    return True
                case Conflict():
                    await self.catch_up()
                    await self._outrun()
                case Lost():
                    # Unknown, not undone: the journal tells, then the command is decided
                    # on what it tells, which finds nothing left to do if it was appended.
                    await patience.wait()
                    await self.catch_up()
                    await self._outrun()
                case Denied(code="early"):
                    return False
                case Denied():
                    raise denied(outcome.code)
        raise race_lost()

    def now(self) -> int:
        """Estimate the official time of this journal, in ms."""
        return self._store.journals.now_at(self.jid)

    def patience(self) -> Patience:
        """Begin to count what one request to this journal bears."""
        return Patience(self._store.journals.reach(self.jid))

    async def set_timer(self, due: int) -> None:
        """Have some node look at this at an instant."""
        await self._set_timer(self._timer, due)

    async def _set_timer(self, member: str, due: int) -> None:
        try:
            await self._store.timers.set(member, due)
        except Unavailable:
            raise store_away() from None

    # --- tasks ------------------------------------------------------------------------

    def soon(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        """Do something in a task of its own; what the store does not let it do is put off."""
        self.spawn(self._logged(work), name)

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Own a task, as long as this is followed."""
        task = asyncio.create_task(work, name=f"{self.jid} {name}")
        self._tasks.add(task)
        task.add_done_callback(self._task_done)

    async def _logged(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (Refusal, Unavailable) as error:
            log.warning("put off", extra={"journal": self.jid, "error": str(error)})

    def _task_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("task failed", exc_info=task.exception(), extra={"journal": self.jid})
            self._tally.room_faults += 1

    def unload(self) -> None:
        """Stop following the journal."""
        for task in list(self._tasks):
            task.cancel()
        self._store.journals.unsubscribe(self.jid, self)
