"""Many small rooms while the masters of their store die, one after the other."""

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterator
from random import Random

from tests.faults import storm
from tests.faults.failover import ClusteredFleet, WatchedFleet, has_heir, roles
from tests.faults.fleet import Race
from tests.faults.processes import ProcessFailed, ValkeyProcess, until
from tests.faults.racer import Plan
from tests.faults.storm import END_LIMIT_S, Figures
from wire.values import Settings

log = logging.getLogger("dk.faults")

# A replica that takes over may lack the last moments: those are logged, and told.
EXPECTED = re.compile(f"{storm.EXPECTED.pattern}|the store lost acknowledged events")
PAUSE_S = (1.0, 4.0)  # between the return of one and the death of the next
AWAY_S = (0.0, 4.0)  # how long a dead one stays away after it was replaced
KILLED = 0.75  # of the masters; the others stand still, and wake up when they are replaced
WHOLE_LIMIT_S = 60.0
OPENING = 10  # rooms that are opened at once in the beginning


class Succession:
    """Rooms of two on a fleet, and the deaths of its masters."""

    def __init__(
        self, fleet: WatchedFleet | ClusteredFleet, seed: int, seconds: float, rooms: int
    ) -> None:
        self.figures = Figures()
        self.gaps: list[float] = []  # seconds from a death until all whom it hit play again
        self.hit = 0
        self._fleet = fleet
        self._chance = Random(seed)
        self._seconds = seconds
        self._rooms = rooms
        self._opening = asyncio.Semaphore(OPENING)
        self._races: list[Race] = []

    async def run(self) -> Figures:
        """Lets masters die for so long, waits until all races are over, and compares them."""
        async with self._fleet:
            end = time.monotonic() + self._seconds
            racing = [asyncio.create_task(self._race_on(end)) for _ in range(self._rooms)]
            try:
                await self._depose_until(end)
                await asyncio.gather(*racing)
            finally:
                for task in racing:
                    task.cancel()
                await asyncio.gather(*racing, return_exceptions=True)
                for race in self._races:
                    await race.leave()
            self.figures.read_logs(self._fleet, EXPECTED)
        return self.figures

    def lines(self) -> Iterator[str]:
        """What happened, in words."""
        gaps = sorted(self.gaps)
        if gaps:
            yield (
                f"{len(gaps)} masters replaced, {self.hit} rooms hit; "
                f"all played again after {gaps[len(gaps) // 2]:.1f} s at the median, "
                f"{gaps[-1]:.1f} s at the most"
            )
        yield from self.figures.lines()

    async def _race_on(self, end: float) -> None:
        while time.monotonic() < end:
            async with self._opening:
                race = self._new_race()
                self._races.append(race)
                await race.begin(END_LIMIT_S)
            await asyncio.wait(race.tasks, timeout=max(0.0, end - time.monotonic()))
            for racer in race.racers:
                racer.stop()
            verdict = await race.end(END_LIMIT_S)
            self._races.remove(race)
            self.figures.note(race, verdict)

    def _new_race(self) -> Race:
        plan = Plan(plays=self._chance.randint(10, 60), per_s=1, undo=True)
        settings = Settings(countdown_s=0, seats=2, undo="safe", time_limit_s=75)
        return Race(self._fleet, [plan, plan], settings)

    async def _depose_until(self, end: float) -> None:
        while True:
            await asyncio.sleep(self._chance.uniform(*PAUSE_S))
            await _until(self._fleet.is_whole, "a replica for each master")
            if time.monotonic() > end:
                return
            await self._depose(self._chance.choice(roles(self._fleet.stores)[0]))

    async def _depose(self, victim: ValkeyProcess) -> None:
        """Has a master's replica take over, and brings it back when that is done."""
        before = roles(self._fleet.stores)[0]
        hit = self._fleet.served_by(victim, [race for race in self._races if goes_on(race)])
        plays = [race.plays for race in hit]
        is_killed = self._chance.random() < KILLED
        log.info("%s %s, %d rooms", victim.name, "killed" if is_killed else "frozen", len(hit))
        if is_killed:
            await victim.kill()
        else:
            victim.freeze()
        began = time.monotonic()
        await until(
            lambda: all(
                race.plays > before or not goes_on(race)
                for race, before in zip(hit, plays, strict=True)
            ),
            f"the rooms of {victim.name} go on",
        )
        self.gaps += [time.monotonic() - began] * bool(hit)
        self.hit += len(hit)
        self.figures.faults["kill" if is_killed else "stall"] += 1
        # It may have no room that goes on, and is not to come back before it is replaced: what
        # it takes in until then is lost with nobody there who could be told.
        await _until(lambda: has_heir(self._fleet, before), f"an heir of {victim.name}")
        await asyncio.sleep(self._chance.uniform(*AWAY_S))
        if is_killed:
            await victim.start()
        else:
            victim.thaw()


async def _until(is_so: Callable[[], bool], what: str) -> None:
    """Waits for what takes a while to be asked, while the racers go on."""
    deadline = time.monotonic() + WHOLE_LIMIT_S
    while not await asyncio.to_thread(is_so):
        if time.monotonic() > deadline:
            raise ProcessFailed(f"{what}: not within {WHOLE_LIMIT_S:g} s")
        await asyncio.sleep(0.2)


def goes_on(race: Race) -> bool:
    """Whether somebody in it still has plays to make."""
    return any(
        racer.started.is_set() and not racer.done.is_set() and racer.plays < racer.plan.plays
        for racer in race.racers
    )
