"""A tournament on a fleet: its organiser, its players, and what is compared in the end."""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from msgspec.structs import replace

from server.race import Race
from server.results import rows
from server.store import keys
from server.tournament import Tournament
from server.tournament import events as ev
from tests.faults.contender import Chief, Contender
from tests.faults.fleet import Berth, Fleet
from tests.tournament.laws import Watch, check_end
from wire import acts as a
from wire import tournaments as w
from wire.formats import TournamentSettings
from wire.values import Settings

RACE = Settings(time_limit_s=20, countdown_s=0)
QUICK = TournamentSettings(title="Cup", race=RACE, break_s=1, race_break_s=1, no_show_s=15)
LIMIT_S = 400.0


@dataclass
class Field:
    """A tournament on a fleet, with its people."""

    fleet: Fleet
    chief: Chief
    contenders: list[Contender]
    killed: int = 0

    @property
    def code(self) -> str:
        return self.chief.keys.tournament

    def fold(self, watch: Watch | None = None) -> Tournament:
        """The tournament as the store has it; every event is held against the laws."""
        t = Tournament()
        for line in self.fleet.lines(keys.tournament(self.code)):
            at, _, text = line.partition(" ")
            payload = text.encode()
            event = ev.decode(payload)
            if watch is not None:
                watch.before(t, event)
            t.apply(int(at), payload, event)
            if watch is not None:
                watch.after(t, event)
        return t

    def events(self) -> list[ev.AnyEvent]:
        """All that the store has of it."""
        lines = self.fleet.lines(keys.tournament(self.code))
        return [ev.decode(line.partition(" ")[2].encode()) for line in lines]

    def kinds(self) -> Counter[str]:
        """How often each kind of event is in it."""
        return Counter(type(event).__name__ for event in self.events())

    async def archive(self, file: Path) -> str:
        """Have it exported, and checked by itself; what the check says of it."""
        server = self.fleet.doors[0]
        await asyncio.to_thread(
            _klondike, "tournament", "--server", server, *("export", self.code), str(file)
        )
        return await asyncio.to_thread(_klondike, "tournament", "verify", str(file))

    async def direct(self, act: a.AnyAct, why: str = "") -> None:
        key = self.chief.keys.owner
        await self.chief.ask(w.Direct(tournament=self.code, key=key, act=act, why=why), w.Directed)

    async def come_to(
        self, what: str, is_so: Callable[[Tournament], bool], limit_s: float = LIMIT_S
    ) -> None:
        """Wait for something in the journal."""
        try:
            async with asyncio.timeout(limit_s):
                while not is_so(await asyncio.to_thread(self.fold)):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"it does not come to: {what}") from None

    async def kill(self, berth: Berth) -> None:
        """Let a node die without a word, and another one take its place."""
        await berth.node.kill()
        self.killed += 1
        await berth.restart()


def _klondike(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "client", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@asynccontextmanager
async def a_field(
    fleet: Fleet,
    count: int,
    wanted: TournamentSettings,
    seed: int,
    fits: Callable[[Fleet, str], bool] = lambda fleet, code: True,
) -> AsyncIterator[Field]:
    """A tournament with so many players on a fleet, which is started for it.

    `fits` says whether a code will do; another tournament is opened where it does not.
    """
    chance = Random(seed)
    async with fleet:
        chief = Chief(fleet.doors, chance)
        await chief.open()
        while True:
            await chief.say(w.Organise(settings=wanted))
            chief.keys = await chief.hear(w.Organised)
            code = chief.keys.tournament
            if fits(fleet, code):
                break
        contenders = [
            Contender(f"p{number}", fleet.doors, Random(chance.random()), code)
            for number in range(count)
        ]
        tasks = [asyncio.create_task(each.run(), name=each.name) for each in contenders]
        try:
            async with asyncio.timeout(LIMIT_S):
                for each in contenders:
                    await each.entered.wait()
            yield Field(fleet, chief, contenders)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for contender in contenders:
                await contender.close()
            await chief.close()


def check(field: Field) -> Tournament:
    """Hold a tournament that is over against the laws, and its results against the races."""
    watch = Watch()
    t = field.fold(watch)
    check_end(t, watch)
    for match in t.matches.values():
        for race in match.raced:
            told = {row.p: row for row in race.rows}
            played = _race(field.fleet, race.room)
            assert played.tournament == t.code
            assert played.phase == "over"
            by_entry = dict(zip(race.players, match.entries, strict=True))
            seen = {by_entry[row.p]: replace(row, p=by_entry[row.p]) for row in rows(played)}
            assert told == {entry: seen[entry] for entry in told}
    for each in field.contenders:
        errors = [error.reason for error in each.errors]
        assert not errors, f"{each.name}: {errors}"
    return t


def _race(fleet: Fleet, room: str) -> Race:
    race = Race()
    for line in fleet.journal(room):
        at, _, payload = line.partition(" ")
        race.apply(int(at), payload.encode())
        if race.version == 1 and race.settings.seed is None:
            race.secret = fleet.secret(race.deal)
    return race


def assert_nothing_failed(field: Field) -> None:
    """No node has logged a fault of its own."""
    for berth in field.fleet.berths:
        assert berth.logged("ERROR") == []


def is_round(number: int) -> Callable[[Tournament], bool]:
    return lambda t: len(t.rounds) >= number


def has_raced(number: int) -> Callable[[Tournament], bool]:
    """Some, not all, of a round are done."""

    def is_so(t: Tournament) -> bool:
        if len(t.rounds) < number:
            return False
        return len(t.rounds) > number or any(
            t.matches[each].is_played for each in t.rounds[number - 1].matches
        )

    return is_so
