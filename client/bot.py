"""A player that is a program: joins a room, plays one race from what the server offers.

It uses the same link and the same state as the terminal. Out of ideas it gives up, unless a
person still races: then it keeps its place in the list until they are done. Once all people
are done it plays on at full pace, so that they get their standings.
"""

import asyncio
import logging
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Final

from client import model, passing
from client.identity import Identity
from client.line import Line
from client.link import Heard, Link
from client.model import State
from client.strategy import Mind, View
from wire.messages import (
    Board,
    Create,
    Follow,
    Hint,
    Join,
    Left,
    Lobby,
    Ready,
    Refused,
    Rematch,
    Resign,
    Room,
    Rooms,
    Snapshot,
    Standings,
    Welcome,
)
from wire.values import Settings

log = logging.getLogger(__name__)

HUMAN_PACE: Final = 0.5  # moves a second of a quick person
FULL_PACE: Final = 40.0  # with a hint for each move, below what servers take for a flood
PATIENCE: Final = 60.0  # seconds without a server, or with one that gives no seat just now
LOBBY_PAUSE: Final = 1.0  # seconds before looking into an empty lobby again
HINT_PAUSE: Final = 0.5  # seconds before asking anew for hints that could not be given


class BotFailed(Exception):
    """The bot could not play; the text says why."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a bot is to do."""

    room: str | None = None  # None: open one with `settings`, or else the first open one
    settings: Settings | None = None
    password: str = ""
    moves_per_second: float = FULL_PACE
    rematches: bool = False  # go on into every rematch, until the line ends


class Bot:
    """One bot and its one race."""

    def __init__(self, url: str, identity: Identity, name: str, plan: Plan, chance: Random) -> None:
        """`chance` varies the pace only."""
        self.state = State()
        self._plan = plan
        self._chance = chance
        self._mind = Mind()
        self._link = Link(url, identity, self._hear, name=name, bot=True, patience=PATIENCE)
        self._woken = asyncio.Event()
        self._ended = asyncio.Event()
        self._failure = ""
        self._is_new = True  # nothing was heard from the server so far
        self._room = ""  # where it has a seat
        self._regains = False  # the seat in that room
        self._request: Join | Create | None = None  # the last one for a seat
        self._refused_at: float | None = None  # since when it is refused, though that may pass
        self._readied = False
        self._resigned = False
        self._asked_at: int | None = None  # the play after which hints were asked for
        self._has_hints = True
        self._hurry = asyncio.Event()  # the people are done, and wait for the standings

    async def run(self) -> Standings:
        """Play one race and give its standings.

        Raises:
            BotFailed: there is no server, no room, or no seat.
        """
        await self._live()
        if self.state.standings is None:
            if not self._failure:
                self._fail(self._link.line.why or "the race did not end")
            raise BotFailed(self._failure)
        return self.state.standings

    async def _live(self) -> None:
        """Keep the line and play, until one of them has ended."""
        tasks = [
            asyncio.create_task(self._link.run(), name="bot-link"),
            asyncio.create_task(self._play(), name="bot-play"),
            asyncio.create_task(self._ended.wait(), name="bot-end"),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
            self._link.close()
            await tasks[0]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # --- hearing ----------------------------------------------------------------------

    def _hear(self, heard: Heard) -> None:
        if isinstance(heard, Line):
            self.state = model.lined(self.state, heard)
            if heard.status == "waiting" and self._is_new and not heard.is_answered:
                self._fail(heard.why)
            return
        self._is_new = False
        self.state = model.heard(self.state, heard, time.monotonic())
        match heard:
            case Welcome():
                self._enter(heard)
            case Lobby():
                self._pick(heard)
            case Refused():
                self._refused(heard)
            case Left():
                self._lost_seat(heard)
            case Standings():
                self._finished(heard)
            case Room(phase="over", next_room=str()) if self._plan.rematches:
                # The room is named before it is open; who asks for it too finds it open.
                self._link.send(Rematch())
            case Follow():
                self._ask_for_seat(Join(room=heard.room, password=self._plan.password))
            case Board():
                self._asked_at = None
            case _:
                pass
        if self.state.in_doubt:
            self._link.send(Snapshot())
        if self.state.seat is not None and self.state.room is not None:
            self._sit(self.state.room.room)
        if self._people_are_done():
            self._hurry.set()
        self._woken.set()

    def _finished(self, heard: Standings) -> None:
        if not self._plan.rematches:
            self._ended.set()

    def _lost_seat(self, left: Left) -> None:
        if left.kind == "lost":  # by the store: it may be had again
            self._regain()
        else:
            self._fail(f"lost the seat in room {left.room}: {left.kind}")

    def _regain(self) -> None:
        self._regains, self._readied = True, False
        self._ask_for_seat(Join(room=self._room, password=self._plan.password))

    def _ask_for_seat(self, request: Join | Create) -> None:
        self._request, self._refused_at = request, None
        self._link.send(request)

    def _enter(self, welcome: Welcome) -> None:
        self._readied = False  # what was said on a line that broke may not have arrived
        if welcome.room is not None:
            return
        if self._room:
            self._regain()
        elif self._plan.room is not None:
            self._ask_for_seat(Join(room=self._plan.room, password=self._plan.password))
        elif self._plan.settings is not None:
            self._ask_for_seat(Create(settings=self._plan.settings, password=self._plan.password))
        else:
            self._link.send(Rooms())

    def _pick(self, lobby: Lobby) -> None:
        if self._room:
            return
        fitting = [
            line
            for line in lobby.rooms
            if line.phase == "open" and line.taken < line.seats and not line.locked
        ]
        if fitting:
            self._ask_for_seat(Join(room=fitting[0].room))
        else:
            loop = asyncio.get_running_loop()
            loop.call_later(LOBBY_PAUSE, self._link.send, Rooms())

    def _sit(self, room: str) -> None:
        self._regains = False
        if room != self._room:
            self._room, self._mind = room, Mind()
            self._readied = self._resigned = False
            self._asked_at = None
            self._hurry.clear()
        seat = self.state.seat
        if self.state.may("ready") and seat is not None and not seat.ready and not self._readied:
            self._readied = self._link.send(Ready(salt=secrets.token_bytes(16)))

    def _refused(self, refused: Refused) -> None:
        match refused.re:
            case "join" | "create" if passing.is_passing(refused) and self._bears_it():
                asyncio.get_running_loop().call_later(passing.AGAIN_AFTER, self._ask_once_more)
            case "join" if self._regains:
                self._fail(f"lost the seat in room {self._room}: {refused.reason}")
            case "join" if self._plan.room is None:
                self._link.send(Rooms())
            case "join" | "create" | "hello":
                self._fail(refused.reason)
            case "hint" if refused.code == "hints-off":
                self._has_hints = False
            case "hint":
                asyncio.get_running_loop().call_later(HINT_PAUSE, self._ask_again)
            case _:
                log.debug("refused %s: %s", refused.re, refused.reason)

    def _bears_it(self) -> bool:
        now = time.monotonic()
        self._refused_at = now if self._refused_at is None else self._refused_at
        return now - self._refused_at < PATIENCE

    def _ask_once_more(self) -> None:
        room, request = self.state.room, self._request
        is_there = isinstance(request, Join) and room is not None and room.room == request.room
        if request is not None and not is_there:
            self._link.send(request)

    def _ask_again(self) -> None:
        self._asked_at = None
        self._woken.set()

    def _fail(self, why: str) -> None:
        is_named = not self._is_new or self._link.url in why
        self._failure = why if is_named else f"{self._link.url}: {why}"
        self._ended.set()

    # --- playing ----------------------------------------------------------------------

    async def _play(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            if self._is_my_turn():
                choice = self._choose()
                if choice is not None:
                    await self._pause()
                    if self._is_my_turn():
                        self._link.play(choice)

    def _is_my_turn(self) -> bool:
        board, room = self.state.board, self.state.room
        return (
            board is not None
            and room is not None
            and room.phase == "running"
            and board.outcome == "playing"
            and self.state.finished is None
            and not self._resigned
            and self._link.line.status == "online"
            and self._link.plays.waiting == 0
        )

    def _choose(self) -> str | None:
        board, hints = self.state.board, self.state.hints
        if board is None:
            return None
        if self._has_hints and (hints is None or hints.n != board.n):
            if self._asked_at != board.n and self._link.send(Hint()):
                self._asked_at = board.n
            return None
        view = View(board.piles, board.cards, board.down, board.turn, tuple(board.can), board.stuck)
        if self._has_hints and hints is not None:
            choice = self._mind.choose(view, hints.moves)
        else:
            choice = self._mind.guess(view)
        # A board proved stuck counts as done already, and keeps its place in the standings;
        # but not while moves may be taken back, which leads out of it.
        counts_as_done = board.stuck and "undo" not in board.can
        if choice is None and not counts_as_done and not self._a_person_races():
            self._resigned = self._link.send(Resign())
        return choice

    def _a_person_races(self) -> bool:
        room = self.state.room
        return room is not None and any(
            not seat.bot and seat.outcome == "playing" for seat in room.seats
        )

    def _people_are_done(self) -> bool:
        room = self.state.room
        people = [seat for seat in room.seats if not seat.bot] if room is not None else []
        return bool(people) and all(seat.outcome != "playing" for seat in people)

    async def _pause(self) -> None:
        rate = self._plan.moves_per_second
        await asyncio.sleep(1 / FULL_PACE)
        if rate < FULL_PACE:
            seconds = self._chance.uniform(0.5, 1.5) / rate - 1 / FULL_PACE
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, seconds)):
                    await self._hurry.wait()
