"""One connection in rooms: how it comes into one, what it asks there, how it goes."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from server import events as ev
from server import referee, view
from server.audience import Viewer
from server.codes import read_code
from server.follower import denied
from server.race import Race
from server.refusal import Refusal
from server.room import Room
from server.rooms import Rooms
from server.session import Session
from server.store import Missing, Store
from server.store.players import Player
from wire import messages as m

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


class Guest(Viewer, Protocol):
    """The connection."""

    @property
    def address(self) -> str:
        """The address of the peer."""

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""

    def store_state(self) -> None:
        """Tell the peer when the part of the store that it needs is away, or back."""


class Stay:
    """The room that a connection is in, and what its peer asks about rooms."""

    def __init__(
        self, guest: Guest, session: Session, store: Store, rooms: Rooms, doors: Doors
    ) -> None:
        self.room: Room | None = None
        self._guest = guest
        self._session = session
        self._store = store
        self._rooms = rooms
        self._doors = doors
        self._played: asyncio.Future[None] | None = None  # one of the plays of a finish

    # --- coming back ------------------------------------------------------------------

    async def find_seat(self, who: Player) -> bool:
        """Whether the player is still in the room that the store remembers."""
        if who.room is None:
            return False
        try:
            async with self._rooms.held(who.room) as room:
                if who.role == "watching" or who.id in room.race.racers:
                    return True
        except Refusal as refusal:
            if refusal.code == "unreadable-room":
                return False  # not here and now; the store goes on remembering it
            if refusal.code != "no-room":
                raise
        await self._store.players.set_room(who.id, None)
        return False

    async def come_back(self, who: Player) -> None:
        """Be in the room again that the store remembers."""
        await self._enter(who.room or "", watching=who.role == "watching", resume=True)

    # --- coming -----------------------------------------------------------------------

    def check_may_create(self) -> None:
        """Refuse what opens something new, where that is too much."""
        if self._doors.is_draining:
            raise Refusal("draining", "This server is about to restart; try again in a moment.")
        if not self._doors.may_create(self._guest.address):
            raise Refusal("slow-down", "Too many rooms from this address; try again later.")

    async def create(self, create: m.Create) -> str:
        """Open a room and give its code."""
        self.check_may_create()
        sealed = await self._rooms.seal(create.password)
        return await self._rooms.open(create.settings, self._guest.player, sealed)

    async def move_in(self, who: Player, code: str, create: m.Create) -> None:
        """Be in the room that was just opened, with a seat or without."""
        if create.play:
            await self._join(who, code, create.password)
        else:
            await self._enter(code, watching=True)

    async def _join(self, who: Player, code: str, password: str) -> None:
        await self._check_free(code)
        async with self._rooms.held(code) as room:
            if who.id not in room.race.racers:
                await self._admit(room, password)
                await room.commit(lambda race: referee.decide_join(race, who.id, who.name, who.bot))
            await self._enter(code, watching=False)

    async def _spectate(self, code: str, password: str) -> None:
        await self._check_free(code)
        player = self._guest.player
        async with self._rooms.held(code) as room:
            if room.race.settings.spectators == "none" and room.race.host != player:
                raise Refusal("no-spectators", "This room has no spectators.")
            if player in room.race.racers and room.race.phase != "over":
                raise Refusal("seated", "You have a seat in this race; a player cannot watch it.")
            await self._admit(room, password)
            await self._enter(code, watching=True)

    async def _check_free(self, code: str) -> None:
        """Refuse to go elsewhere while a race waits for this player.

        A connection that a newer one has replaced, on whatever node, goes nowhere.
        """
        player = self._guest.player
        who = await self._store.players.get(player)
        if who is None:
            raise Missing(f"there is no player {player}")  # lost: not to leave a seat to nobody
        if who.epoch > self._guest.epoch:
            raise denied("replaced")
        room = self.room
        if room is None or room.code == code:
            return
        race = room.race
        racer = race.racers.get(player)
        # A tournament's seat is held until the race begins, wherever its player is; and with the
        # call the race itself may be lost, of which nobody will ever begin it.
        is_held = race.tournament and race.phase == "open"
        if racer is not None and not racer.is_done and race.phase != "over" and not is_held:
            raise Refusal("seated", f"You have a seat in room {room.code}; leave it first.")

    async def _admit(self, room: Room, password: str) -> None:
        if room.race.host == self._guest.player:
            return
        if room.password and password and not self._doors.may_guess(self._guest.address):
            raise Refusal("slow-down", "Too many passwords tried; wait a minute.")
        await room.admit(password)

    async def _enter(self, code: str, *, watching: bool, resume: bool = False) -> None:
        guest = self._guest
        former = self.room.code if self.room is not None else None
        self.quit()
        try:
            room = await self._rooms.hold(code)
            if guest.is_gone:
                self._rooms.release(code)
                return
            self.room, guest.watching = room, watching
            # Written before the room shows itself: who sees it can rely on coming back.
            if not resume:
                role = "watching" if watching else "seated"
                await self._store.players.set_room(guest.player, code, role)
            self._session.move("watching" if watching else "seated")
            await room.enter(guest)
        except BaseException:
            self.quit()
            self._stay_outside(former)
            raise
        if self.room is not room:
            room.exit(guest)  # let go of while it was being entered
        guest.store_state()

    def _stay_outside(self, former: str | None) -> None:
        """Be in no room, having left the former one for another that cannot be entered."""
        if self._session.state in ("seated", "watching"):
            self._session.move("left")
            if former is not None:
                self._guest.send(m.Left(room=former, kind="closed"))

    # --- being there ------------------------------------------------------------------

    async def ask(self, who: Player, message: m.ClientMessage) -> None:
        """Do what may be said again without harm: all about rooms but create and finish."""
        match message:
            case m.Rooms():
                self._guest.send(m.Lobby(rooms=await self._rooms.lobby()))
            case m.Join():
                await self._join(who, read_code(message.room), message.password)
            case m.Spectate():
                await self._spectate(read_code(message.room), message.password)
            case m.Record():
                await self._record(read_code(message.room), message.start)
            case m.Rematch():
                code = await self._rooms.follow(self._in_room(), who.id)
                self._guest.send(m.Follow(room=code))
            case _:
                await self._ask_room(message, self._in_room())

    async def _ask_room(self, message: m.ClientMessage, room: Room) -> None:
        guest, player = self._guest, self._guest.player
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
                await room.plays.disqualify(guest, message.player, message.why)
            case m.Resign():
                await room.plays.resign(guest)
            case m.Hint():
                racer = room.race.racers.get(player)
                moves = referee.decide_hint(room.race, player)
                guest.send(m.Hints(n=racer.n if racer is not None else 0, moves=moves))
            case m.Snapshot():
                room.show(guest)
            case m.Chat():
                room.chat(guest, message.text)
            case _:
                raise AssertionError(f"{type(message).__name__} is handled elsewhere")

    async def _commit(self, room: Room, decide: Callable[[Race], Sequence[ev.AnyEvent]]) -> None:
        """Commit what this player asks; what is so already is answered with the room."""
        if not await room.commit(decide, actor=(self._guest.player, self._guest.epoch)):
            room.show_state(self._guest)

    def _in_room(self) -> Room:
        if self.room is None:
            raise Refusal("no-room", "You are in no room.")
        return self.room

    async def finish(self, n: int) -> None:
        """Play all cards home, from number n on."""
        room, player = self._in_room(), self._guest.player
        racer = room.race.racers[player]
        # Asked again: the same outcomes again, and then what is left to do.
        for number in range(n, racer.n + 1):
            self._guest.send(room.plays.repeated(player, number))
        if n <= racer.n and racer.is_done:
            return
        first = max(n, racer.n + 1)
        for number, text in enumerate(referee.decide_finish(room.race, player), first):
            self._played = asyncio.get_running_loop().create_future()
            if room.plays.play(self._guest, number, text):
                await self._played
            if racer.n < number or self.room is not room:
                break  # refused, and said so; or the rest is for whoever comes back

    def played(self) -> bool:
        """Go on with a finish whose play has its outcome; False where there is none."""
        if self._played is None or self._played.done():
            return False
        self._played.set_result(None)
        return True

    async def _record(self, code: str, start: int) -> None:
        async with self._rooms.held(code) as room:
            if view.reveal(room.race) is None:
                raise Refusal("not-over", "The record is published when the deal is revealed.")
            total = room.race.version
            part = await room.record(start, RECORD_ENTRIES) if start < total else []
        lines = [entry.line().decode() for entry in part]
        self._guest.send(m.Journal(room=code, start=start, total=total, entries=lines))

    # --- going ------------------------------------------------------------------------

    async def _leave(self, room: Room) -> None:
        guest = self._guest
        if not guest.watching:
            await room.commit(
                lambda race: referee.decide_leave(race, guest.player),
                actor=(guest.player, guest.epoch),
            )
        await self._store.players.set_room(guest.player, None)
        guest.left("left")

    def end(self, kind: str) -> bool:
        """Be in no room any more, and say so; False where that is so already."""
        room = self.room
        if room is None:
            return False
        self.quit()
        self._session.move("left")
        self._guest.send(m.Left(room=room.code, kind=kind))
        self._guest.store_state()
        return True

    def quit(self) -> None:
        """Let go of the room; the seat stays the player's."""
        room, self.room = self.room, None
        if room is not None:
            self.played()  # its outcome is shown to nobody here any more
            room.exit(self._guest)
            self._rooms.release(room.code)
