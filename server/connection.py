"""One connection at the front desk: what the peer asks is done, in order.

A play is the hot path: it is decided at once, without a task, and its outcome is sent by
the room when the journal has it. Everything else waits for the store in one task at a
time. While something is under way, what comes next waits in a bounded inbox; when that is
full the peer is no longer read.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from server.attendance import Attendance, Fairground
from server.follower import denied
from server.gateway import Peer
from server.patience import Patience
from server.refusal import Refusal, store_away
from server.rooms import Rooms
from server.session import TOURNAMENTS, Fault, Session, named
from server.stay import Doors, Stay
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
    """A peer, and the player it speaks for."""

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
        self._who: Player | None = None
        self._stay = Stay(self, self._session, desk.store, desk.rooms, desk.doors)
        self._attendance = Attendance(self, desk.fairground)
        self._closed = False
        self._store_refuses = False
        self._store_waits = False  # as the peer has been told
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
        self._stay.quit()
        self._attendance.leave()

    @property
    def address(self) -> str:
        """The address of the peer."""
        return self._peer.address

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
        if not self._stay.played() and self._busy and self._task is None:
            self._busy = False
            if self._inbox:
                self._pump()

    def left(self, kind: str) -> None:
        """Be without a seat, by no request of this connection."""
        if self._stay.end(kind):
            self.moved()  # a play that was under way has no outcome to wait for

    def replaced(self) -> None:
        """Give way to a newer connection of the same player."""
        self._desk.tally.replaced += 1
        self._closed = True
        self._stay.quit()
        self._attendance.leave()
        self._peer.close(m.Close.REPLACED, "a newer connection of this player is there")

    def lost(self, refusal: Refusal) -> None:
        """Say that the tournament visited cannot be shown any more."""
        self.send(m.Refused(re="visit", code=refusal.code, reason=refusal.reason))

    def disowned(self) -> None:
        """End, as the player's token leads nowhere any more."""
        self._peer.close(m.Close.BAD_TOKEN, "this player has another token now")

    def store_state(self) -> None:
        """Tell the peer when the part of the store that it needs is away, or back."""
        journals = self._desk.store.journals
        room = self._stay.room
        up = journals.up if room is None else journals.is_up(room.jid)
        waits = self._store_refuses or not up
        if self._session.state != "new" and waits != self._store_waits:
            self._store_waits = waits
            self.send(m.Store(waiting=waits))

    def store_refuses(self, is_so: bool) -> None:
        """Tell the peer, too, when it is there and takes nothing in."""
        self._store_refuses = is_so
        self.store_state()

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
            self._at_fault(fault)
        except Refusal as refusal:
            self._refuse(message, refusal)
        except Exception:
            # Here and no further: this may run from within what the room shows to others.
            self._failed(message)

    def _play(self, n: int, text: str | None) -> None:
        room = self._stay.room
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
        try:
            await self._do(message)
        except Refusal as refusal:
            self._turned_down(message, refusal)
        except Fault as fault:
            self._at_fault(fault)
        except Missing:
            self._at_fault(_bad_token(message))
        except Exception:
            self._failed(message)
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

    def _turned_down(self, message: m.ClientMessage, refusal: Refusal) -> None:
        is_hello = isinstance(message, m.Hello)
        if refusal.code == "replaced":
            self.replaced()
        elif is_hello and refusal.code == "store":
            # Without a welcome there is nothing a client could do here.
            self._peer.close(m.Close.OVERLOAD, "the server's store does not answer")
        elif is_hello and refusal.code == "newer-room":
            self._peer.close(m.Close.RESTART, "your room is on a newer server; come back")
        else:
            self._refuse(message, refusal)

    def _at_fault(self, fault: Fault) -> None:
        self.send(fault.error)
        if fault.close is not None:
            self._peer.close(fault.close, fault.error.reason[:100])

    def _failed(self, message: m.ClientMessage) -> None:
        tag, _ = named(message)
        log.exception("request failed", extra={"player": self.player, "request": tag})
        self._desk.tally.room_faults += 1
        reason = "This failed on our side; it is logged."
        self.send(Fault("internal", reason, request=message).error)

    def _refuse(self, message: m.ClientMessage, refusal: Refusal) -> None:
        self._desk.tally.refusals += 1
        re, n = named(message)
        self.send(m.Refused(re=re, n=n, code=refusal.code, reason=refusal.reason))

    # --- requests ---------------------------------------------------------------------

    async def _do(self, message: m.ClientMessage) -> None:
        match message:
            case m.Hello():
                await self._hello(message)
            case m.Create():
                code = await self._stay.create(message)
                await self._patiently(lambda: self._stay.move_in(self._known(), code, message))
            case m.Finish():
                await self._stay.finish(message.n)
            case w.Organise():
                self._stay.check_may_create()
                await self._attendance.organise(message)
            case _ if type(message) in TOURNAMENTS:
                await self._patiently(lambda: self._attendance.ask(message))
            case _:
                await self._patiently(lambda: self._stay.ask(self._known(), message))

    def _known(self) -> Player:
        assert self._who is not None, "the session lets nobody ask before the hello"
        return self._who

    async def _hello(self, hello: m.Hello) -> None:
        if hello.v != m.PROTOCOL:
            older = "client" if hello.v < m.PROTOCOL else "server"
            raise Fault(
                "version",
                f"You speak version {hello.v}, this server {m.PROTOCOL}: update the {older}.",
                m.Close.VERSION,
                hello,
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
        is_back = await self._patiently(lambda: self._stay.find_seat(who))
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
            await self._patiently(lambda: self._stay.come_back(who))
        await self._patiently(lambda: self._attendance.arrive(who))
        if who.enrolled and not await self._patiently(lambda: self._is_own(hello)):
            self.disowned()  # the news of another token came before this line was there

    async def _is_own(self, hello: m.Hello) -> bool:
        return hello.token is None or await self._desk.store.players.find(hello.token) is not None

    async def _identify(self, hello: m.Hello) -> tuple[Player, str | None]:
        """Find the player of a token, or make a new one; gives the new one's token."""
        players = self._desk.store.players
        if hello.token is None:
            return await players.create(hello.name or "guest", hello.bot)
        who = await players.find(hello.token)
        if who is None:
            raise _bad_token(hello)
        if hello.name is not None and hello.name != who.name:
            await players.rename(who.id, hello.name)
            who = replace(who, name=hello.name)
        return who, None

    def _now(self) -> int:
        """Give the time that the peer's race goes by."""
        room = self._stay.room
        return self._desk.store.clock.now() if room is None else room.now()


def _bad_token(message: m.ClientMessage) -> Fault:
    reason = "Nobody has this token; begin anew."
    return Fault("bad-token", reason, m.Close.BAD_TOKEN, message)
