"""One tournament's pages as they stand: made once for each edition, however many look."""

import asyncio
import gzip
import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from server.public import render
from server.public.sheet import Sheet, collect
from server.refusal import Refusal
from wire.codec import decode_server
from wire.messages import Close

log = logging.getLogger("dk.public")

GATHER_S: Final = 0.05  # what has changed together comes in several messages
PUSH_EVERY_S: Final = 1.0
ROUNDS: Final = 24  # kept; an arena has very many
PACKING: Final = 6  # of gzip: a good third of the time of 9 for a hundredth more bytes


class Viewer(Protocol):
    """A page that is open somewhere and wants what changes."""

    def send_latest(self, kind: str, data: bytes) -> None:
        """Send what a newer one of its kind replaces."""

    def close(self, code: int, reason: str) -> None:
        """End: nothing is pushed any more."""


@dataclass(frozen=True, slots=True)
class Sheets:
    """A page in both forms that are sent, and the mark of its content."""

    plain: bytes
    packed: bytes
    mark: str


def printed(page: bytes) -> Sheets:
    """Make ready what is sent for a page."""
    return Sheets(page, _packed(page), hashlib.sha256(page).hexdigest()[:24])


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, PACKING, mtime=0)  # no time: the same bytes for the same page


@dataclass(slots=True)
class _Made:
    """What was made of one edition of the parts."""

    sheet: Sheet | None = None
    board: str = ""
    live: str = ""
    board_of: int = -1  # the editions they were made of
    live_of: int = -1
    page: Sheets | None = None  # until something else is made
    packed: dict[str, bytes] = field(default_factory=dict)  # of open pages, by section


class Shelf:
    """Takes what a visitor is sent, and makes pages of it."""

    def __init__(self, code: str, clear: Callable[["Shelf"], None]) -> None:
        """`clear` hears that this one is not kept up any more."""
        self.code = code
        self._clear = clear
        self.is_gone = False  # for whoever shows it the tournament
        self.viewers: set[Viewer] = set()
        self.extra: dict[str, tuple[int, Sheets | None]] = {}  # other pages, by path and version
        self._frames: dict[str, bytes] = {}
        self._board = 0  # edition of everything but the live scores
        self._live = 0
        self._made = _Made()
        self._making = asyncio.Lock()
        self._new: set[Viewer] = set()  # of the viewers: nothing was pushed to them yet
        self._pushed = (0, 0)  # the editions that all others have
        self._task: asyncio.Task[None] | None = None

    # --- in ---------------------------------------------------------------------------

    def send_latest(self, kind: str, data: bytes) -> None:
        """Take a part of the tournament in."""
        if self._frames.get(kind) == data:
            return
        self._frames[kind] = data
        if kind == "progress":
            self._live += 1
        else:
            self._board += 1
            self._forget_rounds()
        self._wake()

    def _forget_rounds(self) -> None:
        rounds = [kind for kind in self._frames if kind.startswith("pairings ")]
        if len(rounds) > ROUNDS:
            del self._frames[min(rounds, key=lambda kind: int(kind.partition(" ")[2]))]

    # --- out --------------------------------------------------------------------------

    def enter(self, viewer: Viewer) -> None:
        """Push everything to a page from now on."""
        self.viewers.add(viewer)
        self._new.add(viewer)
        self._wake()

    def exit(self, viewer: Viewer) -> None:
        """Push nothing more."""
        self.viewers.discard(viewer)
        self._new.discard(viewer)

    async def page(self) -> Sheets | None:
        """Give the tournament's page; None while there is nothing to show."""
        async with self._making:
            made = await self._make()
            if made.sheet is None:
                return None
            if made.page is None:
                made.page = await asyncio.to_thread(_page, made.sheet, made.board, made.live)
            return made.page

    async def sheet(self) -> Sheet | None:
        """Give what there is to show."""
        async with self._making:
            return (await self._make()).sheet

    async def _make(self) -> _Made:
        """Make what has changed; held by `_making`, so that it is made once."""
        made, board, live = self._made, self._board, self._live
        if (made.board_of, made.live_of) != (board, live):
            frames = dict(self._frames)
            again = made.board_of != board
            fresh = await asyncio.to_thread(_make, frames, None if again else made.board)
            fresh.board_of, fresh.live_of = board, live
            self._made = fresh
        return self._made

    def _wake(self) -> None:
        if self.viewers and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._push(), name=f"pages of {self.code}")

    async def _push(self) -> None:
        await asyncio.sleep(GATHER_S)
        while self.viewers and (self._new or self._pushed != (self._board, self._live)):
            try:
                await self._push_once()
            except Exception:
                log.exception("page failed", extra={"tournament": self.code})
                return
            await asyncio.sleep(PUSH_EVERY_S)

    async def _push_once(self) -> None:
        async with self._making:
            made = await self._make()
            if not made.packed:
                made.packed = await asyncio.to_thread(_pack_all, made)
        board, live = self._pushed
        self._pushed = (made.board_of, made.live_of)
        news = {"board": made.board_of != board, "live": made.live_of != live}
        new, self._new = self._new, set()
        for kind, data in made.packed.items():
            for viewer in self.viewers if news[kind] else new:
                viewer.send_latest(kind, data)

    def lost(self, refusal: Refusal) -> None:
        """Send everybody away: whoever asks again has a new shelf filled, or hears why not.

        An open page says meanwhile that what it shows may be old.
        """
        for viewer in tuple(self.viewers):
            viewer.close(Close.OVERLOAD, refusal.reason)
        self.close()
        self._clear(self)

    def close(self) -> None:
        """Let go of everything."""
        self.is_gone = True
        if self._task is not None:
            self._task.cancel()


def _make(frames: dict[str, bytes], board: str | None) -> _Made:
    messages = [message for data in frames.values() if (message := decode_server(data))]
    sheet = collect(messages)
    if sheet is None:
        return _Made()
    return _Made(sheet, render.board(sheet) if board is None else board, render.live(sheet))


def _page(sheet: Sheet, board: str, live: str) -> Sheets:
    return printed(render.tournament(sheet, board, live))


def _pack_all(made: _Made) -> dict[str, bytes]:
    texts = {"board": made.board, "live": made.live}
    return {kind: _packed(text.encode()) for kind, text in texts.items() if text}
