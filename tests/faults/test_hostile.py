"""Hostile clients against a real node: typed refusals, bounded memory, nobody else harmed."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress

import msgpack
import pytest
import pytest_asyncio
from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from server.config import Config
from tests.faults.conftest import Arrive
from tests.faults.processes import HOST, NodeProcess, ValkeyProcess
from tests.processes import resident
from tests.server.floor import QUICK, Someone, race_of
from wire import messages as m
from wire.codec import encode

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def node(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[NodeProcess]:
    """One node with the limits that hosts get if they set none."""
    folder = tmp_path_factory.mktemp("node")
    with ValkeyProcess("store", folder) as store:
        await store.start()
        with NodeProcess("node", folder, store.url, "--rooms-per-address", "1000") as node:
            yield await node.start()


def address(node: NodeProcess) -> str:
    return f"ws://{HOST}:{node.port}/ws"


async def race(node: NodeProcess, arrive: Arrive, *names: str) -> tuple[str, list[Someone]]:
    code, players = await race_of(node.port, *names)
    arrive.guests.extend(players)
    return code, players


async def test_a_guessed_token_opens_nothing(node: NodeProcess) -> None:
    for size in (20, 43, 100):
        with pytest.raises(AssertionError, match=str(int(m.Close.BAD_TOKEN))):
            await Someone.arrive(node.port, token=secrets.token_urlsafe(100)[:size])


async def test_a_message_cannot_say_whom_it_speaks_for(node: NodeProcess, arrive: Arrive) -> None:
    _, (anna, ben) = await race(node, arrive, "anna", "ben")
    forged = {"t": "move", "n": 1, "m": "d", "player": anna.welcome.player}
    await ben.socket.send(msgpack.packb(forged))
    assert (await ben.hear(m.Error)).code == "bad-frame"
    await ben.say(m.Snapshot())
    assert [seat.moves for seat in (await ben.hear(m.Room)).seats] == [0, 0]


async def test_frames_that_are_played_back_count_once(node: NodeProcess, arrive: Arrive) -> None:
    _, (anna, ben) = await race(node, arrive, "anna", "ben")
    frames = [encode(m.Move(n=n, m="d")) for n in (1, 2, 3)]
    for _ in range(3):
        for frame in frames:
            await anna.socket.send(frame)
    answers = [await anna.hear(m.Moved) for _ in range(9)]
    assert [answer.n for answer in answers] == [1, 2, 3] * 3
    assert {answer.at for answer in answers[3:6]} == {answer.at for answer in answers[:3]}
    assert answers[-1].moves == 3


@pytest.mark.parametrize(
    "message",
    [
        m.Move(n=1, m="d"),
        m.Undo(n=1),
        m.Finish(n=1),
        m.Resign(),
        m.Hint(),
        m.Ready(),
        m.Rematch(),
    ],
    ids=lambda message: type(message).__name__.lower(),
)
async def test_a_spectator_cannot_act(
    node: NodeProcess, arrive: Arrive, message: m.ClientMessage
) -> None:
    code, _ = await race(node, arrive, "anna")
    watcher = await arrive(node.port, "wanda")
    await watcher.say(m.Spectate(room=code))
    before = await watcher.hear(m.Room)
    await watcher.say(message)
    assert (await watcher.hear(m.Error)).code == "spectator"
    await watcher.say(m.Snapshot())
    assert (await watcher.hear(m.Room)).version == before.version


async def test_moves_before_the_start_and_after_the_end_are_refused(
    node: NodeProcess, arrive: Arrive
) -> None:
    anna = await arrive(node.port, "anna")
    await anna.say(m.Move(n=1, m="d"))
    assert (await anna.hear(m.Error)).code == "no-room"
    await anna.say(m.Create(settings=replace(QUICK, seats=1, countdown_s=4)))
    await anna.hear(m.Room)
    assert (await anna.refused(m.Move(n=1, m="d"))).code == "not-now"
    await anna.say(m.Ready())
    await anna.hear(m.Countdown)
    assert (await anna.refused(m.Move(n=1, m="d"))).code == "not-now"
    await anna.hear(m.Board)
    await anna.play(1, "d")
    await anna.say(m.Resign())
    await anna.hear(m.Standings)
    assert (await anna.refused(m.Move(n=2, m="d"))).code == "not-now"
    assert (await anna.play(1, "d")).moves == 1  # its answer is still owed


async def lone(node: NodeProcess) -> ClientConnection:
    """A websocket that has said nothing yet."""
    return await connect(address(node), proxy=None, compression=None, max_size=None)


async def end_of(socket: ClientConnection) -> int:
    async with asyncio.timeout(30):
        with suppress(ConnectionClosed):
            while True:
                await socket.recv()
    return socket.close_code or 1006


async def test_floods_and_huge_frames_end_the_line_and_leave_the_others_alone(
    node: NodeProcess, arrive: Arrive
) -> None:
    _, (anna, ben) = await race(node, arrive, "anna", "ben")
    before = resident(node.pid)
    ends = []
    for data in (bytes(5_000), bytes(4_000_000)):
        huge = await lone(node)
        with suppress(ConnectionClosed):
            await huge.send(data)
        ends.append(await end_of(huge))
    split = await lone(node)
    with suppress(ConnectionClosed):
        await split.send(b"x" for _ in range(1_000))
    ends.append(await end_of(split))
    flood = await arrive(node.port, "flo")
    with suppress(ConnectionClosed):
        for n in range(2_000):
            await flood.say(m.Ping(c=n))
    ends.append(await flood.closed())
    assert ends == [m.Close.TOO_BIG, m.Close.TOO_BIG, m.Close.TOO_BIG, m.Close.FLOOD]
    assert (await anna.play(1, "d")).n == 1
    assert resident(node.pid) - before < 20_000_000


async def test_of_thousands_of_lines_one_address_gets_only_so_many_and_no_memory_for_the_rest(
    node: NodeProcess, arrive: Arrive
) -> None:
    _, (anna, _) = await race(node, arrive, "anna", "ben")
    before = resident(node.pid)

    async def try_one() -> ClientConnection | None:
        try:
            return await lone(node)
        except (InvalidHandshake, OSError, EOFError, TimeoutError):
            return None

    sockets: list[ClientConnection] = []
    refused = 0
    for _ in range(20):
        for socket in await asyncio.gather(*(try_one() for _ in range(100))):
            if socket is None:
                refused += 1
            else:
                sockets.append(socket)
    limit = Config.max_connections_per_address
    assert limit / 2 < len(sockets) <= limit
    assert refused == 2_000 - len(sockets)
    assert (await anna.play(1, "d")).n == 1
    assert resident(node.pid) - before < 20_000_000
    for socket in sockets:
        socket.transport.abort()


async def test_what_comes_before_a_hello_is_no_message(node: NodeProcess) -> None:
    for data, code in (
        (encode(m.Move(n=1, m="d")), m.Close.POLICY),
        (encode(m.Rooms()), m.Close.POLICY),
    ):
        socket = await lone(node)
        await socket.send(data)
        assert await end_of(socket) == code
    noise = await lone(node)
    for _ in range(5):
        await noise.send(secrets.token_bytes(100))
    assert await end_of(noise) == m.Close.INVALID
