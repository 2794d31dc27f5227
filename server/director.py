"""Runs tournaments over rooms: what is due, which races are called, what they came to.

Any node may do any part of it at any time; the guards of the journals make the second one
that does it harmless. There are two looks, each set off by a timer in the store:

- at a *tournament* (`t:CODE`): append what is due, one step after the other, then set the
  timers of the matches that this has touched;
- at a *match's race* (`t:CODE/MATCH/RACE`): open its room, begin it, find who is not there,
  report how it ended, end it where it does not count any more, reveal its deal.

Timers come before events: every commit sets the tournament's timer a little ahead, and the
event that ends a room's race sets that of its match. So what a node that dies has not done
is done by another.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from msgspec.structs import replace

from server import events as rev
from server import referee
from server.arranging import arrange
from server.aside import Aside
from server.codes import new_room_code
from server.hall import Hall
from server.halls import Halls
from server.ladder import Ladder
from server.race import Race
from server.refusal import Refusal, race_lost, store_away
from server.room import Room
from server.rooms import Rooms
from server.standings import standings
from server.store import Claim, Store, Unavailable, keys
from server.tally import Tally
from server.tournament import (
    Around,
    Call,
    Tournament,
    call_of,
    due,
    is_deal_over,
    next_due,
    pairs_next,
)
from server.tournament import events as ev
from server.tournament.acts import decide_no_show, decide_race_void, decide_raced
from server.tournament.calling import own_deal
from server.tournament.records import Match
from server.tournament.records import Race as Called

log = logging.getLogger("dk.director")

STEPS = 200  # of one look; a tournament that wants more is at fault, and looked at again later
PRESENCE_ANSWER_S = 0.3  # how long other nodes are given to say who is connected to them
LOST_AFTER_MS = 30_000  # after a race's start, a room that is not there is not opened any more
AFTER_END_MS = 1_000  # a race is looked at so long after its time is up, if nobody did before

FEW = 24  # players who wait: to pair fewer takes no longer than to have it done elsewhere
ATTEMPTS = 5  # at a pairing that others get in the way of

Decide = Callable[[Tournament], Sequence[ev.AnyEvent]]


class _Outrun(Exception):
    """What was decided elsewhere is decided on a state that is not the newest any more."""


class Director:
    """Runs the tournaments, together with those of the other nodes."""

    def __init__(
        self,
        store: Store,
        halls: Halls,
        rooms: Rooms,
        ladder: Ladder,
        aside: Aside,
        tally: Tally,
    ) -> None:
        self._store = store
        self._halls = halls
        self._rooms = rooms
        self._ladder = ladder
        self._aside = aside
        self._tally = tally
        self._tasks: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """Stop all looks; others go on where they end."""
        for task in self._tasks:
            task.cancel()

    # --- looks ------------------------------------------------------------------------

    async def look(self, member: str) -> int | None:
        """Look at what a timer names; gives the instant of its next look.

        Raises:
            Refusal: the store does not answer, or what it has cannot be read.
        """
        code, _, match = member.removeprefix("t:").partition("/")
        try:
            async with self._halls.held(code) as hall:
                await hall.catch_up()
                if match:
                    return await self._look_at_race(hall, match)
                return await self._look_at(hall)
        except Refusal as refusal:
            if refusal.code == "no-tournament":
                return None
            raise

    async def act(self, hall: Hall, decide: Decide, *, pairs: bool = False) -> bool:
        """Commit what somebody wants of a tournament, and have done what follows.

        `pairs` says that to decide it takes as long as to pair a round.

        Raises:
            Refusal: what `decide` refuses, or the store does not answer.
        """
        is_done = await (self._pair(hall, decide) if pairs else hall.commit(decide))
        if is_done:
            self.look_soon(hall.code)
        return is_done

    async def _pair(self, hall: Hall, decide: Decide) -> bool:
        for _ in range(ATTEMPTS):
            try:
                return await self._commit_paired(hall, decide, len(hall.t.active))
            except _Outrun:
                pass
        raise race_lost()

    def look_soon(self, code: str) -> None:
        """Have a look at a tournament, in a task of its own."""
        task = asyncio.create_task(self._look_now(code), name=f"look at {code}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look_now(self, code: str) -> None:
        try:
            async with self._halls.held(code) as hall:
                await self._advance_after(hall)
        except Refusal as error:
            log.warning("look put off", extra={"tournament": code, "error": str(error)})
        except Exception:
            log.exception("look failed", extra={"tournament": code})
            self._tally.room_faults += 1

    # --- at a tournament --------------------------------------------------------------

    async def _look_at(self, hall: Hall) -> int | None:
        hall.wanted += 1
        mine = hall.wanted
        async with hall.looks:
            if hall.looked < mine:
                # One look serves all who asked before it began.
                serves = hall.wanted
                await self._advance(hall)
                hall.looked = serves
        return next_due(hall.t, self._store.clock.now())

    async def _advance(self, hall: Hall) -> None:
        for _ in range(STEPS):
            if not await self._step(hall):
                break
        else:
            raise RuntimeError(f"tournament {hall.code} goes on and on")
        await self._follow_up(hall)
        if hall.t.phase == "finished" and not hall.rated:
            await self._ladder.apply(hall.t)
            hall.rated = True

    async def _step(self, hall: Hall) -> bool:
        """Append what is due next; False where nothing is."""
        around = await self._around(hall)
        decide = partial(due, now=self._store.clock.now(), around=around)
        if not pairs_next(hall.t, **decide.keywords):
            return await hall.commit(decide)
        try:
            return await self._commit_paired(hall, decide, _waiting(hall.t))
        except _Outrun:
            return True

    async def _commit_paired(self, hall: Hall, decide: Decide, players: int) -> bool:
        """Commit what pairs so many; where that takes a while, it is decided elsewhere.

        Raises:
            _Outrun: something has happened meanwhile.
        """
        if players < FEW:
            return await hall.commit(decide)
        twin = hall.t.fork()
        events = await self._aside.do(decide, twin)

        def unless_outrun(t: Tournament) -> Sequence[ev.AnyEvent]:
            if t.version != twin.version:
                raise _Outrun
            return events

        return await hall.commit(unless_outrun)

    async def _around(self, hall: Hall) -> Around:
        t = hall.t
        here, busy = None, {}
        if t.phase == "running" and t.stages and t.format(t.stage.number).on_clock:
            if not hall.settled:
                await asyncio.sleep(PRESENCE_ANSWER_S)
                hall.settled = True
            here = frozenset(hall.presence.here)
        elif not t.stages and t.start_at is not None and t.start_at <= self._store.clock.now():
            busy = await self.engage(hall, [entry.player for entry in t.entries.values()])
        return Around(new_room_code, here, busy)

    async def engage(self, hall: Hall, players: Collection[str]) -> dict[str, str]:
        """Note that players play in this tournament; gives who plays in another, and in which.

        Raises:
            Refusal: the store does not answer.
        """
        try:
            busy = await self._store.tournaments.engage(players, hall.code)
            for other in set(busy.values()):
                there = {player for player, code in busy.items() if code == other}
                over = there - await self._playing(other)
                busy = {player: code for player, code in busy.items() if player not in over}
                busy |= await self._store.tournaments.engage(over, hall.code, other)
        except Unavailable:
            raise store_away() from None
        return busy

    async def _playing(self, code: str) -> set[str]:
        try:
            async with self._halls.held(code) as hall:
                if not hall.t.is_on:
                    return set()
                return {entry.player for entry in hall.t.entries.values() if entry.is_in}
        except Refusal as refusal:
            if refusal.code == "store":
                raise
            return set()

    async def _follow_up(self, hall: Hall) -> None:
        """Have the touched matches looked at."""
        touched, hall.touched = hall.touched, set()
        dues = dict(self._timers_of(hall, touched))
        try:
            await self._store.timers.set_all(dues)
        except Unavailable:
            hall.touched |= touched
            raise store_away() from None

    def _timers_of(self, hall: Hall, touched: Iterable[str]) -> Iterable[tuple[str, int]]:
        for each in touched:
            match = hall.t.matches.get(each)
            if match is None:
                continue
            for race in match.races[-2:]:
                if race.state != "raced":
                    is_on = call_of(hall.t, each) is not None and match.race is race
                    starts = race.starts if is_on and not match.lost else 0
                    yield keys.match_timer(hall.code, f"{each}/{race.number}"), starts

    # --- at a race --------------------------------------------------------------------

    async def _look_at_race(self, hall: Hall, name: str) -> int | None:
        match_id, _, number = name.partition("/")
        match = hall.t.matches.get(match_id)
        if match is None or not number.isdecimal() or not 0 < int(number) <= len(match.races):
            return None
        race = match.races[int(number) - 1]
        call = call_of(hall.t, match_id)
        if call is None or call.race != race.number:
            await self._wind_up(hall, match, race)
            return None
        starts = race.starts
        now = self._store.clock.now()
        if now < starts:
            return starts
        if is_paused_before(hall.t, starts):
            return None  # to go on sets the timer anew
        again = await self._run(hall, call, now)
        if hall.touched:
            await self._advance_after(hall)
        after = call_of(hall.t, match_id)
        if after is None or after.race != call.race:
            match = hall.t.matches[match_id]
            await self._wind_up(hall, match, match.races[call.race - 1])
            return None
        return again

    async def _advance_after(self, hall: Hall) -> None:
        """Look at the tournament, and set its timer in place of that of our own commit.

        Whatever was committed since has set it anew, and means it.
        """
        net = hall.net
        again = await self._look_at(hall)
        if net is not None:
            try:
                claim = Claim(keys.tournament_timer(hall.code), net)
                await self._store.timers.done(claim, again)
            except Unavailable:
                raise store_away() from None

    async def _run(self, hall: Hall, call: Call, now: int) -> int | None:
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
            await hall.commit(partial(_ended, call, race))
            return None
        if race.phase != "running" or race.started_at is None or race.ends is None:
            return (race.starts or now) + 1000 * call.no_show_s
        absent_at = race.started_at + 1000 * call.no_show_s
        if now < absent_at:
            return min(absent_at, race.ends + AFTER_END_MS)
        await hall.commit(partial(_absent, call, now, race.started_at, _who_played(race)))
        return race.ends + AFTER_END_MS

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

    async def _wind_up(self, hall: Hall, match: Match, race: Called) -> None:
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


def _waiting(t: Tournament) -> int:
    taken = {entry for each in t.open for entry in t.matches[each].entries}
    return sum(entry not in taken for entry in t.active)


def is_paused_before(t: Tournament, starts: int) -> bool:
    """Whether a race that starts at this instant waits for the tournament to go on."""
    return t.paused_at is not None and starts > t.paused_at


def _who_played(race: Race) -> list[str]:
    return [racer.id for racer in race.racers.values() if racer.n or racer.is_done]


def _put_out(player: str, why: str, race: Race) -> rev.Disqualified:
    return referee.decide_disqualify(race, player, "", why)


def _voided(call: Call, why: str, t: Tournament) -> Sequence[ev.AnyEvent]:
    return decide_race_void(t, call.match, call.race, why)


def _absent(
    call: Call, now: int, started_at: int, played: Collection[str], t: Tournament
) -> Sequence[ev.AnyEvent]:
    return decide_no_show(t, call.match, call.race, now=now, started_at=started_at, played=played)


def _ended(call: Call, race: Race, t: Tournament) -> Sequence[ev.AnyEvent]:
    if race.over_why == "aborted":
        return decide_race_void(t, call.match, call.race, "the race was broken off")
    return decide_raced(t, call.match, call.race, rows(race))


def rows(race: Race) -> list[ev.Row]:
    """Give a race's standings as tournaments count them, without those who were not there."""
    return [
        ev.Row(
            p=line.player,
            place=line.place,
            outcome=line.outcome,
            cards=line.cards,
            down=line.down,
            time_ms=line.finished_ms if line.finished_ms is not None else line.reached_ms,
        )
        for line in standings(race)
        if race.racers[line.player].n or line.outcome == "resigned"
    ]
