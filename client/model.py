"""What this client knows: messages of the server folded into one state.

Pure. The state replaces what it knew by what it is told and computes nothing of the game;
a message it does not know changes nothing. Instants are seconds of the monotonic clock
unless their name ends in `_ms`, which are the server's.
"""

from dataclasses import dataclass, field, replace
from typing import Final, Literal

import msgspec

from client.clock import Clock
from client.fairness import Check, Notes, check
from client.line import Line
from client.plays import Plays
from client.tournament import tour as tours
from client.tournament.tour import Tour
from wire.messages import (
    Board,
    Chatted,
    Countdown,
    Error,
    Finished,
    Hints,
    Left,
    Lobby,
    Moved,
    News,
    Refused,
    Room,
    Scores,
    ServerMessage,
    Standings,
    Store,
    Welcome,
)
from wire.values import RoomLine, Score, Seat

Tone = Literal["plain", "good", "bad", "talk"]

LOG_KEPT: Final = 200
GAIN_SHOWN: Final = 3.0  # seconds for which a rival's card home is marked
NOTICE_SHOWN: Final = 8.0


@dataclass(frozen=True, slots=True)
class Notice:
    """The line for the player, and when it came."""

    text: str
    tone: Tone = "plain"
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class State:
    """All that a screen shows, but for what the player is typing."""

    line: Line = field(default_factory=Line)
    clock: Clock = field(default_factory=Clock)
    plays: Plays = field(default_factory=Plays)
    player: str = ""
    name: str = ""
    rooms: tuple[RoomLine, ...] | None = None
    room: Room | None = None
    boards: tuple[tuple[int, Board], ...] = ()  # by seat; more than one for a spectator
    touched: tuple[tuple[int, frozenset[str]], ...] = ()  # by seat, the piles that changed last
    hints: Hints | None = None
    standings: Standings | None = None
    finished: Finished | None = None
    log: tuple[Notice, ...] = ()
    notice: Notice = Notice("")
    store_waits: bool = False
    gains: tuple[tuple[int, float], ...] = ()  # seat, when it last brought a card home
    in_doubt: bool = False  # a play is missing: ask for a snapshot
    invitation: str = ""  # how others get here, where this program started the server
    notes: Notes = field(default_factory=Notes)  # of the deal, to be checked at the end
    tour: Tour = field(default_factory=Tour)  # tournaments
    best: str = ""  # the player's own in the game that was raced, once a race is over

    @property
    def seat(self) -> Seat | None:
        """The player's own seat."""
        room = self.room
        if room is None or room.seat is None or not 0 <= room.seat < len(room.seats):
            return None
        return room.seats[room.seat]

    @property
    def board(self) -> Board | None:
        """The player's own board."""
        if self.room is None or self.room.seat is None:
            return None
        return dict(self.boards).get(self.room.seat)

    def name_of(self, player: str) -> str:
        """Give the name of somebody with a seat, as it came; the id of anybody else."""
        seats = self.room.seats if self.room is not None else []
        return next((seat.name for seat in seats if seat.player == player), player)

    @property
    def is_racing(self) -> bool:
        """Whether leaving would give a race up."""
        room, seat = self.room, self.seat
        return (
            room is not None
            and seat is not None
            and room.phase in ("locked", "running")
            and seat.outcome == "playing"
            and self.finished is None
        )

    @property
    def deal_check(self) -> Check | None:
        """What comes out of comparing the revealed deal with what was promised."""
        result, room = self.standings, self.room
        if result is None or room is None or room.room != self.notes.room:
            return None
        return check(self.notes, result.reveal)

    def may(self, tag: str) -> bool:
        """Whether the server said that this may be asked now."""
        return self.room is not None and tag in self.room.actions

    @property
    def knows_moves(self) -> bool:
        """Whether the legal moves of the board as it is are known."""
        board, hints = self.board, self.hints
        return board is not None and hints is not None and hints.n == board.n

    def says(self, text: str, tone: Tone, at: float) -> "State":
        """Show a line to the player."""
        return replace(self, notice=Notice(text, tone, at))


def lined(state: State, line: Line) -> State:
    """Take in a change of the connection."""
    return replace(
        state, line=line, store_waits=False if line.status != "online" else state.store_waits
    )


def heard(state: State, message: ServerMessage, at: float) -> State:
    """Take in a message of the server, heard at `at`."""
    match message:
        case Welcome():
            return _welcome(state, message)
        case Lobby():
            return replace(state, rooms=tuple(message.rooms))
        case Room():
            return _room(state, message)
        case News():
            tone: Tone = "bad" if message.kind in _AT_ONCE else "plain"
            return _logged(state, Notice(_news(message), tone, at))
        case Countdown():
            return _countdown(state, message)
        case Board():
            return _heard_board(state, message, at)
        case Moved():
            return _moved(state, message)
        case Refused(re="leave", code="no-room") | Error(re="leave", code="no-room"):
            return state  # said twice: that is what was wanted
        case Refused():
            # A gap only follows from a refusal that has been shown already.
            return state if message.code == "gap" else state.says(message.reason, "bad", at)
        case Hints():
            return replace(state, hints=message)
        case Scores():
            return _scores(state, message, at)
        case Finished():
            return _finished(state, message, at)
        case Standings():
            return _standings(state, message, at)
        case Chatted():
            return _logged(state, Notice(f"{message.name}: {message.text}", "talk", at))
        case Left():
            return _left(state, message, at)
        case Store():
            return replace(state, store_waits=message.waiting)
        case Error():
            return state.says(message.reason, "bad", at)
        case _:
            tour = tours.heard(state.tour, message)
            return state if tour is state.tour else replace(state, tour=tour)


def _welcome(state: State, message: Welcome) -> State:
    known = replace(state, player=message.player, name=message.name)
    if message.room is not None and state.room is not None and state.room.room == message.room:
        return known
    return _without_room(known)


def _without_room(state: State) -> State:
    return replace(
        state,
        room=None,
        boards=(),
        touched=(),
        hints=None,
        standings=None,
        finished=None,
        gains=(),
        in_doubt=False,
    )


def _room(state: State, message: Room) -> State:
    if state.room is not None and state.room.room != message.room:
        state = replace(_without_room(state), log=())
    if state.room is None and state.notice.tone == "bad":
        state = replace(state, notice=Notice(""))  # of what was tried before
    if message.phase not in ("running", "over"):
        state = replace(state, boards=(), touched=())
    return replace(state, room=message, notes=state.notes.entered(message))


def _countdown(state: State, message: Countdown) -> State:
    if state.room is None:
        return state
    room = msgspec.structs.replace(state.room, starts=message.starts)
    return replace(state, room=room, notes=state.notes.locked(message.salts))


def _standings(state: State, message: Standings, at: float) -> State:
    after = replace(state, standings=message)
    found = after.deal_check
    return after.says(found.text, "bad", at) if found is not None and found.is_bad else after


def _heard_board(state: State, message: Board, at: float) -> State:
    after, former = _board(state, message), dict(state.boards).get(message.seat)
    is_own = state.room is not None and message.seat == state.room.seat
    if former is None or not is_own or message.n >= former.n:
        return after
    # A node that came back together with an older store does not know, and cannot say so.
    lost = former.n - message.n
    plays = "play does" if lost == 1 else f"{lost} plays do"
    text = f"The server's record is older than it was: your last {plays} not count."
    return _logged(after, Notice(text, "bad", at))


def _board(state: State, message: Board) -> State:
    boards, touched = dict(state.boards), dict(state.touched)
    former = boards.get(message.seat)
    if former is not None and former.piles != message.piles:
        changed = {name for name, pile in message.piles.items() if pile != former.piles.get(name)}
        touched[message.seat] = frozenset(changed)
    boards[message.seat] = message
    return replace(
        state,
        boards=tuple(sorted(boards.items())),
        touched=tuple(touched.items()),
        in_doubt=False,
    )


def _moved(state: State, message: Moved) -> State:
    board = state.board
    if board is None or board.n >= message.n:  # an answer that came again after a resume
        return state
    if message.n != board.n + 1:
        return replace(state, in_doubt=True)
    after = msgspec.structs.replace(
        board,
        n=message.n,
        piles=board.piles | message.piles,
        cards=message.cards,
        down=message.down,
        score=message.score,
        moves=message.moves,
        undos=message.undos,
        turn=message.turn,
        can=message.can,
        stuck=message.stuck,
        outcome=message.outcome,
    )
    notice = Notice("") if state.notice.tone == "bad" else state.notice
    return replace(_board(state, after), notice=notice)


def _scores(state: State, message: Scores, at: float) -> State:
    if state.room is None:
        return state
    seats, gains = list(state.room.seats), dict(state.gains)
    for line in message.lines:
        if not 0 <= line.seat < len(seats):
            continue
        if line.cards > seats[line.seat].cards:
            gains[line.seat] = at
        seats[line.seat] = _rescored(seats[line.seat], line)
    room = msgspec.structs.replace(state.room, seats=seats)
    return replace(state, room=room, gains=tuple(sorted(gains.items())))


def _rescored(seat: Seat, line: Score) -> Seat:
    return msgspec.structs.replace(
        seat,
        cards=line.cards,
        down=line.down,
        score=line.score,
        moves=line.moves,
        undos=line.undos,
        outcome=line.outcome,
        done_ms=line.done_ms,
    )


def _finished(state: State, message: Finished, at: float) -> State:
    done = replace(state, finished=message)
    if message.outcome == "disqualified":
        return done  # the news of it has said why
    text = "Solved! All cards are home." if message.outcome == "solved" else ""
    return done.says(text, "good", at)


_GONE: Final = {
    "kicked": "The host freed your seat.",
    "closed": "The room was closed.",
    "away": "You were away too long; your seat is free again.",
    "lost": "The server's store has lost this room.",
}


def _left(state: State, message: Left, at: float) -> State:
    if state.room is not None and state.room.room != message.room:
        return state
    return replace(_without_room(state), notice=Notice(_GONE.get(message.kind, ""), "bad", at))


_NEWS: Final = {
    "joined": "{name} took a seat",
    "readied": "{name} is ready",
    "unreadied": "{name} is not ready any more",
    "hosted": "{name} is the host now",
    "locked": "The seats are fixed; the race is about to start",
    "started": "The race has started",
    "resigned": "{name} gave up",
    "disqualified": "{name} was disqualified: {text}",
    "over": "The race is over",
    "followed": "A rematch is open: room {text}",
    "resynchronised": "{text}",
}
# A record that went back a little, and a ruling, are for everybody to know at once.
_AT_ONCE: Final = ("resynchronised", "disqualified")
_LEFT: Final = {
    "kicked": "{name} was sent out by the host",
    "away": "{name} was away too long and lost the seat",
}


def _news(message: News) -> str:
    if message.kind == "left":
        told = _LEFT.get(message.text, "{name} left")
    else:
        told = _NEWS.get(message.kind, "{name} {kind} {text}")
    return told.format(name=message.name or "", kind=message.kind, text=message.text).strip()


def _logged(state: State, entry: Notice) -> State:
    notice = entry if entry.tone != "plain" else state.notice
    return replace(state, log=(*state.log, entry)[-LOG_KEPT:], notice=notice)
