"""Server CPU of one acknowledged durable move, as a ratio to a bare echo of its frames.

Both sides run in this one go, one after the other, in server processes of their own that
are measured from /proc: the race server with its private store, and an echo written with
nothing but the `websockets` package. The same clients send the same frames, one at a time
on each of several lines, and get frames of the same size back. The store's own CPU is
printed beside it. Linux only.
"""

import argparse
import asyncio
import os
import random
import statistics
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import serve

from bench.driver import Driver, drive, frame
from server.rules import RULES, Move, Position, deal
from server.rules.stuck import may_be_stuck
from wire import messages as m
from wire.codec import decode_server, encode
from wire.values import Settings

M = TypeVar("M", bound=m.ServerMessage)

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
REPLY = b"x" * 120  # the size of a typical answer to a move
SEED = "bench"


def cpu_s(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def children(pid: int) -> list[int]:
    """Child processes, which for the race server is its store."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def playout(count: int, chance: random.Random) -> list[str]:
    """Legal moves of one player, draws and redeals among them."""
    position: Position = deal(RULES["double-klondike"], SEED)
    draw = Move.parse("d")
    texts: list[str] = []
    while len(texts) < count and not position.is_solved:
        move = chance.choice(position.legal_moves())
        if may_be_stuck(position.play(move)):
            # A race of the stuck would end.
            if not position.is_legal(draw):
                break
            move = draw
        texts.append(move.text())
        position = position.play(move)
    return texts


async def echo() -> None:
    """The bare echo: websockets and nothing else."""

    async def answer(socket: object) -> None:
        async for _ in socket:  # type: ignore[attr-defined]
            await socket.send(REPLY)  # type: ignore[attr-defined]

    async with serve(answer, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        print(port, flush=True)
        await server.serve_forever()


async def line(url: str) -> ClientConnection:
    """A connection as a client makes it."""
    return await connect(url, proxy=None, compression=None, max_size=None)


async def ask(socket: ClientConnection, message: m.ClientMessage, kind: type[M]) -> M:
    """Say something and wait for an answer of a kind."""
    await socket.send(encode(message))
    while True:
        frame = await socket.recv()
        assert isinstance(frame, bytes)
        heard = decode_server(frame)
        if isinstance(heard, kind):
            return heard


async def race(url: str, players: int) -> tuple[list[ClientConnection], list[str]]:
    """A running race of so many players, and their tokens."""
    sockets = [await line(f"{url}/ws") for _ in range(players)]
    settings = Settings(seed=SEED, seats=players, start="host", countdown_s=0)
    code, tokens = "", []
    for number, socket in enumerate(sockets):
        welcome = await ask(socket, m.Hello(v=m.PROTOCOL, name=f"p{number}"), m.Welcome)
        assert isinstance(welcome, m.Welcome)
        tokens.append(welcome.token or "")
        if number == 0:
            room = await ask(socket, m.Create(settings=settings), m.Room)
            assert isinstance(room, m.Room)
            code = room.room
        else:
            await ask(socket, m.Join(room=code), m.Room)
    await sockets[0].send(encode(m.Start()))
    for socket in sockets:
        while not isinstance(decode_server(await socket.recv()), m.Board):  # type: ignore[arg-type]
            pass
    return sockets, tokens


async def seats(url: str, rooms: int, players: int) -> list[Driver]:
    """Races that run, their seats taken over by clients that cost next to nothing."""
    port = int(url.rpartition(":")[2])
    result = []
    for _ in range(rooms):
        sockets, tokens = await race(url, players)
        for socket, token in zip(sockets, tokens, strict=True):
            driver = await drive(port, b"\xa5moved")
            driver.say(m.Hello(v=m.PROTOCOL, token=token))
            await socket.wait_closed()  # replaced: the new line is in the room
            result.append(driver)
    return result


async def run(lines: list[Driver], scripts: list[list[bytes]]) -> None:
    """Let all send at once."""
    for driver, frames in zip(lines, scripts, strict=True):
        driver.run(frames)
    await asyncio.gather(*(driver.done for driver in lines))
    for driver in lines:
        driver.close()


async def end(process: Process) -> None:
    """End a process that this bench started."""
    process.terminate()
    await process.wait()


async def measure(rooms: int, players: int, count: int, rounds: int) -> None:
    """Alternate the two, so that a busy neighbour hits both, and print the medians."""
    chance = random.Random(SEED)
    scripts = [
        [frame(m.Move(n=n, m=text)) for n, text in enumerate(playout(count, chance), 1)]
        for _ in range(rooms * players)
    ]
    total = sum(map(len, scripts))
    moves, echoes, stores = [], [], []
    for _ in range(rounds):
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "server", "--port=0", "--log-level=error"),
            "--messages-per-second=1000000",
            "--max-connections-per-address=10000",
            "--rooms-per-address=10000",
            stdout=PIPE,
        )
        assert server.stdout is not None
        url = (await server.stdout.readline()).decode().split()[-1]
        lines = await seats(url, rooms, players)
        (store,) = children(server.pid)
        before, store_before = cpu_s(server.pid), cpu_s(store)
        await run(lines, scripts)
        moves.append((cpu_s(server.pid) - before) / total * 1e6)
        stores.append((cpu_s(store) - store_before) / total * 1e6)
        await end(server)

        server = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.move", "--echo", stdout=PIPE
        )
        assert server.stdout is not None
        port = int(await server.stdout.readline())
        lines = [await drive(port, b"") for _ in scripts]
        before = cpu_s(server.pid)
        await run(lines, scripts)
        echoes.append((cpu_s(server.pid) - before) / total * 1e6)
        await end(server)
    move, bare, store_us = (statistics.median(values) for values in (moves, echoes, stores))
    print(
        f"{rooms} races of {players}, {total} moves a round, median of {rounds} rounds, server CPU:"
    )
    print(f"  validated durable move   {move:6.1f} us   (the store beside it: {store_us:.1f} us)")
    print(f"  bare websockets echo     {bare:6.1f} us")
    print(f"  ratio                    {move / bare:6.2f}")


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", type=int, default=16)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--moves", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--echo", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        if options.echo:
            runner.run(echo())
        else:
            runner.run(measure(options.rooms, options.players, options.moves, options.rounds))


if __name__ == "__main__":
    main()
