"""Plain HTTP on the same port."""

import asyncio

import pytest

from server.gateway import Answer, PageRequest
from tests.gateway.rig import WAIT, Rig

asked: list[PageRequest] = []


async def page(request: PageRequest) -> Answer | None:
    asked.append(request)
    match request.path:
        case "/healthz":
            return Answer(200, b"ok\n")
        case "/metrics":
            return Answer(200, b"# none\n", "text/plain; version=0.0.4", (("X-Own", "1"),))
        case "/broken":
            raise RuntimeError("out of order")
        case "/slow":
            await asyncio.sleep(60)
    return None


def get(path: str, method: str = "GET", version: str = "1.1", *headers: str) -> bytes:
    lines = "".join(f"{line}\r\n" for line in ("Host: here", *headers))
    return f"{method} {path} HTTP/{version}\r\n{lines}\r\n".encode()


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_a_get_is_answered(rig: Rig, version: str) -> None:
    await rig.start(page=page)
    status, headers, body = await rig.ask(get("/healthz", version=version))
    assert (status, body) == (200, b"ok\n")
    assert headers["Content-Length"] == "3"
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert headers["Connection"] == "close"


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_a_head_is_answered_like_a_get_but_without_the_body(rig: Rig, version: str) -> None:
    await rig.start(page=page)
    status, headers, body = await rig.ask(get("/healthz", "HEAD", version))
    assert (status, headers["Content-Length"], body) == (200, "3", b"")


async def test_a_page_has_its_own_type_and_headers(rig: Rig) -> None:
    await rig.start(page=page)
    _, headers, _ = await rig.ask(get("/metrics"))
    assert headers["Content-Type"] == "text/plain; version=0.0.4"
    assert headers["X-Own"] == "1"


async def test_a_page_sees_path_query_headers_and_address(rig: Rig) -> None:
    await rig.start(page=page, proxies=["127.0.0.1"])
    await rig.ask(get("/some/page?a=1&b", "GET", "1.1", "X-Forwarded-For: 203.0.113.5"))
    request = asked[-1]
    assert (request.path, request.query) == ("/some/page", "a=1&b")
    assert request.headers["host"] == "here"
    assert request.address == "203.0.113.5"


async def test_an_unknown_path_is_not_found(rig: Rig) -> None:
    await rig.start(page=page)
    status, _, _ = await rig.ask(get("/nothing"))
    assert status == 404


@pytest.mark.parametrize("path", ["/ws", "/"])
async def test_a_websocket_path_without_upgrade_says_so(rig: Rig, path: str) -> None:
    await rig.start(page=page)
    status, headers, _ = await rig.ask(get(path))
    assert (status, headers["Upgrade"]) == (426, "websocket")


async def test_an_upgrade_to_something_else_is_a_plain_request(rig: Rig) -> None:
    await rig.start(page=page)
    request = get("/healthz", "GET", "1.1", "Connection: Upgrade", "Upgrade: h2c")
    status, _, _ = await rig.ask(request)
    assert status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "get"])
async def test_another_method_is_not_allowed(rig: Rig, method: str) -> None:
    await rig.start(page=page)
    status, headers, _ = await rig.ask(get("/healthz", method))
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "header", ["Content-Length: 1000000", "Transfer-Encoding: chunked", "Expect: 100-continue"]
)
async def test_another_method_is_answered_even_with_a_body(rig: Rig, header: str) -> None:
    await rig.start(page=page)
    status, _, _ = await rig.ask(get("/healthz", "POST", "1.1", header) + b"x" * 1_000_000)
    assert status == 405


async def test_a_get_with_a_body_is_a_bad_request(rig: Rig) -> None:
    await rig.start(page=page)
    status, _, _ = await rig.ask(get("/healthz", "GET", "1.1", "Content-Length: 3") + b"abc")
    assert status == 400


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /" + b"x" * 9_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET /" + b"x" * 9_000, 414),
        (get("/", "GET", "1.1", "X: " + "x" * 9_000), 431),
        (get("/", "GET", "1.1", *["X: 1"] * 200), 431),
        (get("/", "GET", "1.1", *["X: " + "x" * 200] * 100), 431),
        (b"nonsense\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n", 400),  # TLS on the plain port
        (b"GET /healthz HTTP/2.0\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\n\r\n", 400),
        (b"GET  HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"\r\n\r\n", 400),
    ],
)
async def test_a_wrong_request_gets_its_answer(rig: Rig, request_: bytes, status: int) -> None:
    await rig.start(page=page)
    answered, _, body = await rig.ask(request_)
    assert answered == status
    assert body


async def test_what_follows_a_request_is_ignored(rig: Rig) -> None:
    await rig.start(page=page)
    status, _, body = await rig.ask(get("/healthz") + get("/nothing") + b"\x00" * 100)
    assert (status, body) == (200, b"ok\n")


async def test_a_client_may_end_its_side_before_the_answer(rig: Rig) -> None:
    await rig.start(page=page)
    client = await rig.dial()
    client.write(get("/healthz"))
    client.writer.write_eof()
    status, _, _ = await client.answer()
    assert status == 200


async def test_a_client_that_keeps_the_line_after_its_answer_is_cut(rig: Rig) -> None:
    await rig.start(page=page, close_timeout=0.1)
    client = await rig.dial()
    client.write(get("/healthz"))
    assert (await client.answer())[0] == 200
    await rig.until_waiting(0)


async def test_a_broken_page_is_our_fault_and_is_logged_once(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    await rig.start(page=page)
    status, _, body = await rig.ask(get("/broken"))
    assert status == 500
    assert b"out of order" not in body
    (record,) = [record for record in caplog.records if record.exc_info]
    assert record.getMessage() == "page failed"
    caplog.clear()


async def test_a_page_that_takes_too_long_is_given_up(rig: Rig) -> None:
    await rig.start(page=page, page_timeout=0.1)
    status, _, _ = await rig.ask(get("/slow"))
    assert status == 503


async def test_a_page_nobody_waits_for_is_given_up_with_the_gateway(rig: Rig) -> None:
    begun = asyncio.Event()

    async def endless(request: PageRequest) -> Answer | None:
        begun.set()
        await asyncio.sleep(60)
        return None

    gateway = await rig.start(page=endless)
    client = await rig.dial()
    client.write(get("/slow"))
    async with asyncio.timeout(WAIT):
        await begun.wait()
        assert "page /slow" in [task.get_name() for task in asyncio.all_tasks()]
        await gateway.close()
    assert "page /slow" not in [task.get_name() for task in asyncio.all_tasks()]


async def test_pages_are_counted_by_status(rig: Rig) -> None:
    gateway = await rig.start(page=page)
    for path in ("/healthz", "/healthz", "/nothing"):
        await rig.ask(get(path))
    assert gateway.tally().answered == {200: 2, 404: 1}


async def test_pages_are_answered_while_draining_and_when_full(rig: Rig) -> None:
    gateway = await rig.start(page=page, connections=1)
    async with rig.connect():
        assert (await rig.ask(get("/healthz")))[0] == 200
    await gateway.drain(0)
    assert (await rig.ask(get("/healthz")))[0] == 200


async def test_a_long_page_may_be_read_slowly(rig: Rig) -> None:
    # Long enough that the kernel does not take all of it at once.
    size = 8_000_000

    async def long_page(request: PageRequest) -> Answer:
        return Answer(200, bytes(size))

    await rig.start(page=long_page, close_timeout=0.1, page_rate=size / 30)
    client = await rig.dial(receive_buffer=4096)
    client.write(get("/long"))
    await client.head()
    await asyncio.sleep(0.4)  # longer than the goodbye of a short one may take
    assert len(await client.rest()) == size


async def test_whoever_does_not_read_a_page_is_cut_in_the_end(rig: Rig) -> None:
    size = 8_000_000

    async def long_page(request: PageRequest) -> Answer:
        return Answer(200, bytes(size))

    await rig.start(page=long_page, close_timeout=0.1, page_rate=10 * size)
    client = await rig.dial(receive_buffer=4096)
    client.write(get("/long"))
    await client.head()
    await asyncio.sleep(0.5)
    with pytest.raises((ConnectionResetError, AssertionError)):
        assert len(await client.rest()) == size
