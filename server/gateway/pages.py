"""Plain HTTP: what a page is asked with and answered by, and the bytes of an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class PageRequest:
    """A GET, or a HEAD whose answer's body the gateway leaves out."""

    path: str
    query: str
    headers: Mapping[str, str]  # names in lower case; of repeated ones the last
    address: str


@dataclass(frozen=True)
class Answer:
    """What a page sends back."""

    status: int
    body: bytes
    content_type: str = TEXT
    headers: tuple[tuple[str, str], ...] = ()


def plain(status: int, text: str, *headers: tuple[str, str]) -> Answer:
    """An answer of one line of text."""
    return Answer(status, text.encode() + b"\n", TEXT, headers)


def page_request(request: Request, address: str) -> PageRequest:
    """Read a page request out of an HTTP request."""
    path, _, query = request.path.partition("?")
    headers = {name.lower(): value for name, value in request.headers.raw_items()}
    return PageRequest(path, query, headers, address)


def asks_for_websocket(request: Request) -> bool:
    """Whether the request wants to change to the websocket protocol."""
    wanted = ",".join(request.headers.get_all("Upgrade")).lower()
    return "websocket" in wanted


def serialize(answer: Answer, *, bodiless: bool) -> bytes:
    """Return the bytes of an answer; each ends its connection.

    A HEAD is answered with the length of the body that a GET would bring.
    """
    headers = Headers(
        [
            ("Date", formatdate(usegmt=True)),
            ("Connection", "close"),
            ("Content-Type", answer.content_type),
            ("Content-Length", str(len(answer.body))),
            ("X-Content-Type-Options", "nosniff"),
            *answer.headers,
        ]
    )
    body = b"" if bodiless else answer.body
    status = HTTPStatus(answer.status)
    return Response(status.value, status.phrase, headers, body).serialize()
