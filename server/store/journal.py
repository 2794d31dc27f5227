"""Append-only journals: the record of rooms and tournaments, and news of what is added.

Everything a node holds of a room is a copy of its journal. An append is one script that
checks its guard against what the store holds; two nodes can never both be right.

How a copy is kept: `subscribe` first, then `read`, then fold what `on_entry` brings.
Entries may come twice (once more by the answer to an own append) and, after a broken
line, not at all: go by their versions, read the gap when one is missing, and on
`on_resync` always read from the version before the last one known. If the entry there
is not the same as the copy's, or the journal is shorter, the store has lost what it had
acknowledged, and the copy must be made anew.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from msgspec import Struct

from server.store import keys, lua
from server.store.channels import OnGap, OnMessage
from server.store.clock import Clock
from server.store.connection import Arg
from server.store.errors import Lost, Missing, Unavailable
from server.store.keys import JournalId
from server.store.line import Line
from server.store.shard import OnState, Shards

log = logging.getLogger(__name__)

LOOK_AGAIN_S = 1.0
PAGE = 2_000  # entries read by one command, so that a long journal delays nobody
ATTACHED = b"attached "


class Entry(Struct, frozen=True):
    """One event of a journal."""

    version: int  # its place, from 1
    at: int  # official time in ms
    payload: bytes

    def line(self) -> bytes:
        """Give the bytes that the journal holds."""
        return b"%d %s" % (self.at, self.payload)


class Appended(Struct, frozen=True):
    """The events are in the journal; the version is that of the last one."""

    version: int
    at: int


class Conflict(Struct, frozen=True):
    """Nothing was appended: the journal is at another version; decide again.

    A version below the one expected means that the store lost entries.
    """

    version: int


class Denied(Struct, frozen=True):
    """Nothing was appended, because of a guard; `n` is the player's last play number.

    Codes: not-running, early, late, replaced, repeat, gap, done, missing.
    """

    code: str
    n: int


ActOutcome = Appended | Denied | Lost
Outcome = Appended | Conflict | Denied | Lost


class Listener(Protocol):
    """Hears what happens in one journal. Called from the event loop; must not block."""

    def on_entry(self, entry: Entry) -> None:
        """Take in an entry that was appended by any node, this one included."""

    def on_note(self, note: bytes) -> None:
        """Take in something said to everybody that is not in the journal."""

    def on_resync(self) -> None:
        """Learn that entries and notes may have been missed: read the gap."""


class Reach:
    """What holds one journal, as something to wait for."""

    def __init__(self, journals: "Journals", jid: JournalId) -> None:
        self._journals = journals
        self._jid = jid

    async def wait_up(self, limit_s: float) -> bool:
        """Wait until it answers; False if it does not within `limit_s`."""
        return await self._journals.wait_up(self._jid, limit_s)


class Journals:
    """Reads, appends to and listens to journals."""

    def __init__(self, shards: Shards, refused: Callable[[], None]) -> None:
        """`refused` hears of each append that the store would not take in."""
        self._shards = shards
        self._refused = refused
        # Made anew with each change: a listener may go while it is called.
        self._listeners: dict[JournalId, tuple[Listener, ...]] = {}
        self._heard_on: dict[JournalId, Line] = {}
        self._on_state: list[OnState] = []
        shards.on_state(self._state)
        shards.on_change(self._follow)

    # --- state ------------------------------------------------------------------------

    @property
    def up(self) -> bool:
        """Tell whether the store answers, or at least a part of it, as far as is known."""
        return any(shard.line.up for shard in self._shards.all())

    def is_up(self, jid: JournalId) -> bool:
        """Tell whether what holds a journal answers, as far as is known."""
        return self._line(jid).up

    async def wait_up(self, jid: JournalId, limit_s: float) -> bool:
        """Wait until what holds a journal answers; False if it does not within `limit_s`."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limit_s
        # It may be held elsewhere before the line is up that leads to it now.
        while not await self._line(jid).wait_up(min(LOOK_AGAIN_S, max(0.0, until - loop.time()))):
            if loop.time() >= until:
                return False
        return True

    def reach(self, jid: JournalId) -> Reach:
        """Give what holds a journal, wherever that will be, to wait for."""
        return Reach(self, jid)

    @property
    def clock(self) -> Clock:
        """Give the estimate of the store's time; in a Cluster, of some part of it."""
        return self._shards.all()[0].line.clock

    def now_at(self, jid: JournalId) -> int:
        """Estimate the time, in ms, of what gives a journal its official time."""
        return self._line(jid).clock.now()

    def on_state(self, callback: OnState) -> None:
        """Call `callback(up)` when the store, or a part of it, stops to answer or does again."""
        self._on_state.append(callback)

    def _state(self, up: bool) -> None:
        for callback in self._on_state:
            _safely(lambda callback=callback: callback(self.up))  # type: ignore[misc]

    def _line(self, jid: JournalId) -> Line:
        return self._shards.of(keys.journal(jid).journal).line

    # --- writing ----------------------------------------------------------------------

    async def append(
        self,
        jid: JournalId,
        payloads: Sequence[bytes],
        *,
        expect: int,
        ttl_s: int,
        sets: Mapping[str, str] | None = None,
        offsets: Mapping[str, int] | None = None,
        not_before_field: str | None = None,
        actor: tuple[str, int] | None = None,
    ) -> Outcome:
        """Append events decided on version `expect` of the journal; 0 creates it.

        `sets` are fields for the summary; `offsets` are fields that get the events' time
        plus so many ms. With `not_before_field` it is early until the instant in that field
        of the summary. `actor` is a player and the epoch of the connection that asks.
        """
        player, epoch = actor or ("", "")
        journal, summary, news = keys.journal(jid)
        args: list[Arg] = [news, expect, ttl_s, not_before_field or "", player, epoch]
        args += [len(payloads), *payloads, len(sets or {}), *_flat(sets or {})]
        args += _flat(offsets or {})
        waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(reply: Any) -> None:
            if not waiter.done():
                waiter.set_result(reply)

        self._line(jid).run(lua.APPEND, (journal, summary), args, done)
        return self._outcome(await waiter)

    def act(
        self,
        jid: JournalId,
        player: str,
        epoch: int | None,
        n: int,
        payload: bytes,
        sets: Mapping[str, str],
        done: Callable[[ActOutcome], None],
    ) -> None:
        """Append what a player does in a running race; `done` is called later, with the outcome.

        `n` is the play's number, or 0 for an act without one, such as to resign; set the
        player's `done:` field in `sets` with whatever ends their race. An `epoch` of None is
        for what no connection asks for. One play of a player at a time: if the store has
        lost its scripts, a second one in flight can overtake the first and get a gap.
        """
        journal, summary, news = keys.journal(jid)
        args = (news, player, "" if epoch is None else epoch, n, payload, *_flat(sets))
        answered = partial(self._acted, done)
        self._shards.of(journal).line.run(lua.ACT, (journal, summary), args, answered)

    def _acted(self, done: Callable[[ActOutcome], None], reply: Any) -> None:
        done(self._outcome(reply))  # type: ignore[arg-type]  # the script knows no conflict

    def _outcome(self, reply: Any) -> Outcome:
        if type(reply) is list:
            first, number = reply
            if type(first) is int:
                return Appended(first, number)
            return Conflict(number) if first == b"conflict" else Denied(first.decode(), number)
        if isinstance(reply, Lost):
            return reply
        # The store's own trouble (memory, disk): it may come after the first write.
        self._refused()
        log.error("the store refuses an append: %s", reply)
        return Lost()

    async def attach(self, jid: JournalId, player: str, epoch: int) -> bool:
        """Make a connection the one that speaks for a player; False if a newer one does.

        All listeners get a note that `attached` reads.

        Raises:
            Missing: there is no such journal.
            Unavailable: the store does not answer.
        """
        _, summary, news = keys.journal(jid)
        reply = await self._line(jid).ask_script(lua.ATTACH, (summary,), (news, player, epoch))
        if reply < 0:
            raise Missing(f"there is no journal {jid}")
        return bool(reply)

    def publish(self, jid: JournalId, note: bytes) -> None:
        """Say something to all who listen to a journal; it is kept nowhere and may be lost."""
        self._line(jid).send(("SPUBLISH", keys.journal(jid).news, b"0 " + note), _ignore)

    # --- reading ----------------------------------------------------------------------

    async def read(self, jid: JournalId, start: int = 0, limit: int | None = None) -> list[Entry]:
        """Read the entries after version `start`, all or so many.

        Raises:
            Unavailable: the store does not answer.
        """
        line, key = self._line(jid), keys.journal(jid).journal
        entries: list[Entry] = []
        while True:
            first = start + len(entries)
            size = PAGE if limit is None else min(PAGE, limit - len(entries))
            page = await line.ask("LRANGE", key, first, first + size - 1)
            entries += [_entry(first + i, text) for i, text in enumerate(page, 1)]
            if len(page) < size or len(entries) == limit:
                return entries

    async def version(self, jid: JournalId) -> int:
        """Read the version of a journal; 0 if there is none.

        Raises:
            Unavailable: the store does not answer.
        """
        return int(await self._line(jid).ask("LLEN", keys.journal(jid).journal))

    async def summary(self, jid: JournalId) -> dict[str, str]:
        """Read the summary of a journal; empty if there is none.

        Raises:
            Unavailable: the store does not answer.
        """
        fields = await self._line(jid).ask("HGETALL", keys.journal(jid).summary)
        return {name.decode(): value.decode() for name, value in fields.items()}

    # --- listening --------------------------------------------------------------------

    async def subscribe(self, jid: JournalId, listener: Listener) -> None:
        """Hear a journal; when this returns, all that is appended from now on is heard.

        Raises:
            Unavailable: the store does not answer; the listener is not kept.
        """
        self._listeners[jid] = (*self._listeners.get(jid, ()), listener)
        line = self._heard_on[jid] = self._line(jid)
        try:
            await line.subscribe(keys.journal(jid).news, *self._ears(jid))
        except BaseException:
            self.unsubscribe(jid, listener)
            raise

    def unsubscribe(self, jid: JournalId, listener: Listener) -> None:
        """Stop hearing a journal; a listener that is not there is none of ours."""
        listeners = tuple(other for other in self._listeners.get(jid, ()) if other is not listener)
        if listeners:
            self._listeners[jid] = listeners
        elif self._listeners.pop(jid, None) is not None:
            self._heard_on.pop(jid).unsubscribe(keys.journal(jid).news)

    def _follow(self) -> None:
        """Hear each journal over the line that leads to it now."""
        for jid, former in list(self._heard_on.items()):
            line = self._line(jid)
            if line is not former:
                former.unsubscribe(keys.journal(jid).news)
                self._heard_on[jid] = line
                line.take_over(keys.journal(jid).news, *self._ears(jid))

    def _ears(self, jid: JournalId) -> tuple[OnMessage, OnGap]:
        return partial(self._message, jid), partial(self._gap, jid)

    def _message(self, jid: JournalId, message: bytes) -> None:
        head, _, rest = message.partition(b" ")
        listeners = self._listeners.get(jid, ())
        if head == b"0":
            for listener in listeners:
                listener.on_note(rest)
            return
        entry = _entry(int(head), rest)
        for listener in listeners:
            listener.on_entry(entry)

    def _gap(self, jid: JournalId) -> None:
        for listener in self._listeners.get(jid, ()):
            _safely(listener.on_resync)


def attached(note: bytes) -> tuple[str, int] | None:
    """Read the note of `Journals.attach`: a player and the epoch of the new connection."""
    if not note.startswith(ATTACHED):
        return None
    player, _, epoch = note.removeprefix(ATTACHED).decode().rpartition(" ")
    return player, int(epoch)


def _entry(version: int, text: bytes) -> Entry:
    at, _, payload = text.partition(b" ")
    return Entry(version, int(at), payload)


def _flat(pairs: Mapping[str, str] | Mapping[str, int]) -> list[Arg]:
    flat: list[Arg] = []
    for pair in pairs.items():
        flat += pair
    return flat


def _safely(call: Callable[[], None]) -> None:
    """Keep one listener's fault from the others."""
    try:
        call()
    except Exception:
        log.exception("taking in the state of the store failed")


def _ignore(reply: Any) -> None:
    """Take a reply nobody waits for."""


__all__ = [
    "Appended",
    "Conflict",
    "Denied",
    "Entry",
    "JournalId",
    "Journals",
    "Listener",
    "Lost",
    "Unavailable",
    "attached",
]
