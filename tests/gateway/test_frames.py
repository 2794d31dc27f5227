"""What comes over an open websocket, right and wrong."""

import asyncio
from collections.abc import Callable

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from server.gateway import Peer
from server.gateway.frames import binary
from tests.gateway.rig import Client, Echo, Notes, Rig, frame
from wire.messages import MAX_CLIENT_FRAME, Close

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


@pytest.mark.parametrize("size", [0, 1, 60, 125, 126, 127, 1_000, MAX_CLIENT_FRAME])
async def test_messages_of_every_size_come_and_go(rig: Rig, size: int) -> None:
    await rig.start()
    async with rig.connect() as socket:
        await socket.send(b"x" * size)
        assert await socket.recv() == b"x" * size


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65_535, 65_536])
def test_a_frame_is_written_as_the_protocol_would(size: int) -> None:
    data = b"x" * size
    assert binary(data) == Frame(Opcode.BINARY, data).serialize(mask=False)


@pytest.mark.parametrize("size", [65_535, 65_536, 200_000])
async def test_the_server_may_send_more_than_a_client_may(rig: Rig, size: int) -> None:
    await rig.start()
    async with rig.connect() as socket:
        rig.handlers[0].peer.send(b"x" * size)
        assert await socket.recv() == b"x" * size


async def test_messages_arrive_in_order_however_they_are_cut(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    sent = [bytes([i]) * size for i, size in enumerate([0, 5, 125, 126, 300, 4_096, 1, 7])]
    stream = b"".join(frame(BINARY, data) for data in sent)
    for step in (1, 2, 3, 7, 64, 1_000, len(stream)):
        notes.messages.clear()
        for start in range(0, len(stream), step):
            client.write(stream[start : start + step])
            await asyncio.sleep(0)
        await notes.until(lambda: len(notes.messages) == len(sent))
        assert notes.messages == sent


async def test_a_fragmented_message_is_put_together(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    client.frame(BINARY, b"a", fin=False)
    client.frame(CONT, b"", fin=False)
    client.frame(PING, b"in between")
    client.frame(CONT, b"b", fin=False)
    client.frame(CONT, b"c")
    client.frame(BINARY, b"next")
    await notes.until(lambda: len(notes.messages) == 2)
    assert notes.messages == [b"abc", b"next"]
    assert await client.read() == (PONG, b"in between")


async def test_a_ping_is_answered_with_its_own_bytes(rig: Rig) -> None:
    await rig.start()
    client, _ = await rig.open()
    client.frame(PING, b"x" * 125)
    assert await client.read() == (PONG, b"x" * 125)


async def test_an_unasked_pong_is_ignored(rig: Rig) -> None:
    await rig.start()
    client, _ = await rig.open()
    client.frame(PONG, b"here I am")
    client.frame(BINARY, b"and on")
    assert await client.read() == (BINARY, b"and on")


# --- what closes ----------------------------------------------------------------------

Wrong = Callable[[Client], None]


def flood(times: int, *frames: bytes) -> Wrong:
    return lambda client: client.write(b"".join(frames) * times)


def fragments(client: Client, *sizes: int) -> None:
    for index, size in enumerate(sizes):
        client.frame(CONT if index else BINARY, b"x" * size, fin=False)


WRONG: dict[str, tuple[Wrong, Close]] = {
    "text": (lambda c: c.frame(TEXT, b"hello"), Close.UNSUPPORTED),
    "text in fragments": (lambda c: c.frame(TEXT, b"hello", fin=False), Close.UNSUPPORTED),
    "text that is no UTF-8": (lambda c: c.frame(TEXT, b"\xff"), Close.UNSUPPORTED),
    "a message too big": (lambda c: c.frame(BINARY, b"x" * 4_097), Close.TOO_BIG),
    "a message far too big": (lambda c: c.frame(BINARY, b"x" * 500_000), Close.TOO_BIG),
    "the header of 2**62 bytes": (
        lambda c: c.write(b"\x82\xff" + (1 << 62).to_bytes(8, "big")),
        Close.TOO_BIG,
    ),
    "fragments too big together": (lambda c: fragments(c, 4_000, 97), Close.TOO_BIG),
    "5,000 empty fragments": (lambda c: fragments(c, *[0] * 5_000), Close.TOO_BIG),
    "no mask": (lambda c: c.write(b"\x82\x05hello"), Close.PROTOCOL_ERROR),
    "no mask and nothing": (lambda c: c.write(b"\x82\x00"), Close.PROTOCOL_ERROR),
    "a reserved bit": (lambda c: c.frame(0x40 | BINARY, b"x"), Close.PROTOCOL_ERROR),
    "an unknown opcode": (lambda c: c.frame(3, b"x"), Close.PROTOCOL_ERROR),
    "an unknown control opcode": (lambda c: c.frame(11, b"x"), Close.PROTOCOL_ERROR),
    "a long ping": (lambda c: c.frame(PING, b"x" * 126), Close.PROTOCOL_ERROR),
    "a fragmented ping": (lambda c: c.frame(PING, b"x", fin=False), Close.PROTOCOL_ERROR),
    "a continuation of nothing": (lambda c: c.frame(CONT, b"x"), Close.PROTOCOL_ERROR),
    "a message within a message": (
        lambda c: c.write(frame(BINARY, b"x", fin=False) + frame(BINARY, b"y")),
        Close.PROTOCOL_ERROR,
    ),
    "a close of one byte": (lambda c: c.frame(CLOSE, b"\x03"), Close.PROTOCOL_ERROR),
    "a close with 1005": (lambda c: c.frame(CLOSE, b"\x03\xed"), Close.PROTOCOL_ERROR),
    "a close with a reason that is no UTF-8": (
        lambda c: c.frame(CLOSE, b"\x03\xe8\xff"),
        Close.INVALID,
    ),
    "a flood of messages": (flood(500, frame(BINARY)), Close.FLOOD),
    "a flood of long messages": (flood(500, frame(BINARY, b"x" * 200)), Close.FLOOD),
    "a flood of fragments": (
        flood(200, frame(BINARY, fin=False), frame(CONT, fin=False), frame(CONT)),
        Close.FLOOD,
    ),
    "a flood of pings": (flood(60, frame(PING)), Close.FLOOD),
    "a flood of pongs": (flood(60, frame(PONG)), Close.FLOOD),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_a_client_does_wrong_closes_with_its_code(rig: Rig, name: str) -> None:
    wrong, code = WRONG[name]
    await rig.start()
    client, notes = await rig.open()
    wrong(client)
    assert await client.close_code() == code
    client.drop()
    assert await notes.code() == code


@pytest.mark.parametrize("name", WRONG)
async def test_what_one_does_wrong_nobody_else_feels(rig: Rig, name: str) -> None:
    wrong, _ = WRONG[name]
    await rig.start()
    async with rig.connect() as other:
        client, notes = await rig.open()
        wrong(client)
        await other.send(b"undisturbed")
        assert await other.recv() == b"undisturbed"
        client.drop()
        await notes.code()
        await other.send(b"still")
        assert await other.recv() == b"still"


async def test_after_a_fault_no_message_is_handed_over(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    client.write(frame(BINARY, b"good") + frame(TEXT, b"bad") + frame(BINARY, b"late"))
    assert await client.read() == (BINARY, b"good")
    assert await client.close_code() == Close.UNSUPPORTED
    assert notes.messages == [b"good"]


async def test_text_from_a_well_behaved_client_is_refused_with_a_reason(rig: Rig) -> None:
    await rig.start()
    async with rig.connect() as socket:
        await socket.send("hello")
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == Close.UNSUPPORTED
    assert "binary" in closed.value.rcvd.reason


async def test_what_is_sent_after_a_fault_is_read_and_dropped(rig: Rig) -> None:
    """A reset would take the close frame away from a client that is still sending."""
    await rig.start()
    client, notes = await rig.open()
    client.frame(TEXT, b"bad")
    for _ in range(100):
        client.frame(BINARY, b"x" * 4_000)
        await asyncio.sleep(0)
    assert await client.close_code() == Close.UNSUPPORTED
    assert notes.messages == []


# --- faults of the handler ------------------------------------------------------------


class Faulty(Echo):
    """Fails on demand."""

    def received(self, data: bytes) -> None:
        if data == b"fail":
            raise RuntimeError("on demand")
        super().received(data)


class FaultyAtTheEnd(Notes):
    """Fails when it is told of the end."""

    def closed(self, code: int) -> None:
        super().closed(code)
        raise RuntimeError("at the end")


@pytest.mark.parametrize("whole", [True, False])
async def test_a_fault_of_the_handler_ends_its_connection_alone(
    rig: Rig, caplog: pytest.LogCaptureFixture, whole: bool
) -> None:
    await rig.start(Faulty)
    async with rig.connect() as other:
        client, notes = await rig.open()
        if whole:
            client.frame(BINARY, b"fail")
        else:
            client.frame(BINARY, b"fa", fin=False)
            client.frame(CONT, b"il")
        client.frame(BINARY, b"fail")
        opcode, data = await client.read()
        assert (opcode, data) == (CLOSE, Close.INTERNAL.to_bytes(2, "big"))
        client.frame(CLOSE, data)
        assert await notes.code() == Close.INTERNAL
        await other.send(b"undisturbed")
        assert await other.recv() == b"undisturbed"
    (record,) = [record for record in caplog.records if record.exc_info]
    assert record.__dict__["connection"] == notes.peer.id
    caplog.clear()


async def test_a_fault_at_the_end_is_logged_and_leaves_nothing(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    await rig.start(FaultyAtTheEnd)
    client, notes = await rig.open()
    client.drop()
    await notes.code()
    assert rig.gateway.tally().open == 0
    assert [record.levelname for record in caplog.records] == ["INFO", "ERROR"]
    caplog.clear()


# --- what the handler does within a message -------------------------------------------


async def test_a_handler_that_closes_gets_no_further_message(rig: Rig) -> None:
    class Closes(Notes):
        def received(self, data: bytes) -> None:
            super().received(data)
            self.peer.close(Close.POLICY, "enough")
            self.peer.send(b"never sent")

    await rig.start(Closes)
    client, notes = await rig.open()
    client.write(frame(BINARY, b"1") + frame(BINARY, b"2"))
    opcode, data = await client.read()
    assert (opcode, data) == (CLOSE, b"\x03\xf0enough")
    client.frame(BINARY, b"3")
    client.frame(CLOSE, data[:2])
    assert await notes.code() == Close.POLICY
    assert notes.messages == [b"1"]


async def test_a_handler_that_aborts_gets_no_further_message(rig: Rig) -> None:
    class Aborts(Notes):
        def received(self, data: bytes) -> None:
            super().received(data)
            self.peer.abort()
            self.peer.send(b"never sent")

    await rig.start(Aborts)
    client, notes = await rig.open()
    client.write(frame(BINARY, b"1") + frame(BINARY, b"2"))
    assert await client.cut() == b""
    assert await notes.code() == 1006
    assert notes.messages == [b"1"]


class Pauses(Notes):
    """Asks for a pause after each message."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self.paused = asyncio.Event()

    def received(self, data: bytes) -> None:
        super().received(data)
        self.peer.pause()
        self.paused.set()


@pytest.mark.parametrize("together", [True, False])
async def test_a_paused_connection_hands_over_nothing_until_resumed(
    rig: Rig, together: bool
) -> None:
    await rig.start(Pauses)
    client, notes = await rig.open()
    sent = [bytes([i]) * (i * 50) for i in range(10)]
    for data in sent:
        client.frame(BINARY, data)
        if not together:
            await asyncio.sleep(0.002)
    for count in range(1, 11):
        await notes.until(lambda count=count: len(notes.messages) == count)  # type: ignore[misc]
        await asyncio.sleep(0.002)
        assert len(notes.messages) == count
        notes.peer.resume()
    assert notes.messages == sent


async def test_a_flood_into_a_paused_connection_stays_outside(rig: Rig) -> None:
    await rig.start(Pauses, messages_per_s=1e9)
    client, notes = await rig.open()
    data = frame(BINARY, b"x" * 4_000)
    client.write(data)
    await notes.until(lambda: len(notes.messages) == 1)
    for _ in range(100_000):
        client.write(data)
        if client.writer.transport.get_write_buffer_size() > 1_000_000:
            break
    await asyncio.sleep(0.05)
    assert client.writer.transport.get_write_buffer_size() > 0  # it is not read
    assert len(notes.messages) == 1


async def test_a_paused_connection_still_closes(rig: Rig) -> None:
    await rig.start(Pauses)
    client, notes = await rig.open()
    client.frame(BINARY, b"1")
    await notes.until(lambda: len(notes.messages) == 1)
    client.frame(BINARY, b"2")
    client.frame(CLOSE, b"\x03\xe8")
    notes.peer.close(Close.RESTART)
    opcode, data = await client.read()
    assert (opcode, data) == (CLOSE, Close.RESTART.to_bytes(2, "big"))
    assert await client.rest() == b""
    assert await notes.code() == Close.RESTART
    assert notes.messages == [b"1"]
