"""How connections end, and what is said about it."""

import asyncio
import ssl
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest
from websockets.exceptions import ConnectionClosed, ConnectionClosedOK

from server.gateway.door import Door
from tests.gateway.rig import WAIT, Echo, Notes, Rig, frame, upgrade
from tests.gateway.stage import Line, Stage
from wire.messages import Close

BINARY, CLOSE = 2, 8


async def test_a_client_that_closes_gets_its_code_back(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    client.frame(CLOSE, b"\x03\xe9bye")
    assert await client.read() == (CLOSE, b"\x03\xe9bye")
    assert await client.rest() == b""
    assert await notes.code() == Close.GOING_AWAY


async def test_a_client_that_closes_without_a_code_is_noted_as_1005(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    client.frame(CLOSE)
    assert await client.read() == (CLOSE, b"")
    assert await notes.code() == 1005


async def test_a_client_may_close_between_fragments(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    client.frame(BINARY, b"half", fin=False)
    client.frame(CLOSE, b"\x03\xe8")
    assert await client.read() == (CLOSE, b"\x03\xe8")
    assert await notes.code() == Close.NORMAL
    assert notes.messages == []


async def test_what_comes_with_a_close_is_handed_over_and_what_follows_is_not(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    client.write(frame(BINARY, b"last") + frame(CLOSE, b"\x03\xe8") + frame(BINARY, b"late"))
    assert await client.read() == (BINARY, b"last")
    assert await client.close_code() == Close.NORMAL
    assert await notes.code() == Close.NORMAL
    assert notes.messages == [b"last"]


@pytest.mark.parametrize("code", [code for code in Close if code != Close.SLOW])
async def test_every_code_of_ours_reaches_the_client(rig: Rig, code: Close) -> None:
    await rig.start()
    async with rig.connect() as socket:
        rig.handlers[0].peer.close(code, "because")
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (code, "because")
    assert await rig.handlers[0].code() == code


async def test_what_was_sent_before_a_close_arrives_before_it(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    for index in range(100):
        notes.peer.send(b"%d" % index)
    notes.peer.close(Close.REPLACED)
    notes.peer.send(b"too late")
    notes.peer.send_latest("kind", b"too late")
    assert [await client.read() for _ in range(100)] == [(BINARY, b"%d" % i) for i in range(100)]
    assert (await client.read())[0] == CLOSE


async def test_a_long_reason_is_shortened_and_not_refused(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    notes.peer.close(Close.VERSION, "é" * 100)
    _, data = await client.read()
    assert data[2:].decode() == "é" * 61


async def test_closing_twice_and_aborting_after_it_is_harmless(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    notes.peer.close(Close.REPLACED)
    notes.peer.close(Close.FLOOD)
    notes.peer.abort()
    notes.peer.abort()
    assert await notes.code() == Close.REPLACED
    notes.peer.close(Close.FLOOD)
    notes.peer.send(b"into the void")
    notes.peer.pause()
    notes.peer.resume()
    notes.peer.abort()
    await client.cut()


async def test_a_close_that_is_not_answered_is_cut_in_time(rig: Rig) -> None:
    await rig.start(close_timeout=0.1)
    client, notes = await rig.open()
    notes.peer.close(Close.RESTART)
    assert await notes.code() == Close.RESTART
    assert (await client.read())[0] == CLOSE
    assert await client.cut() == b""


async def test_a_client_that_chatters_on_cannot_put_its_end_off(rig: Rig) -> None:
    await rig.start(close_timeout=0.2)
    client, notes = await rig.open()
    notes.peer.close(Close.RESTART)
    async with asyncio.timeout(WAIT):
        while not notes.codes:
            client.frame(BINARY, b"but")
            client.frame(9, b"wait")
            await asyncio.sleep(0.02)
    assert notes.messages == []


async def test_both_may_close_at_once(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    client.frame(CLOSE, b"\x03\xe8")
    notes.peer.close(Close.RESTART)
    assert await client.read() == (CLOSE, Close.RESTART.to_bytes(2, "big"))
    assert await client.rest() == b""
    assert await notes.code() == Close.RESTART


async def test_a_dropped_line_is_noted_and_no_fault(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    await rig.start()
    client, notes = await rig.open()
    client.drop()
    assert await notes.code() == 1006
    assert [record.levelname for record in caplog.records] == ["INFO"]


async def test_a_client_that_ends_its_stream_without_a_close_is_noted(rig: Rig) -> None:
    await rig.start()
    client, notes = await rig.open()
    client.write(frame(BINARY, b"x") + frame(BINARY, b"cut off")[:5])
    client.writer.write_eof()
    assert await client.read() == (BINARY, b"x")
    assert await client.rest() == b""
    assert await notes.code() == 1006


async def test_a_well_behaved_client_sees_a_clean_end(rig: Rig) -> None:
    await rig.start()
    client = await rig.connect()
    await client.close()
    with pytest.raises(ConnectionClosedOK):
        await client.recv()
    assert await rig.handlers[0].code() == Close.NORMAL


# --- the log --------------------------------------------------------------------------


async def test_each_connection_has_one_line_at_its_end(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    await rig.start()
    async with rig.connect() as socket:
        await socket.send(b"four")
        await socket.recv()
        await socket.send(b"x" * 200)
        await socket.recv()
        assert caplog.records == []
    await rig.handlers[0].code()
    (record,) = caplog.records
    assert record.levelname == "INFO"
    facts = record.__dict__
    assert facts["connection"] == rig.handlers[0].peer.id
    assert facts["address"] == "127.0.0.1"
    assert facts["code"] == 1000
    assert (facts["messages_in"], facts["bytes_in"]) == (2, 204)
    assert (facts["messages_out"], facts["bytes_out"]) == (2, 204)
    assert 0 <= facts["duration_s"] < 5
    assert facts["cause"] == "closed by the peer"


async def test_what_was_counted_stays_counted_after_the_end(rig: Rig) -> None:
    gateway = await rig.start()
    async with rig.connect() as socket:
        await socket.send(b"four")
        await socket.recv()
        during = gateway.tally()
        assert (during.open, during.opened, during.messages_in, during.bytes_out) == (1, 1, 1, 4)
    await rig.handlers[0].code()
    after = gateway.tally()
    assert (after.open, after.opened, after.messages_in, after.bytes_out) == (0, 1, 1, 4)
    assert after.closed == {1000: 1}
    assert during.closed == {}


# --- the end of the gateway -----------------------------------------------------------


async def test_a_drain_sends_everybody_away_spread_over_its_window(rig: Rig) -> None:
    gateway = await rig.start()
    sockets = [await rig.connect() for _ in range(10)]
    loop = asyncio.get_running_loop()
    begin = loop.time()
    ends: list[float] = []

    async def until_closed(socket: object) -> int:
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()  # type: ignore[attr-defined]
        ends.append(loop.time() - begin)
        assert closed.value.rcvd is not None
        return closed.value.rcvd.code

    watch = [asyncio.create_task(until_closed(socket)) for socket in sockets]
    await gateway.drain(2.0)
    assert await asyncio.gather(*watch) == [Close.RESTART] * 10
    # A turn of half a second on a busy machine changes little.
    assert max(ends) >= 1.6
    assert sum(end < 1.0 for end in ends) in range(2, 9)
    assert gateway.tally().open == 0


async def test_those_still_there_are_served_while_others_are_sent_away(rig: Rig) -> None:
    gateway = await rig.start()
    sockets = [await rig.connect() for _ in range(4)]
    drain = asyncio.create_task(gateway.drain(0.4))
    served = 0
    while gateway.tally().open > 1:
        for socket in sockets:
            try:
                await socket.send(b"x")
                await socket.recv()
                served += 1
            except ConnectionClosed:
                pass
        await asyncio.sleep(0.01)
    await drain
    assert served > 4


async def test_a_drain_waits_for_nobody_beyond_the_close_timeout(rig: Rig) -> None:
    gateway = await rig.start(close_timeout=0.2)
    await rig.open()  # will not answer
    async with asyncio.timeout(WAIT):
        await gateway.drain(0)
    assert gateway.tally().open == 0


async def test_a_drain_of_nobody_is_over_at_once(rig: Rig) -> None:
    gateway = await rig.start()
    async with asyncio.timeout(WAIT):
        await gateway.drain(60)
    assert gateway.is_draining


async def test_closing_ends_listening_websockets_and_half_open_sockets(rig: Rig) -> None:
    gateway = await rig.start()
    socket = await rig.connect()
    waiting = await rig.dial()
    waiting.write(upgrade()[:20])
    await rig.until_waiting(1)
    await gateway.close()
    with pytest.raises(ConnectionClosed) as closed:
        await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == Close.GOING_AWAY
    assert await waiting.cut() == b""
    with pytest.raises(OSError):
        await rig.dial()


def test_a_socket_that_arrives_while_the_gateway_closes_is_cut() -> None:
    stage = Stage()
    stage.register.closed = True
    door, line = Door(stage.register), Line()
    door.connection_made(cast(asyncio.Transport, line))
    assert line.end == "cut"
    door.connection_lost(None)
    assert stage.register.waiting.total == 0
    assert stage.register.doors == set()


async def test_a_gateway_may_listen_on_several_ports(rig: Rig) -> None:
    gateway = await rig.start()
    first, rig.port = rig.port, await gateway.listen("127.0.0.1", 0)
    assert first != rig.port
    async with rig.connect() as socket:
        await socket.send(b"x")
        assert await socket.recv() == b"x"


async def test_several_nodes_may_share_a_port(rig: Rig) -> None:
    gateway = await rig.start()
    port = await gateway.listen("127.0.0.1", 0, reuse_port=True)
    assert await gateway.listen("127.0.0.1", port, reuse_port=True) == port


async def test_nothing_is_left_of_many_connections(rig: Rig) -> None:
    gateway = await rig.start(connections_per_address=1_000)
    tasks = len(asyncio.all_tasks())
    for _ in range(10):
        clients = [await rig.open() for _ in range(20)]
        for index, (client, _) in enumerate(clients):
            if index % 2:
                client.frame(CLOSE)
            else:
                client.drop()
        for _, notes in clients:
            await notes.code()
    assert gateway.tally().open == 0
    assert gateway.peers == ()
    assert gateway._register.open._owners == {}
    assert len(asyncio.all_tasks()) == tasks


# --- TLS ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate and its key, in one file, for 127.0.0.1."""
    folder = tmp_path_factory.mktemp("tls")
    key, pem = folder / "key.pem", folder / "cert.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(pem)]
    subprocess.run([*command.split(), *name, *files], check=True, capture_output=True)
    pem.write_bytes(pem.read_bytes() + key.read_bytes())
    return pem


async def start_tls(rig: Rig, certificate: Path, **limits: Any) -> ssl.SSLContext:
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(certificate)
    await rig.start(Echo, tls=server, **limits)
    return ssl.create_default_context(cafile=str(certificate))


async def test_everything_works_over_tls(rig: Rig, certificate: Path) -> None:
    trust = await start_tls(rig, certificate)
    async with rig.connect(ssl=trust) as socket:
        for size in (0, 60, 4_096):
            await socket.send(b"x" * size)
            assert await socket.recv() == b"x" * size
        await socket.send("text")
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == Close.UNSUPPORTED


async def test_a_close_from_the_server_is_clean_over_tls(rig: Rig, certificate: Path) -> None:
    trust = await start_tls(rig, certificate)
    async with rig.connect(ssl=trust) as socket:
        rig.handlers[0].peer.close(Close.RESTART)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == Close.RESTART


async def test_pages_are_answered_over_tls(rig: Rig, certificate: Path) -> None:
    trust = await start_tls(rig, certificate)
    reader, writer = await asyncio.open_connection("127.0.0.1", rig.port, ssl=trust)
    writer.write(b"GET /nothing HTTP/1.1\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 404 ")
    writer.close()
    await writer.wait_closed()


async def test_a_tls_handshake_that_takes_too_long_is_cut(rig: Rig, certificate: Path) -> None:
    await start_tls(rig, certificate, open_timeout=0.2)
    client = await rig.dial()
    client.write(b"\x16\x03\x01")
    assert await client.cut() == b""


async def test_a_reader_that_stalls_is_cut_over_tls_too(rig: Rig, certificate: Path) -> None:
    trust = await start_tls(rig, certificate, write_high=10_000, write_bound=50_000)
    socket = await rig.connect(ssl=trust)
    notes: Notes = rig.handlers[0]
    socket.transport.pause_reading()
    while not notes.codes:
        notes.peer.send(b"x" * 4_000)
        await asyncio.sleep(0)
    assert notes.codes == [Close.SLOW]
    socket.transport.abort()
