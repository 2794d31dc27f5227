"""What many players cost: measured on one node here, then simulated for many.

First a real node is measured: the CPU of one move, of one score push to one
viewer, of one move in the store; the memory of one connection. Then the load of a great
number of players is drawn at random from those figures and run through queues: how many
nodes and store shards it takes at a bearable load, how long a push waits, what a room with
very many spectators adds, how many bytes leave.
"""

import argparse
import asyncio
import heapq
import random
import statistics
import sys
from asyncio.subprocess import PIPE
from dataclasses import dataclass

from websockets.asyncio.client import ClientConnection

from bench.driver import frame
from bench.move import ask, end, line, playout, race, run, seats
from server.audience import SCORES_WITHIN_S
from tests.processes import children, cpu_s, resident
from wire import messages as m
from wire.codec import encode
from wire.values import Score

MOVES_PER_S = 0.5  # of one player; a fast human, all the time
BUSY = 0.6  # of a core: above it queues grow quickly
OVERHEAD = 20  # bytes of TCP, IP and frame headers beyond the payload, batched segments


@dataclass(frozen=True)
class Costs:
    """What was measured, in microseconds of CPU, KiB and bytes."""

    move_us: float  # on the node, without the pushes
    push_us: float  # to one viewer
    store_us: float  # of one move
    connection_kib: float
    push_bytes: int  # of a race of two
    reply_bytes: int


async def measure(viewers: int, moves: int) -> Costs:
    """Measure one node with one race, first alone, then with spectators."""
    script = playout(moves, random.Random("scale"))
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "server", "--port=0", "--log-level=error"),
        *("--messages-per-second=1000000", "--max-connections-per-address=10000"),
        "--rooms-per-address=10000",
        stdout=PIPE,
    )
    assert server.stdout is not None
    url = (await server.stdout.readline()).decode().split()[-1]
    (store,) = children(server.pid)
    move_us, store_us = await _loaded(server.pid, store, url)
    paced = 0.005  # seconds between moves, so that pushes are as many as they can be
    alone, _ = await _run(server.pid, url, script, 0, paced)
    before = resident(server.pid)
    crowd, sockets = await _run(server.pid, url, script, viewers, paced)
    connection_kib = (resident(server.pid) - before) / 1024 / viewers
    pushes = len(script) * paced / SCORES_WITHIN_S
    push_us = (crowd - alone) / (pushes * viewers)
    for socket in sockets:
        await socket.close()
    await end(server)
    push = m.Scores(version=999, lines=[Score(0, 50, 10, 50, 400, 0, "playing", None)] * 2)
    reply = m.Moved(
        n=400, m="5>2:4", piles={"5": "2:KHQS", "2": "3:9HTSJD"}, cards=50, down=10, score=50,
        moves=400, undos=0, turn=3, at=1_800_000_000_000, can=["draw", "finish"],
    )  # fmt: skip
    return Costs(
        move_us=move_us,
        push_us=max(0.1, push_us),
        store_us=store_us,
        connection_kib=max(1.0, connection_kib),
        push_bytes=len(encode(push)) + OVERHEAD,
        reply_bytes=len(encode(reply)) + OVERHEAD,
    )


async def _loaded(node: int, store: int, url: str) -> tuple[float, float]:
    """The cost of a move, on the node and in the store, while many come in at once."""
    chance = random.Random("scale")
    scripts = [
        [frame(m.Move(n=n, m=text)) for n, text in enumerate(playout(500, chance), 1)]
        for _ in range(32)
    ]
    lines = await seats(url, 16, 2)
    before, store_before = cpu_s(node), cpu_s(store)
    await run(lines, scripts)
    total = sum(map(len, scripts))
    return (cpu_s(node) - before) * 1e6 / total, (cpu_s(store) - store_before) * 1e6 / total


async def _run(
    node: int, url: str, script: list[str], viewers: int, paced: float
) -> tuple[float, list]:  # type: ignore[type-arg]
    racers, _ = await race(url, 2)
    room = await ask(racers[0], m.Snapshot(), m.Room)
    assert isinstance(room, m.Room)
    sockets = []
    for number in range(viewers):
        socket = await line(f"{url}/ws")
        await ask(socket, m.Hello(v=m.PROTOCOL, name=f"w{number}"), m.Welcome)
        await ask(socket, m.Spectate(room=room.room), m.Room)
        sockets.append(socket)
    drains = [asyncio.create_task(_drain(socket)) for socket in sockets]
    await asyncio.sleep(0.5)
    before = cpu_s(node)
    for n, text in enumerate(script, 1):
        await play_one(racers[0], n, text)
        await asyncio.sleep(paced)
    used = (cpu_s(node) - before) * 1e6
    for drain in drains:
        drain.cancel()
    for racer in racers:
        await racer.close()
    return used, sockets


async def play_one(socket: ClientConnection, n: int, text: str) -> None:
    """Send one move and wait for its answer."""
    await socket.send(encode(m.Move(n=n, m=text)))
    while b"\xa5moved" not in (await socket.recv(decode=False))[:12]:
        pass


async def _drain(socket: ClientConnection) -> None:
    async for _ in socket:
        pass


# --- simulated --------------------------------------------------------------------------


def queue(arrivals: list[float], service: list[float]) -> list[float]:
    """Run a first-come queue with one server; gives each one's time in it."""
    free, waits = 0.0, []
    for at, cost in zip(arrivals, service, strict=True):
        free = max(free, at) + cost
        waits.append(free - at)
    return waits


def node_delays(costs: Costs, load: float, seconds: float = 20.0) -> tuple[float, float]:
    """Simulate a node with races of two at a load; the median and 99th centile in ms.

    Moves come at random times; each makes a push to both players due SCORES_WITHIN_S
    later, unless one is due already.
    """
    chance = random.Random(1)
    cost_s = (costs.move_us + 2 * costs.push_us) / 1e6
    rooms = max(1, int(load / (2 * MOVES_PER_S * cost_s)))
    events: list[tuple[float, float, bool]] = []
    for _ in range(rooms):
        at, pushed = chance.expovariate(2 * MOVES_PER_S), -1.0
        while at < seconds:
            heapq.heappush(events, (at, costs.move_us / 1e6, True))
            if at > pushed:
                pushed = at + SCORES_WITHIN_S
                heapq.heappush(events, (pushed, 2 * costs.push_us / 1e6, False))
            at += chance.expovariate(2 * MOVES_PER_S)
    order = [heapq.heappop(events) for _ in range(len(events))]
    waits = queue([at for at, _, _ in order], [cost for _, cost, _ in order])
    moves = sorted(wait for wait, (_, _, is_move) in zip(waits, order, strict=True) if is_move)
    return statistics.median(moves) * 1e3, moves[int(len(moves) * 0.99)] * 1e3


def plan(costs: Costs, players: int) -> dict[str, str]:
    """Size a site for so many players in races of two."""
    moves = players * MOVES_PER_S
    # A push serves both players; two moves within SCORES_WITHIN_S share one.
    per_room = 2 * MOVES_PER_S
    pushes = players / 2 * per_room / (1 + per_room * SCORES_WITHIN_S)
    node_load = (moves * costs.move_us + pushes * 2 * costs.push_us) / 1e6
    store_load = moves * costs.store_us / 1e6
    out = (moves * costs.reply_bytes + pushes * 2 * costs.push_bytes) * 8 / 1e6
    return {
        "players": f"{players:,}",
        "moves a second": f"{moves:,.0f}",
        "node cores": f"{node_load / BUSY:,.1f}",
        "store shards": f"{max(1, store_load / BUSY):,.1f}",
        "node memory GiB": f"{players * costs.connection_kib / 2**20:,.1f}",
        "out Mbit/s": f"{out:,.0f}",
    }


def big_room(costs: Costs, viewers: int, nodes: int) -> str:
    """Say what one room with very many spectators costs."""
    rate = 1 / SCORES_WITHIN_S
    share = viewers / nodes
    burst_ms = share * costs.push_us / 1e3
    load = rate * share * costs.push_us / 1e6
    return (
        f"  {viewers:>9,} spectators on {nodes:>3} nodes: {burst_ms:7.1f} ms to push to all of a"
        f" node, {100 * load:5.0f} % of its core at {rate:.0f} pushes a second"
    )


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--moves", type=int, default=400)
    options = parser.parse_args()
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        costs = runner.run(measure(options.viewers, options.moves))
    print("measured on one node:")
    print(f"  a durable move          {costs.move_us:7.1f} us on the node")
    print(f"                          {costs.store_us:7.1f} us in the store")
    print(f"  a push to one viewer    {costs.push_us:7.1f} us, {costs.push_bytes} bytes")
    print(f"  a connection in a room  {costs.connection_kib:7.1f} KiB")
    print(f"simulated, a move a player every {1 / MOVES_PER_S:.0f} s, cores {BUSY:.0%} busy:")
    for players in (1_000, 10_000, 100_000, 1_000_000):
        print("  " + ", ".join(f"{name} {value}" for name, value in plan(costs, players).items()))
    print("a node's queue, by its load (median and 99th centile of a move's stay):")
    for load in (0.3, 0.6, 0.8, 0.9):
        median, worst = node_delays(costs, load)
        print(f"  {load:.0%}: {median:.2f} ms, {worst:.2f} ms")
    print("one big room:")
    for viewers, nodes in ((1_000, 1), (10_000, 4), (100_000, 64)):
        print(big_room(costs, viewers, nodes))


if __name__ == "__main__":
    main()
