"""A game at a terminal, but for the terminal: link, state and desk, and what ties them."""

import asyncio
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from client import bests, keys, model, passing
from client.attention import is_wanted
from client.canvas import Canvas
from client.desk import Ask, Confirm, Deed, Desk, GetReady, Local, Prompt, Rename, Say
from client.filing import NotWritten
from client.forms import Form, Scheduled
from client.identity import Identity
from client.line import Line
from client.link import Heard, Link
from client.model import State
from client.paint import Screen, frame
from client.style import Style
from client.tournament.hall import Hall
from client.views import View, view_of
from wire.messages import (
    ClientMessage,
    Follow,
    Hint,
    Join,
    Leave,
    Left,
    Ready,
    Refused,
    Room,
    Rooms,
    Snapshot,
    Spectate,
    Standings,
    Welcome,
)
from wire.tournaments import Called, Tournaments, Visit

LOBBY_GAP: Final = 3.0  # seconds between looks at the list of rooms
SALT_BYTES: Final = 16
SEATLESS: Final = "You have no seat in room {room} any more; taking it again."
UNSEATED: Final = "The server's store has lost your seat in room {room}; taking it again."
SEATED: Final = "You have your seat in room {room} again."
GONE: Final = "Room {room} is gone, and what was played in it does not count. c opens another."
FORGOTTEN: Final = "The server does not know you any more; you are somebody new to it."
ANEW: Final = "The server does not know you any more; asking for a new seat in room {room}."


@dataclass(frozen=True, slots=True)
class Aim:
    """Where the player wants to go first."""

    room: str | None = None  # None: the lobby
    password: str = ""
    watch: bool = False
    invitation: str = ""  # how others get here, where this program started the server


class Game:
    """One player's game; a screen shows it and gives it keys."""

    def __init__(
        self,
        url: str,
        identity: Identity,
        style: Style,
        *,
        name: str | None,
        aim: Aim,
        best_of: Path | None = None,
    ) -> None:
        """`best_of` is the file of the player's own bests; without one, none is kept."""
        self.state = State(invitation=aim.invitation)
        self.desk = Desk()
        self.style = style
        self.changed = asyncio.Event()  # something is to be painted
        self.ended = asyncio.Event()
        self.wants_repaint = False
        self.wants_bell = False
        self.result: tuple[Room, Standings] | None = None  # of the last race that ended
        self.link = Link(url, identity, self._hear, name=name)
        self._server = url
        self._aim = aim
        self._best_of = best_of
        self._arrived = False
        self._view: View = "lobby"
        self._in_doubt = False
        self._hint_of: int | None = None  # the board whose legal moves were asked for, on this line
        self._answered = ""  # the room of the call that was followed
        self._regained = ""  # the room in which a seat is to be had again

    async def run(self) -> Line:
        """Play until the player quits; gives the state of the line at the end."""
        link = asyncio.create_task(self.link.run(), name="game-link")
        lobby = asyncio.create_task(self._watch_lobby(), name="game-lobby")
        try:
            await self.ended.wait()
            return self.link.line
        finally:
            lobby.cancel()
            self.link.close()
            await asyncio.gather(link, lobby, return_exceptions=True)

    def frame(self, rows: int, cols: int) -> Canvas:
        """Paint the game as it is now."""
        screen = Screen(self.state, self.desk, self.style, time.monotonic(), self._server)
        return frame(screen, rows, cols)

    def press(self, key: str) -> None:
        """Take a key of the player in."""
        self.desk, deeds = keys.press(self.desk, self.state, key)
        self._perform(deeds)
        self._settle_hint()
        self.changed.set()

    # --- doing ------------------------------------------------------------------------

    def _perform(self, deeds: Sequence[Deed]) -> None:
        for deed in deeds:
            match deed:
                case Ask():
                    if not self.link.play(deed.text):
                        self._say(Say("Too many moves wait for the server already."))
                    self.state = replace(self.state, plays=self.link.plays)
                case GetReady():
                    self._get_ready()
                case Scheduled():
                    self._schedule(deed)
                case Rename():
                    self.link.rename(deed.name)
                case Say():
                    self._say(deed)
                case Local():
                    self._do(deed)
                case _:
                    self._send(deed)

    def _schedule(self, scheduled: Scheduled) -> None:
        server_ms = self.link.clock.server_ms(time.monotonic())
        self._send(scheduled.at(server_ms if server_ms is not None else time.time() * 1000))

    def _get_ready(self) -> None:
        # The same bytes again where some were given: which of two counted, nobody could say.
        notes = self.state.notes
        salt = bytes.fromhex(notes.own) if notes.own else secrets.token_bytes(SALT_BYTES)
        self.state = replace(self.state, notes=notes.gave(salt))
        self._send(Ready(salt=salt))

    def _send(self, message: ClientMessage) -> None:
        if not self.link.send(message):
            self._say(Say("No connection just now; try again when it is back."))

    def _say(self, said: Say) -> None:
        self.state = self.state.says(said.text, said.tone, time.monotonic())

    def _do(self, local: Local) -> None:
        match local.what:
            case "quit":
                self.ended.set()
            case "repaint":
                self.wants_repaint = True
            case "colour":
                self.style = replace(self.style, colour=not self.style.colour)
            case "ascii":
                self.style = replace(self.style, ascii=not self.style.ascii)
                self.wants_repaint = True
            case "retry":
                self.link.poke()
            case "bell":
                self.style = replace(self.style, bell=not self.style.bell)
                self._say(Say(f"The bell is {'on' if self.style.bell else 'off'}."))

    # --- hearing ----------------------------------------------------------------------

    def _hear(self, heard: Heard) -> None:
        before, now = self.state, time.monotonic()
        if isinstance(heard, Line):
            self.state = model.lined(self.state, heard)
        else:
            self.state = model.heard(self.state, heard, now)
        self.state = replace(self.state, clock=self.link.clock, plays=self.link.plays)
        match heard:
            case Welcome():
                self._hint_of = None
                self._arrive(heard, before)
            case Left(kind="lost") if before.seat is not None:
                self._regain(heard.room, UNSEATED)
            case Left():
                self.link.send(Rooms())
            case Room() if self._regained:
                self._is_seated(heard)
            case Standings() if self.state.room is not None:
                self.result = (self.state.room, heard)
                self.state = replace(self.state, best=self._best(self.state.room, heard))
            case Follow():
                self._enter(Join(room=heard.room))
            case Refused(re="join" | "spectate", code="password"):
                self._ask_password()
            case Refused(re="join") if self._regained:
                self._not_regained(heard)
            case Refused(re="join"):
                asyncio.get_running_loop().call_later(passing.AGAIN_AFTER, self._call_again)
            case Refused(re="hint"):
                self.desk = replace(self.desk, hinting=False)
            case Called():
                self._answered = ""
            case _:
                pass
        if isinstance(heard, Refused) and heard.re in ("join", "spectate"):
            self._show_rooms()
        self._settle_doubt()
        self._settle_view()
        self._settle_hint()
        self._answer_call()
        self.wants_bell |= self.style.bell and is_wanted(before, self.state)
        self.changed.set()

    def _best(self, room: Room, result: Standings) -> str:
        """Count a race of one's own, and say what the best is now."""
        own = next((row for row in result.rows if row.player == self.state.player), None)
        # A deal that anybody may know, or play again, is no measure.
        if self._best_of is None or own is None or room.settings.seed is not None:
            return ""
        try:
            return bests.count(self._best_of, room.room, room.settings, own)
        except NotWritten as why:
            return f"best     not kept: {why}"

    def _answer_call(self) -> None:
        """Go where a tournament's race waits, once nothing else holds the player."""
        called, room = self.state.tour.called, self.state.room
        if called is None or called.room == self._answered or self._aim.watch:
            return
        if room is not None and room.room == called.room:
            self._answered = called.room
        elif not self.state.is_racing:
            # A seat in a room whose race has not begun is given up for it.
            if room is not None and room.seat is not None and room.phase == "open":
                self.link.send(Leave())
            if self.link.send(Join(room=called.room)):
                self._answered = called.room
                opponents = ", ".join(called.opponents)
                self._say(Say(f"Match {called.match} against {opponents}: here we go.", "good"))

    def _call_again(self) -> None:
        self._answered = ""
        self._answer_call()

    # --- what the store has lost ------------------------------------------------------

    def _regain(self, room: str, why: str) -> None:
        if self.state.room is not None:  # the player has gone elsewhere meanwhile
            return
        wanted = self.desk.entering
        is_known = wanted is not None and wanted.room == room
        self._regained = room
        self._say(Say(why.format(room=room), "bad"))
        self._enter(Join(room=room, password=wanted.password if wanted and is_known else ""))

    def _is_seated(self, room: Room) -> None:
        if room.room == self._regained:
            self._say(Say(SEATED.format(room=room.room), "good"))
        self._regained = ""

    def _not_regained(self, refused: Refused) -> None:
        room, self._regained = self._regained, ""
        if passing.is_passing(refused):
            later = asyncio.get_running_loop().call_later
            later(passing.AGAIN_AFTER, self._regain, room, SEATLESS)
        else:
            gone = refused.code == "no-room"
            text = GONE.format(room=room) if gone else f"No seat in room {room}: {refused.reason}"
            self._say(Say(text, "bad"))
            # A tournament's race is called all the same: its room is opened again.
            asyncio.get_running_loop().call_later(passing.AGAIN_AFTER, self._call_again)

    # --- arriving ---------------------------------------------------------------------

    def _arrive(self, welcome: Welcome, before: State) -> None:
        room, password = self._aim.room, self._aim.password
        if room is not None and not self._arrived and welcome.room != room:
            # Also where the player is back in another room: a race that waits there is
            # for the server to insist on.
            entry = Spectate if self._aim.watch else Join
            self._enter(entry(room=room, password=password))
        elif welcome.room is None:
            self.link.send(Rooms())
            is_new = before.player not in ("", welcome.player)
            had = before.room if before.seat is not None and before.standings is None else None
            seat_in = self._regained or (had.room if had is not None else "")
            if seat_in:
                self._regain(seat_in, ANEW if is_new else SEATLESS)
            elif is_new:
                self._say(Say(FORGOTTEN, "bad"))
        overlay = self.desk.overlay
        if isinstance(overlay, Hall):  # it was asked for on the line before, or on none
            self.link.send(Visit(tournament=overlay.code) if overlay.code else Tournaments())
        self._answered = ""
        self._arrived = True

    def _enter(self, request: Join | Spectate) -> None:
        self.desk = replace(self.desk, entering=request)
        self.link.send(request)

    def _show_rooms(self) -> None:
        # Who went straight to a room has not asked for the others yet.
        if self.state.room is None and self.state.rooms is None:
            self.link.send(Rooms())

    def _ask_password(self) -> None:
        self._regained = ""  # it is the player's from here on, who may think better of it
        wanted = self.desk.entering
        if wanted is not None:
            prompt = Prompt("password", room=wanted.room, watch=isinstance(wanted, Spectate))
            self.desk = replace(self.desk, overlay=prompt)

    def _settle_doubt(self) -> None:
        if self.state.in_doubt and not self._in_doubt:
            self.link.send(Snapshot())
        self._in_doubt = self.state.in_doubt

    def _settle_hint(self) -> None:
        """Ask for the legal moves while the player wants them: for the list, or for where the
        cards of a move half-typed may go. Once for each board, when no play is under way.
        """
        state, board = self.state, self.state.board
        if not (self.desk.hinting or self.desk.half):
            self._hint_of = None
        elif board is None or state.knows_moves or state.plays.waiting or not state.may("hint"):
            return
        elif self._hint_of != board.n and self.link.send(Hint()):
            self._hint_of = board.n

    def _settle_view(self) -> None:
        view = view_of(self.state)
        if view == self._view:
            return
        # What was half-typed belonged to the other screen; what is being said does not.
        overlay = self.desk.overlay
        kept = None if isinstance(overlay, Confirm | Form | Hall) else overlay
        if isinstance(overlay, Hall) and overlay.code:
            self.link.send(Visit())
        self.desk = Desk(overlay=kept, entering=self.desk.entering)
        self._view = view

    async def _watch_lobby(self) -> None:
        while True:
            await asyncio.sleep(LOBBY_GAP)
            if view_of(self.state) == "lobby":
                self.link.send(Rooms())
