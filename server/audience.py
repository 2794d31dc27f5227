"""Those on this node who look at one race, and what each event makes them see.

An audience owns one replica of the race. A room has one for the players and, where its
spectators lag behind, a second one that is fed later; both are this class.
"""

import asyncio
from collections.abc import Callable, Container
from typing import Protocol

from server import events as ev
from server import view
from server.race import Race
from wire import messages as m
from wire.codec import encode

SCORES_WITHIN_S = 0.05  # a burst of moves makes one push; well under the promised 100 ms


class Viewer(Protocol):
    """One connection that looks at a room."""

    player: str
    epoch: int
    watching: bool  # a spectator, even where the player also has a seat

    def send(self, message: m.ServerMessage) -> None:
        """Send in order."""

    def send_latest(self, kind: str, data: bytes) -> None:
        """Send an encoded message that a newer one of the same kind replaces."""

    def moved(self) -> None:
        """Learn that the outcome of the play under way has been sent."""

    def left(self, kind: str) -> None:
        """Learn that the seat is gone."""

    def replaced(self) -> None:
        """Learn that a newer connection of the same player is there."""

    def store_refuses(self, is_so: bool) -> None:
        """Learn that the store takes no plays in, or takes something in again."""


class Presence(Protocol):
    """Who is connected to the room, on whatever node."""

    @property
    def here(self) -> Container[str]:
        """Players with a live connection."""

    @property
    def spectators(self) -> int:
        """How many watch."""


class Audience:
    """A replica of the race, the viewers who see it, and the pushes to them."""

    def __init__(
        self, race: Race, presence: Presence, *, locked: bool, now: Callable[[], int]
    ) -> None:
        """`locked` rooms want a password; `now` is the store's clock in milliseconds."""
        self.race = race
        self.viewers: set[Viewer] = set()
        self._presence = presence
        self.locked = locked
        self._now = now
        self._dirty: set[str] = set()  # players whose line has not been pushed yet
        self._pushing: asyncio.TimerHandle | None = None
        self._announcing: asyncio.Handle | None = None
        self._showing: asyncio.Handle | None = None

    # --- in ---------------------------------------------------------------------------

    def take(self, at: int, payload: bytes) -> ev.AnyEvent:
        """Fold the next journal entry in and show what it changed."""
        race = self.race
        event = ev.decode(payload)
        match event:
            case ev.Played() | ev.Undone():
                racer = race.racers[event.p]
                before = racer.board
                race.apply(at, payload, event)
                for viewer in self.viewers:
                    if viewer.player == event.p and not viewer.watching:
                        viewer.send(view.moved(race, racer, event.n, before))
                        viewer.moved()
                        if racer.is_done:
                            self._finished(viewer)
                self._score(event.p)
                if racer.is_done:
                    self.show_room()
            case _:
                self._take_other(at, payload, event)
        return event

    def _take_other(self, at: int, payload: bytes, event: ev.AnyEvent) -> None:
        race = self.race
        player: str = getattr(event, "p", "")
        name = race.racers[player].name if player in race.racers else ""
        race.apply(at, payload, event)
        if isinstance(event, ev.Joined):
            name = event.name
        line = view.news(race, at, event, name)
        for viewer in list(self.viewers):
            if isinstance(event, ev.Left) and viewer.player == player and not viewer.watching:
                viewer.left(event.why)
            elif line is not None:
                viewer.send(line)
        match event:
            case ev.Locked():
                self._countdown()
            case ev.Started():
                self._layout()
            case ev.Resigned() | ev.Disqualified():
                self._score(player)
                for viewer in self.viewers:
                    if viewer.player == player and not viewer.watching:
                        self._finished(viewer)
            case ev.Over() | ev.Revealed():
                self._announce()
            case _:
                pass
        self.show_room()

    # --- out --------------------------------------------------------------------------

    def room(self, viewer: Viewer) -> m.Room:
        """Give the room as this viewer may see it."""
        return view.room(
            self.race,
            viewer.player,
            watching=viewer.watching,
            here=self._presence.here,
            spectators=self._presence.spectators,
            locked=self.locked,
            now=self._now(),
        )

    def show_room(self) -> None:
        """Send the room to all at the end of this loop turn.

        Events that were appended together arrive together: nobody sees the state between
        them. A newer room replaces an older one at a peer that is slow.
        """
        if self._showing is None:
            self._showing = asyncio.get_running_loop().call_soon(self._show_room_now)

    def _show_room_now(self) -> None:
        self._showing = None
        for viewer in self.viewers:
            viewer.send_latest("room", encode(self.room(viewer)))

    def show_all(self, viewer: Viewer) -> None:
        """Send all that there is to see: on entering, resuming and on any doubt."""
        viewer.send(self.room(viewer))
        race = self.race
        if race.phase == "locked":
            viewer.send(self._count())
        for seat, racer in enumerate(race.racers.values()):
            if racer.id == viewer.player and not viewer.watching:
                seen = True
            else:
                seen = viewer.watching and view.may_see_board(race, None, racer.id)
            board = view.board(race, seat, racer) if seen else None
            if board is not None:
                viewer.send(board)
        if race.phase == "over":
            viewer.send(view.result(race))

    def show_board(self, player: str) -> None:
        """Send a player's board anew to the player."""
        for seat, racer in enumerate(self.race.racers.values()):
            board = view.board(self.race, seat, racer) if racer.id == player else None
            for viewer in self.viewers:
                if board is not None and viewer.player == player and not viewer.watching:
                    viewer.send(board)

    def _count(self) -> m.Countdown:
        race = self.race
        starts = race.starts or 0
        return m.Countdown(
            starts=starts,
            remaining_ms=max(0, starts - self._now()),
            salts=[salt.hex() for salt in race.salts()],
        )

    def _countdown(self) -> None:
        for viewer in self.viewers:
            viewer.send(self._count())

    def _layout(self) -> None:
        for viewer in self.viewers:
            self.show_all(viewer)

    def _finished(self, viewer: Viewer) -> None:
        racer = self.race.racers[viewer.player]
        done = self.race.since_start(racer.done_at or 0)
        viewer.send(m.Finished(outcome=racer.outcome, done_ms=done))

    def _announce(self) -> None:
        # The end and the reveal are appended together and arrive together: one message
        # at the end of this loop turn serves both.
        if self._announcing is None:
            self._announcing = asyncio.get_running_loop().call_soon(self._announce_now)

    def _announce_now(self) -> None:
        self._announcing = None
        result = view.result(self.race)
        for viewer in self.viewers:
            viewer.send(result)

    def _score(self, player: str) -> None:
        self._dirty.add(player)
        if self._pushing is None:
            self._pushing = asyncio.get_running_loop().call_later(SCORES_WITHIN_S, self._push)

    def _push(self) -> None:
        self._pushing = None
        race = self.race
        seats = list(enumerate(race.racers.values()))
        boards = [(seat, racer) for seat, racer in seats if racer.id in self._dirty]
        self._dirty.clear()
        # All lines, not only the changed ones: at a slow peer a push replaces the former.
        lines = [view.score(race, seat, racer) for seat, racer in seats]
        data = encode(m.Scores(version=race.version, lines=lines))
        watchers = [viewer for viewer in self.viewers if viewer.watching]
        for viewer in self.viewers:
            viewer.send_latest("scores", data)
        if watchers and race.settings.spectators == "boards":
            for seat, racer in boards:
                board = view.board(race, seat, racer)
                if board is not None:
                    frame = encode(board)
                    for viewer in watchers:
                        viewer.send_latest(f"board{seat}", frame)

    def reset(self, race: Race) -> None:
        """Start over from a replica read anew, and show it to all."""
        self.race = race
        self._dirty.clear()
        for viewer in list(self.viewers):
            if viewer.watching or viewer.player in race.racers:  # others have lost their seat
                self.show_all(viewer)

    def close(self) -> None:
        """Drop the pushes that are due."""
        for handle in (self._pushing, self._announcing, self._showing):
            if handle is not None:
                handle.cancel()
