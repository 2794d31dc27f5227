"""Server CPU of one acknowledged durable move, as a ratio to a bare echo of its frames.

Both sides run in this one go, in server processes of their own whose CPU time the system
tells: the race server with its private store, and an echo written with nothing but the
`websockets` package. They take turns every few moves, so that a busy neighbour hits both.
The same clients send the same frames, one at a time on each of several lines, and get
frames of about the same size back. The store's own CPU is printed beside it.
"""

import argparse
import asyncio
import random
import statistics
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from typing import TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from bench.driver import Driver, drive, frame
from server.rules import RULES, Move, Position, deal
from server.rules.stuck import may_be_stuck
from tests.processes import children, cpu_s
from wire import messages as m
from wire.codec import decode_server, encode
from wire.values import Settings

M = TypeVar("M", bound=m.ServerMessage)

REPLY = b"x" * 120  # the size of a typical answer to a move
SEED = "bench"
TURN = 25  # frames on each line before it is the other's turn


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

    async def answer(socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):  # the clients hang up without a close frame
            async for _ in socket:
                await socket.send(REPLY)

    async with serve(answer, "127.0.0.1", 0, compression=None, ping_interval=None) as server:
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


async def play(lines: list[Driver], scripts: Sequence[Sequence[bytes]]) -> None:
    """Let all who have something to send do so at once."""
    sending = [(driver, frames) for driver, frames in zip(lines, scripts, strict=True) if frames]
    for driver, frames in sending:
        driver.run(frames)
    await asyncio.gather(*(driver.done for driver, _ in sending))


async def run(lines: list[Driver], scripts: Sequence[Sequence[bytes]]) -> None:
    """Let all send at once, and hang up."""
    await play(lines, scripts)
    for driver in lines:
        driver.close()


async def end(process: Process) -> None:
    """End a process that this bench started."""
    process.terminate()
    await process.wait()


async def begin(*command: str) -> tuple[Process, str]:
    """Start a server, and give the last word of its first line: where it listens."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", *command, stdout=PIPE)
    assert process.stdout is not None
    return process, (await process.stdout.readline()).decode().split()[-1]


async def compare(scripts: list[list[bytes]], players: int) -> list[float]:
    """Let both serve the same frames in turns; the CPU seconds of node, store and echo."""
    node, url = await begin(
        *("server", "--port=0", "--log-level=error", "--messages-per-second=1000000"),
        *("--max-connections-per-address=10000", "--rooms-per-address=10000"),
    )
    echo, port = await begin("bench.move", "--echo")
    racing = await seats(url, len(scripts) // players, players)
    echoing = [await drive(int(port), b"") for _ in scripts]
    (store,) = children(node.pid)
    pids = (node.pid, store, echo.pid)
    before = [cpu_s(pid) for pid in pids]
    for start in range(0, max(map(len, scripts)), TURN):
        part = [frames[start : start + TURN] for frames in scripts]
        await play(racing, part)
        await play(echoing, part)
    used = [cpu_s(pid) - was for pid, was in zip(pids, before, strict=True)]
    for driver in (*racing, *echoing):
        driver.close()
    for process in (node, echo):
        await end(process)
    return used


async def measure(rooms: int, players: int, count: int, rounds: int) -> None:
    """Print the medians of some rounds."""
    chance = random.Random(SEED)
    scripts = [
        [frame(m.Move(n=n, m=text)) for n, text in enumerate(playout(count, chance), 1)]
        for _ in range(rooms * players)
    ]
    total = sum(map(len, scripts))
    used = [await compare(scripts, players) for _ in range(rounds)]
    move, store, bare = (statistics.median(each) / total * 1e6 for each in zip(*used, strict=True))
    ratios = [node / echo for node, _, echo in used]
    print(
        f"{rooms} races of {players}, {total} moves a round, median of {rounds} rounds, server CPU:"
    )
    print(f"  validated durable move   {move:6.1f} us   (the store beside it: {store:.1f} us)")
    print(f"  bare websockets echo     {bare:6.1f} us")
    print(
        f"  ratio                    {statistics.median(ratios):6.2f}"
        f"   ({min(ratios):.2f} to {max(ratios):.2f})"
    )


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
