"""The line over every kind of transport, and how it comes up again."""

import asyncio
import contextlib
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.store import Appended, Embedded, Limits, Store, Unfit, Unreachable, keys
from server.store.address import Address, parse
from server.store.line import Line
from tests.faults.processes import free_port
from tests.listener import listening
from tests.store.conftest import BRISK, until

ROOM = keys.room("ABCDEF")


async def visit(store: Store) -> None:
    """Use the hot path and the other one."""
    done = await store.journals.append(ROOM, [b"x" * 100_000], expect=0, ttl_s=60)
    assert isinstance(done, Appended)
    assert len((await store.journals.read(ROOM))[0].payload) == 100_000
    assert await store.players.create("Ann")


@pytest.fixture
async def port(private: Embedded) -> int:
    """A TCP port of the private store."""
    port = free_port()
    admin = await Store.open(private.url)
    await admin.line.ask("CONFIG", "SET", "bind", "127.0.0.1")
    await admin.line.ask("CONFIG", "SET", "port", port)
    await admin.close()
    return port


@pytest.fixture
def certificate(tmp_path: Path) -> ssl.SSLContext:
    """What a server for localhost shows; the certificate is in cert.pem."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl here to make a certificate")
    command = (
        f"{openssl} req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
        f" -subj /CN=localhost -addext subjectAltName=DNS:localhost"
        f" -keyout {tmp_path}/key.pem -out {tmp_path}/cert.pem"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    return context


@pytest.fixture
async def tls_port(private: Embedded, certificate: ssl.SSLContext) -> AsyncIterator[int]:
    """A port that decrypts what it gets and hands it to the private store."""
    path = parse(private.url).path

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(path)
        await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))

    async with listening(serve, host="localhost", ssl=certificate) as port:
        yield port


async def test_tcp_serves_as_well_as_a_socket(port: int) -> None:
    store = await Store.open(f"redis://127.0.0.1:{port}")
    await visit(store)
    await store.close()


async def test_tls_serves_with_a_certificate_that_is_known(tls_port: int, tmp_path: Path) -> None:
    store = await Store.open(f"rediss://localhost:{tls_port}?ssl_ca_certs={tmp_path}/cert.pem")
    await visit(store)
    await store.close()


async def test_tls_refuses_a_certificate_that_is_not(
    tls_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Unfit, match="CERTIFICATE_VERIFY_FAILED"):
        await Store.open(f"rediss://localhost:{tls_port}")


async def test_another_database_is_another_store(private: Embedded) -> None:
    admin = await Store.open(private.url)
    with pytest.raises(Unfit, match="DB index"):
        await Store.open(f"{private.url}?db=1", limits=BRISK)
    await admin.close()


async def test_the_address_is_asked_for_before_each_try(private: Embedded) -> None:
    good, bad = parse(private.url), Address(path="/nowhere/s")
    answers = [bad, bad, good, bad, good]
    asked: list[Address] = []

    async def where() -> Address:
        asked.append(answers.pop(0))
        return asked[-1]

    line = Line(where, limits=BRISK)
    await line.open()
    assert asked == [bad, bad, good]
    client_id = await line.ask("CLIENT", "ID")
    line.send(("CLIENT", "KILL", "ID", client_id, "SKIPME", "no"), lambda reply: None)
    await until(lambda: not line.up)
    await until(lambda: line.up)
    assert answers == []
    assert await line.ask("PING") == b"PONG"
    await line.close()
    assert not line.up


async def test_an_address_that_cannot_be_found_is_tried_again(
    private: Embedded, caplog: pytest.LogCaptureFixture
) -> None:
    tries = 0

    async def where() -> Address:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise OSError("no such name")
        return parse(private.url)

    line = Line(where, limits=BRISK)
    await line.open()
    assert tries == 3
    assert "address could not be found: no such name" in caplog.text
    await line.close()


async def test_a_listener_that_accepts_and_says_nothing_is_given_up_in_time(tmp_path: Path) -> None:
    held = 0

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal held
        held += 1
        await reader.read()

    async def where() -> Address:
        return Address(path=str(tmp_path / "s"))

    line = Line(where, limits=Limits(connect_s=0.1, backoff_s=0.01))
    async with listening(say_nothing, tmp_path / "s"):
        with pytest.raises(Unreachable, match="does not answer"):
            await line.open(patience_s=2.0)
    assert held >= 2


async def test_a_refused_look_at_the_clock_costs_the_connection_and_not_the_line(
    private: Embedded, caplog: pytest.LogCaptureFixture
) -> None:
    async def where() -> Address:
        return parse(private.url)

    line, admin = Line(where, limits=BRISK), await Store.open(private.url)
    await line.open()
    await admin.line.ask("ACL", "SETUSER", "default", "-time")
    await until(lambda: not line.up)
    await admin.line.ask("ACL", "SETUSER", "default", "+time")
    await until(lambda: line.up)
    assert await line.ask("PING") == b"PONG"
    assert "NOPERM" in caplog.text
    await line.close()
    await admin.close()


async def test_states_are_told_in_order_and_a_failing_hearer_harms_none(
    private: Embedded, caplog: pytest.LogCaptureFixture
) -> None:
    async def where() -> Address:
        return parse(private.url)

    line = Line(where, limits=BRISK)
    states: list[bool] = []

    def fail(up: bool) -> None:
        raise ZeroDivisionError

    line.on_state(fail)
    line.on_state(states.append)
    with caplog.at_level("CRITICAL"):
        await line.open()
        await line.close()
    assert states == [True, False]


async def test_a_subscription_made_while_the_line_is_down_is_there_when_it_is_up(
    private: Embedded,
) -> None:
    async def where() -> Address:
        return parse(private.url)

    line = Line(where, limits=BRISK)
    heard: list[bytes] = []
    subscribing = asyncio.create_task(line.subscribe("c", heard.append))
    await asyncio.gather(subscribing, return_exceptions=True)
    await line.open()
    assert await line.ask("SPUBLISH", "c", b"hi") == 1
    await until(lambda: heard == [b"hi"])
    await line.close()
