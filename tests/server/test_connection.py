"""What a hostile or clumsy peer meets at the front desk."""

import asyncio

from msgspec import UNSET
from websockets.asyncio.client import connect

from server.connection import INBOX
from tests.server.floor import QUICK, Someone, node, race_of, until
from wire import messages as m
from wire.codec import decode_server, encode


async def test_another_protocol_version_is_told_which_side_to_update(port: int) -> None:
    for version, side in ((m.PROTOCOL - 1, "client"), (m.PROTOCOL + 1, "server")):
        async with connect(f"ws://127.0.0.1:{port}/ws", proxy=None) as socket:
            await socket.send(encode(m.Hello(v=version, name="anna")))
            answer = decode_server(await socket.recv())  # type: ignore[arg-type]
            assert isinstance(answer, m.Error)
            assert answer.code == "version"
            assert f"update the {side}" in answer.reason
            await socket.wait_closed()
            assert socket.close_code == m.Close.VERSION


async def test_every_error_names_what_it_is_about(port: int) -> None:
    code, (anna, ben) = await race_of(port, "anna", "ben")
    watcher = await Someone.arrive(port, "wanda")
    await watcher.say(m.Spectate(room=code))
    await watcher.hear(m.Room)
    await watcher.say(m.Resign())
    await watcher.say(m.Move(n=3, m="d"))
    told = [await watcher.hear(m.Error) for _ in range(2)]
    assert [(each.re, each.n) for each in told] == [("resign", UNSET), ("move", 3)]
    await anna.socket.send(b"\xff")
    assert (await anna.hear(m.Error)).re == ""


async def test_bad_frames_are_answered_then_close_and_harm_nobody_else(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    for _ in range(4):
        await anna.socket.send(b"\xff\xfe")
        assert (await anna.hear(m.Error)).code == "bad-frame"
    await anna.socket.send(b"\xff\xfe")
    assert await anna.closed() == m.Close.INVALID
    assert (await ben.play(1, "d")).n == 1


async def test_unknown_fields_are_refused(port: int) -> None:
    import msgpack

    anna = await Someone.arrive(port)
    await anna.socket.send(msgpack.packb({"t": "rooms", "admin": True}))
    error = await anna.hear(m.Error)
    assert "admin" in error.reason


async def test_a_text_frame_closes_the_line(port: int) -> None:
    anna = await Someone.arrive(port)
    await anna.socket.send("hello")
    assert await anna.closed() == m.Close.UNSUPPORTED


async def test_what_comes_while_something_is_under_way_waits_its_turn(port: int) -> None:
    anna = await Someone.arrive(port)
    await anna.say(m.Create(settings=QUICK))
    for number in range(3 * INBOX):
        await anna.say(m.Ping(c=number))
    await anna.hear(m.Pong, lambda pong: pong.c == 3 * INBOX - 1)
    assert [pong.c for pong in anna.all(m.Pong)] == list(range(3 * INBOX))
    kinds = [type(message) for message in anna.heard]
    assert kinds.index(m.Room) < kinds.index(m.Pong)


async def test_an_address_can_open_only_so_many_rooms(store_url: str) -> None:
    async with node(store_url, rooms_per_address=2) as started:
        for _ in range(2):
            anna = await Someone.arrive(started.port)
            await anna.say(m.Create(settings=QUICK))
            await anna.hear(m.Room)
        ben = await Someone.arrive(started.port, "ben")
        assert (await ben.refused(m.Create(settings=QUICK))).code == "slow-down"


async def test_nobody_can_play_for_somebody_else(port: int) -> None:
    """There is no field for it: the player is whoever the token belongs to."""
    _, (anna, ben) = await race_of(port, "anna", "ben")
    await ben.play(1, "d")
    await anna.say(m.Snapshot())
    assert (await anna.hear(m.Board)).n == 0


async def test_a_line_that_drops_in_the_middle_of_a_request_leaves_no_viewer(
    store_url: str,
) -> None:
    async with node(store_url) as started:
        code, (anna, ben) = await race_of(started.port, "anna", "ben")
        for _ in range(20):
            someone = await Someone.arrive(started.port, "gone")
            await someone.say(m.Spectate(room=code))
            someone.vanish()
        await asyncio.sleep(0)
        room = await ben.hear(m.Room, lambda room: room.spectators == 0 and room.phase == "running")
        assert room.spectators == 0
        async with started._rooms.held(code) as live:
            await until(lambda: _true(len(live.viewers) == 2))


async def _true(value: bool) -> bool:
    return value
