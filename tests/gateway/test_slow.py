"""Peers that do not read, and lines that are dead."""

import asyncio
import logging
import socket
from typing import Any

import pytest

from server.gateway.gateway import SEND_BUFFER
from tests.gateway.rig import WAIT, Client, Echo, Notes, Rig, frame
from wire.messages import Close

BINARY, CLOSE, PING, PONG = 2, 8, 9, 10
CHUNK = b"x" * 4_000
SMALL = 4_096  # what a client that does not read takes in, about


def buffered(notes: Notes) -> int:
    """How many bytes wait in the server for this peer."""
    size: int = notes.peer._transport.get_write_buffer_size()
    return size


async def clog(notes: Notes) -> int:
    """Send until the peer is slow; returns how many chunks that took."""
    for count in range(100_000):
        if notes.peer.is_slow:
            return count
        notes.peer.send(CHUNK)
        await asyncio.sleep(0)
    raise AssertionError("the peer never became slow")


async def drink(client: Client, count: int) -> None:
    """Read so many chunks."""
    for _ in range(count):
        assert await client.read() == (BINARY, CHUNK)


async def test_a_reader_that_stalls_is_cut_at_the_bound(rig: Rig) -> None:
    await rig.start(write_high=10_000, write_bound=50_000)
    _, notes = await rig.open(receive_buffer=SMALL)
    most = 0
    while not notes.codes:
        for _ in range(5):
            notes.peer.send(CHUNK)
            most = max(most, buffered(notes))
        await asyncio.sleep(0)
    assert notes.codes == [Close.SLOW]
    assert most <= 50_000 + len(CHUNK) + 4


async def test_a_reader_that_stalls_delays_nobody(rig: Rig) -> None:
    await rig.start(write_high=10_000, write_bound=50_000, messages_per_s=1e9)
    _, stalled = await rig.open(receive_buffer=SMALL)
    async with rig.connect() as other:
        async with asyncio.timeout(WAIT):
            while not stalled.codes:
                stalled.peer.send(CHUNK)
                await other.send(b"on we go")
                assert await other.recv() == b"on we go"


async def test_a_burst_within_one_turn_is_bounded_too(rig: Rig) -> None:
    await rig.start(write_high=10_000, write_bound=50_000)
    _, notes = await rig.open(receive_buffer=SMALL)
    for _ in range(10_000):
        notes.peer.send(CHUNK)
    assert await notes.code() == Close.SLOW


async def test_a_peer_that_reads_gets_far_more_than_the_bound(rig: Rig) -> None:
    await rig.start(write_high=10_000, write_bound=50_000)
    client, notes = await rig.open()

    async def send() -> None:
        for _ in range(1_000):
            await notes.until(lambda: not notes.peer.is_slow)
            notes.peer.send(CHUNK)
            await asyncio.sleep(0)

    task = asyncio.create_task(send())
    await drink(client, 1_000)
    await task
    assert notes.codes == []


async def test_a_slow_peer_that_catches_up_is_told_to_its_handler(rig: Rig) -> None:
    await rig.start(write_high=10_000, write_bound=50_000)
    client, notes = await rig.open(receive_buffer=SMALL)
    count = await clog(notes)
    assert rig.gateway.tally().slow == 1
    await drink(client, count)
    await notes.until(lambda: notes.caught_up == 1)
    assert rig.gateway.tally().slow == 0


async def test_only_the_newest_of_a_kind_waits_for_a_slow_peer(rig: Rig) -> None:
    await rig.start(write_high=10_000, write_bound=50_000)
    client, notes = await rig.open(receive_buffer=SMALL)
    count = await clog(notes)
    before = buffered(notes)
    for index in range(1_000):
        notes.peer.send_latest("scores", b"scores %d" % index)
        notes.peer.send_latest("seats", b"seats %d" % index)
    assert buffered(notes) <= before
    notes.peer.send(b"in between")
    await drink(client, count)
    assert await client.read() == (BINARY, b"in between")
    assert await client.read() == (BINARY, b"scores 999")
    assert await client.read() == (BINARY, b"seats 999")


async def test_to_a_peer_that_reads_every_one_of_a_kind_is_sent(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    for index in range(3):
        notes.peer.send_latest("scores", b"%d" % index)
    assert [await client.read() for _ in range(3)] == [(BINARY, b"%d" % i) for i in range(3)]


async def test_one_message_above_the_bound_to_a_peer_that_does_not_read_cuts(rig: Rig) -> None:
    await rig.start(write_high=10_000, write_bound=50_000)
    _, notes = await rig.open(receive_buffer=SMALL)
    notes.peer.send(b"x" * 20_000_000)
    assert await notes.code() == Close.SLOW


async def test_pongs_to_a_peer_that_does_not_read_are_bounded(rig: Rig) -> None:
    wide: dict[str, Any] = {"controls_per_s": 1e9, "control_burst": 1_000_000}
    await rig.start(write_high=10_000, write_bound=50_000, **wide)
    client, notes = await rig.open(receive_buffer=SMALL)
    await clog(notes)
    ping = frame(PING, b"x" * 125) * 100
    while not notes.codes:
        client.write(ping)
        await asyncio.sleep(0)
    assert await notes.code() == Close.SLOW


async def test_a_peer_that_stays_slow_is_cut_although_it_talks(rig: Rig) -> None:
    await rig.start(Notes, write_high=10_000, ping_after=0.1, silence=2 * WAIT, stall=0.3)
    client, notes = await rig.open(receive_buffer=SMALL)
    await clog(notes)
    async with asyncio.timeout(WAIT):
        while not notes.codes:
            client.frame(BINARY, b"me")
            await asyncio.sleep(0.02)
    assert await notes.code() == Close.SLOW


async def test_a_slow_peer_does_not_delay_its_own_end(rig: Rig) -> None:
    await rig.start(write_high=10_000, close_timeout=0.2)
    _, notes = await rig.open(receive_buffer=SMALL)
    await clog(notes)
    notes.peer.close(Close.REPLACED)
    assert await notes.code() == Close.REPLACED


async def test_a_slow_peer_does_not_delay_the_end_of_the_gateway(rig: Rig) -> None:
    gateway = await rig.start(write_high=10_000, close_timeout=0.2)
    _, notes = await rig.open(receive_buffer=SMALL)
    await clog(notes)
    async with asyncio.timeout(WAIT):
        await gateway.close()
    assert notes.codes == [Close.GOING_AWAY]


async def test_a_slow_peer_that_hangs_up_is_let_go(rig: Rig) -> None:
    await rig.start(write_high=10_000, close_timeout=0.2)
    client, notes = await rig.open(receive_buffer=SMALL)
    await clog(notes)
    client.writer.write_eof()
    assert await notes.code() == 1006


# --- keepalive ------------------------------------------------------------------------


async def test_a_silent_peer_is_pinged_and_then_cut(rig: Rig) -> None:
    await rig.start(ping_after=0.1, silence=0.2)
    loop = asyncio.get_running_loop()
    begin = loop.time()
    client, notes = await rig.open()
    assert await client.read() == (PING, b"")
    assert loop.time() - begin >= 0.09
    assert await client.cut() == b""
    assert loop.time() - begin >= 0.19
    assert await notes.code() == 1006


async def test_a_peer_that_answers_pings_stays(rig: Rig) -> None:
    # Two seconds, as a busy machine may keep the answer back for one.
    await rig.start(ping_after=0.2, silence=2.0)
    client, notes = await rig.open()
    for _ in range(3):
        assert await client.read() == (PING, b"")
        client.frame(PONG)
    client.frame(BINARY, b"still here")
    assert await client.read() == (BINARY, b"still here")
    assert notes.codes == []


async def test_a_dead_line_is_noticed_with_a_full_write_buffer(rig: Rig) -> None:
    await rig.start(write_high=10_000, ping_after=0.1, silence=0.2, stall=60)
    _, notes = await rig.open(receive_buffer=SMALL)
    await clog(notes)
    assert await notes.code() == 1006


async def test_a_peer_is_not_cut_for_a_silence_that_we_imposed(rig: Rig) -> None:
    await rig.start(ping_after=0.05, silence=0.1)
    client, notes = await rig.open()
    notes.peer.pause()
    client.frame(BINARY, b"unread")
    await asyncio.sleep(0.3)
    assert notes.codes == []
    notes.peer.resume()
    await notes.until(lambda: notes.messages == [b"unread"])


async def test_the_kernel_is_told_to_give_up_on_a_dead_line_too(rig: Rig) -> None:
    await rig.start(Echo, silence=20)
    _, notes = await rig.open()
    line = notes.peer._transport.get_extra_info("socket")
    assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 20_000


async def test_the_kernel_holds_no_more_for_a_connection_than_it_is_told(rig: Rig) -> None:
    await rig.start(Echo)
    _, notes = await rig.open()
    line = notes.peer._transport.get_extra_info("socket")
    assert line.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 2 * SEND_BUFFER


async def test_sending_to_those_who_vanished_logs_nothing_but_their_end(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await rig.start()
    clients = [await rig.open() for _ in range(5)]
    for client, _ in clients:
        client.drop()
    for _ in range(200):
        for _, notes in clients:
            for _ in range(10):
                notes.peer.send(b"hello?")
        await asyncio.sleep(0)
    for _, notes in clients:
        assert await notes.code() == 1006
    noise = [record for record in caplog.records if record.levelno > logging.DEBUG]
    assert {record.name for record in noise} == {"dk.gateway"}
    assert len(noise) == 5
