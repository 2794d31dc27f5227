"""Those on this node who look at one tournament, and what they see of it.

There are three ways to see: an organiser sees everything, a player everything but results
that are held back, everybody else the same so much later as spectators of the races lag
behind. What is shown to many is worked out and encoded once, off the event loop, when it has
changed, and at most once a second.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Literal, Protocol

from server import bulletin
from server.hall import Hall, HallListener
from server.refusal import Refusal
from server.rules import Rules
from server.store import Entry, Store, Unavailable, keys
from server.tournament import Tournament, views
from server.tournament import events as ev
from wire import messages as m
from wire import tournaments as w
from wire.codec import encode
from wire.lines import LiveLine, LiveRace

log = logging.getLogger("dk.gallery")

Sight = Literal["organiser", "player", "public"]
Part = tuple[str, int]  # what is shown, and of which stage or round

SHOW_EVERY_S = 1.0
LIVE_EVERY_S = 1.0
DRAWN = 64  # parts kept that were asked for
ENTRIES_A_SECOND = 500  # a larger field is shown less often

_ENTRY_EVENTS = (
    ev.Entered,
    ev.Withdrawn,
    ev.Rejoined,
    ev.CheckedIn,
    ev.Seeded,
    ev.Begun,
    ev.Disqualified,
    ev.Reinstated,
    ev.Substituted,
    ev.Edited,
)


class Visitor(Protocol):
    """A connection that looks at a tournament."""

    @property
    def is_gone(self) -> bool:
        """Whether the connection has ended."""

    def send_latest(self, kind: str, data: bytes) -> None:
        """Send what a newer one of its kind replaces."""

    def lost(self, refusal: Refusal) -> None:
        """Learn that what was shown is not kept up any more, and why."""


class Showing:
    """What those of one sight see."""

    def __init__(self, state: Callable[[], Tournament], now: Callable[[], int]) -> None:
        """`state` gives the tournament as it may be shown."""
        self.visitors: set[Visitor] = set()
        self._live = b""  # the scores as they were shown last
        self._state = state
        self._now = now
        self._dirty: set[Part] = set()
        self._frames: dict[Part, bytes] = {}  # as they were shown last
        self._task: asyncio.Task[None] | None = None
        self._busy = asyncio.Lock()

    async def enter(self, visitor: Visitor) -> None:
        """Show everything to one more."""
        await self._refresh()
        self.visitors.add(visitor)
        for part in parts_of(self._state()):
            if part in self._frames:
                visitor.send_latest(_kind(part), self._frames[part])
        if self._live:
            visitor.send_latest("progress", self._live)
        self._wake()  # what changed meanwhile had nobody to be shown to

    def score(self, frame: bytes) -> None:
        """Show the live scores, to those who come later too; nothing ends it."""
        self._live = frame
        for visitor in self.visitors if frame else ():
            visitor.send_latest("progress", frame)

    def mark(self, parts: set[Part]) -> None:
        """Note what has changed; it is shown soon."""
        self._dirty |= parts
        self._wake()

    def _wake(self) -> None:
        if self._dirty and self.visitors and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._show(), name="show a tournament")

    async def _show(self) -> None:
        while self._dirty and self.visitors:
            await self._refresh()
            entries = len(self._state().entries)
            await asyncio.sleep(max(SHOW_EVERY_S, entries / ENTRIES_A_SECOND))

    async def _refresh(self) -> None:
        """Work out what has changed, and show it to all who are here, whoever asked for it."""
        async with self._busy:  # one computation, however many look
            t = self._state()
            wanted = set(parts_of(t))
            stale = (self._dirty & wanted) | (wanted - self._frames.keys())
            self._dirty.clear()
            frames = await self._draw(t, stale) if stale else {}
            for part, frame in frames.items():
                if self._frames.get(part) != frame:
                    self._frames[part] = frame
                    for visitor in self.visitors:
                        visitor.send_latest(_kind(part), frame)
            for part in self._frames.keys() - wanted:
                del self._frames[part]

    async def _draw(self, t: Tournament, parts: set[Part]) -> dict[Part, bytes]:
        try:
            return await asyncio.to_thread(_drawn, t.fork(), parts, self._now())
        except BaseException:
            self.mark(parts)  # who wanted them has gone, or it failed: others wait for them still
            raise

    def close(self) -> None:
        """Show nothing more."""
        if self._task is not None:
            self._task.cancel()


def parts_of(t: Tournament) -> list[Part]:
    """Give what is shown of a tournament as it stands."""
    parts: list[Part] = [("tournament", 0), ("entrants", 0)]
    if t.stages:
        stage = t.stage.number
        parts += [("ranking", stage), ("bracket", stage)]
    if t.rounds:
        parts += [("pairings", each) for each in open_rounds(t)]
    return parts


def open_rounds(t: Tournament) -> list[int]:
    """Give the rounds with something still to come, and the last one."""
    rounds = {t.matches[each].round for each in t.open} | {len(t.rounds)}
    return sorted(rounds)[-12:]


def _drawn(t: Tournament, parts: set[Part], now: int) -> dict[Part, bytes]:
    drawn = {}
    for part in parts:
        message = draw(t, part, now)
        if message is not None:
            drawn[part] = encode(message)
    return drawn


def draw(t: Tournament, part: Part, now: int) -> m.ServerMessage | None:
    """Give one part as a message; None where there is nothing of the kind."""
    name, number = part
    match name:
        case "tournament":
            return bulletin.tournament(t, now)
        case "entrants":
            return bulletin.entrants(t)
        case "ranking":
            return bulletin.ranking(t, number)
        case "bracket":
            return bulletin.bracket(t, number)
        case _:
            return bulletin.pairings(t, number)


def _kind(part: Part) -> str:
    return f"{part[0]} {part[1]}"


class Gallery(HallListener):
    """All who look at one tournament on this node."""

    def __init__(self, hall: Hall, store: Store, lost: Callable[[], None]) -> None:
        """`lost` hears that the hall has failed: another one has to be opened."""
        self.hall = hall
        self.users = 0  # blocks that work with it; visitors are more than those
        self._store = store
        self._lost = lost
        self._lag: deque[Entry] = deque()  # what the public does not see yet
        self._late: Tournament | None = None  # as the public sees it, where it lags behind
        self._delay_ms = 1000 * hall.t.settings.race.delay_s
        self._opening = asyncio.Lock()
        self._drawing = asyncio.Lock()
        self._drawn: dict[tuple[Sight, Part], tuple[int, bytes | None]] = {}
        self._is_open = False
        self._release: asyncio.TimerHandle | None = None
        self._live: asyncio.Task[None] | None = None
        now = store.clock.now
        self.showings: dict[Sight, Showing] = {
            "organiser": Showing(lambda: self.state("organiser"), now),
            "player": Showing(lambda: self.state("player"), now),
            "public": Showing(lambda: self.state("public"), now),
        }
        hall.listeners.add(self)

    async def open(self) -> None:
        """Read how far the public may see, unless it is known; errors as in `Journals.read`."""
        async with self._opening:
            if not self._is_open:
                await self._open()

    async def _open(self) -> None:
        if not self._delay_ms:
            self._is_open = True
            return
        entries = await self._store.journals.read(self.hall.jid)
        late, rest = parted(entries, self._store.clock.now() - self._delay_ms)
        known = self._lag[0].version if self._lag else self.hall.t.version + 1
        self._lag.extendleft(reversed([entry for entry in rest if entry.version < known]))
        self._late = late
        self._is_open = True
        self._arm()

    # --- visitors ---------------------------------------------------------------------

    async def enter(self, visitor: Visitor, sight: Sight) -> None:
        """Let one more look."""
        await self.showings[sight].enter(visitor)
        if self._live is None or self._live.done():
            self._live = asyncio.create_task(self._follow_races(), name=f"live {self.hall.code}")

    def exit(self, visitor: Visitor) -> None:
        """Let somebody look no more."""
        for showing in self.showings.values():
            showing.visitors.discard(visitor)

    @property
    def is_empty(self) -> bool:
        """Whether nobody looks."""
        return not any(showing.visitors for showing in self.showings.values())

    def state(self, sight: Sight) -> Tournament:
        """Give the tournament as those of a sight may see it."""
        if sight == "organiser":
            return self.hall.t
        return views.public(self.hall.t if sight == "player" else self._late or self.hall.t)

    async def frame(self, sight: Sight, part: Part) -> bytes | None:
        """Draw one part for those of a sight; one computation however many ask.

        None where there is nothing of the kind.
        """
        async with self._drawing:
            t = self.state(sight)
            version, frame = self._drawn.get((sight, part), (-1, None))
            if version != t.version:
                frames = await asyncio.to_thread(_drawn, t.fork(), {part}, self._store.clock.now())
                frame = frames.get(part)
                self._drawn[sight, part] = t.version, frame
                if len(self._drawn) > DRAWN:
                    del self._drawn[next(iter(self._drawn))]
            return frame

    def close(self) -> None:
        """Let go of the hall."""
        self.hall.listeners.discard(self)
        if self._release is not None:
            self._release.cancel()
        if self._live is not None:
            self._live.cancel()
        for showing in self.showings.values():
            showing.close()

    # --- news -------------------------------------------------------------------------

    def on_event(self, entry: Entry, event: ev.AnyEvent, changed: set[str]) -> None:
        """Show an event, to the public when it may see it."""
        parts = touched(self.hall.t, event, changed)
        self.showings["organiser"].mark(parts)
        self.showings["player"].mark(parts)
        if not self._delay_ms:
            self.showings["public"].mark(parts)
        elif not self._lag or entry.version > self._lag[-1].version:
            self._lag.append(entry)
            self._arm()

    def on_reset(self) -> None:
        """Show everything anew."""
        self._lag.clear()
        self._late = None
        self._is_open = False
        for showing in self.showings.values():
            showing.mark(set(parts_of(self.hall.t)))

    def on_closed(self) -> None:
        """Have another hall opened."""
        self._lost()

    def _arm(self) -> None:
        if self._lag and self._late is not None and self._release is None:
            wait_ms = self._lag[0].at + self._delay_ms - self._store.clock.now()
            loop = asyncio.get_running_loop()
            self._release = loop.call_later(max(0.01, wait_ms / 1000), self._let_through)

    def _let_through(self) -> None:
        self._release = None
        late = self._late
        while late is not None and self._lag:
            if self._lag[0].at + self._delay_ms > self._store.clock.now():
                break
            entry = self._lag.popleft()
            if entry.version == late.version + 1:
                before = set(late.open)
                event = late.apply(entry.at, entry.payload)
                self.showings["public"].mark(touched(late, event, before | set(late.open)))
        self._arm()

    # --- live scores ------------------------------------------------------------------

    async def _follow_races(self) -> None:
        delayed: deque[tuple[int, bytes]] = deque()
        shown = b""
        while not self.is_empty:
            try:
                frame = encode(await self._progress())
            except Unavailable:
                frame = b""
            except Exception:
                log.exception("live scores failed", extra={"tournament": self.hall.code})
                frame = b""
            if frame and frame != shown:
                shown = frame
                self.showings["organiser"].score(frame)
                self.showings["player"].score(frame)
                if self.hall.t.settings.race.spectators != "none":
                    delayed.append((self._store.clock.now() + self._delay_ms, frame))
            while delayed and delayed[0][0] <= self._store.clock.now():
                self.showings["public"].score(delayed.popleft()[1])
            await asyncio.sleep(LIVE_EVERY_S)
        for showing in self.showings.values():
            showing.score(b"")  # nobody follows them any more

    async def _progress(self) -> w.Progress:
        t, now = self.hall.t, self._store.clock.now()
        cards = Rules.parse(t.settings.race.rules).cards
        running = [
            (match, match.race)
            for match in (t.matches[each] for each in t.open)
            if match.race is not None and match.race.starts <= now
        ]
        summaries = await asyncio.gather(
            *(self._store.journals.summary(keys.room(race.room)) for _, race in running)
        )
        races = [
            LiveRace(
                match=match.id,
                race=race.number,
                room=race.room,
                of=cards,
                lines=[
                    _live(summary, entry, player)
                    for entry, player in zip(match.entries, race.players, strict=True)
                ],
            )
            for (match, race), summary in zip(running, summaries, strict=True)
            if summary.get("phase") in ("running", "over")
        ]
        return w.Progress(tournament=t.code, races=races)


def _live(summary: dict[str, str], entry: str, player: str) -> LiveLine:
    cards, down, moves = map(int, summary.get(keys.score_field(player), "0,0,0").split(","))
    outcome = summary.get(keys.done_field(player), "playing")
    return LiveLine(entry, cards, down, moves, outcome)  # type: ignore[arg-type]


def parted(entries: Iterable[Entry], until: int) -> tuple[Tournament, list[Entry]]:
    """Give a tournament as it was at an instant, and the entries since.

    That it exists is no secret: its first entry is always in.
    """
    t, rest = Tournament(), list[Entry]()
    for entry in entries:
        if not rest and (entry.version == 1 or entry.at <= until):
            t.apply(entry.at, entry.payload)
        else:
            rest.append(entry)
    return t, rest


def touched(t: Tournament, event: ev.AnyEvent, changed: set[str]) -> set[Part]:
    """Give the parts that an event may have changed."""
    parts: set[Part] = {("tournament", 0)}
    if isinstance(event, _ENTRY_EVENTS):
        parts.add(("entrants", 0))
    if t.stages:
        stage = t.stage.number
        parts |= {("ranking", stage), ("bracket", stage)}
        parts |= {("pairings", t.matches[each].round) for each in changed}
        parts.add(("pairings", len(t.rounds)))
    return parts
