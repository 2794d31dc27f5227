"""A tournament without sockets: its timers are acted on at once, its players race in a moment.

For tests that let whoever acts die at a chosen step, and for measurements.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from server import events as rev
from server import referee
from server.aside import Aside
from server.director import Director
from server.halls import Halls
from server.ladder import Ladder
from server.race import Race
from server.rooms import Rooms
from server.steward import Steward
from server.store import Store, keys
from server.tally import Tally
from server.tournament import Tournament, calls
from server.tournament import events as ev
from server.tournament.acts import decide_enter, decide_start
from server.tournament.around import Around
from server.uptime import Uptime
from wire.formats import TournamentSettings

SOON_MS = 60_000  # timers so far ahead are acted on, so that nothing is waited for
SETTLING = 4  # rounds of timers that set others, before all is done that follows from the end
ROUNDS = 2_000  # of a tournament that does not end


class Dead(Exception):
    """Whoever acts has died."""


class Mortal:
    """A store over which so many writes can be made before its user dies."""

    WRITES = frozenset({"append", "act", "set", "set_all", "done", "keep", "engage", "apply"})

    def __init__(self, store: Store, writes: int | None, *, last_counts: bool = True) -> None:
        """`last_counts` lets the last write happen, though its user never hears of it."""
        self.left = writes
        self.made = 0
        self._last_counts = last_counts
        self._store = store
        for name in ("journals", "timers", "deals", "tournaments", "ratings", "players"):
            setattr(self, name, _Part(self, getattr(store, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def is_dying(self) -> bool:
        """Count a write; whether it is the last one."""
        self.made += 1
        if self.left is None:
            return False
        if self.left <= 0:
            raise Dead
        self.left -= 1
        if self.left == 0 and not self._last_counts:
            raise Dead
        return self.left == 0


class _Part:
    def __init__(self, mortal: Mortal, part: Any) -> None:
        self._mortal, self._part = mortal, part

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if name not in Mortal.WRITES or not asyncio.iscoroutinefunction(found):
            return found
        return partial(self._write, found)

    async def _write(self, write: Callable[..., Awaitable[Any]], *args: Any, **named: Any) -> Any:
        is_last = self._mortal.is_dying()
        answer = await write(*args, **named)
        if is_last:
            raise Dead
        return answer


class Crew:
    """What acts for tournaments on one node: halls, rooms, a director, a steward."""

    def __init__(self, store: Store, name: str = "node") -> None:
        tally = Tally()
        self.store = store
        self.halls = Halls(store, tally, name)
        self.rooms = Rooms(store, tally, name)
        self.aside = Aside()
        uptime = Uptime(store)
        self.steward = Steward(store, self.rooms, uptime)
        ladder = Ladder(store)
        self.director = Director(store, self.halls, self.steward, ladder, self.aside, uptime, tally)

    async def act(self) -> int:
        """Act on every timer there is, due or not; how many there were."""
        now = self.store.clock.now() + SOON_MS
        claims = await self.store.timers.claim(1, 10_000, now=now)
        for claim in claims:
            is_room = not claim.member.startswith("t:")
            look = self.rooms.look if is_room else self.director.look
            await self.store.timers.done(claim, await look(claim.member))
        return len(claims)

    async def close(self) -> None:
        await asyncio.sleep(0)  # what has just been begun is ended, not forgotten
        self.director.close()
        await self.aside.close()
        self.halls.close()
        self.rooms.close()


async def fold(store: Store, code: str) -> Tournament:
    """The tournament as its journal has it."""
    t = Tournament()
    for entry in await store.journals.read(keys.tournament(code)):
        t.apply(entry.at, entry.payload)
    return t


async def opened(store: Store, wanted: TournamentSettings, players: int) -> str:
    """A tournament that has begun, with so many players; its code."""
    crew = Crew(store)
    code = (await crew.halls.open(wanted, public=False)).tournament
    async with crew.halls.held(code) as hall:
        for number in range(players):
            name = f"p{number:03}"
            await hall.commit(partial(_enter, name))
        await hall.commit(lambda t: decide_start(t, "owner", Around(str)))
    await crew.close()
    return code


def _enter(name: str, t: Tournament) -> list[ev.AnyEvent]:
    return decide_enter(t, name, player=name, name=name, rating=1500)


async def play(store: Store, code: str) -> int:
    """Have everybody who is in a race that runs finish it; how many races those were."""
    raced = 0
    for call in calls(await fold(store, code)):
        race = Race()
        for entry in await store.journals.read(keys.room(call.room)):
            race.apply(entry.at, entry.payload)
            if race.version == 1 and race.settings.seed is None:
                race.secret = await store.deals.secret(race.deal)
        if race.phase == "running":
            raced += 1
            for number, player in enumerate(race.racers):
                await _race(store, race, player, number)
    return raced


async def _race(store: Store, race: Race, player: str, moves: int) -> None:
    """Make some moves that count, one more than who sits before, and give up."""
    jid = keys.room(race.room)
    racer = race.racers[player]
    n = counted = 0
    while counted < moves and n < 60 and not racer.is_done:
        board = racer.board
        assert board is not None
        options = board.legal_moves()
        good = [o for o in options if board.play(o).down < board.down]
        event = referee.decide_move(race, player, n + 1, (good or options)[0].text())
        counted += bool(good)
        n += 1
        race.fold(race.at, event)
        await _append(store, jid, player, n, event, {})
    done = {keys.done_field(player): "resigned"}
    await _append(store, jid, player, 0, rev.Resigned(p=player), done)


async def _append(
    store: Store,
    jid: keys.JournalId,
    player: str,
    n: int,
    event: rev.AnyEvent,
    sets: dict[str, str],
) -> None:
    done: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    store.journals.act(jid, player, None, n, rev.encode(event), sets, done.set_result)
    await done


async def finish(store: Store, code: str, crew: Crew) -> Tournament:
    """Play a tournament to its end; players race over `store`, `crew` does the rest."""
    for _ in range(ROUNDS):
        t = await fold(store, code)
        if t.phase in ("finished", "cancelled"):
            for _ in range(SETTLING):
                await crew.act()
            return t
        await crew.act()
        await play(store, code)
    raise AssertionError(f"the tournament does not end: {t.phase}, round {len(t.rounds)}")
