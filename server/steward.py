"""Races that tournaments call, in their rooms: from the opening to the reveal of the deal.

Opens a room, begins its race, finds who is not there, reports how it ended, ends it where it
does not count any more. Any node may do so at any time: done again, it is the same.
"""

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from server import events as rev
from server import referee
from server.arranging import arrange
from server.hall import Hall
from server.race import Race
from server.refusal import Refusal, store_away
from server.results import absent_at, excuse, rows
from server.room import Room
from server.rooms import Rooms
from server.store import Store, Unavailable, keys
from server.tournament import Call, Tournament, is_deal_over
from server.tournament import events as ev
from server.tournament.acts import decide_no_show, decide_race_void, decide_raced
from server.tournament.calling import own_deal
from server.tournament.records import Match
from server.tournament.records import Race as Called
from server.uptime import Uptime

LOST_AFTER_MS = 30_000  # after a race's start, a room that is not there is not opened any more
AFTER_END_MS = 1_000  # a race is looked at so long after its time is up, if nobody did before


class Steward:
    """Sees to the races that are called, together with those of the other nodes."""

    def __init__(self, store: Store, rooms: Rooms, uptime: Uptime) -> None:
        self._store = store
        self._rooms = rooms
        self._uptime = uptime

    async def run(self, hall: Hall, call: Call, now: int) -> int | None:
        """Do for a race that is called what is due in its room; gives the next instant."""
        try:
            if not await self._is_there(hall, call, now):
                await hall.commit(partial(_voided, call, "the room was lost"))
                return None
            async with self._rooms.held(call.room) as room:
                return await self._run_in(hall, call, room)
        except Refusal as refusal:
            if refusal.code not in ("taken", "unreadable-room"):
                raise
            await hall.commit(partial(_voided, call, refusal.reason))
            return None

    async def _is_there(self, hall: Hall, call: Call, now: int) -> bool:
        """Whether the race's room is there; in time it is opened."""
        starts = call.settings.start_at or 0
        if now < starts + LOST_AFTER_MS:
            await self.arrange(hall, call)
            return True
        try:
            return await self._store.journals.version(keys.room(call.room)) > 0
        except Unavailable:
            raise store_away() from None

    async def arrange(self, hall: Hall, call: Call) -> None:
        """Open the room of a race that is called, with its players seated, if it is not yet.

        Raises:
            Refusal: its code is another room's, or the store does not answer.
        """
        is_bot = {each.player: each.bot for each in hall.t.entries.values()}
        opened = rev.Opened(
            format=rev.FORMAT,
            room=call.room,
            deal=call.deal,
            settings=replace(call.settings, start="host", start_at=None),
            commitment="",
            host="",
            tournament=hall.code,
            match=f"{call.match}/{call.race}",
            shared=call.deal != own_deal(hall.t, call.match, call.race),
        )
        seats = [
            rev.Joined(p=player, name=name, bot=is_bot.get(player, False))
            for player, name in call.players
        ]
        await arrange(self._store, opened, seats)

    async def _run_in(self, hall: Hall, call: Call, room: Room) -> int | None:
        if room.race.phase == "open":
            await room.commit(lambda race: referee.decide_begin(race, self._countdown_ms(call)))
        await self._put_out(hall, call, room)
        race, now = room.race, self._store.clock.now()
        if race.phase == "over":
            await hall.commit(partial(_ended, call, race, self._uptime))
            return None
        if race.phase != "running" or race.started_at is None or race.ends is None:
            return (race.starts or now) + 1000 * call.no_show_s
        if now >= absent_at(race, self._uptime.since, call.no_show_s):
            await hall.commit(partial(_absent, call, race, self._uptime))
        absent = absent_at(race, self._uptime.since, call.no_show_s)
        end = max(now, race.ends) + AFTER_END_MS
        return min(absent, end) if now < absent else end

    def _countdown_ms(self, call: Call) -> int:
        # All races of a round start at one instant, however late each room is locked.
        starts = (call.settings.start_at or 0) + 1000 * call.settings.countdown_s
        return max(0, starts - self._store.clock.now())

    async def _put_out(self, hall: Hall, call: Call, room: Room) -> None:
        """End the race of those who have given the match up."""
        match = hall.t.matches[call.match]
        for player, entry in zip(match.races[call.race - 1].players, match.entries, strict=True):
            racer = room.race.racers.get(player)
            if entry not in match.lost or racer is None or racer.is_done:
                continue
            if room.race.phase == "running":
                why = hall.t.entries[entry].status
                reason = "was not there to play" if why == "in" else why
                decide = partial(_put_out, player, reason)
                await room.plays.end(player, None, decide)

    async def wind_up(self, hall: Hall, match: Match, race: Called) -> None:
        """End a race that does not count any more; reveal the deal that nobody plays any more."""
        is_shared = race.deal != own_deal(hall.t, match.id, race.number)
        if race.state == "raced" and not is_shared:
            return
        try:
            if not await self._store.journals.version(keys.room(race.room)):
                return
        except Unavailable:
            raise store_away() from None
        async with self._rooms.held(race.room) as room:
            if race.state != "raced":
                await room.commit(referee.decide_abort)
            if is_shared and room.race.revealed is None and is_deal_over(hall.t, race.deal):
                await self._reveal_elsewhere(hall, match, race)
                await room.commit(referee.decide_reveal)

    async def _reveal_elsewhere(self, hall: Hall, match: Match, race: Called) -> None:
        """Have the other rooms of a deal looked at, too: the deal is over."""
        members = [
            keys.match_timer(hall.code, f"{other.id}/{each.number}")
            for other in hall.t.matches.values()
            if other.round == match.round and other.id != match.id
            for each in other.races
            if each.deal == race.deal
        ]
        try:
            await self._store.timers.set_all(dict.fromkeys(members, 0))
        except Unavailable:
            raise store_away() from None


def _who_played(race: Race) -> list[str]:
    return [racer.id for racer in race.racers.values() if racer.n or racer.is_done]


def _put_out(player: str, why: str, race: Race) -> rev.Disqualified:
    return referee.decide_disqualify(race, player, "", why)


def _voided(call: Call, why: str, t: Tournament) -> Sequence[ev.AnyEvent]:
    return decide_race_void(t, call.match, call.race, why)


# What is tried again, since the store did not take it, is decided on how things are by then.


def _absent(call: Call, race: Race, uptime: Uptime, t: Tournament) -> Sequence[ev.AnyEvent]:
    now = uptime.now()
    if race.started_at is None or now < absent_at(race, uptime.since, call.no_show_s):
        return []
    return decide_no_show(
        t, call.match, call.race, now=now, started_at=race.started_at, played=_who_played(race)
    )


def _ended(call: Call, race: Race, uptime: Uptime, t: Tournament) -> Sequence[ev.AnyEvent]:
    if race.over_why == "aborted":
        return decide_race_void(t, call.match, call.race, "the race was broken off")
    excused = excuse(race, uptime.since, call.no_show_s)
    return decide_raced(t, call.match, call.race, rows(race), excuse=excused)
