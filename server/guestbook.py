"""Those on this node who have a place in one tournament, and what they are told of it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from server import bulletin
from server.hall import Hall, HallListener
from server.refusal import Refusal
from server.store import Entry
from server.tournament import Call, Tournament, call_of
from server.tournament import events as ev
from wire import messages as m

log = logging.getLogger("dk.guestbook")

PLACES_WITHIN_S = 1.0  # a burst of results makes one message to each player whom it concerns
TRIES = 5  # at opening a room; its race's own timer opens it all the same

# Opens the room of a race that is called, if it is not open yet.
Arrange = Callable[[Hall, Call], Awaitable[None]]


class Guest(Protocol):
    """A connection of somebody who has a place."""

    player: str

    @property
    def is_gone(self) -> bool:
        """Whether the connection has ended."""

    def send(self, message: m.ServerMessage) -> None:
        """Send in order."""

    def disowned(self) -> None:
        """End: the token that this connection came with is dead."""


class Guestbook(HallListener):
    """The guests of one hall by player."""

    def __init__(self, hall: Hall, arrange: Arrange, lost: Callable[[], None]) -> None:
        """`lost` hears that the hall has failed: another one has to be opened."""
        self.hall = hall
        self.guests: dict[str, set[Guest]] = {}
        self._arrange = arrange
        self._lost = lost
        self._changed: set[str] = set()  # matches whose players may have been called
        self._dirty: set[str] = set()  # players whose place may be another
        self._calling: asyncio.Handle | None = None
        self._placing: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        hall.listeners.add(self)

    # --- guests -----------------------------------------------------------------------

    def enter(self, guest: Guest) -> None:
        """Tell a connection from now on what concerns its player, and what does now."""
        guests = self.guests.setdefault(guest.player, set())
        if guest in guests:
            return
        guests.add(guest)
        self.hall.presence.enter(guest.player, watching=False)
        for call in self._calls_of(self.hall.t, guest.player):
            self._spawn(self._call(call, {guest}))

    def exit(self, guest: Guest) -> None:
        """Tell a connection no more."""
        guests = self.guests.get(guest.player, set())
        if guest in guests:
            guests.discard(guest)
            self.hall.presence.exit(guest.player, watching=False)
        if not guests:
            self.guests.pop(guest.player, None)

    def _calls_of(self, t: Tournament, player: str) -> list[Call]:
        entry = t.people.get(player)
        own = [each for each in t.open if entry in t.matches[each].entries]
        found = (call_of(t, each) for each in own)
        return [call for call in found if call is not None and player in dict(call.players)]

    def close(self) -> None:
        """Let go of the hall."""
        self.hall.listeners.discard(self)
        for handle in (self._calling, self._placing):
            if handle is not None:
                handle.cancel()
        for task in self._tasks:
            task.cancel()
        for player, guests in self.guests.items():
            for _ in guests:
                self.hall.presence.exit(player, watching=False)

    # --- news -------------------------------------------------------------------------

    def on_event(self, entry: Entry, event: ev.AnyEvent, changed: set[str]) -> None:
        """Note whom an event concerns; they are told at the end of this loop turn."""
        t = self.hall.t
        self._changed |= changed
        for each in changed:
            match = t.matches[each]
            self._dirty.update(t.entries[entry].player for entry in match.entries)
        match event:
            case ev.Entered() | ev.Withdrawn() | ev.Rejoined() | ev.CheckedIn():
                self._dirty.add(event.p)
            case ev.Disqualified() | ev.Reinstated():
                self._dirty.add(t.entries[event.p].player if event.p in t.entries else event.p)
            case ev.TokenRenewed():
                for guest in list(self.guests.get(t.entries[event.p].player, ())):
                    guest.disowned()
            case ev.Summoned():
                self._summon(t.entries[event.p].player)
            case ev.RoundCalled() | ev.Repaired() | ev.RacesCalled() | ev.Raced() | ev.Absent():
                pass  # the matches say whom they concern
            case _:
                self._dirty.update(self.guests)
        self._wake()

    def on_reset(self) -> None:
        """Tell everybody anew."""
        self._changed.update(self.hall.t.open)
        self._dirty.update(self.guests)
        self._wake()

    def on_closed(self) -> None:
        """Have another hall opened."""
        self._lost()

    def _wake(self) -> None:
        loop = asyncio.get_running_loop()
        if self._changed and self._calling is None:
            self._calling = loop.call_soon(self._call_all)
        if self._dirty and self._placing is None:
            self._placing = loop.call_later(PLACES_WITHIN_S, self._place_all)

    # --- calls ------------------------------------------------------------------------

    def _call_all(self) -> None:
        self._calling = None
        changed, self._changed = self._changed, set()
        for each in changed:
            call = call_of(self.hall.t, each)
            if call is None:
                continue
            guests = {g for player, _ in call.players for g in self.guests.get(player, ())}
            if guests:
                self._spawn(self._call(call, guests))

    async def _call(self, call: Call, guests: set[Guest]) -> None:
        """Open the room, then call the players into it: whoever is called finds it open."""
        for pause_s in range(TRIES):
            await asyncio.sleep(pause_s)
            try:
                await self._arrange(self.hall, call)
                break
            except Refusal as refusal:
                log.warning("room put off", extra={"room": call.room, "error": refusal.reason})
        for guest in guests:
            if guest in self.guests.get(guest.player, ()):
                guest.send(bulletin.called(self.hall.t, call, guest.player))

    def _summon(self, player: str) -> None:
        guests = set(self.guests.get(player, ()))
        for call in self._calls_of(self.hall.t, player) if guests else ():
            self._spawn(self._call(call, guests))

    # --- places -----------------------------------------------------------------------

    def _place_all(self) -> None:
        self._placing = None
        dirty, self._dirty = self._dirty, set()
        players = [player for player in dirty if player in self.guests]
        if players:
            self._spawn(self._tell_places(players))

    async def _tell_places(self, players: list[str]) -> None:
        places = await self.hall.places(players)
        for player, place in places.items():
            for guest in list(self.guests.get(player, ())):
                guest.send(place)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name=f"guests of {self.hall.code}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("guests not told", exc_info=task.exception())
