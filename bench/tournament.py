"""What the numbers of a tournament cost: pairing, standings and ratings by size.

And how long the event loop of a node stands still while the largest field is paired: in the
process aside, where nodes pair, and in a thread, to see what that is good for.

Prints CPU milliseconds (median) for each size, and how each grows from one size to the next;
where the size is four times the last, 4× would be linear and 64× cubic. Each field is that of
a tournament half played, by results of chance with a fixed seed.

`python -m bench.tournament [--sizes N,N,…] [--rounds N] [--repeat N] [--dutch-up-to N]`
"""

import argparse
import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Literal

from server.aside import Aside
from server.codes import new_room_code
from server.tournament import Around, acts, calls, due
from server.tournament.pairing import (
    Contender,
    Pairing,
    Waiting,
    is_dutch_available,
    pair_arena,
    pair_dutch,
    pair_swiss,
)
from server.tournament.rating import NEWCOMER, rate
from server.tournament.settings import Swiss
from server.tournament.tiebreak import TIEBREAKS, Game, rank
from tests.tournament.told import Told, rows, settings

Task = Callable[[], object]


class Tournament:
    """A Swiss tournament of chance, in the terms of the pairing and of the tie-breaks."""

    def __init__(self, size: int, rounds: int) -> None:
        self.rounds = rounds
        self.field = [Contender(f"p{n}", 0, 1500, n, {}, 0) for n in range(1, size + 1)]
        self.games: dict[str, list[Game]] = {player.id: [] for player in self.field}
        self._chance = random.Random(size)

    def play(self, rounds: int) -> None:
        """Pair and play some rounds."""
        for number in range(1, rounds + 1):
            self._record(number, self.pair())

    def pair(self) -> Pairing:
        """Pair the field as it stands."""
        return pair_swiss(self.field, round_number=self.rounds, rounds=self.rounds)

    def _record(self, number: int, pairing: Pairing) -> None:
        players = {player.id: player for player in self.field}
        for pair in pairing.pairs:
            points = self._chance.choice((0, 1, 2, 2))
            for own, other, won in ((pair.a, pair.b, points), (pair.b, pair.a, 2 - points)):
                met = {**players[own].met, other: 1}
                players[own] = replace(players[own], points=players[own].points + won, met=met)
                self.games[own].append(Game(number, other, won, "played", 60, 300_000))
        for name, _ in pairing.byes:
            players[name] = replace(players[name], points=players[name].points + 2, byes=1)
            self.games[name].append(Game(number, None, 2, "bye"))
        self.field = list(players.values())


def idle(size: int) -> list[Waiting]:
    """An arena's idle players, every second with the last opponent next in rank."""
    chance = random.Random(size)
    return [
        Waiting(
            f"p{rank}",
            0,
            chance.randint(1000, 2000),
            rank,
            f"p{rank + 1 if rank % 2 else rank - 1}",
            20_000,
            3,
        )
        for rank in range(1, size + 1)
    ]


def tasks(size: int, rounds: int) -> dict[str, Task]:
    """What is measured for a size."""
    even, odd = Tournament(size, rounds), Tournament(size - 1, rounds)
    for tournament in (even, odd):
        tournament.play(rounds // 2)
    waiting = idle(size)
    places = {player.id: n for n, player in enumerate(even.field)}
    return {
        "swiss, even": even.pair,
        "swiss, odd": odd.pair,
        "dutch": lambda: pair_dutch(even.field, round_number=rounds, rounds=rounds),
        "arena": lambda: pair_arena(waiting, active=size, first_pass=False),
        "standings, all tie-breaks": lambda: rank(even.games, TIEBREAKS, rounds=rounds // 2),
        "rating, one race of all": lambda: rate(dict.fromkeys(places, NEWCOMER), places),
    }


def cpu_ms(task: Task, repeat: int) -> float:
    """Return the median CPU milliseconds of a task."""
    costs = []
    for _ in range(repeat):
        before = time.process_time()
        task()
        costs.append((time.process_time() - before) * 1000)
    return median(costs)


def line(name: str, costs: Sequence[float | None]) -> str:
    """Return a line of the table: milliseconds, then growth."""
    shown = [f"{cost:9.1f}" if cost is not None else "        –" for cost in costs]
    growth = ["" if a is None or b is None else f"{b / a:6.1f}×" for a, b in pairwise(costs)]
    return f"{name:26} {' '.join(shown)}   {' '.join(growth)}"


# --- the event loop -------------------------------------------------------------------


def between_rounds(players: int, engine: Literal["exact", "dutch"]) -> Told:
    """A tournament of which three rounds have been raced, and the next one is to be paired."""
    told = Told(settings(Swiss(rounds=9, engine=engine)))
    told.enter(players)
    told.start()
    chance = random.Random(players)
    while len(told.t.rounds) < 3 or told.t.open:
        for call in calls(told.t):
            order = [[player] for player in chance.sample(sorted(dict(call.players)), 2)]
            told.tell(*acts.decide_raced(told.t, call.match, call.race, rows(order)))
        if len(told.t.rounds) < 3:
            told.settle()
    return told


async def longest_pause_s(work: Awaitable[object]) -> tuple[float, float]:
    """Wait for some work; gives how long it took, and the event loop's longest pause meanwhile."""
    pauses = [0.0]

    async def tick() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            pauses.append(time.perf_counter() - last - 0.001)
            last = time.perf_counter()

    ticks = asyncio.create_task(tick())
    began = time.perf_counter()
    await work
    took = time.perf_counter() - began
    ticks.cancel()
    return took, max(pauses)


async def stand_still(players: int) -> None:
    """Print how long the event loop stands still while a field is paired."""
    aside = Aside()
    around = Around(new_room_code)
    engines: tuple[Literal["exact", "dutch"], ...] = ("exact", "dutch")
    for engine in engines if is_dutch_available() else engines[:1]:
        told = between_rounds(players, engine)
        await aside.do(due, told.t.fork(), told.now, around)  # what it loads is there by now
        for where in ("process", "thread"):
            twin = told.t.fork()
            pairs = partial(due, twin, told.now, around)
            work = aside.do(pairs) if where == "process" else asyncio.to_thread(pairs)
            took, pause = await longest_pause_s(work)
            print(
                f"{players} players, {engine}, in a {where}: {1000 * took:.0f} ms, the loop's "
                f"longest pause {1000 * pause:.0f} ms, {pause / took:.0%} of it"
            )
    await aside.close()


def main() -> None:
    """Measure every size and print a line for each task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="16,64,256")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dutch-up-to", type=int, default=256)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    table: dict[str, list[float | None]] = {}
    for size in sizes:
        for name, task in tasks(size, options.rounds).items():
            is_left_out = name == "dutch" and (
                size > options.dutch_up_to or not is_dutch_available()
            )
            cost = None if is_left_out else cpu_ms(task, options.repeat)
            table.setdefault(name, []).append(cost)
    print(f"{'CPU ms for players':26} {' '.join(f'{size:9}' for size in sizes)}   growth")
    for name, costs in table.items():
        print(line(name, costs))
    asyncio.run(stand_still(max(sizes)))


if __name__ == "__main__":
    main()
