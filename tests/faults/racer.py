"""A player who does not trust the server: plays, comes back, sends again, writes all down.

It speaks the wire by itself. What it does about a loss is what docs/protocol.md asks of a
client, but for one thing: it has several doors and tries another one each time.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from client.line import Loss, judge
from tests.faults.record import Answer, Record, seen
from wire import messages as m
from wire.codec import decode_server, encode
from wire.values import Outcome, Settings

ABNORMAL: Final = 1006
AGAIN: Final = ("store", "conflict")  # refusals after which the same play is sent once more
SUSPICION_S: Final = 3.0  # an answer is owed and nothing at all is heard: is anybody there?
SILENCE_S: Final = 6.0  # nothing is owed, and all the same
PONG_S: Final = 2.0
LONGEST_WAIT_S: Final = 0.25
OPEN_S: Final = 5.0


@dataclass(frozen=True)
class Plan:
    """What a racer is to do; `script` are the moves that solve its deal, if they are known."""

    plays: int = 60  # after that it resigns
    per_s: float = 10.0
    ahead: int = 3  # plays under way at once
    script: Sequence[str] = ()
    undo: bool = False
    vanishes: bool = False  # goes without a word instead of resigning
    watches: bool = False


class Racer:
    """One player of one race, on whichever door is open."""

    def __init__(
        self,
        name: str,
        doors: Sequence[str],
        chance: Random,
        plan: Plan,
        *,
        room: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Joins `room`, or opens one with `settings`.

        `doors` are the nodes' addresses; it comes in by the first one.
        """
        self.record = Record(name)
        self.plan = plan
        self.token: str | None = None
        self.entered = asyncio.Event()  # has a seat, or watches
        self.others_are_there = asyncio.Event()  # it is not ready before
        self.started = asyncio.Event()
        self.done = asyncio.Event()
        self.store_is_away = False
        self.rivals_plays = 0  # as the last scores have it
        self.doors = list(doors)
        self.door = ""
        self._moving_to: str | None = self.doors[0]  # the next one, where it is settled
        self.ghosts: list[Ghost] = []
        self._chance = chance
        self._room, self._settings = room, settings
        self._socket: ClientConnection | None = None
        self._run, self._lines = chance.randbytes(8).hex(), 0
        self._lost_at: float | None = None
        self._state: m.Room | None = None
        self._piles: dict[str, str] = {}
        self._counted = 0
        self._pending: dict[int, tuple[str, float]] = {}  # sent and not answered, in order
        self._once_more: str | None = None
        self._closed_till_answered = False
        self._is_on_board = False  # a fresh board has come on this line
        self._can: list[str] = []
        self._outcome: Outcome = "playing"
        self._next_at = 0.0
        self._resigned = False
        self._rested = False  # nothing more to play
        self._is_ready = True  # or was asked to be, on this line; nobody is before entering
        self._finishing = False  # one message of ours is answered by many plays

    # --- what others do to it ---------------------------------------------------------

    def hang_up(self) -> None:
        """Loses its line, without a word."""
        if self._socket is not None:
            self._socket.transport.abort()

    def take_over(self, door: str | None = None) -> None:
        """Comes back by another door while the old line still looks open."""
        self._moving_to = door or self._other_door()

    def stop(self) -> None:
        """Has it resign as soon as all its plays are answered, if that is not its way to go."""
        self.plan = replace(self.plan, plays=0)

    @property
    def plays(self) -> int:
        """How many of its plays count."""
        return self._counted

    @property
    def is_racing(self) -> bool:
        """Whether it is on a board, on a line, and not done."""
        is_at_it = self._is_on_board and not self.plan.watches and not self.done.is_set()
        return is_at_it and self._outcome == "playing"

    # --- its life ---------------------------------------------------------------------

    async def run(self) -> Record:
        """Races until the standings are there, or it has vanished."""
        failures = 0
        try:
            while not self.done.is_set():
                self.door = self._moving_to or self._other_door()
                self._moving_to = None
                code = await self._line()
                if self.done.is_set():
                    break
                failures = 0 if self._is_on_board else failures + 1
                if code == m.Close.BAD_TOKEN and self.record.boards:
                    self.record.is_forgotten = True
                    break
                if code == m.Close.BAD_TOKEN:
                    self.token = None  # lost with a master before anything was played: come anew
                self._lose(code)
                await self._pause(code, failures)
        finally:
            await self._bury()
        return self.record

    def _other_door(self) -> str:
        others = [door for door in self.doors if door != self.door]
        return self._chance.choice(others or self.doors)

    def _lose(self, code: int | None) -> None:
        self.record.losses[code or 0] += 1
        if code == m.Close.REPLACED:
            self.record.thrown_out += 1
        if self._lost_at is None and self._is_on_board:
            self._lost_at = _now()
        self._is_on_board = False
        self._resigned = False

    async def _pause(self, code: int | None, failures: int) -> None:
        if self._moving_to is None:
            loss = Loss(None if code in (m.Close.OVERLOAD, m.Close.REPLACED) else code, "")
            pause = judge(loss, min(failures, 2)).delay(self._chance)  # another door is near
            await asyncio.sleep(pause)

    async def _line(self) -> int | None:
        """Lives on one line; gives its close code, None if it never opened."""
        try:
            socket = await connect(
                self.door,
                proxy=None,
                compression=None,
                subprotocols=[m.SUBPROTOCOL],  # type: ignore[list-item]
                open_timeout=OPEN_S,
                close_timeout=1,
                ping_interval=None,
            )
        except (OSError, TimeoutError, InvalidHandshake, InvalidMessage, EOFError):
            return None
        self._socket = socket
        try:
            await self._serve(socket)
        except ConnectionClosed:
            pass
        except TimeoutError:
            socket.transport.abort()
        if self._moving_to is None:
            socket.transport.abort()
            return socket.close_code or ABNORMAL
        self.ghosts.append(Ghost(socket, self._pending_now()))
        if self._is_on_board:
            self._lost_at = _now()
        return None

    def _pending_now(self) -> dict[int, str]:
        return {n: text for n, (text, _) in self._pending.items()}

    async def _serve(self, socket: ClientConnection) -> None:
        self._lines += 1
        hello = m.Hello(
            v=m.PROTOCOL,
            name=None if self.token else self.record.name,
            token=self.token,
            bot=True,
            run=self._run,
            line=self._lines,
        )
        await socket.send(encode(hello))
        heard_at = _now()
        while not self.done.is_set() and self._moving_to is None:
            try:
                async with asyncio.timeout(LONGEST_WAIT_S if self._rests else self._breath()):
                    data = await socket.recv()
            except TimeoutError:
                if _now() - heard_at > (SUSPICION_S if self._is_owed else SILENCE_S):
                    async with asyncio.timeout(PONG_S):
                        await (await socket.ping())
                    heard_at = _now()
            else:
                heard_at = _now()
                assert isinstance(data, bytes)
                message = decode_server(data)
                assert message is not None, f"an unknown message: {data!r}"
                for answer in self._note(message):
                    await socket.send(encode(answer))
            for play in self._says_now():
                await socket.send(encode(play))

    def _breath(self) -> float:
        return min(LONGEST_WAIT_S, max(0.0, self._next_at - _now()))

    @property
    def _rests(self) -> bool:
        return not self.is_racing or len(self._pending) >= self.plan.ahead or self._rested

    @property
    def _is_owed(self) -> bool:
        return bool(self._pending) or not self._is_on_board

    # --- hearing ----------------------------------------------------------------------

    def _note(self, message: m.ServerMessage) -> Sequence[m.ClientMessage]:
        record = self.record
        match message:
            case m.Welcome():
                return self._welcomed(message)
            case m.Room():
                return self._in_room(message)
            case m.Board():
                return self._board(message)
            case m.Moved():
                self._moved(message)
            case m.Refused():
                self._refused(message)
            case m.Standings():
                record.standings.append(message)
                if message.reason == "aborted" or message.reveal is not None:
                    self.done.set()
            case m.Left(kind="lost"):
                return (m.Join(room=message.room),)
            case m.News(kind="resynchronised"):
                record.resynchronised.append((len(record.answers), len(record.boards)))
            case m.Store():
                self.store_is_away = message.waiting
                record.waits += message.waiting
            case m.Scores():
                seat = None if self._state is None else self._state.seat
                self.rivals_plays = sum(
                    line.moves + line.undos for line in message.lines if line.seat != seat
                )
            case m.Finished():
                self._outcome = message.outcome
            case m.Error():
                record.errors[message.code] += 1
            case _:
                pass
        return ()

    def _welcomed(self, welcome: m.Welcome) -> Sequence[m.ClientMessage]:
        self.token = welcome.token or self.token
        self.record.player = welcome.player
        if welcome.room is not None:
            return ()
        if self._room is None:
            assert self._settings is not None
            return (m.Create(settings=self._settings),)
        if self.plan.watches:
            return (m.Spectate(room=self._room),)
        return (m.Join(room=self._room),)

    def _in_room(self, room: m.Room) -> Sequence[m.ClientMessage]:
        self._state = room
        self._room = self.record.room = room.room
        if self.plan.watches:
            self._come_back()
            self.entered.set()
        if room.seat is None:
            return ()
        self.entered.set()
        if room.phase == "running":
            self.started.set()
        self._is_ready = room.phase != "open" or room.seats[room.seat].ready
        return ()

    def _come_back(self) -> None:
        if self._lost_at is not None:
            self.record.resumes.append(_now() - self._lost_at)
            self._lost_at = None
        self._is_on_board = True
        self._finishing = False

    def _board(self, board: m.Board) -> Sequence[m.ClientMessage]:
        if self._state is None or board.seat != self._state.seat:
            return ()
        was_back = self._is_on_board
        self._come_back()
        self._piles = dict(board.piles)
        self._counted = board.n
        self._can, self._outcome = board.can, board.outcome
        self.record.boards.append(seen(board, board.n, self._piles))
        if was_back:
            # Not asked for: the store has lost its last moments, and what was under way.
            self._pending = {n: each for n, each in self._pending.items() if n > board.n}
            return ()
        # All of them, even those that the board counts already: each is owed its answer.
        return [self._message(n, text) for n, (text, _) in self._pending.items()]

    def _moved(self, moved: m.Moved) -> None:
        record = self.record
        record.answers.append(Answer(moved.n, moved.m, moved.at))
        if moved.n > self._counted:
            self._piles |= moved.piles
            self._counted = moved.n
        else:
            self._piles = dict(moved.piles)  # answered again: the whole board as it is now
        self._can, self._outcome = moved.can, moved.outcome
        record.boards.append(seen(moved, self._counted, self._piles))
        asked = self._pending.pop(moved.n, None)
        if asked is not None:
            record.trips.append(_now() - asked[1])
        self._rested = False

    def _refused(self, refused: m.Refused) -> None:
        self.record.refusals[refused.code] += 1
        n = refused.n
        if isinstance(n, int):
            text, _ = self._pending.pop(n, ("", 0.0))
            if refused.code in AGAIN and text:
                self._once_more = self._once_more or text
            self._closed_till_answered = True
            self._finishing = False
        elif refused.re == "hello" or refused.code in (*AGAIN, "newer-room"):
            self.hang_up()  # and ask anew on the next line
        elif refused.re == "create" and refused.code == "no-room":
            self.hang_up()  # lost with a master as soon as it was opened: open another
        elif refused.re in ("join", "spectate"):
            # A master has taken the room along, or the seat, and the race has begun since.
            self.record.is_forgotten = True
            self.entered.set()
            self.done.set()

    # --- playing ----------------------------------------------------------------------

    def _says_now(self) -> Sequence[m.ClientMessage]:
        """What is to be said now, in order."""
        if not self._is_ready and self.others_are_there.is_set():
            self._is_ready = True
            return (m.Ready(salt=self._chance.randbytes(8)),)
        if not self.is_racing:
            return ()
        if not self._pending:
            self._closed_till_answered = False
        is_full = len(self._pending) >= self.plan.ahead
        if self._closed_till_answered or self._finishing or is_full:
            return ()
        if self._counted >= self.plan.plays:
            return self._ending()
        if _now() < self._next_at:
            return ()
        self._next_at = _now() + self._chance.uniform(0.5, 1.5) / self.plan.per_s
        n = self._counted + len(self._pending) + 1
        text = self._choice(n)
        if text is None:
            return ()
        self._pending[n] = (text, _now())
        self.record.ask(n, text)
        return (self._message(n, text),)

    def _ending(self) -> Sequence[m.ClientMessage]:
        self._rested = True
        if self._pending or self._resigned:
            return ()
        if self.plan.vanishes:
            self.done.set()
            return ()
        self._resigned = True
        return (m.Resign(),)

    @staticmethod
    def _message(n: int, text: str) -> m.ClientMessage:
        match text:
            case "undo":
                return m.Undo(n=n)
            case "finish":
                return m.Finish(n=n)
            case _:
                return m.Move(n=n, m=text)

    def _choice(self, n: int) -> str | None:
        """The next play's text; None to wait for an answer first."""
        once_more, self._once_more = self._once_more, None
        if once_more is not None:
            return once_more
        if "finish" in self._can and not self._pending:
            self._finishing = True
            return "finish"
        if self.plan.script:
            return self.plan.script[n - 1] if n <= len(self.plan.script) else None
        chance = self._chance
        dice = chance.random()
        if dice < 0.7:
            return "d"
        if dice < 0.8 and self.plan.undo:
            return "undo"
        columns = [name for name in self._piles if name.isdecimal()]
        return f"{chance.choice([*columns, 'w'])}>"

    # --- old lines --------------------------------------------------------------------

    async def _bury(self) -> None:
        if self._socket is not None:
            if not self.plan.vanishes:
                with suppress(TimeoutError):
                    async with asyncio.timeout(2):
                        await self._socket.close()
            self._socket.transport.abort()
        for ghost in self.ghosts:
            await ghost.end()


class Ghost:
    """A line that its player has left behind without closing it."""

    def __init__(self, socket: ClientConnection, pending: dict[int, str]) -> None:
        self.socket = socket
        self.answers: list[m.ServerMessage] = []
        self._pending = pending
        self._reading = asyncio.create_task(self._read(), name="ghost")

    async def _read(self) -> None:
        with suppress(ConnectionClosed):
            # An old connection does not know that it is one: it goes on sending.
            for n, text in self._pending.items():
                await self.socket.send(encode(Racer._message(n, text)))
            while True:
                message = decode_server(await self.socket.recv())  # type: ignore[arg-type]
                if message is not None:
                    self.answers.append(message)

    @property
    def code(self) -> int | None:
        """The close code, once it is closed."""
        return self.socket.close_code

    async def end(self) -> None:
        self.socket.transport.abort()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)


def _now() -> float:
    return asyncio.get_running_loop().time()
