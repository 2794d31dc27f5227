"""Races while everything goes wrong, by a schedule; afterwards all is compared."""

import asyncio
import logging
import re
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

import redis
from msgspec.structs import replace

from tests.faults import solvable
from tests.faults.checker import Tale, Verdict
from tests.faults.fleet import Berth, Fleet, Race
from tests.faults.processes import ProcessFailed, until
from tests.faults.proxy import Proxy
from tests.faults.racer import Plan, Racer
from tests.faults.schedule import KINDS, Fault, plan
from tests.server.floor import Someone
from wire import messages as m
from wire.values import Settings, UndoPolicy

log = logging.getLogger("dk.faults")

RACES_AT_ONCE = 5
UNDOS: Final[tuple[UndoPolicy, ...]] = ("off", "safe", "free")
END_LIMIT_S = 90.0  # for a race to end once nothing goes wrong any more
# What nodes may log as errors in all this; anything else is a fault of ours.
EXPECTED = re.compile("the store does not answer|the store refuses an append")


@dataclass
class Figures:
    """What a storm has seen."""

    verdict: Verdict = field(default_factory=Verdict)
    faults: Counter[str] = field(default_factory=Counter)  # by what they count as
    skipped: int = 0
    resumes: list[float] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    thrown_out: int = 0
    waits: int = 0
    ghosts: Counter[int] = field(default_factory=Counter)  # by close code
    errors: list[str] = field(default_factory=list)  # that nodes logged and should not have

    @property
    def is_good(self) -> bool:
        return self.is_sound and not self.verdict.excused and not self.verdict.gone

    @property
    def is_sound(self) -> bool:
        """Whether all is well but for what a store lost, and those who played it were told."""
        return self.verdict.is_clean and not self.errors and not self.thrown_out

    def note(self, race: Race, verdict: Verdict) -> None:
        """Takes in a race that is over and compared."""
        self.verdict += verdict
        for record in race.records:
            self.resumes += record.resumes
            self.refusals += record.refusals
            self.thrown_out += record.thrown_out
            self.waits += record.waits
        for racer in race.racers:
            self.ghosts.update(ghost.code or 0 for ghost in racer.ghosts)
        log.info("%s: %s", race.room, verdict.text())

    def read_logs(self, fleet: Fleet, expected: re.Pattern[str] = EXPECTED) -> None:
        """Takes in what nodes have logged and should not have."""
        for berth in fleet.berths:
            lines = berth.logged("ERROR")
            self.errors += [line for line in lines if not expected.search(line)]

    def lines(self) -> Iterator[str]:
        verdict, resumes = self.verdict, sorted(self.resumes)
        yield (
            f"{verdict.races} races, {verdict.plays} plays in the journals, "
            f"{verdict.answers} acknowledgements"
        )
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.faults.items()))
        yield f"{self.faults.total()} faults: {kinds}"
        if resumes:
            middle = resumes[len(resumes) // 2]
            late = resumes[int(len(resumes) * 0.99)]
            yield (
                f"{len(resumes)} resumes: median {middle:.2f} s, 99 % within {late:.2f} s, "
                f"slowest {resumes[-1]:.2f} s"
            )
        yield f"told that the store is away: {self.waits} times"
        yield from (f"  {finding}" for finding in verdict.findings[:20])
        yield from (f"  logged: {line[:300]}" for line in self.errors[:20])
        if verdict.excused or verdict.gone:
            yield (
                f"lost by the store, and told so to their players: {verdict.excused} moves, "
                f"{verdict.gone} whole races"
            )
        if self.thrown_out:
            yield f"  thrown out: {self.thrown_out}"
        yield verdict.text()


class Storm:
    """A fleet, races on it, and the faults of a schedule."""

    def __init__(
        self, folder: Path, seed: int, seconds: float, per_s: float, *, vanishing: float = 0.2
    ) -> None:
        """`vanishing` is the share of races that somebody leaves without a word.

        Those go on until their time is up, half a minute after their start.
        """
        self.faults = plan(seed, seconds, per_s)
        self.figures = Figures()
        self._chance = Random(seed + 1)
        self._seconds = seconds
        self._vanishing = vanishing
        options = ["--drain-seconds", "1"]
        self._fleet = Fleet(folder, through_proxies=True, options=options, chance=self._chance)
        self._races: list[Race] = []
        self._checked: list[Race] = []
        self._under_way: set[asyncio.Task[None]] = set()
        self._busy: set[str] = set()  # nodes, and the store, that a fault is upon

    async def run(self) -> Figures:
        """Lets it rage, waits until all races are over, and gives the figures."""
        async with self._fleet:
            loop = asyncio.get_running_loop()
            end = loop.time() + self._seconds
            racing = [asyncio.create_task(self._race_on(end)) for _ in range(RACES_AT_ONCE)]
            try:
                await self._rage()
                await asyncio.gather(*racing)
                await self._compare_published()
            finally:
                for task in (*racing, *self._under_way):
                    task.cancel()
                await asyncio.gather(*racing, *self._under_way, return_exceptions=True)
                for race in self._races:
                    await race.leave()
            self._look_for_endless()
            self.figures.read_logs(self._fleet)
        return self.figures

    # --- races ------------------------------------------------------------------------

    async def _race_on(self, end: float) -> None:
        """One race after another."""
        loop = asyncio.get_running_loop()
        while loop.time() < end:
            race = self._new_race()
            self._races.append(race)
            await race.begin(END_LIMIT_S)
            await asyncio.wait(race.tasks, timeout=max(0.0, end - loop.time()))
            for racer in race.racers:
                racer.stop()
            verdict = await race.end(END_LIMIT_S)
            self._races.remove(race)
            self._checked.append(race)
            self.figures.note(race, verdict)

    def _new_race(self) -> Race:
        chance = self._chance
        seats = chance.randint(2, 4)
        per_s = chance.uniform(8, 20)
        if chance.random() < 0.3:
            plans = [Plan(plays=200, per_s=per_s, script=solvable.WAY_OUT)] * seats
            settings = solvable.settings(seats)
        else:
            undo = chance.choice(UNDOS)
            plays = chance.randint(20, 100)
            plans = [Plan(plays=plays, per_s=per_s, undo=undo != "off")] * seats
            settings = Settings(
                seats=seats,
                countdown_s=1,
                time_limit_s=120,
                undo=undo,
                seed=chance.choice([None, "7"]),
            )
        if chance.random() < self._vanishing:
            plans = [*plans[:-1], Plan(plays=20, per_s=per_s, vanishes=True)]
            settings = _shortened(settings)
        if chance.random() < 0.5:
            plans = [*plans, Plan(watches=True)]
        return Race(self._fleet, plans, settings)

    async def _compare_published(self) -> None:
        """Asks a node for the record of each race, as anybody can."""
        port = self._fleet.berths[0].port
        guest = await Someone.arrive(port, "guest")
        for race in self._checked:
            lines = self._fleet.journal(race.room)
            if await _published(guest, race.room) != lines:
                self.figures.verdict.differing += 1
                self.figures.verdict.findings.append(f"room {race.room}: published otherwise")
        await guest.go()

    def _look_for_endless(self) -> None:
        """Every race of the store, of whomever it was, has to have ended."""
        with self._fleet.store.client() as client:
            for key in client.scan_iter("dk:{r:*}:journal", count=1_000):
                tale = Tale([line.decode() for line in client.lrange(key, 0, -1)])
                if tale.started_at is not None and tale.over is None:
                    self.figures.verdict.endless += 1
                    self.figures.verdict.findings.append(f"{key.decode()} has no end")

    # --- faults -----------------------------------------------------------------------

    async def _rage(self) -> None:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        for fault in self.faults:
            await asyncio.sleep(max(0.0, begin + fault.at - loop.time()))
            self._strike(fault)
        await asyncio.sleep(max(0.0, begin + self._seconds - loop.time()))
        await asyncio.gather(*self._under_way)

    def _strike(self, fault: Fault) -> None:
        acts: dict[str, Callable[[Fault], Awaitable[None]] | None] = {
            "hang up": self._hang_up,
            "take over": self._take_over,
            "kill a node": self._kill_node,
            "freeze a node": self._freeze_node,
            "stop a node": self._stop_node,
            "kill the store": self._kill_store,
            "freeze the store": self._freeze_store,
            "flush the scripts": self._flush_scripts,
            "drop the store's clients": self._drop_clients,
        }
        act = acts.get(fault.kind, self._spoil_line)
        assert act is not None
        task = asyncio.create_task(self._logged(fault, act), name=fault.kind)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _logged(self, fault: Fault, act: Callable[[Fault], Awaitable[None]]) -> None:
        log.info("%6.2f %s (%d) for %.2f s", fault.at, fault.kind, fault.who, fault.lasts)
        try:
            await act(fault)
        except _Skipped:
            self.figures.skipped += 1
        else:
            self.figures.faults[KINDS[fault.kind].counts_as] += 1

    def _free_berth(self, who: int) -> Berth:
        berths = self._fleet.berths
        turned = [berths[(who + k) % len(berths)] for k in range(len(berths))]
        free = [berth for berth in turned if berth.name not in self._busy]
        if not free:
            raise _Skipped
        return free[0]

    def _some_racer(self, who: int) -> Racer:
        racers = [
            racer
            for race in self._races
            for racer in race.racers
            if racer.door and not racer.done.is_set()
        ]
        if not racers:
            raise _Skipped
        return racers[who % len(racers)]

    async def _hang_up(self, fault: Fault) -> None:
        self._some_racer(fault.who).hang_up()

    async def _take_over(self, fault: Fault) -> None:
        self._some_racer(fault.who).take_over()

    async def _spoil_line(self, fault: Fault) -> None:
        berth = self._fleet.berths[fault.who % len(self._fleet.berths)]
        assert berth.store is not None
        line = berth.store if "store" in fault.kind else berth.front
        await _spoil(line, fault)

    async def _kill_node(self, fault: Fault) -> None:
        berth = self._free_berth(fault.who)
        with self._upon(berth.name):
            await berth.node.kill()
            await asyncio.sleep(fault.lasts)
            await self._restart(berth)

    async def _restart(self, berth: Berth) -> None:
        # A store that is away for longer than a node waits for it at its start ends the
        # start; whoever runs nodes starts them again.
        for _ in range(5):
            with suppress(ProcessFailed):
                await berth.restart()
                return
            await berth.node.kill()
        raise ProcessFailed(f"{berth.name} does not start")

    async def _freeze_node(self, fault: Fault) -> None:
        berth = self._free_berth(fault.who)
        with self._upon(berth.name):
            berth.node.freeze()
            await asyncio.sleep(fault.lasts)
            berth.node.thaw()

    async def _stop_node(self, fault: Fault) -> None:
        berth = self._free_berth(fault.who)
        with self._upon(berth.name):
            berth.node.send(signal.SIGTERM)
            code = await berth.node.ended(40)
            if code != 0:
                self.figures.errors.append(f"{berth.name} stopped with {code}")
            await self._restart(berth)

    async def _kill_store(self, fault: Fault) -> None:
        with self._upon("store"):
            await self._fleet.store.kill()
            await asyncio.sleep(fault.lasts)
            await self._fleet.store.start()

    async def _freeze_store(self, fault: Fault) -> None:
        with self._upon("store"):
            self._fleet.store.freeze()
            await asyncio.sleep(fault.lasts)
            self._fleet.store.thaw()
            await until(lambda: self._fleet.store.answers, "the store answers")

    async def _flush_scripts(self, fault: Fault) -> None:
        await self._tell_store("SCRIPT", "FLUSH")

    async def _drop_clients(self, fault: Fault) -> None:
        await self._tell_store("CLIENT", "KILL", "TYPE", "PUBSUB")
        await self._tell_store("CLIENT", "KILL", "TYPE", "NORMAL")

    async def _tell_store(self, *words: str) -> None:
        with self._upon("store"):
            try:
                with self._fleet.store.client() as client:
                    client.execute_command(*words)
            except redis.RedisError:
                raise _Skipped from None

    def _upon(self, name: str) -> "_Upon":
        return _Upon(self._busy, name)


class _Skipped(Exception):
    """There was nothing that could go wrong in this way just then."""


class _Upon:
    """One fault at a time upon a process."""

    def __init__(self, busy: set[str], name: str) -> None:
        self._busy, self._name = busy, name

    def __enter__(self) -> None:
        if self._name in self._busy:
            raise _Skipped
        self._busy.add(self._name)

    def __exit__(self, *_: object) -> None:
        self._busy.discard(self._name)


async def _spoil(line: Proxy, fault: Fault) -> None:
    match fault.kind.split()[0]:
        case "cut":
            line.cut()
            return
        case "half-open":
            line.half_open("up" if fault.who % 2 else "down")
            return
        case "hold":
            line.hold(*(("down",) if "answers" in fault.kind else ()))
        case "delay":
            line.delay(0.05, 0.1)
        case "trickle":
            line.trickle(60)
    await asyncio.sleep(fault.lasts)
    line.weather_clears()


def _shortened(settings: Settings) -> Settings:
    return replace(settings, time_limit_s=30)


async def _published(guest: Someone, room: str) -> Sequence[str]:
    lines: list[str] = []
    while True:
        await guest.say(m.Record(room=room, start=len(lines)))
        page = await guest.hear(m.Journal)
        lines += page.entries
        if len(lines) >= page.total or not page.entries:
            return lines
