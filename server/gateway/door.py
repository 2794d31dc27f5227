"""One socket until it is a websocket or has its HTTP answer."""

import asyncio
import logging
from asyncio import Task, TimerHandle, Transport
from collections.abc import Callable, Sequence
from typing import cast

from websockets.exceptions import HeaderLineTooLong, RequestLineTooLong, TooManyHeaders
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Origin, Subprotocol

from server.gateway.limits import plain_address
from server.gateway.pages import (
    Answer,
    PageRequest,
    asks_for_websocket,
    page_request,
    plain,
    serialize,
)
from server.gateway.peer import Peer
from server.gateway.register import Handler, Register
from wire.messages import SUBPROTOCOL

log = logging.getLogger("dk.gateway")
# The protocol says "connection open" and more at INFO; the gateway has its own line.
protocol_log = logging.getLogger("dk.gateway.protocol")
protocol_log.setLevel(logging.WARNING)

SOCKET_PATHS = ("/", "/ws")
METHODS = (b"GET ", b"HEAD ")
LONGEST_METHOD = 16
HEAD_END = b"\r\n\r\n"
RETRY = ("Retry-After", "5")


def _subprotocol(_: ServerProtocol, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    # A client that offers none, or only others, learns from `hello` who has to update.
    return Subprotocol(SUBPROTOCOL) if SUBPROTOCOL in offered else None


class Door(asyncio.Protocol):
    """Reads one HTTP request and answers it, or hands the socket to a `Peer`.

    The protocol object is fed exactly the request: what a client sends after it waits for
    the answer, or is thrown away with the body of a request that should have none.
    """

    def __init__(self, register: Register) -> None:
        self._register = register
        self._transport: Transport
        self._peer_address = ""
        self._counted: str | None = None  # the address that is charged, None for a proxy's
        self._head = b""  # the start, for the method
        self._tail = b""  # the end, for a line break cut in two
        self._size = 0
        self._busy = False  # the request is complete or refused; nothing more is read
        self._bodiless = False
        self._timer: TimerHandle | None = None
        self._task: Task[None] | None = None
        self._protocol = ServerProtocol(
            origins=cast("Sequence[Origin | None] | None", register.origins),
            select_subprotocol=_subprotocol,
            max_size=register.limits.message_size,
            logger=protocol_log,
        )

    # --- for the transport ------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let the socket in, if there is room."""
        register = self._register
        self._transport = cast(Transport, transport)
        self._peer_address = _peer_address(self._transport)
        trusted = self._peer_address in register.proxies
        self._counted = None if trusted else self._peer_address
        has_room = register.waiting.has_room(self._counted) and not register.closed
        register.doors.add(self)
        register.waiting.join(self._counted)
        if has_room:
            self._arm(register.limits.open_timeout)
        else:
            # Without a word: an answer would cost more than the one who asks deserves.
            register.past.refused["waiting"] += 1
            self._busy = True
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take a part of the request, or drop what follows it."""
        if self._busy:
            return
        joint = self._tail + data
        end = joint.find(HEAD_END)
        part = data if end < 0 else data[: end + len(HEAD_END) - len(self._tail)]
        self._tail = joint[-3:]
        if len(self._head) < LONGEST_METHOD:
            self._head += part[:LONGEST_METHOD]
        self._size += len(part)
        self._protocol.receive_data(part)
        if self._protocol.handshake_exc is not None:
            self._refuse(self._protocol.handshake_exc)
        elif self._size > self._register.limits.head_size:
            self._answer(plain(431, "the headers are too large"))
        elif end >= 0:
            (request,) = self._protocol.events_received()
            self._requested(cast(Request, request), early=data[len(part) :])

    def eof_received(self) -> None:
        """Take the end of what the client sends; an answer on its way still goes out."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything."""
        self._leave()
        if self._task is not None:
            self._task.cancel()

    # --- the request ------------------------------------------------------------------

    def _refuse(self, error: Exception) -> None:
        """Answer what is no request to the protocol: it knows GET without a body."""
        if isinstance(error, RequestLineTooLong):
            self._answer(plain(414, "the request line is too long"))
        elif isinstance(error, HeaderLineTooLong | TooManyHeaders):
            self._answer(plain(431, "the headers are too large"))
        elif self._has_other_method():
            self._answer_method()
        else:
            self._answer(plain(400, "this is no HTTP request that is understood here"))

    def _has_other_method(self) -> bool:
        method, space, _ = self._head.partition(b" ")
        return bool(space) and method.isalpha() and not self._head.startswith(METHODS)

    def _answer_method(self) -> None:
        self._answer(plain(405, "only GET and HEAD are answered here", ("Allow", "GET, HEAD")))

    def _requested(self, request: Request, early: bytes) -> None:
        register = self._register
        forwarded = request.headers.get_all("X-Forwarded-For")
        address = register.proxies.client(self._peer_address, forwarded)
        self._bodiless = request.method == "HEAD"
        if request.method not in ("GET", "HEAD"):
            self._answer_method()
        elif asks_for_websocket(request):
            self._upgrade(request, address, early)
        else:
            self._ask_page(page_request(request, address))

    def _upgrade(self, request: Request, address: str, early: bytes) -> None:
        register = self._register
        path = request.path.partition("?")[0]
        is_own = path in SOCKET_PATHS
        connect = register.connect if is_own else register.stand(path)
        if connect is None:
            self._turn_away("path", plain(404, "there is no websocket here; it is at /ws"))
        elif register.draining:
            self._turn_away("draining", plain(503, "the server is going down", RETRY))
        elif not register.open.has_room(address):
            self._turn_away("full", plain(503, "too many connections", RETRY))
        elif "13" not in request.headers.get_all("Sec-WebSocket-Version"):
            # The protocol would answer 400 and not say which version it wants.
            version = ("Sec-WebSocket-Version", "13")
            answer = plain(426, "this is websocket version 13", ("Upgrade", "websocket"), version)
            self._turn_away("handshake", answer)
        else:
            if not is_own:
                # What is shown there is for anybody, and nothing that is said there is
                # heeded: it does not matter on whose page it is seen.
                self._protocol.origins = None
            response = self._protocol.accept(request)
            if response.status_code == 101:
                self._welcome(response, address, early, connect)
            else:
                reason = "origin" if response.status_code == 403 else "handshake"
                self._turn_away(reason, _answer_of(response))

    def _turn_away(self, reason: str, answer: Answer) -> None:
        self._register.past.refused[reason] += 1
        self._answer(answer)

    def _welcome(
        self,
        response: Response,
        address: str,
        early: bytes,
        connect: Callable[[Peer], Handler],
    ) -> None:
        protocol, transport = self._protocol, self._transport
        protocol.send_response(response)
        assert protocol.state is State.OPEN
        transport.write(b"".join(protocol.data_to_send()))
        self._busy = True
        self._leave()
        peer = self._register.peer_type(transport, protocol, self._register, address)
        transport.set_protocol(peer)
        peer.open(early, connect)

    # --- pages ------------------------------------------------------------------------

    def _ask_page(self, request: PageRequest) -> None:
        self._busy = True
        self._cancel_timer()
        task = self._register.loop.create_task(self._page(request), name=f"page {request.path}")
        self._task = task
        self._register.tasks.add(task)
        task.add_done_callback(self._register.tasks.discard)

    async def _page(self, request: PageRequest) -> None:
        register = self._register
        try:
            async with asyncio.timeout(register.limits.page_timeout):
                answer = await register.page(request)
        except TimeoutError:
            answer = plain(503, "the page took too long", RETRY)
        except Exception:
            log.exception("page failed", extra={"path": request.path})
            answer = plain(500, "the server has a fault; its log says which")
        self._answer(answer or _missing(request.path))

    def _answer(self, answer: Answer) -> None:
        """Write the answer and end our side; what the client still sends is dropped.

        Closing at once would reset a line on which a body is still under way, and the
        client would never see the answer.
        """
        self._busy = True
        self._register.past.answered[answer.status] += 1
        limits = self._register.limits
        data = serialize(answer, bodiless=self._bodiless)
        self._arm(limits.close_timeout + len(data) / limits.page_rate)
        if self._transport.is_closing():
            return
        self._transport.write(data)
        if self._transport.can_write_eof():
            self._transport.write_eof()
        else:
            self._transport.close()

    # --- ends -------------------------------------------------------------------------

    def _leave(self) -> None:
        self._cancel_timer()
        if self in self._register.doors:
            self._register.doors.remove(self)
            self._register.waiting.leave(self._counted)

    def abort(self) -> None:
        """Cut the line at once."""
        self._busy = True
        self._transport.abort()

    def _arm(self, delay: float) -> None:
        self._cancel_timer()
        self._timer = self._register.loop.call_later(delay, self.abort)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _missing(path: str) -> Answer:
    if path in SOCKET_PATHS:
        return plain(426, "this is a websocket", ("Upgrade", "websocket"))
    return plain(404, "there is no such page")


def _answer_of(response: Response) -> Answer:
    """Take over the refusal that the protocol wrote, with the headers it needs."""
    kept = ("upgrade", "allow")
    headers = [item for item in response.headers.raw_items() if item[0].lower() in kept]
    return Answer(response.status_code, bytes(response.body), headers=tuple(headers))


def _peer_address(transport: Transport) -> str:
    name = transport.get_extra_info("peername")
    try:
        return plain_address(name[0])
    except (TypeError, IndexError, ValueError):  # already gone, or no internet socket
        return "unknown"
