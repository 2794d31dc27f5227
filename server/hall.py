"""A tournament as this node follows it: its replica, its keys, and what its news concern."""

import asyncio
import hashlib
import hmac
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Sequence
from functools import partial

import msgspec

from server.bulletin import Shown
from server.follower import Batch, Follower
from server.presence import Presence
from server.refusal import Refusal
from server.store import Entry, Store, keys
from server.tally import Tally
from server.tournament import Tournament
from server.tournament import events as ev
from server.tournament.acts import decide_lapse
from server.tournament.records import Match
from wire import tournaments as w
from wire.formats import in_words

log = logging.getLogger("dk.halls")

# Whoever commits looks at once what follows; should its node die, another one looks so much
# later.
NET_MS = 2_000

RECENT = 1_000  # entries among which what was appended is found again

OWNER, REFEREE = "owner", "referee"  # roles, and fields of the summary with their keys' hashes


class Hall(Follower[Tournament, ev.AnyEvent]):
    """A tournament on this node."""

    def __init__(self, code: str, store: Store, tally: Tally, node: str) -> None:
        """Make the replica; `load` fills it."""
        timer = keys.tournament_timer(code)
        super().__init__(keys.tournament(code), timer, store, tally)
        self.code = code
        self.t = Tournament()
        self.touched: set[str] = set()  # matches that the director has to look after
        self.listeners: set[HallListener] = set()
        self.presence = Presence(node, self._say, lambda: None)
        self.settled = False  # whether the other nodes have had time to say who is here
        self.rated_at = -1  # when the ratings were seen to
        self.looks = asyncio.Lock()  # one look at a time; what it is about is in the journal
        self.wanted = 0  # looks that were asked for, and how many of these are done
        self.looked = 0
        self.net: int | None = None  # the timer that the last commit from here has set
        self._recent: deque[Entry] = deque(maxlen=RECENT)
        self._turn = asyncio.Lock()  # commits from here do not get in each other's way
        self._placing = asyncio.Lock()
        self._shown = Shown()
        self._hashes: dict[str, str] = {}  # of the keys, by role

    @property
    def replica(self) -> Tournament:
        """The replica that acts are decided on."""
        return self.t

    # --- following --------------------------------------------------------------------

    async def load(self) -> bool:
        """Follow the journal from now on; False where there is no such tournament."""
        if not await super().load():
            return False
        self.presence.ask()
        return True

    async def _rebuild(self) -> bool:
        entries = await self._store.journals.read(self.jid)
        if not entries:
            return False
        summary = await self._store.journals.summary(self.jid)
        self._hashes = {role: summary.get(role, "") for role in (OWNER, REFEREE)}
        t = Tournament()
        for entry in entries:
            t.apply(entry.at, entry.payload)
        self.t = t
        self.touched = self.unsettled
        for listener in list(self.listeners):
            listener.on_reset()
        return True

    @property
    def unsettled(self) -> set[str]:
        """Give the matches whose races somebody has to look after."""
        return {each.id for each in self.t.matches.values() if _is_unsettled(each)}

    def _fold(self, entry: Entry) -> None:
        t = self.t
        self._recent.append(entry)
        before = {each: t.matches[each] for each in t.open}
        event = t.apply(entry.at, entry.payload)
        if t.phase != "finished":
            self.rated_at = -1
        changed = {
            each
            for each in before.keys() | t.open.keys()
            if before.get(each) is not t.matches[each]
        }
        self.touched |= changed
        for listener in list(self.listeners):
            listener.on_event(entry, event, changed)

    def _broken(self) -> None:
        for listener in list(self.listeners):
            listener.on_closed()

    def _rolled_back(self, known: int, *, there: bool) -> None:
        if there:
            self.soon(partial(self._tell_lapse, known, self.t.version), "lapse")
        else:
            self._broken()

    async def _tell_lapse(self, known: int, version: int) -> None:
        await self.commit(partial(decide_lapse, known=known, version=version, now=self.now()))

    def on_note(self, note: bytes) -> None:
        """Act on a passing note: who is here."""
        try:
            kind, value = msgspec.json.decode(note, type=tuple[str, dict[str, object]])
            match kind:
                case "here":
                    self.presence.heard(value)
                case "who":
                    self.presence.tell()
                case _:
                    pass  # of a newer version
        except (msgspec.MsgspecError, KeyError, ValueError) as error:
            log.warning("unreadable note", extra={"tournament": self.code, "error": str(error)})

    # --- committing -------------------------------------------------------------------

    async def commit(
        self,
        decide: Callable[[Tournament], Sequence[ev.AnyEvent]],
        *,
        actor: tuple[str, int] | None = None,
    ) -> bool:
        """Decide and append, one commit of this node after the other.

        What was decided and appended, though its answer was lost, is not decided again: to
        say something twice, or to put off by twice as much, is another act.
        """
        tried: list[tuple[int, list[bytes]]] = []

        def decide_once(t: Tournament) -> Sequence[ev.AnyEvent]:
            if any(self._is_appended(version, payloads) for version, payloads in tried):
                return []
            events = decide(t)
            tried.append((t.version, [ev.encode(event) for event in events]))
            return events

        async with self._turn:
            return await super().commit(decide_once, actor=actor) or len(tried) > 1

    def _is_appended(self, version: int, payloads: list[bytes]) -> bool:
        since = [entry.payload for entry in self._recent if entry.version > version]
        return bool(payloads) and since[: len(payloads)] == payloads

    def _batch(self, events: Sequence[ev.AnyEvent]) -> Batch:
        twin = self.t.fork()
        for event in events:
            twin.fold(max(self.now(), twin.at), event)
        self.net = self.now() + NET_MS
        # At the end a webhook's timer ends too; what a ruling changes afterwards is told as well.
        webhook = {keys.hook_timer(self.code): self.net} if self.t.is_over else {}
        return Batch(
            payloads=[ev.encode(event) for event in events],
            ttl_s=keys.TOURNAMENT_S,
            sets=summary_of(twin),
            due=self.net,
            others=webhook,
        )

    # --- showing ----------------------------------------------------------------------

    async def places(self, players: Collection[str]) -> dict[str, w.Place]:
        """Give the tournament as each of some players sees it.

        Standings take a while in a large field: not on the event loop, and once for all who
        ask about one version.
        """
        async with self._placing:
            return await asyncio.to_thread(self._shown.places, self.t.fork(), players)

    # --- keys -------------------------------------------------------------------------

    def role(self, key: str) -> str:
        """Give the role that a key stands for.

        Raises:
            Refusal: it stands for none.
        """
        hashed = key_hash(key)
        for role, known in self._hashes.items():
            if known and hmac.compare_digest(hashed, known):
                return role
        raise Refusal("bad-key", "That is no key of this tournament.")

    def unload(self) -> None:
        """Stop following the journal."""
        self.presence.close()
        super().unload()


class HallListener(ABC):
    """Who hears of all that happens in a hall on this node."""

    @abstractmethod
    def on_event(self, entry: Entry, event: ev.AnyEvent, changed: set[str]) -> None:
        """Learn that an event has been folded in, and which open matches it changed."""

    @abstractmethod
    def on_reset(self) -> None:
        """Learn that the replica was made anew."""

    @abstractmethod
    def on_closed(self) -> None:
        """Learn that the replica cannot go on."""


def key_hash(key: str) -> str:
    """Give what is kept of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _is_unsettled(match: Match) -> bool:
    # Decided or discarded while a race of it was called: the room may still have to be ended.
    return match.is_open or (bool(match.races) and match.races[-1].state == "called")


def summary_of(t: Tournament) -> dict[str, str]:
    """Give the fields of the summary hash that events keep up to date."""
    starts = t.begun_at if t.begun_at is not None else t.start_at
    return {
        "phase": t.phase,
        "title": t.settings.title,
        "format": ", then ".join(map(in_words, t.settings.stages)),
        "entrants": str(len(t.active)),
        "places": str(t.settings.players),
        "opened": str(t.opened_at),
        "starts": str(starts) if starts is not None else "",
        "round": str(len(t.rounds)),
    }
