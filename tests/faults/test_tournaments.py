"""Whole tournaments over two nodes, of which one dies in each phase."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
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
from wire.formats import Arena, Double, StageSettings, Swiss, TournamentSettings
from wire.values import Settings

pytestmark = [pytest.mark.asyncio(loop_scope="function"), pytest.mark.slow]

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
        with self.fleet.store.client() as client:
            lines = client.lrange(keys.journal(keys.tournament(self.code)).journal, 0, -1)
        t = Tournament()
        for line in lines:
            at, _, payload = line.partition(b" ")
            event = ev.decode(payload)
            if watch is not None:
                watch.before(t, event)
            t.apply(int(at), payload, event)
            if watch is not None:
                watch.after(t, event)
        return t

    async def direct(self, act: a.AnyAct, why: str = "") -> None:
        key = self.chief.keys.owner
        await self.chief.ask(w.Direct(tournament=self.code, key=key, act=act, why=why), w.Directed)

    async def come_to(self, what: str, is_so: Callable[[Tournament], bool]) -> None:
        """Wait for something in the journal."""
        try:
            async with asyncio.timeout(LIMIT_S):
                while not is_so(await asyncio.to_thread(self.fold)):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"it does not come to: {what}") from None

    async def kill(self, berth: Berth) -> None:
        """Let a node die without a word, and another one take its place."""
        await berth.node.kill()
        self.killed += 1
        await berth.restart()


@asynccontextmanager
async def a_field(
    folder: Path, count: int, wanted: TournamentSettings, seed: int
) -> AsyncIterator[Field]:
    """A tournament with so many players on two nodes."""
    chance = Random(seed)
    async with Fleet(folder, nodes=2, fsync="everysec") as fleet:
        chief = Chief(fleet.doors, chance)
        await chief.open()
        await chief.say(w.Organise(settings=wanted))
        chief.keys = await chief.hear(w.Organised)
        code = chief.keys.tournament
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
        assert [error.reason for error in each.errors] == []
    return t


def _race(fleet: Fleet, room: str) -> Race:
    race = Race()
    with fleet.store.client() as client:
        for line in fleet.journal(room):
            at, _, payload = line.partition(" ")
            race.apply(int(at), payload.encode())
            if race.version == 1 and race.settings.seed is None:
                race.secret = client.get(keys.deal(race.deal))
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


async def test_64_players_swiss_and_the_best_eight_double_elimination_with_a_death_in_each_phase(
    tmp_path: Path,
) -> None:
    wanted = replace(
        QUICK,
        stages=[
            StageSettings(play=Swiss(rounds=5), qualify=8),
            StageSettings(play=Double(final="reset")),
        ],
    )
    async with a_field(tmp_path, 64, wanted, seed=1) as field:
        one, other = field.fleet.berths
        deaths: list[tuple[str, Callable[[Tournament], bool], Berth]] = [
            ("the first round is called", is_round(1), one),
            ("the first round is on", has_raced(1), other),
            ("the second round is called", is_round(2), other),
            ("the third round is on", has_raced(3), one),
            ("the bracket begins", lambda t: len(t.stages) > 1, one),
            ("the bracket is on", has_raced(7), other),
        ]
        await field.kill(one)  # while everybody waits
        await field.direct(a.Begin())
        for what, is_so, berth in deaths:
            await field.come_to(what, is_so)
            await field.kill(berth)
        await field.come_to("the end", lambda t: t.phase == "finished")
        t = await asyncio.to_thread(check, field)
        assert_nothing_failed(field)
        assert field.killed == 7
        assert len(t.stages) == 2
        assert len(t.stages[1].groups[0]) == 8
        played = [match for match in t.matches.values() if match.is_played]
        assert len(played) >= 5 * 32 - 16 + 14


async def test_an_arena_of_200_players_with_deaths_on_the_way(tmp_path: Path) -> None:
    wanted = replace(
        QUICK,
        stages=[StageSettings(play=Arena(minutes=1))],
        race=replace(RACE, time_limit_s=5),
        no_shows=5,
    )
    async with a_field(tmp_path, 200, wanted, seed=2) as field:
        one, other = field.fleet.berths
        await field.direct(a.Begin())
        await field.come_to("races", has_raced(1))
        await field.kill(one)
        await field.come_to("a second pairing", is_round(2))
        await field.kill(other)
        await field.come_to("the end", lambda t: t.phase == "finished")
        t = await asyncio.to_thread(check, field)
        assert_nothing_failed(field)
        played = [match for match in t.matches.values() if match.is_played]
        assert len(played) >= 200


async def test_a_tournament_goes_on_after_all_nodes_have_died_at_once(tmp_path: Path) -> None:
    wanted = replace(QUICK, stages=[StageSettings(play=Swiss(rounds=2))])
    async with a_field(tmp_path, 8, wanted, seed=3) as field:
        await field.direct(a.Begin())
        await field.come_to("races", has_raced(1))
        for berth in field.fleet.berths:
            await berth.node.kill()
        await asyncio.sleep(2)
        for berth in field.fleet.berths:
            berth.begin()
        for berth in field.fleet.berths:
            await berth.ready()
        await field.come_to("the end", lambda t: t.phase == "finished")
        await asyncio.to_thread(check, field)
        assert_nothing_failed(field)
