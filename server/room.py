"""A room as this node follows it: its race, what is due in it, its viewers."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial

import msgspec

from server import events as ev
from server import referee
from server.audience import Audience, Viewer
from server.follower import Batch, Follower, denied
from server.judge import Judge
from server.lag import Lag
from server.password import is_right
from server.plays import Plays
from server.presence import ANSWER_S, Presence
from server.race import Race
from server.referee import AWAY_LIMIT_MS
from server.refusal import Refusal, race_lost, store_away
from server.store import (
    Entry,
    Missing,
    Store,
    Unavailable,
    attached,
    keys,
)
from server.summary import lifetime_s, not_before, offsets, summary_of, told
from server.tally import Tally
from wire import messages as m

log = logging.getLogger("dk.rooms")


class Room(Follower[Race, ev.AnyEvent]):
    """A room as this node follows it."""

    def __init__(self, code: str, store: Store, tally: Tally, node: str) -> None:
        """Make the replica; `load` fills it."""
        super().__init__(keys.room(code), code, store, tally)
        self.code = code
        self.password = ""  # as kept in the store: see server.password
        self._lag: Lag | None = None  # for spectators who lag behind
        self._wake: asyncio.TimerHandle | None = None
        self._present: dict[Viewer, bool] = {}  # whether it counts as a spectator
        self.presence = Presence(node, self._say, self._presence_changed)
        self.live = Audience(Race(), self.presence, locked=False, now=self.now)
        self._judge = Judge(lambda: self.race, self.spawn, self._found_stuck)
        self.plays = Plays(self, store, tally, self.look_soon)

    @property
    def race(self) -> Race:
        """The replica that commands are decided on."""
        return self.live.race

    @property
    def replica(self) -> Race:
        """The same, for what all followers do."""
        return self.live.race

    @property
    def viewers(self) -> set[Viewer]:
        """All who look at the room on this node."""
        return self.live.viewers | (self._lag.audience.viewers if self._lag else set())

    # --- following the journal --------------------------------------------------------

    async def load(self) -> bool:
        """Follow the journal from now on; False where there is no such room."""
        if not await super().load():
            return False
        self._arm()
        for player in self.race.racers:
            self._judge.look_soon(player)
        self.presence.ask()
        return True

    async def _rebuild(self) -> bool:
        entries = await self._store.journals.read(self.jid)
        if not entries:
            return False
        summary = await self._store.journals.summary(self.jid)
        self.password = summary.get("password", "")
        race = Race()
        for entry in entries:
            race.apply(entry.at, entry.payload)
            if race.version == 1 and race.settings.seed is None:
                race.secret = await self._secret_of(race)
        self.live.locked = bool(self.password)
        self.live.reset(race)
        return True

    async def _secret_of(self, race: Race) -> bytes | None:
        # A store that has lost the secret may have been given another one since: only the one
        # that the room has committed itself to makes its deal.
        secret = await self._store.deals.secret(race.deal)
        return secret if secret is not None and race.is_committed_to(secret) else None

    def on_resync(self) -> None:
        """The subscription was interrupted: nothing could be heard of anybody."""
        self.presence.start_over()
        self.soon(self._resync, "resync")

    async def _resync(self) -> None:
        await self.catch_up()
        self._arm()

    def on_note(self, note: bytes) -> None:
        """Act on a passing note: presence, chat, a replaced connection."""
        try:
            newest = attached(note)
            if newest is not None:
                self._attached(*newest)
                return
            kind, value = msgspec.json.decode(note, type=tuple[str, dict[str, object]])
            match kind:
                case "here":
                    self.presence.heard(value)
                case "who":
                    self.presence.tell()
                case "chat":
                    self._chatted(msgspec.convert(value, m.Chatted))
                case _:
                    pass  # of a newer version
        except (msgspec.MsgspecError, KeyError, ValueError) as error:
            log.warning("unreadable note", extra={"room": self.code, "error": str(error)})

    def _fold(self, entry: Entry) -> None:
        event = self.live.take(entry.at, entry.payload)
        self.plays.taken_in()
        if self._lag is not None:
            self._lag.put(entry)
        match event:
            case ev.Played() | ev.Undone():
                if self.race.racers[event.p].is_done:
                    self.look_soon()
                else:
                    self._judge.look_soon(event.p)
            case ev.Revealed() | ev.Followed() | ev.Opened():
                pass
            case _:
                self._arm()
                self.look_soon()

    async def _put_away(self) -> None:
        # Where this fails, whoever reads the list or finds the timer due does it.
        with suppress(Unavailable):
            await self._store.timers.drop(self.code)
            if self.race.settings.public:
                await self._store.directory.remove(self.code)

    async def _outrun(self) -> None:
        if self.race.phase == "over":  # its timer may have been set after that was noted
            await self._put_away()

    def _broken(self) -> None:
        for viewer in list(self.viewers):
            viewer.send(m.Error(code="internal", reason="This room failed on our side; come back."))
            viewer.left("closed")

    def _rolled_back(self, known: int, *, there: bool) -> None:
        self._drop_lag()
        racers = self.race.racers if there else {}
        for viewer in list(self.viewers):
            if not there or (not viewer.watching and viewer.player not in racers):
                viewer.left("lost")
        if not there:
            return
        due = referee.next_due(self.race)
        if due is not None:
            # The timer may be lost as well.
            self.soon(partial(self.set_timer, due), "timer")
        news = m.News(
            kind="resynchronised",
            text=f"The store lost its last moments: the record stands at event "
            f"{self.race.version} of {known}.",
            at=self.now(),
        )
        for viewer in self.viewers:
            viewer.send(news)
            viewer.moved()

    # --- committing -------------------------------------------------------------------

    def _batch(self, events: Sequence[ev.AnyEvent]) -> Batch:
        twin = self.race.fork()
        for event in events:
            twin.fold(max(self.now(), twin.at), event)
        due = referee.next_due(twin)
        return Batch(
            payloads=[ev.encode(event) for event in events],
            ttl_s=lifetime_s(twin, self.now()),
            sets=summary_of(twin),
            offsets=offsets(events, twin),
            not_before=not_before(events),
            due=due if due != referee.next_due(self.race) else None,
            others=told(events, twin),
        )

    def _committed(self, events: Sequence[ev.AnyEvent]) -> None:
        for event in events:
            race = self.race
            if isinstance(event, ev.Over) and race.started_at is not None:
                self._tally.races_over += 1
                log.info(
                    "race over",
                    extra={
                        "room": self.code,
                        "why": event.why,
                        "players": len(race.racers),
                        "plays": sum(racer.n for racer in race.racers.values()),
                        "seconds": race.since_start(race.at) // 1000,
                    },
                )

    # --- time -------------------------------------------------------------------------

    def look_soon(self) -> None:
        """Have a look, in a task of its own, at whether something is due."""
        self.soon(self.look, "look")

    def _found_stuck(self, player: str) -> None:
        self.live.show_board(player)
        self.look_soon()

    async def look(self) -> None:
        """Append what is due now, if anything."""
        while not self.failed:
            now = self.now()
            away = self.presence.away(self.race.expected, AWAY_LIMIT_MS)
            if any(isinstance(event, ev.Started) for event in referee.due(self.race, now, away)):
                await self._keep_secret()
            if not await self.commit(partial(_due, now, away)):
                break
        self._arm()
        if self.race.phase == "over":
            await self._put_away()

    async def _keep_secret(self) -> None:
        # For as long as the race may be read; until now it was kept for an open room.
        if self.race.secret is not None:
            try:
                await self._store.deals.renew(self.race.deal, self.race.secret)
            except Unavailable:
                raise store_away() from None

    def _arm(self) -> None:
        # The node that has the room open is punctual; the store's timers are the net
        # below it, for rooms that no node has open any more.
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        due = referee.next_due(self.race)
        if due is not None and not self.failed:
            delay = max(0.001, (due - self.now()) / 1000)
            self._wake = asyncio.get_running_loop().call_later(delay, self.look_soon)

    # --- viewers ----------------------------------------------------------------------

    async def enter(self, viewer: Viewer) -> None:
        """Let a viewer look; a player's newest connection wins.

        Who comes for a seat that is gone is told by `left`, as those are who were there.

        Raises:
            Refusal: an even newer connection of the same player is there.
        """
        if not viewer.watching:
            try:
                newest = await self._store.journals.attach(self.jid, viewer.player, viewer.epoch)
            except Missing:
                raise denied("missing") from None
            if not newest:
                raise denied("replaced")
            await self.catch_up()
        audience = self.live
        if viewer.watching and self.race.settings.delay_s:
            audience = await self._lagging()
        if not self._may_stay(viewer):
            return
        audience.viewers.add(viewer)
        # A host without a seat is missed like a player, and counts as one who is here.
        watching = viewer.watching and viewer.player != self.race.host
        self._present[viewer] = watching
        self.presence.enter(viewer.player, watching=watching)
        audience.show_all(viewer)

    def _may_stay(self, viewer: Viewer) -> bool:
        # While the store was asked the host may have taken the seat, another connection of the
        # player given it up, or the store lost it, or the room.
        if not self.failed and (viewer.watching or viewer.player in self.race.racers):
            return True
        viewer.left("lost" if self.failed else self.race.parted.get(viewer.player, "lost"))
        return False

    async def admit(self, password: str) -> None:
        """Let somebody in who knows the password, or where there is none.

        Raises:
            Refusal: the password is wrong or missing.
        """
        if not await is_right(password, self.password):
            if password:
                raise Refusal("password", "That is not the room's password.")
            raise Refusal("password", "This room wants a password.")

    def show_state(self, viewer: Viewer) -> None:
        """Answer a request that changed nothing with the room as it is."""
        viewer.send(self.live.room(viewer))

    async def record(self, start: int, limit: int) -> list[Entry]:
        """Read so many entries of the journal after version `start`."""
        return await self._read_from(start, limit)

    def exit(self, viewer: Viewer) -> None:
        """Let a viewer go; a seat stays the player's."""
        for audience in (self.live, self._lag.audience if self._lag else self.live):
            audience.viewers.discard(viewer)
        self.plays.exit(viewer)
        watching = self._present.pop(viewer, None)
        if watching is not None:
            self.presence.exit(viewer.player, watching=watching)
        if viewer.player in self.race.expected and self.race.phase == "open":
            self.soon(self._look_when_away, "away")

    async def settle_presence(self) -> bool:
        """Wait for the other nodes' word on who is here; whether a seated one is away."""
        await asyncio.sleep(ANSWER_S)
        # Meanwhile the race may have started, or be over: then nobody is waited for.
        is_open = self.race.phase == "open"
        return is_open and any(each not in self.presence.here for each in self.race.expected)

    async def _look_when_away(self) -> None:
        if self.race.phase != "open":
            return  # whoever left was the last, and the end came along
        due, away = referee.next_due(self.race), self.now() + AWAY_LIMIT_MS + 500
        await self.set_timer(away if due is None else min(due, away))

    def show(self, viewer: Viewer) -> None:
        """Send a viewer everything anew."""
        lag = self._lag
        lagging = lag is not None and viewer in lag.audience.viewers
        (lag.audience if lag is not None and lagging else self.live).show_all(viewer)

    def _attached(self, player: str, epoch: int) -> None:
        for viewer in list(self.live.viewers):
            if viewer.player == player and not viewer.watching and viewer.epoch < epoch:
                viewer.replaced()

    def chat(self, viewer: Viewer, text: str) -> None:
        """Say something to the room on all nodes; not in the journal."""
        referee.check(self.race, viewer.player, "chat")
        racer = self.race.racers.get(viewer.player)
        name = racer.name if racer is not None else "host"
        at = self.now()
        said = m.Chatted(player=viewer.player, name=name, text=text, at=at)
        self._say("chat", msgspec.to_builtins(said))

    def _chatted(self, said: m.Chatted) -> None:
        for viewer in self.live.viewers:
            viewer.send(said)
        if self._lag is not None:
            self._lag.say(said)

    def _presence_changed(self) -> None:
        self.live.show_room()

    async def _lagging(self) -> Audience:
        if self._lag is None:
            # From here on the feed gets what the live replica folds; what stands in the
            # journal up to here goes in first.
            lag = Lag(self.live, self.presence, self.now)
            known = self.race.version
            entries = await self._read_from(0)
            if self._lag is not None:
                return self._lag.audience
            for entry in entries:
                if entry.version <= self.race.version:
                    lag.put(entry)
            if self.race.version > max(known, len(entries)):
                raise race_lost()
            self._lag = lag
        return self._lag.audience

    def _drop_lag(self) -> None:
        if self._lag is not None:
            self.live.viewers |= self._lag.audience.viewers
            self._lag.close()
            self._lag = None

    # --- ending -----------------------------------------------------------------------

    def unload(self) -> None:
        """Stop following the journal."""
        if self._wake is not None:
            self._wake.cancel()
        self._judge.close()
        self._drop_lag()
        self.live.close()
        self.presence.close()
        super().unload()


def _due(now: int, away: Collection[str], race: Race) -> list[ev.AnyEvent]:
    return referee.due(race, now, away)
