"""Organisers, and players who race whatever they are called to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec.structs import replace

from tests.server.floor import Someone
from wire import acts as a
from wire import messages as m
from wire import tournaments as w
from wire.formats import Deals, Play, Single, StageSettings, TournamentSettings
from wire.values import Settings

PAUSE_S = 0.03  # between two plays: more would be a flood of messages
RACE = Settings(time_limit_s=60, countdown_s=0, spectators="boards")


def settings(*plays: Play, **changes: object) -> TournamentSettings:
    """A tournament of the given stages that loses no time."""
    quick = TournamentSettings(
        title="Cup",
        stages=[StageSettings(play=play) for play in plays or (Single(),)],  # type: ignore[arg-type]
        race=RACE,
        break_s=0,
        race_break_s=0,
        deals=Deals(source="public", seed="42"),
    )
    return replace(quick, **changes)


class Organiser:
    """Somebody with the keys of a tournament."""

    def __init__(self, line: Someone, keys: w.Organised) -> None:
        self.line = line
        self.keys = keys
        self.code = keys.tournament

    @classmethod
    async def open(cls, line: Someone, wanted: TournamentSettings) -> "Organiser":
        await line.say(w.Organise(settings=wanted))
        return cls(line, await line.hear(w.Organised))

    async def direct(self, act: a.AnyAct, why: str = "", key: str = "") -> w.Directed:
        await self.line.say(self.message(act, why, key))
        return await self.line.hear(w.Directed)

    async def refused(self, act: a.AnyAct, why: str = "", key: str = "") -> m.Refused:
        return await self.line.refused(self.message(act, why, key))

    def message(self, act: a.AnyAct, why: str = "", key: str = "") -> w.Direct:
        return w.Direct(tournament=self.code, key=key or self.keys.owner, act=act, why=why)

    async def browse(self, number: int) -> w.Pairings:
        """Ask for a round."""
        key = self.keys.owner
        await self.line.say(w.Browse(tournament=self.code, round=number, key=key))
        return await self.line.hear(w.Pairings, lambda shown: shown.round == number)

    async def over(self) -> w.Tournament:
        """Wait for the end; the visit shows it."""
        return await self.line.hear(
            w.Tournament, lambda shown: shown.phase in ("finished", "cancelled")
        )


class Bot:
    """A player who joins whatever race calls, plays some moves and gives up."""

    def __init__(self, line: Someone, moves: int = 3) -> None:
        self.line = line
        self.moves = moves
        self.raced: list[str] = []
        self.missed: list[str] = []
        self.plays = True  # else the calls are not answered
        self._task = asyncio.create_task(self._run())

    @property
    def player(self) -> str:
        return self.line.welcome.player

    async def _run(self) -> None:
        while True:
            call = await self._called()
            if self.plays:
                self.raced.append(call.room)
                await self._race(call.room)
            else:
                self.missed.append(call.room)

    async def _called(self) -> w.Called:
        seen = 0
        while True:
            calls = self.line.all(w.Called)
            known = {*self.raced, *self.missed}
            fresh = [call for call in calls[seen:] if call.room not in known]
            if fresh:
                return fresh[-1]
            seen = len(calls)
            await self.line.news()

    async def _race(self, room: str) -> None:
        line = self.line
        mark = len(line.heard)
        await line.say(m.Join(room=room))
        if not await line.since(mark, m.Board):
            return
        for n in range(1, self.moves + 1):
            mark = len(line.heard)
            await line.say(m.Hint())
            hints = await line.since(mark, m.Hints)
            if not hints:
                return
            text = max(hints.moves, key=_worth)
            mark = len(line.heard)
            await line.say(m.Move(n=n, m=text))
            if not await line.since(mark, m.Moved):
                return
            await asyncio.sleep(PAUSE_S)
        await line.say(m.Resign())

    async def go(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self.line.go()


def _worth(move: str) -> int:
    # What turns cards up comes first, so that the number of moves decides a race.
    return 2 if move.endswith(">f") else 1 if move[0].isdigit() else 0


@asynccontextmanager
async def bots(ports: list[int], count: int) -> AsyncIterator[list[Bot]]:
    """Players on these nodes in turn."""
    async with AsyncExitStack() as stack:
        made = []
        for number in range(count):
            port = ports[number % len(ports)]
            bot = Bot(await Someone.arrive(port, f"p{number}", bot=True), moves=2 + number % 5)
            stack.push_async_callback(bot.go)
            made.append(bot)
        yield made


async def opened(port: int, wanted: TournamentSettings) -> Organiser:
    """An organiser with a new tournament."""
    return await Organiser.open(await Someone.arrive(port, "chief"), wanted)


async def enter(chief: Organiser, players: list[Bot]) -> None:
    """Have players enter, and the organiser look on."""
    for bot in players:
        await bot.line.say(w.Enter(tournament=chief.code))
        assert (await bot.line.hear(w.Place)).entry == bot.player
    await chief.line.say(w.Visit(tournament=chief.code, key=chief.keys.owner))
    await chief.line.hear(w.Tournament)
