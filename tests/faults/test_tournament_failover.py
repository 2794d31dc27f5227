"""Whole tournaments while the masters of their store die, and while a store of one is away."""

import asyncio
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from server.store import keys
from server.tournament import Tournament
from server.tournament import events as ev
from tests.faults.failover import ClusteredFleet, WatchedFleet, replace_master, roles
from tests.faults.field import QUICK, Field, a_field, check, has_raced, is_round
from tests.faults.fleet import Fleet
from tests.faults.processes import ValkeyProcess, until
from tests.faults.stores import hold_back
from wire import acts as a
from wire.formats import Single, StageSettings, Swiss

pytestmark = [pytest.mark.asyncio(loop_scope="function"), pytest.mark.slow]

DOWN_AFTER_MS = 3_500  # longer than a node waits for an answer: see tests.faults.__main__
CUP = replace(
    QUICK,
    stages=[StageSettings(play=Swiss(rounds=4), qualify=4), StageSettings(play=Single())],
)
PHASES: list[tuple[str, Callable[[Tournament], bool]]] = [
    ("everybody waits", lambda _: True),
    ("the first round is called", is_round(1)),
    ("the first round is on", has_raced(1)),
    ("the second round is called", is_round(2)),
    ("the third round is on", has_raced(3)),
    ("the last round of the Swiss is called", is_round(4)),
    ("the bracket begins", lambda t: len(t.stages) > 1),
    ("the semi-finals are on", has_raced(5)),
    ("the final is called", is_round(6)),
]


class Trouble(ABC):
    """What is the matter with a store in each phase."""

    fleet: Fleet

    @abstractmethod
    async def strike(self, field: Field) -> None:
        """Lets it happen once, and waits until it may happen again."""


class Outage(Trouble):
    """A store of one process that dies and comes back later, with what its file has."""

    def __init__(self, folder: Path, seed: int, away_s: float) -> None:
        self.fleet = Fleet(folder, nodes=2)
        self._away_s = away_s

    async def strike(self, field: Field) -> None:
        await self.fleet.store.kill()
        await asyncio.sleep(self._away_s)
        await self.fleet.store.start()


class Succession(Trouble):
    """A master that dies; its replica takes over, and what was the master follows it."""

    fleet: WatchedFleet | ClusteredFleet

    def __init__(self, fleet: WatchedFleet | ClusteredFleet, seed: int) -> None:
        self.fleet = fleet
        self._chance = Random(seed)

    async def strike(self, field: Field) -> None:
        victim = self._victim(roles(self.fleet.stores)[0], field)
        await replace_master(self.fleet, victim)
        await victim.start()
        await until(self.fleet.is_whole, f"{victim.name} follows", 60.0)

    def _victim(self, masters: list[ValkeyProcess], field: Field) -> ValkeyProcess:
        """Every other time the master of the tournament itself, where there are several."""
        if isinstance(self.fleet, ClusteredFleet) and self._chance.random() < 0.5:
            key = keys.journal(keys.tournament(field.code)).journal
            return next(each for each in masters if each.port == self.fleet.port_of(key))
        return self._chance.choice(masters)


def sentinel(folder: Path, seed: int) -> Trouble:
    return Succession(WatchedFleet(folder, nodes=2, down_after_ms=DOWN_AFTER_MS), seed)


def cluster(folder: Path, seed: int) -> Trouble:
    return Succession(ClusteredFleet(folder, nodes=2), seed)


def one_for_a_moment(folder: Path, seed: int) -> Trouble:
    return Outage(folder, seed, away_s=1.0)


def one_for_a_race(folder: Path, seed: int) -> Trouble:
    """Longer than somebody may be absent, and than a race takes."""
    return Outage(folder, seed, away_s=25.0)


@pytest.mark.parametrize("make", [sentinel, cluster, one_for_a_moment, one_for_a_race])
async def test_a_tournament_outlives_what_befalls_its_store_in_each_phase(
    make: Callable[[Path, int], Trouble], tmp_path: Path
) -> None:
    trouble = make(tmp_path, 1)
    async with a_field(trouble.fleet, 16, CUP, seed=5) as field:
        for number, (what, is_so) in enumerate(PHASES):
            await field.come_to(what, is_so)
            await trouble.strike(field)
            if number == 0:
                await field.direct(a.Begin())
        await field.come_to("the end", lambda t: t.phase == "finished")
        t = await asyncio.to_thread(check, field)
        kinds = field.kinds()
        print(f"{make.__name__}: {kinds['Raced']} races, {kinds['RaceVoided']} void")
        assert kinds["Raced"] >= 4 * 8 + 3
        blamed = [event for event in field.events() if isinstance(event, ev.Absent | ev.Withdrawn)]
        assert blamed == []
        assert all(entry.is_in for entry in t.entries.values())
        said = await field.archive(tmp_path / "cup.zip")
        assert "the record is sound" in said


# --- what is lost with a master that had not passed it on ---------------------------------


async def test_a_tournament_goes_on_whose_timers_are_lost_with_a_master(tmp_path: Path) -> None:
    fleet = ClusteredFleet(tmp_path, nodes=2)
    wanted = replace(QUICK, stages=[StageSettings(play=Swiss(rounds=2))])
    async with a_field(fleet, 8, wanted, seed=6, fits=is_apart) as field:
        master = keeper(fleet, timers_of(field.code))
        await hold_back(master)
        await field.direct(a.Begin())
        await field.come_to("the first round", is_round(1))
        await replace_master(fleet, master)
        await field.come_to("the second round", is_round(2), limit_s=60.0)
        await field.come_to("the end", lambda t: t.phase == "finished")
        await asyncio.to_thread(check, field)
        assert field.kinds()["Absent"] == 0


def timers_of(code: str) -> str:
    """Where a tournament's timer is."""
    return keys.timers(zlib.crc32(keys.tournament_timer(code).encode()) % keys.TIMER_SHARDS)


def keeper(fleet: ClusteredFleet, key: str) -> ValkeyProcess:
    port = fleet.port_of(key)
    return next(store for store in fleet.stores if store.port == port)


def is_apart(fleet: Fleet, code: str) -> bool:
    """Whether a tournament's timer and its journal are on different masters."""
    assert isinstance(fleet, ClusteredFleet)
    journal = keys.journal(keys.tournament(code)).journal
    return fleet.port_of(journal) != fleet.port_of(timers_of(code))


async def test_acts_that_are_lost_with_a_master_are_told_and_the_tournament_goes_on(
    tmp_path: Path,
) -> None:
    fleet = WatchedFleet(tmp_path, nodes=2, down_after_ms=DOWN_AFTER_MS)
    wanted = replace(QUICK, stages=[StageSettings(play=Swiss(rounds=3))])
    async with a_field(fleet, 8, wanted, seed=7) as field:
        await field.direct(a.Begin())
        await field.come_to("the first round is on", has_raced(1))
        master = fleet.trio.master
        await hold_back(master)
        unlucky = field.contenders[0].player
        await field.direct(a.Disqualify(player=unlucky), "chess")
        await field.come_to("it stands", lambda t: not t.entries[unlucky].is_in)
        await replace_master(fleet, master)
        await field.come_to("it is told", lambda t: any(map(is_told, t.announced)), limit_s=60.0)
        assert field.fold().entries[unlucky].is_in
        assert sum(map(is_told, field.fold().announced)) == 1
        await field.come_to("the end", lambda t: t.phase == "finished")
        await asyncio.to_thread(check, field)
        assert field.kinds()["Absent"] == 0
        assert "the record is sound" in await field.archive(tmp_path / "cup.zip")


def is_told(announced: tuple[int, str]) -> bool:
    return announced[1].startswith("The server's store lost its last moments")
