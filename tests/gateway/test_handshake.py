"""Opening a websocket: who is let in, how, and who is not."""

import asyncio

import pytest
from websockets.exceptions import InvalidStatus

from tests.gateway.rig import Rig, frame, upgrade
from wire.messages import SUBPROTOCOL, Close

BINARY = 2


@pytest.mark.parametrize("path", ["/", "/ws", "/ws?room=AB"])
async def test_a_websocket_opens_at_both_paths(rig: Rig, path: str) -> None:
    await rig.start()
    async with rig.connect(path) as socket:
        await socket.send(b"hello")
        assert await socket.recv() == b"hello"


async def test_the_subprotocol_is_chosen_when_it_is_offered(rig: Rig) -> None:
    await rig.start()
    async with rig.connect(subprotocols=["other", SUBPROTOCOL]) as socket:
        assert socket.subprotocol == SUBPROTOCOL


@pytest.mark.parametrize("offered", [None, ["dk.v99"]])
async def test_a_client_without_the_subprotocol_is_let_in(
    rig: Rig, offered: list[str] | None
) -> None:
    await rig.start()
    async with rig.connect(subprotocols=offered) as socket:
        assert socket.subprotocol is None


async def test_compression_is_never_agreed_on(rig: Rig) -> None:
    await rig.start()
    async with rig.connect(compression="deflate") as socket:
        assert socket.protocol.extensions == []


async def test_a_request_that_comes_byte_by_byte_is_understood(rig: Rig) -> None:
    await rig.start()
    client = await rig.dial()
    for byte in upgrade() + frame(BINARY, b"slowly"):
        client.write(bytes([byte]))
        await client.writer.drain()
        await asyncio.sleep(0)
    assert (await client.head()).startswith("HTTP/1.1 101 ")
    assert await client.read() == (BINARY, b"slowly")


async def test_a_frame_that_comes_with_the_request_waits_for_the_answer(rig: Rig) -> None:
    await rig.start()
    client = await rig.dial()
    client.write(upgrade() + frame(BINARY, b"one") + frame(BINARY, b"two"))
    assert (await client.head()).startswith("HTTP/1.1 101 ")
    assert await client.read() == (BINARY, b"one")
    assert await client.read() == (BINARY, b"two")


@pytest.mark.parametrize("said", [b"", b"GET /ws HT", upgrade()[:-2]])
async def test_a_handshake_that_takes_too_long_is_cut(rig: Rig, said: bytes) -> None:
    await rig.start(open_timeout=0.1)
    client = await rig.dial()
    client.write(said)
    assert await client.cut() == b""
    await rig.until_waiting(0)


async def test_a_handshake_kept_alive_by_a_trickle_is_cut_all_the_same(rig: Rig) -> None:
    await rig.start(open_timeout=0.2)
    client = await rig.dial()

    async def trickle() -> None:
        while True:
            client.write(b"X")
            await asyncio.sleep(0.02)

    task = asyncio.create_task(trickle())
    assert await client.cut() == b""
    task.cancel()


async def test_an_open_websocket_is_not_held_to_the_time_of_the_handshake(rig: Rig) -> None:
    await rig.start(open_timeout=1.0)
    client, _ = await rig.open()
    await asyncio.sleep(1.1)
    client.frame(BINARY, b"still here")
    assert await client.read() == (BINARY, b"still here")


async def test_a_client_that_is_no_browser_sends_no_origin_and_is_let_in(rig: Rig) -> None:
    await rig.start(origins=["https://play.example"])
    async with rig.connect():
        pass


async def test_a_listed_origin_is_let_in(rig: Rig) -> None:
    await rig.start(origins=["https://Play.example"])
    async with rig.connect(origin="https://play.example"):
        pass


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://play.example", "https://play.example.evil", "null"]
)
async def test_another_origin_is_refused_before_the_upgrade(rig: Rig, origin: str) -> None:
    await rig.start(origins=["https://play.example"])
    with pytest.raises(InvalidStatus) as refusal:
        await rig.connect(origin=origin)
    assert refusal.value.response.status_code == 403
    assert rig.handlers == []
    assert rig.gateway.tally().refused == {"origin": 1}


async def test_two_origins_at_once_are_refused(rig: Rig) -> None:
    await rig.start(origins=["https://play.example"])
    twice = upgrade("/ws", "Origin: https://play.example", "Origin: https://evil.example")
    status, _, _ = await rig.ask(twice)
    assert status == 400


async def test_without_a_list_every_origin_is_let_in(rig: Rig) -> None:
    await rig.start()
    async with rig.connect(origin="https://anywhere.example"):
        pass


async def test_a_typo_in_the_origins_does_not_start(rig: Rig) -> None:
    with pytest.raises(ValueError, match="origin"):
        await rig.start(origins=["play.example"])


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (upgrade("/elsewhere"), 404),
        (upgrade().replace(b"HTTP/1.1", b"HTTP/1.0"), 505),
        (upgrade().replace(b"Version: 13", b"Version: 8"), 426),
        (upgrade().replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"short"), 400),
        (upgrade().replace(b"Connection: Upgrade\r\n", b""), 426),
        (upgrade().replace(b"GET", b"POST"), 405),
        (upgrade().replace(b"GET", b"HEAD"), 405),
    ],
)
async def test_a_wrong_handshake_gets_its_answer(rig: Rig, request_: bytes, status: int) -> None:
    await rig.start()
    answered, _, body = await rig.ask(request_)
    assert answered == status
    assert body or b"HEAD" in request_
    assert rig.handlers == []


async def test_an_old_version_is_told_the_right_one(rig: Rig) -> None:
    await rig.start()
    _, headers, _ = await rig.ask(upgrade().replace(b"Version: 13", b"Version: 8"))
    assert headers["Sec-WebSocket-Version"] == "13"


async def test_one_address_gets_only_so_many_connections(rig: Rig) -> None:
    await rig.start(connections_per_address=2)
    async with rig.connect(), rig.connect():
        status, headers, _ = await rig.ask(upgrade())
        assert (status, headers["Retry-After"]) == (503, "5")
        assert rig.gateway.tally().refused == {"full": 1}
    await rig.handlers[0].code()
    async with rig.connect():
        pass


async def test_all_together_get_only_so_many_connections(rig: Rig) -> None:
    await rig.start(connections=2)
    async with rig.connect(), rig.connect():
        status, _, _ = await rig.ask(upgrade())
        assert status == 503


async def test_one_address_gets_only_so_many_sockets_that_say_nothing(rig: Rig) -> None:
    await rig.start(waiting_per_address=3)
    silent = [await rig.dial() for _ in range(3)]
    await rig.until_waiting(3)
    refused = await rig.dial()
    assert await refused.cut() == b""
    silent.pop().drop()
    await rig.until_waiting(2)
    async with rig.connect():
        pass


async def test_open_websockets_take_no_room_from_those_that_wait(rig: Rig) -> None:
    await rig.start(waiting_per_address=1)
    async with rig.connect(), rig.connect():
        assert rig.gateway.tally().waiting == 0


async def test_behind_a_proxy_the_client_is_counted_and_not_the_proxy(rig: Rig) -> None:
    await rig.start(proxies=["127.0.0.0/8"], connections_per_address=1, waiting_per_address=1)
    idle = await rig.dial()  # the proxy may open as many as it likes
    await rig.until_waiting(1)
    async with (
        rig.connect(additional_headers={"X-Forwarded-For": "203.0.113.1"}),
        rig.connect(additional_headers={"X-Forwarded-For": "203.0.113.2"}),
    ):
        assert [handler.peer.address for handler in rig.handlers] == ["203.0.113.1", "203.0.113.2"]
        status, _, _ = await rig.ask(upgrade("/ws", "X-Forwarded-For: 203.0.113.1"))
        assert status == 503
    idle.drop()


async def test_without_a_proxy_the_header_is_not_believed(rig: Rig) -> None:
    await rig.start()
    async with rig.connect(additional_headers={"X-Forwarded-For": "203.0.113.1"}):
        assert rig.handlers[0].peer.address == "127.0.0.1"


async def test_while_draining_no_websocket_is_let_in(rig: Rig) -> None:
    gateway = await rig.start()
    await gateway.drain(0)
    status, headers, _ = await rig.ask(upgrade())
    assert (status, headers["Retry-After"]) == (503, "5")
    assert gateway.tally().refused == {"draining": 1}


async def test_connections_have_numbers_of_their_own(rig: Rig) -> None:
    await rig.start()
    async with rig.connect(), rig.connect():
        first, second = (handler.peer.id for handler in rig.handlers)
        assert first != second


async def test_a_handler_that_cannot_be_made_closes_with_an_internal_error(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(peer: object) -> None:
        raise RuntimeError("no handler today")

    await rig.start(fail)  # type: ignore[arg-type]
    client = await rig.dial()
    client.write(upgrade())
    await client.head()
    opcode, data = await client.read()
    assert (opcode, int.from_bytes(data[:2], "big")) == (8, Close.INTERNAL)
    (record,) = [record for record in caplog.records if record.exc_info]
    assert record.getMessage() == "handler failed in connect"
    caplog.clear()
