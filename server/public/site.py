"""Answers requests for the public pages, and lets open pages have what changes."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Final

from server import bulletin
from server.foyer import Foyer
from server.gateway import Answer, Handler, PageRequest, Peer
from server.halls import Halls
from server.public import render
from server.public.sheet import Sheet
from server.public.shelf import Sheets, Shelf, printed
from server.refusal import Refusal
from server.store import Unavailable
from server.tournament import Tournament
from wire.messages import Close

log = logging.getLogger("dk.public")

HTML: Final = "text/html; charset=utf-8"
KEPT_S: Final = 30.0  # a tournament that nobody asks for any more
LIST_S: Final = 2.0  # how old the list may be
LARGE: Final = 1_000  # bytes from which it is worth packing
EXTRA: Final = 64  # pages of rounds and stages kept

SECURITY: Final = (
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("Referrer-Policy", "no-referrer"),
)
FRESH: Final = ("Cache-Control", "no-cache")
FOR_EVER: Final = ("Cache-Control", "public, max-age=31536000, immutable")

_PATH: Final = re.compile(
    r"/t/([0-9A-Za-z]{1,12})(?:/(round|stage|live)(?:/([1-9][0-9]{0,5}))?)?/?"
)


class Site:
    """The public pages of this node."""

    def __init__(self, halls: Halls, foyer: Foyer) -> None:
        self._halls = halls
        self._foyer = foyer
        self._files = {
            path: (kind, printed(data)) for path, (kind, data) in render.static_files().items()
        }
        self._shelves: dict[str, asyncio.Task[Shelf]] = {}
        self._idle: dict[str, asyncio.TimerHandle] = {}
        self._list: Sheets | None = None
        self._list_until = 0.0
        self._listing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    # --- plain requests ---------------------------------------------------------------

    async def answer(self, request: PageRequest) -> Answer | None:
        """Answer a request; None for a path that is none of these pages'."""
        path = request.path
        if path in self._files:
            kind, file = self._files[path]
            return _answer(request, file, kind, FOR_EVER)
        if path.rstrip("/") == "/t":
            return await self._guarded(request, self._programme)
        found = _PATH.fullmatch(path)
        if found is None or found[2] == "live":
            return None
        code, part, number = found[1].upper(), found[2], int(found[3] or 0)
        if part is None:
            return await self._guarded(request, lambda: self._page(code))
        return await self._guarded(request, lambda: self._extra(code, part, number))

    async def _guarded(
        self, request: PageRequest, make: Callable[[], Awaitable[Sheets | None]]
    ) -> Answer:
        try:
            page = await make()
        except (Refusal, Unavailable) as error:
            return _refused(error)
        if page is None:
            return _page_of(404, "Not here", "There is no such page of this tournament.")
        return _answer(request, page, HTML, FRESH)

    async def _programme(self) -> Sheets:
        loop = asyncio.get_running_loop()
        async with self._listing:
            if self._list is None or loop.time() >= self._list_until:
                lines = await self._halls.programme()
                self._list = await asyncio.to_thread(lambda: printed(render.listing(lines)))
                self._list_until = loop.time() + LIST_S
            return self._list

    async def _page(self, code: str) -> Sheets | None:
        return await (await self._shelf(code)).page()

    async def _extra(self, code: str, part: str, number: int) -> Sheets | None:
        """Give the page of a round or of a stage, which the tournament's page does not show."""
        shelf = await self._shelf(code)
        sheet = await shelf.sheet()
        if sheet is None:
            return None
        path, version = f"{part} {number}", sheet.tournament.version
        kept = shelf.extra.get(path)
        if kept is None or kept[0] != version:
            async with self._halls.held(code) as hall:
                state = await self._foyer.state(hall, "public")
            made = await asyncio.to_thread(_extra, state.fork(), sheet, part, number)
            kept = shelf.extra[path] = (version, made)
            if len(shelf.extra) > EXTRA:
                del shelf.extra[next(iter(shelf.extra))]
        return kept[1]

    # --- open pages -------------------------------------------------------------------

    def stand(self, path: str) -> Callable[[Peer], Handler] | None:
        """Give what serves the websocket of an open page; None for any other path."""
        found = _PATH.fullmatch(path)
        if found is None or found[2] != "live" or found[3]:
            return None
        code = found[1].upper()
        return lambda peer: OpenPage(peer, code, self)

    def open(self, page: "OpenPage") -> None:
        """Begin to push to a page, in a task of its own."""
        task = asyncio.create_task(self._open(page), name=f"open page of {page.code}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _open(self, page: "OpenPage") -> None:
        try:
            shelf = await self._shelf(page.code)
        except (Refusal, Unavailable) as error:
            gone = isinstance(error, Refusal) and error.code == "no-tournament"
            page.peer.close(Close.POLICY if gone else Close.OVERLOAD, str(error))
            return
        if not page.is_closed:
            page.shelf = shelf
            shelf.enter(page.peer)

    def left(self, page: "OpenPage") -> None:
        """Push nothing more to a page."""
        if page.shelf is not None:
            page.shelf.exit(page.peer)
            self._keep(page.code)

    # --- shelves ----------------------------------------------------------------------

    async def _shelf(self, code: str) -> Shelf:
        """Give a tournament's shelf, filled.

        Raises:
            Refusal: there is no such tournament, or the store does not answer.
        """
        task = self._shelves.get(code)
        if task is None:
            task = asyncio.create_task(self._fill(code), name=f"fill {code}")
            self._shelves[code] = task
        try:
            return await asyncio.shield(task)
        except BaseException:
            if task.done() and self._shelves.get(code) is task and not _is_filled(task):
                del self._shelves[code]
            raise
        finally:
            self._keep(code)

    async def _fill(self, code: str) -> Shelf:
        shelf = Shelf(code, self._lost)
        await self._foyer.visit(code, shelf, "public")
        return shelf

    def _lost(self, shelf: Shelf) -> None:
        task = self._shelves.get(shelf.code)
        if task is not None and _is_filled(task) and task.result() is shelf:
            del self._shelves[shelf.code]

    def _keep(self, code: str) -> None:
        """Keep a shelf for a while from now on."""
        handle = self._idle.pop(code, None)
        if handle is not None:
            handle.cancel()
        if code in self._shelves:
            loop = asyncio.get_running_loop()
            self._idle[code] = loop.call_later(KEPT_S, self._clear, code)

    def _clear(self, code: str) -> None:
        self._idle.pop(code, None)
        task = self._shelves.get(code)
        if task is None or not _is_filled(task):
            self._shelves.pop(code, None)
        elif task.result().viewers:
            self._keep(code)
        else:
            del self._shelves[code]
            task.result().close()
            self._foyer.depart(code, task.result())

    def close(self) -> None:
        """Let go of everything."""
        for handle in self._idle.values():
            handle.cancel()
        for task in (*self._shelves.values(), *self._tasks):
            task.cancel()
        for task in self._shelves.values():
            if _is_filled(task):
                task.result().close()


class OpenPage:
    """The websocket of a page that is open somewhere; nothing that it says is heeded."""

    def __init__(self, peer: Peer, code: str, site: Site) -> None:
        self.peer = peer
        self.code = code
        self.shelf: Shelf | None = None
        self.is_closed = False
        self._site = site
        site.open(self)

    def received(self, data: bytes) -> None:
        """Send away who talks."""
        self.peer.close(Close.POLICY, "there is nothing to say here")

    def closed(self, code: int) -> None:
        """Push nothing more."""
        self.is_closed = True
        self._site.left(self)


def _is_filled(task: "asyncio.Task[Shelf]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def _extra(t: Tournament, sheet: Sheet, part: str, number: int) -> Sheets | None:
    """Make the page of a round, from 1, or of a stage, from 1."""
    page: bytes | None = None
    if part == "round" and 1 <= number <= len(t.rounds):
        on = bulletin.pairings(t, number)
        page = render.one_round(_with(sheet, pairings={number: on}), number)
    elif part == "stage" and 1 <= number <= len(t.stages):
        ranking, bracket = bulletin.ranking(t, number - 1), bulletin.bracket(t, number - 1)
        brackets = {number - 1: bracket} if bracket is not None else {}
        shown = _with(sheet, rankings={number - 1: ranking}, brackets=brackets)
        page = render.stage(shown, number - 1)
    return printed(page) if page is not None else None


def _with(sheet: Sheet, **parts: object) -> Sheet:
    return Sheet(sheet.tournament, sheet.entrants, **parts)  # type: ignore[arg-type]


def _answer(request: PageRequest, page: Sheets, kind: str, caching: tuple[str, str]) -> Answer:
    headers = [*SECURITY, caching, ("Vary", "Accept-Encoding")]
    packs = "gzip" in request.headers.get("accept-encoding", "") and len(page.plain) >= LARGE
    mark = f'"{page.mark}{"-z" if packs else ""}"'
    headers.append(("ETag", mark))
    if mark in request.headers.get("if-none-match", ""):
        return Answer(304, b"", kind, tuple(headers))
    if packs:
        headers.append(("Content-Encoding", "gzip"))
    return Answer(200, page.packed if packs else page.plain, kind, tuple(headers))


def _refused(error: Refusal | Unavailable) -> Answer:
    if isinstance(error, Refusal) and error.code == "no-tournament":
        return _page_of(404, "Not here", error.reason)
    why = error.reason if isinstance(error, Refusal) else "The store does not answer."
    return _page_of(503, "Not now", why, ("Retry-After", "5"))


def _page_of(status: int, heading: str, text: str, *headers: tuple[str, str]) -> Answer:
    body = render.nothing(heading, text)
    return Answer(status, body, HTML, (*SECURITY, ("Cache-Control", "no-store"), *headers))
