"""A client without a player at it: opens rooms, starts races, fetches what is left of them."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from client import model
from client.identity import Identity
from client.line import Line
from client.link import Heard, Link
from client.model import State
from wire.messages import (
    STORE_WAIT_S,
    ClientMessage,
    Create,
    Error,
    Journal,
    Record,
    Refused,
    Room,
    ServerMessage,
    Spectate,
    Standings,
    Start,
)
from wire.values import Settings

M = TypeVar("M", bound=ServerMessage)

ANSWER_LIMIT = STORE_WAIT_S + 5.0  # seconds for the server to answer a request


class OrganiserFailed(Exception):
    """The server would not do it; the text says why, and the code too where there is one."""

    def __init__(self, why: str, code: str = "") -> None:
        super().__init__(why)
        self.code = code


class Organiser:
    """A link whose messages are waited for, one request after another."""

    def __init__(self, url: str, identity: Identity, name: str | None) -> None:
        self.state = State()
        self.url = url
        self._is_new = True  # nothing was heard from the server so far
        self._heard: asyncio.Queue[Heard] = asyncio.Queue()
        self._link = Link(url, identity, self._heard.put_nowait, name=name, patience=20.0)
        self._run: asyncio.Task[Line] | None = None

    async def __aenter__(self) -> "Organiser":
        self._run = asyncio.create_task(self._link.run(), name="organiser-link")
        try:
            await self.until(lambda state: state.player != "", ANSWER_LIMIT)
        except OrganiserFailed:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._link.close()
        if self._run is not None:
            await self._run

    async def open_room(self, settings: Settings, *, play: bool) -> Room:
        """Open a room, with a seat in it or without."""
        return await self._answer(Create(settings=settings, play=play), Room)

    async def start(self) -> None:
        """Start the race."""
        self._link.send(Start())
        await self.until(lambda state: state.room is not None and state.room.phase != "open")

    async def standings(self, limit: float) -> Standings:
        """Wait for the race to be over."""
        await self.until(lambda state: state.standings is not None, limit)
        assert self.state.standings is not None
        return self.state.standings

    async def published(self, room: str, password: str = "") -> Standings | None:
        """Give the standings of a finished race, None where they cannot be looked at."""
        try:
            await self._answer(Spectate(room=room, password=password), Room)
            return await self.standings(ANSWER_LIMIT)
        except OrganiserFailed:
            return None

    async def record(self, room: str) -> list[str]:
        """Fetch the whole journal of a finished race."""
        entries: list[str] = []
        while True:
            page = await self._answer(Record(room=room, start=len(entries)), Journal)
            entries.extend(page.entries)
            if len(entries) >= page.total or not page.entries:
                return entries

    async def until(self, is_so: Callable[[State], bool], limit: float = ANSWER_LIMIT) -> None:
        """Wait until the state is so.

        Raises:
            OrganiserFailed: the line or the time is over, or the server refused something.
        """
        try:
            async with asyncio.timeout(limit):
                while not is_so(self.state):
                    self._take(await self._heard.get())
        except TimeoutError:
            raise self._unanswered(limit) from None

    async def _answer(self, request: ClientMessage, kind: type[M]) -> M:
        self._link.send(request)
        try:
            async with asyncio.timeout(ANSWER_LIMIT):
                while True:
                    heard = self._take(await self._heard.get())
                    if isinstance(heard, kind):
                        return heard
        except TimeoutError:
            raise self._unanswered(ANSWER_LIMIT) from None

    def _unanswered(self, limit: float) -> OrganiserFailed:
        """Give the failure when time is up, with what is known of the line."""
        why = self.state.line.why if self.state.line.status == "waiting" else ""
        if self.state.store_waits or self.state.line.status == "held up":
            why = "it is there, and may be waiting for its store"
        return OrganiserFailed(
            f"the server did not answer in {limit:.0f} s" + (f": {why}" if why else "")
        )

    def _take(self, heard: Heard) -> Heard:
        if isinstance(heard, Line):
            self.state = model.lined(self.state, heard)
            if heard.status == "ended":
                raise OrganiserFailed(self._named(heard.why))
            if heard.status == "waiting" and self._is_new and not heard.is_answered:
                raise OrganiserFailed(self._named(heard.why))
        else:
            self._is_new = False
            self.state = model.heard(self.state, heard, time.monotonic())
        if isinstance(heard, Refused) or (isinstance(heard, Error) and is_answer(heard)):
            raise OrganiserFailed(heard.reason, heard.code)
        return heard

    def _named(self, why: str) -> str:
        return why if self.url in why else f"{self.url}: {why}"


def is_answer(error: Error) -> bool:
    """Whether a request failed by it; after a bad hello the closing says more."""
    return error.code == "bad-frame" or error.re not in ("", "hello")
