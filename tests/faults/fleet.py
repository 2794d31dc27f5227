"""Several nodes on one store, every line between them and their clients through a proxy."""

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, Self

import redis
from redis.cluster import RedisCluster

from server.store import keys
from server.store.keys import JournalId
from tests.faults.checker import Verdict, check
from tests.faults.processes import HOST, LIMIT_S, NodeProcess, ValkeyProcess, until
from tests.faults.proxy import Proxy
from tests.faults.racer import Plan, Racer
from tests.faults.record import Record
from wire.values import Settings

MANY = ("--max-connections-per-address", "10000", "--rooms-per-address", "100000")


class Berth:
    """The place of one node: its doors stay where they are when the node is another one."""

    def __init__(
        self, name: str, folder: Path, url: str, store: Proxy | None, options: Sequence[str]
    ) -> None:
        self.name = name
        self.front = Proxy((HOST, 1))  # its clients' lines
        self.store = store  # its line to the store
        self.node = NodeProcess(name, folder, url, *MANY, *options)
        self.module = "server"

    @property
    def door(self) -> str:
        """Where clients come in."""
        return f"ws://{HOST}:{self.front.port}/ws"

    @property
    def port(self) -> int:
        """The node's own port."""
        return self.node.port

    def begin(self) -> None:
        """Starts the node without waiting for it."""
        self.front.refuse()
        self.node.begin(self.module)

    async def ready(self) -> None:
        """Waits until the node listens, and opens its door."""
        await self.node.ready()
        self.front.target = (HOST, self.node.port)
        self.front.refuse(False)

    async def restart(self) -> None:
        """Starts a node anew where one has ended."""
        self.begin()
        await self.ready()

    async def page(self, path: str) -> tuple[int, str]:
        """Asks for a page: its status and text; status 0 where nobody answers."""
        return await asyncio.to_thread(self._page, path)

    def _page(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    async def figure(self, name: str) -> float:
        """A figure of /metrics."""
        _, text = await self.page("/metrics")
        for line in text.splitlines():
            if line.startswith(f"{name} "):
                return float(line.split()[1])
        raise AssertionError(f"/metrics has no {name}")

    def logged(self, level: str) -> list[str]:
        """The log lines of a level and above it, as the node wrote them."""
        levels = ("WARNING", "ERROR", "CRITICAL")
        wanted = levels[levels.index(level) :]
        lines = []
        for line in self.node.log.read_text(errors="replace").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                if not line.startswith("listening on"):
                    lines.append(line)  # what is no log line at all is worth a look
                continue
            if str(entry.get("level", entry.get("levelname"))).upper() in wanted:
                lines.append(line)
        return lines


class Fleet:
    """A store, its nodes, and the races on them."""

    def __init__(
        self,
        folder: Path,
        *,
        nodes: int = 3,
        fsync: str = "always",
        through_proxies: bool = False,
        options: Sequence[str] = (),
        module: str = "server",
        chance: Random | None = None,
    ) -> None:
        """`through_proxies` puts one between each node and the store as well."""
        self.module = module
        self.chance = chance or Random(0)
        self.races = 0
        self.store = ValkeyProcess("store", folder, fsync=fsync)
        self.berths = [
            self._berth(f"node-{number}", folder, through_proxies, options)
            for number in range(1, nodes + 1)
        ]

    def _berth(self, name: str, folder: Path, proxied: bool, options: Sequence[str]) -> Berth:
        proxy = Proxy((HOST, self.store.port), self.chance) if proxied else None
        berth = Berth(name, folder, self.store.url, proxy, options)
        berth.module = self.module
        return berth

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise
        return self

    async def _start(self) -> None:
        await self._start_store()
        for berth in self.berths:
            await berth.front.start()
            if berth.store is not None:
                await berth.store.start()
                berth.node.options[1] = f"redis://{HOST}:{berth.store.port}"
            berth.begin()
        for berth in self.berths:
            await berth.ready()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends every process; first of all those that hang on the others."""
        for berth in self.berths:
            await berth.front.close()
            # A client's goodbye is no test of the drain: those have their own.
            await berth.node.kill()
            if berth.store is not None:
                await berth.store.close()
        self._end_store()

    async def _start_store(self) -> None:
        await self.store.start()

    def _end_store(self) -> None:
        self.store.end()

    def _client(self) -> redis.Redis | RedisCluster:
        return self.store.client()

    @property
    def doors(self) -> list[str]:
        return [berth.door for berth in self.berths]

    def berth_of(self, racer: Racer) -> Berth:
        """Where a racer is just now."""
        return next(berth for berth in self.berths if berth.door == racer.door)

    # --- races ------------------------------------------------------------------------

    def journal(self, room: str) -> list[str]:
        """A room's journal as the store holds it; waits for a store that is away."""
        return self.lines(keys.room(room))

    def lines(self, jid: JournalId) -> list[str]:
        """A journal as the store holds it; waits for a store that is away."""
        key = keys.journal(jid).journal
        entries: list[bytes] = self._patiently(lambda client: client.lrange(key, 0, -1))
        return [entry.decode() for entry in entries]

    def secret(self, deal: str) -> bytes | None:
        """A deal's secret; waits for a store that is away."""
        secret: bytes | None = self._patiently(lambda client: client.get(keys.deal(deal)))
        return secret

    def _patiently(self, ask: Callable[[redis.Redis | RedisCluster], Any]) -> Any:
        deadline = time.monotonic() + LIMIT_S
        while True:
            try:
                with self._client() as client:
                    return ask(client)
            except redis.RedisError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)


class Race:
    """One room and the clients in it, as tasks."""

    def __init__(
        self, fleet: Fleet, plans: Sequence[Plan], settings: Settings | None = None
    ) -> None:
        """The first plan's racer opens the room."""
        seats = sum(not plan.watches for plan in plans)
        self._fleet = fleet
        self.settings = settings or Settings(countdown_s=1, seats=seats, time_limit_s=120)
        fleet.races += 1
        self.racers: list[Racer] = []
        self.tasks: list[asyncio.Task[Record]] = []
        self._plans = plans

    async def begin(self, limit_s: float = 60.0) -> Self:
        """Opens the room and lets everybody in; they are ready once all are there."""
        first, *others = self._plans
        host = self.launch(first)
        async with asyncio.timeout(limit_s):
            await host.entered.wait()
            for plan in others:
                self.launch(plan, host.record.room)
            for racer in self.racers:
                await racer.entered.wait()
        for racer in self.racers:
            racer.others_are_there.set()
        return self

    def launch(self, plan: Plan, room: str | None = None) -> Racer:
        """Lets one more come, to open the room or into it."""
        # Each by another node, and whose host is on which differs from race to race.
        fleet, doors = self._fleet, self._fleet.doors
        first = (fleet.races + len(self.racers)) % len(doors)
        racer = Racer(
            f"p{len(self.racers) + 1}",
            [*doors[first:], *doors[:first]],
            Random(fleet.chance.random()),
            plan,
            room=room,
            settings=self.settings,
        )
        self.racers.append(racer)
        self.tasks.append(asyncio.create_task(racer.run(), name=racer.record.name))
        return racer

    async def running(self, limit_s: float = 60.0) -> Self:
        """Waits until all who race are on their boards."""
        players = [racer for racer in self.racers if not racer.plan.watches]
        await until(lambda: all(racer.is_racing for racer in players), "the race runs", limit_s)
        return self

    @property
    def room(self) -> str:
        return self.racers[0].record.room

    @property
    def records(self) -> list[Record]:
        return [racer.record for racer in self.racers]

    @property
    def plays(self) -> int:
        """How many plays count by now, as far as the clients know."""
        return sum(racer.plays for racer in self.racers)

    async def go_on(self, plays: int, limit_s: float = 60.0) -> None:
        """Waits until so many more plays count."""
        goal = self.plays + plays
        await until(lambda: self.plays >= goal, f"{plays} more plays in {self.room}", limit_s)

    async def end(self, limit_s: float = 120.0) -> Verdict:
        """Waits until all clients are done, and has everything compared.

        Who does not end in time is left behind: the checker finds the race without an end.
        """
        _, late = await asyncio.wait(self.tasks, timeout=limit_s)
        await self.leave()
        for task in self.tasks:
            if task not in late and not task.cancelled():
                task.result()
        return await asyncio.to_thread(self._compared)

    def _compared(self) -> Verdict:
        return check(self._fleet.journal(self.room), self.records)

    async def leave(self) -> None:
        """Ends all clients."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
