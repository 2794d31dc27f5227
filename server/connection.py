"""One connection at the front desk: what the peer asks, the rooms do, in order.

A play is the hot path: it is decided at once, without a task, and its outcome is sent by
the room when the journal has it. Everything else waits for the store in one task at a
time. While something is under way, what comes next waits in a bounded inbox; when that is
full the peer is no longer read.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from server import events as ev
from server import referee, view
from server.attendance import Attendance, Fairground
from server.follower import denied
from server.gateway import Peer
from server.patience import Patience
from server.race import Race
from server.refusal import Refusal, store_away
from server.room import Room
from server.rooms import Rooms, read_code
from server.session import TOURNAMENTS, Fault, Session
from server.store import Missing, Store, Unavailable
from server.store.players import Player
from server.tally import Tally
from server.version import SERVER
from wire import messages as m
from wire import tournaments as w
from wire.codec import encode

log = logging.getLogger("dk.connection")

T = TypeVar("T")

INBOX = 32  # messages that wait; then the peer is no longer read
RECORD_ENTRIES = 400  # journal entries in one message


class Doors(Protocol):
    """Limits that hold over all connections of this node."""

    def may_create(self, address: str) -> bool:
        """Whether this address may open one more room."""

    def may_guess(self, address: str) -> bool:
        """Whether this address may try one more password."""

    @property
    def is_draining(self) -> bool:
        """Whether the node is on its way out."""


@dataclass(frozen=True)
class Desk:
    """What every connection of a node shares."""

    store: Store
    rooms: Rooms
    tally: Tally
    doors: Doors
    connections: "set[Connection]"
    fairground: Fairground
    newest: "dict[str, Connection]" = field(default_factory=dict)  # of each player, here


class Connection:
    """A peer, the player it speaks for, and the room it is in."""

    def __init__(self, peer: Peer, desk: Desk) -> None:
        """Serve a peer whose opening handshake is done."""
        self.player = ""
        self.epoch = 0
        self.watching = False
        self._peer = peer
        self._desk = desk
        self._session = Session()
        self._inbox: deque[bytes] = deque()
        self._busy = False  # a play is under way, or a task runs
        self._task: asyncio.Task[None] | None = None
        self._played: asyncio.Future[None] | None = None  # one of the plays of a finish
        self._who: Player | None = None
        self._room: Room | None = None
        self._attendance = Attendance(self, desk.fairground)
        self._closed = False
        self._store_is_away = False  # as the peer has been told
        desk.connections.add(self)

    # --- the gateway's side -----------------------------------------------------------

    def received(self, data: bytes) -> None:
        """Take one message's bytes."""
        if self._busy or self._inbox:
            self._inbox.append(data)
            if len(self._inbox) >= INBOX:
                self._peer.pause()
            return
        self._handle(data)

    def closed(self, code: int) -> None:
        """The connection is gone; the player's seat is not."""
        # A task that runs is not cancelled: it is short, and a library that swallows the
        # cancellation would leave it half done. It finds the room let go of.
        self._closed = True
        self._inbox.clear()
        self._desk.connections.discard(self)
        if self._desk.newest.get(self.player) is self:
            del self._desk.newest[self.player]
        self._quit_room()
        self._attendance.leave()

    @property
    def is_gone(self) -> bool:
        """Whether the connection has ended."""
        return self._closed

    # --- the room's side --------------------------------------------------------------

    def send(self, message: m.ServerMessage) -> None:
        """Send in order."""
        self._peer.send(encode(message))

    def send_frame(self, data: bytes) -> None:
        """Send an encoded message in order."""
        self._peer.send(data)

    def send_latest(self, kind: str, data: bytes) -> None:
        """Send what a newer one of its kind replaces."""
        self._peer.send_latest(kind, data)

    def moved(self) -> None:
        """Go on after a play whose outcome has been sent."""
        if self._played is not None and not self._played.done():
            self._played.set_result(None)
        elif self._busy and self._task is None:
            self._busy = False
            self._pump()

    def left(self, kind: str) -> None:
        """Be without a seat, by no request of this connection."""
        room = self._room
        if room is not None:
            self._quit_room()
            self._session.move("left")
            self.send(m.Left(room=room.code, kind=kind))
            self.store_state()
            self.moved()  # a play that was under way has no outcome to wait for

    def replaced(self) -> None:
        """Give way to a newer connection of the same player."""
        self._desk.tally.replaced += 1
        self._closed = True
        self._quit_room()
        self._attendance.leave()
        self._peer.close(m.Close.REPLACED, "a newer connection of this player is there")

    def disowned(self) -> None:
        """End, as the player's token leads nowhere any more."""
        self._peer.close(m.Close.BAD_TOKEN, "this player has another token now")

    def store_state(self) -> None:
        """Tell the peer when the part of the store that it needs is away, or back."""
        journals = self._desk.store.journals
        up = journals.up if self._room is None else journals.is_up(self._room.jid)
        if self._session.state != "new" and up == self._store_is_away:
            self._store_is_away = not up
            self.send(m.Store(waiting=not up))

    # --- one message after the other --------------------------------------------------

    def _pump(self) -> None:
        while self._inbox and not self._busy and not self._closed:
            if len(self._inbox) == INBOX:
                self._peer.resume()
            self._handle(self._inbox.popleft())

    def _handle(self, data: bytes) -> None:
        try:
            message = self._session.receive(data, time.monotonic())
            if type(message) is m.Move:
                self._play(message.n, message.m)
            elif type(message) is m.Undo:
                self._play(message.n, None)
            elif type(message) is m.Ping:
                self.send(m.Pong(c=message.c, s=self._now()))
            else:
                self._start(message)
        except Fault as fault:
            self._desk.tally.bad_frames += 1
            self.send(fault.error)
            if fault.close is not None:
                self._peer.close(fault.close, fault.error.code)
        except Refusal as refusal:
            n = getattr(message, "n", None)
            self._refuse(type(message).__name__.lower(), refusal, n)
        except Exception:
            # Here and no further: this may run from within what the room shows to others.
            self._failed(type(message).__name__.lower())

    def _play(self, n: int, text: str | None) -> None:
        room = self._room
        assert room is not None
        self._busy = True
        try:
            later = room.plays.play(self, n, text)
        except BaseException:
            self._busy = False
            raise
        if not later:
            self._busy = False

    def _start(self, message: m.ClientMessage) -> None:
        self._busy = True
        self._task = asyncio.create_task(
            self._perform(message), name=f"{self.player or 'new'} {type(message).__name__}"
        )

    async def _perform(self, message: m.ClientMessage) -> None:
        tag = type(message).__name__.lower()
        try:
            await self._do(message)
        except Refusal as refusal:
            self._turned_down(tag, refusal, getattr(message, "n", None))
        except Fault as fault:
            self._at_fault(fault)
        except Missing:
            self._at_fault(_bad_token())
        except Exception:
            self._failed(tag)
        finally:
            self._task = None
            self._busy = False
            self._pump()

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do what has the same effect when it is done twice, until the store has answered.

        Raises:
            Refusal: it has not in time.
        """
        patience = Patience(self._desk.store)
        while True:
            try:
                return await work()
            except Unavailable:
                pass
            except Refusal as refusal:
                if refusal.code != "store":
                    raise
            await patience.wait()
            if self._closed:
                raise store_away()  # to nobody

    def _turned_down(self, tag: str, refusal: Refusal, n: int | None) -> None:
        if refusal.code == "replaced":
            self.replaced()
        elif tag == "hello" and refusal.code == "store":
            # Without a welcome there is nothing a client could do here.
            self._peer.close(m.Close.OVERLOAD, "the server's store does not answer")
        elif tag == "hello" and refusal.code == "newer-room":
            self._peer.close(m.Close.RESTART, "your room is on a newer server; come back")
        else:
            self._refuse(tag, refusal, n)

    def _at_fault(self, fault: Fault) -> None:
        self.send(fault.error)
        if fault.close is not None:
            self._peer.close(fault.close, fault.error.reason[:100])

    def _failed(self, tag: str) -> None:
        log.exception("request failed", extra={"player": self.player, "request": tag})
        self._desk.tally.room_faults += 1
        self.send(m.Error(code="internal", reason="This failed on our side; it is logged."))

    def _refuse(self, tag: str, refusal: Refusal, n: int | None = None) -> None:
        self._desk.tally.refusals += 1
        if n is None:
            self.send(m.Refused(re=tag, code=refusal.code, reason=refusal.reason))
        else:
            self.send(m.Refused(re=tag, n=n, code=refusal.code, reason=refusal.reason))

    # --- requests ---------------------------------------------------------------------

    async def _do(self, message: m.ClientMessage) -> None:
        match message:
            case m.Hello():
                await self._hello(message)
            case m.Create():
                await self._create(message)
            case m.Finish():
                await self._finish(message.n)
            case w.Organise():
                self._check_may_create()
                await self._attendance.organise(message)
            case _ if type(message) in TOURNAMENTS:
                await self._patiently(lambda: self._attendance.ask(message))
            case _:
                await self._patiently(lambda: self._ask(message))

    async def _ask(self, message: m.ClientMessage) -> None:
        desk = self._desk
        match message:
            case m.Rooms():
                self.send(m.Lobby(rooms=await desk.rooms.lobby()))
            case m.Join():
                await self._join(read_code(message.room), message.password)
            case m.Spectate():
                await self._spectate(read_code(message.room), message.password)
            case m.Record():
                await self._record(read_code(message.room), message.start)
            case m.Rematch():
                code = await desk.rooms.follow(self._in_room(), self.player)
                self.send(m.Follow(room=code))
            case _:
                await self._ask_room(message, self._in_room())

    async def _ask_room(self, message: m.ClientMessage, room: Room) -> None:
        player = self.player
        match message:
            case m.Leave():
                await self._leave(room)
            case m.Ready():
                salt = message.salt
                await self._commit(room, lambda race: referee.decide_ready(race, player, salt))
            case m.Unready():
                await self._commit(room, lambda race: referee.decide_unready(race, player))
            case m.Start():
                await self._commit(room, lambda race: referee.decide_start(race, player))
            case m.Kick():
                target = message.player
                await self._commit(room, lambda race: referee.decide_kick(race, player, target))
            case m.Disqualify():
                await room.plays.disqualify(self, message.player, message.why)
            case m.Resign():
                await room.plays.resign(self)
            case m.Hint():
                racer = room.race.racers.get(player)
                moves = referee.decide_hint(room.race, player)
                self.send(m.Hints(n=racer.n if racer is not None else 0, moves=moves))
            case m.Snapshot():
                room.show(self)
            case m.Chat():
                room.chat(self, message.text)
            case _:
                raise AssertionError(f"{type(message).__name__} is handled elsewhere")

    async def _commit(self, room: Room, decide: Callable[[Race], Sequence[ev.AnyEvent]]) -> None:
        """Commit what this player asks; what is so already is answered with the room."""
        if not await room.commit(decide, actor=(self.player, self.epoch)):
            room.show_state(self)

    def _in_room(self) -> Room:
        if self._room is None:
            raise Refusal("no-room", "You are in no room.")
        return self._room

    async def _hello(self, hello: m.Hello) -> None:
        if hello.v != m.PROTOCOL:
            older = "client" if hello.v < m.PROTOCOL else "server"
            raise Fault(
                "version",
                f"You speak version {hello.v}, this server {m.PROTOCOL}: update the {older}.",
                m.Close.VERSION,
            )
        who, token = await self._patiently(lambda: self._identify(hello))
        self._who, self.player = who, who.id
        self.epoch = await self._patiently(
            lambda: self._desk.store.players.connect(who.id, hello.run, hello.line)
        )
        if not self.epoch:
            raise denied("replaced")
        log.debug("hello", extra={"player": who.id, "client": hello.client, "bot": who.bot})
        former = self._desk.newest.get(who.id)
        if former is not None and former.epoch < self.epoch:
            former.replaced()
        self._desk.newest[who.id] = self
        is_back = await self._patiently(lambda: self._find_seat(who))
        self._session.move("welcomed")
        self.send(
            m.Welcome(
                v=m.PROTOCOL,
                server=SERVER,
                player=who.id,
                name=who.name,
                now=self._desk.store.clock.now(),
                token=token,
                room=who.room if is_back else None,
            )
        )
        if is_back:
            self._desk.tally.resumes += 1
            code, watching = who.room or "", who.role == "watching"
            await self._patiently(lambda: self._enter(code, watching=watching, resume=True))
        await self._patiently(lambda: self._attendance.arrive(who))

    async def _identify(self, hello: m.Hello) -> tuple[Player, str | None]:
        """Find the player of a token, or make a new one; gives the new one's token."""
        players = self._desk.store.players
        if hello.token is None:
            return await players.create(hello.name or "guest", hello.bot)
        who = await players.find(hello.token)
        if who is None:
            raise _bad_token()
        if hello.name is not None and hello.name != who.name:
            await players.rename(who.id, hello.name)
            who = replace(who, name=hello.name)
        return who, None

    async def _find_seat(self, who: Player) -> bool:
        """Whether the player is still in the room that the store remembers."""
        if who.room is None:
            return False
        try:
            async with self._desk.rooms.held(who.room) as room:
                if who.role == "watching" or who.id in room.race.racers:
                    return True
        except Refusal as refusal:
            if refusal.code == "unreadable-room":
                return False  # not here and now; the store goes on remembering it
            if refusal.code != "no-room":
                raise
        await self._desk.store.players.set_room(who.id, None)
        return False

    def _check_may_create(self) -> None:
        doors = self._desk.doors
        if doors.is_draining:
            raise Refusal("draining", "This server is about to restart; try again in a moment.")
        if not doors.may_create(self._peer.address):
            raise Refusal("slow-down", "Too many rooms from this address; try again later.")

    async def _create(self, create: m.Create) -> None:
        self._check_may_create()
        sealed = await self._desk.rooms.seal(create.password)
        code = await self._desk.rooms.open(create.settings, self.player, sealed)
        if create.play:
            await self._patiently(lambda: self._join(code, create.password))
        else:
            await self._patiently(lambda: self._enter(code, watching=True))

    async def _join(self, code: str, password: str) -> None:
        who = self._who
        assert who is not None
        await self._check_free(code)
        async with self._desk.rooms.held(code) as room:
            if self.player not in room.race.racers:
                await self._admit(room, password)
                await room.commit(lambda race: referee.decide_join(race, who.id, who.name, who.bot))
            await self._enter(code, watching=False)

    async def _admit(self, room: Room, password: str) -> None:
        if room.race.host == self.player:
            return
        if room.password and password and not self._desk.doors.may_guess(self._peer.address):
            raise Refusal("slow-down", "Too many passwords tried; wait a minute.")
        await room.admit(password)

    async def _check_free(self, code: str) -> None:
        """Refuse to go elsewhere while a race waits for this player.

        A connection that a newer one has replaced, on whatever node, goes nowhere.
        """
        who = await self._desk.store.players.get(self.player)
        if who is not None and who.epoch > self.epoch:
            raise denied("replaced")
        room = self._room
        if room is None or room.code == code:
            return
        racer = room.race.racers.get(self.player)
        if racer is not None and not racer.is_done and room.race.phase != "over":
            raise Refusal("seated", f"You have a seat in room {room.code}; leave it first.")

    async def _spectate(self, code: str, password: str) -> None:
        await self._check_free(code)
        async with self._desk.rooms.held(code) as room:
            if room.race.settings.spectators == "none" and room.race.host != self.player:
                raise Refusal("no-spectators", "This room has no spectators.")
            if self.player in room.race.racers and room.race.phase != "over":
                raise Refusal("seated", "You have a seat in this race; a player cannot watch it.")
            await self._admit(room, password)
            await self._enter(code, watching=True)

    async def _enter(self, code: str, *, watching: bool, resume: bool = False) -> None:
        former = self._room.code if self._room is not None else None
        self._quit_room()
        try:
            room = await self._desk.rooms.hold(code)
            if self._closed:
                self._desk.rooms.release(code)
                return
            self._room, self.watching = room, watching
            # Written before the room shows itself: who sees it can rely on coming back.
            if not resume:
                role = "watching" if watching else "seated"
                await self._desk.store.players.set_room(self.player, code, role)
            self._session.move("watching" if watching else "seated")
            await room.enter(self)
        except BaseException:
            self._quit_room()
            self._stay_outside(former)
            raise
        if self._room is not room:
            room.exit(self)  # let go of while it was being entered
        self.store_state()

    def _stay_outside(self, former: str | None) -> None:
        """Be in no room, having left the former one for another that cannot be entered."""
        if self._session.state in ("seated", "watching"):
            self._session.move("left")
            if former is not None:
                self.send(m.Left(room=former, kind="closed"))

    async def _leave(self, room: Room) -> None:
        if not self.watching:
            await room.commit(
                lambda race: referee.decide_leave(race, self.player),
                actor=(self.player, self.epoch),
            )
        await self._desk.store.players.set_room(self.player, None)
        self.left("left")

    def _now(self) -> int:
        """Give the time that the peer's race goes by."""
        return self._desk.store.clock.now() if self._room is None else self._room.now()

    def _quit_room(self) -> None:
        room, self._room = self._room, None
        if room is not None:
            if self._played is not None and not self._played.done():
                self._played.set_result(None)  # its outcome is shown to nobody here any more
            room.exit(self)
            self._desk.rooms.release(room.code)

    async def _finish(self, n: int) -> None:
        room = self._in_room()
        racer = room.race.racers[self.player]
        # Asked again: the same outcomes again, and then what is left to do.
        for number in range(n, racer.n + 1):
            self.send(room.plays.repeated(self.player, number))
        if n <= racer.n and racer.is_done:
            return
        first = max(n, racer.n + 1)
        for number, text in enumerate(referee.decide_finish(room.race, self.player), first):
            self._played = asyncio.get_running_loop().create_future()
            if room.plays.play(self, number, text):
                await self._played
            if racer.n < number or self._room is not room:
                break  # refused, and said so; or the rest is for whoever comes back

    async def _record(self, code: str, start: int) -> None:
        async with self._desk.rooms.held(code) as room:
            if view.reveal(room.race) is None:
                raise Refusal("not-over", "The record is published when the deal is revealed.")
            total = room.race.version
            part = await room.record(start, RECORD_ENTRIES) if start < total else []
        lines = [entry.line().decode() for entry in part]
        self.send(m.Journal(room=code, start=start, total=total, entries=lines))


def _bad_token() -> Fault:
    return Fault("bad-token", "Nobody has this token; begin anew.", m.Close.BAD_TOKEN)
