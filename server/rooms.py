"""All rooms that this node has open, and the way to open new ones."""

import asyncio
import logging
import secrets
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from server import events as ev
from server import password, referee
from server.codes import new_code
from server.holding import Holding
from server.patience import Patience
from server.race import Race
from server.referee import AWAY_LIMIT_MS, IDLE_LIMIT_MS
from server.refusal import Refusal, race_lost, store_away
from server.room import Room
from server.rules import Rules
from server.rules.deal import commitment
from server.store import Appended, Lost, Store, Unavailable, keys
from server.store.directory import Listing
from server.summary import lifetime_s, summary_of
from server.tally import Tally
from wire.values import RoomLine, Settings

log = logging.getLogger("dk.rooms")

CODES_TRIED = 8
LOBBY_LINES = 50
SCHEDULE_AHEAD_MS = 30 * 24 * 3_600_000  # how far in the future a start may lie


class Rooms(Holding[Room]):
    """The rooms of this node by code."""

    def __init__(self, store: Store, tally: Tally, node: str) -> None:
        """`node` is the id of this process."""
        super().__init__()
        self._store = store
        self._tally = tally
        self._node = node
        self._tasks: set[asyncio.Task[None]] = set()

    async def _read(self, code: str) -> Room:
        room = Room(code, self._store, self._tally, self._node)
        try:
            found = await room.load()
        except Unavailable:
            raise store_away() from None
        except ev.NewerFormat as error:
            log.warning("room of a newer server", extra={"room": code, "error": str(error)})
            raise Refusal(
                "newer-room", f"Room {code} is on a newer server; try again in a minute."
            ) from None
        except ev.UnknownEvent as error:
            log.error("room cannot be read", extra={"room": code, "error": str(error)})
            raise Refusal("unreadable-room", f"This server cannot read room {code}.") from None
        if not found:
            raise Refusal("no-room", f"There is no room {code}.")
        return room

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- opening ----------------------------------------------------------------------

    async def open(
        self, settings: Settings, host: str, sealed: str = "", code: str | None = None
    ) -> str:
        """Open a room and give its code; a given code that is taken already is left as it is.

        Raises:
            Refusal: the settings make no race, or the store does not answer.
        """
        try:
            rules = Rules.parse(settings.rules)
        except ValueError as error:
            raise Refusal("rules", str(error)) from None
        if settings.start == "time":
            if settings.start_at is None or settings.start_at <= self._store.clock.now():
                raise Refusal("start-at", "A start at a time needs start_at in the future.")
            if settings.start_at > self._store.clock.now() + SCHEDULE_AHEAD_MS:
                raise Refusal("start-at", "A start may be scheduled 30 days ahead, not more.")
        elif settings.start_at is not None:
            raise Refusal("start-at", 'start_at goes with start="time" only.')
        settings = replace(settings, rules=rules.text())
        for _ in range(5):
            tried = code or self._code_at_hand()
            if await self._opened(tried, settings, host, sealed) or code is not None:
                return tried
        raise race_lost()

    def _code_at_hand(self) -> str:
        """Give a random code, if possible of a part of the store that answers."""
        codes = [new_code() for _ in range(CODES_TRIED)]
        is_up = self._store.journals.is_up
        return next((code for code in codes if is_up(keys.room(code))), codes[0])

    async def _opened(self, code: str, settings: Settings, host: str, sealed: str) -> bool:
        """Open a room of this code, once however often it takes; False if it is taken."""
        secret = secrets.token_bytes(32) if settings.seed is None else None
        deal = f"{code}-{secrets.token_hex(8)}"
        event = ev.Opened(
            format=ev.FORMAT,
            room=code,
            deal=deal,
            settings=settings,
            commitment=commitment(deal, secret).hex() if secret is not None else "",
            host=host,
        )
        patience = Patience(self._store.journals.reach(keys.room(code)))
        while True:
            try:
                if not await self._is_first(event, secret, sealed):
                    return False
                break
            except Unavailable:
                await patience.wait()
        self._tally.rooms_opened += 1
        log.info("room opened", extra={"room": code, "rules": settings.rules})
        return True

    async def _is_first(self, event: ev.Opened, secret: bytes | None, sealed: str) -> bool:
        """Write the first entry of a journal, or find that it is there already."""
        store, code, now = self._store, event.room, self._store.clock.now()
        race = Race()
        race.fold(now, event)
        if secret is not None:
            # Until the start, which renews it; a little longer than the room itself.
            ttl_s = keys.UNSTARTED_S + lifetime_s(race, now)
            await store.deals.keep(event.deal, secret, ttl_s)
        await store.timers.set(code, referee.next_due(race) or race.at + IDLE_LIMIT_MS)
        payload = ev.encode(event)
        outcome = await store.journals.append(
            keys.room(code),
            [payload],
            expect=0,
            sets={**summary_of(race), "password": sealed},
            ttl_s=lifetime_s(race, now),
        )
        if isinstance(outcome, Lost):
            raise Unavailable("the store did not answer")
        if not isinstance(outcome, Appended):
            entries = await store.journals.read(keys.room(code))
            # Ours after all, from an attempt whose answer was lost: no two deals are alike.
            if not entries or entries[0].payload != payload:
                return False
        if event.settings.public:
            await store.directory.add(code, store.clock.now())
        return True

    async def seal(self, text: str) -> str:
        """Make the form in which a room's password is kept."""
        return await password.seal(text)

    async def follow(self, room: Room, player: str) -> str:
        """Give the one rematch of a finished room, opening it where nobody has yet."""
        proposal = new_code()
        await room.commit(lambda race: referee.decide_follow(race, player, proposal))
        code = room.race.next_room
        assert code is not None
        # Named first, opened second, and opened by whoever asks: a crash between the two
        # leaves a name that the next one who asks makes true.
        settings = room.race.settings
        if settings.start == "time":
            settings = replace(settings, start="ready", start_at=None)
        host = room.race.host if room.race.host in room.presence.here else player
        await self.open(settings, host, room.password, code)
        return code

    async def lobby(self) -> list[RoomLine]:
        """Give the public rooms, newest first."""
        try:
            found = await self._store.directory.newest(LOBBY_LINES)
        except Unavailable:
            raise store_away() from None
        lines = [_line(room) for room in found]
        for line in lines:
            if line.phase == "over":  # whoever ended it died before it could take it off
                self._spawn(self._unlist(line.room), f"unlist {line.room}")
        return [line for line in lines if line.phase != "over"]

    async def _unlist(self, code: str) -> None:
        with suppress(Unavailable):
            await self._store.directory.remove(code)

    # --- time -------------------------------------------------------------------------

    def dues(self) -> dict[str, int]:
        """Give the next instants of all open rooms, by their timers."""
        dues = ((room.code, referee.next_due(room.race)) for room in self.opened)
        return {code: due for code, due in dues if due is not None}

    async def look(self, code: str) -> int | None:
        """Do in a room what is due; gives the instant at which to look again."""
        try:
            async with self.held(code) as room:
                await room.look()
                is_left = room.race.phase == "open" and await room.settle_presence()
                due = referee.next_due(room.race)
                if is_left and room.race.phase == "open":  # it may have started meanwhile
                    # Should this node die while it waits, the timer comes up elsewhere.
                    self._spawn(self._await_return(code), f"await return {code}")
                    again = self._store.clock.now() + 2 * AWAY_LIMIT_MS
                    due = min(due, again) if due is not None else again
                return due
        except Refusal as refusal:
            if refusal.code == "no-room":
                return None
            raise

    async def _await_return(self, code: str) -> None:
        try:
            async with self.held(code) as room:
                await asyncio.sleep(AWAY_LIMIT_MS / 1000 + 0.1)
                await room.look()
        except Refusal as refusal:
            log.warning("cannot look", extra={"room": code, "error": refusal.reason})

    def close(self) -> None:
        """Stop following all rooms."""
        for work in self._tasks:
            work.cancel()
        super().close()


def _line(room: Listing) -> RoomLine:
    summary = room.summary
    phase = summary.get("phase", "over")
    spectators = summary.get("spectators", "none")
    return RoomLine(
        room=room.code,
        title=summary.get("title", ""),
        rules=summary.get("rules", ""),
        phase=phase,  # type: ignore[arg-type]
        taken=int(summary.get("taken", "0")),
        seats=int(summary.get("seats", "0")),
        host=summary.get("host", ""),
        locked=bool(summary.get("password")),
        spectators=spectators,  # type: ignore[arg-type]
        opened=int(summary.get("opened", "0")),
    )
