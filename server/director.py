"""Runs tournaments: appends what is due, and sees to it that the races that are called are raced.

Any node may do any part of it at any time; the guards of the journals make the second one
that does it harmless. There are two looks, each set off by a timer in the store:

- at a *tournament* (`t:CODE`): append what is due, one step after the other, then set the
  timers of the matches that this has touched;
- at a *match's race* (`t:CODE/MATCH/RACE`): have its steward do what is due in its room, or
  wind it up where it does not count any more.

Timers come before events: every commit sets the tournament's timer a little ahead, and the
event that ends a room's race sets that of its match. So what a node that dies has not done
is done by another.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial

from server.aside import Aside
from server.codes import new_room_code
from server.hall import Hall
from server.halls import Halls
from server.ladder import Ladder
from server.presence import ANSWER_S
from server.refusal import Refusal, race_lost, store_away
from server.steward import Steward
from server.store import Claim, Store, Unavailable, keys
from server.tally import Tally
from server.tournament import Around, Tournament, call_of, due, next_due, pairs_next
from server.tournament import events as ev
from server.uptime import Uptime

log = logging.getLogger("dk.director")

STEPS = 200  # of one look; a tournament that wants more is at fault, and looked at again later
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
        steward: Steward,
        ladder: Ladder,
        aside: Aside,
        uptime: Uptime,
        tally: Tally,
    ) -> None:
        self._store = store
        self._halls = halls
        self._steward = steward
        self._ladder = ladder
        self._aside = aside
        self._uptime = uptime
        self._tally = tally
        self._tasks: set[asyncio.Task[None]] = set()

    def dues(self) -> dict[str, int]:
        """Give when to look at all open tournaments and their races, by their timers."""
        now = self._store.clock.now()
        found: dict[str, int] = {}
        for hall in self._halls.opened:
            found[keys.tournament_timer(hall.code)] = now
            found.update(self._timers_of(hall, hall.unsettled))
        return found

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
        return next_due(hall.t, self._store.clock.now(), self._uptime.since)

    async def _advance(self, hall: Hall) -> None:
        for _ in range(STEPS):
            if not await self._step(hall):
                break
        else:
            raise RuntimeError(f"tournament {hall.code} goes on and on")
        await self._follow_up(hall)
        if hall.t.phase == "finished" and hall.rated_at <= self._uptime.since:
            # Again after a break of the store, which may have lost it; once is all it counts.
            now = self._store.clock.now()
            await self._ladder.apply(hall.t)
            hall.rated_at = now

    async def _step(self, hall: Hall) -> bool:
        """Append what is due next; False where nothing is."""
        around = await self._around(hall)
        decide = self._due(around)
        if not pairs_next(hall.t, **decide.keywords):
            # What the store does not take at once is decided on how things are by then.
            return await hall.commit(lambda t: self._due(around)(t))
        try:
            return await self._commit_paired(hall, decide, _waiting(hall.t))
        except _Outrun:
            return True

    def _due(self, around: Around) -> "partial[list[ev.AnyEvent]]":
        now = self._uptime.now()
        return partial(due, now=now, around=replace(around, since=self._uptime.since))

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
                await asyncio.sleep(ANSWER_S)
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
            await self._steward.wind_up(hall, match, race)
            return None
        starts = race.starts
        now = self._store.clock.now()
        if now < starts:
            return starts
        if _is_paused_before(hall.t, starts):
            return None  # to go on sets the timer anew
        again = await self._steward.run(hall, call, now)
        if hall.touched:
            await self._advance_after(hall)
        after = call_of(hall.t, match_id)
        if after is None or after.race != call.race:
            match = hall.t.matches[match_id]
            await self._steward.wind_up(hall, match, match.races[call.race - 1])
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


def _waiting(t: Tournament) -> int:
    taken = {entry for each in t.open for entry in t.matches[each].entries}
    return sum(entry not in taken for entry in t.active)


def _is_paused_before(t: Tournament, starts: int) -> bool:
    """Whether a race that starts at this instant waits for the tournament to go on."""
    return t.paused_at is not None and starts > t.paused_at
