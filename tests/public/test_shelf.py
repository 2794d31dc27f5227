"""Pages are made once for each edition, however many look."""

import asyncio
import gzip
from typing import Any

import pytest

from server.public import render, shelf
from server.public.shelf import Shelf
from server.refusal import Refusal
from server.tournament import acts
from server.tournament.settings import Swiss
from tests.public.made import messages, told
from tests.tournament.told import Told, settings
from wire.codec import encode
from wire.lines import LiveLine, LiveRace
from wire.messages import Close
from wire.tournaments import Pairings, Progress

WAIT_S = 30.0


class Screen:
    """A page that is open somewhere."""

    def __init__(self) -> None:
        self.pushed: list[tuple[str, str]] = []
        self.closed: tuple[int, str] | None = None
        self._news = asyncio.Event()

    def send_latest(self, kind: str, data: bytes) -> None:
        self.pushed.append((kind, gzip.decompress(data).decode()))
        self._news.set()

    def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)

    async def until(self, kind: str, text: str) -> None:
        async with asyncio.timeout(WAIT_S):
            while not any(k == kind and text in t for k, t in self.pushed):
                self._news.clear()
                await self._news.wait()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that were made."""
    made: list[str] = []
    for name in ("board", "live", "tournament"):
        real: Any = getattr(render, name)

        def count(*args: Any, name: str = name, real: Any = real) -> Any:
            made.append(name)
            return real(*args)

        monkeypatch.setattr(render, name, count)
    monkeypatch.setattr(shelf, "PUSH_EVERY_S", 0.01)
    return made


def fill(on: Shelf, made: Told) -> None:
    """Show a tournament to a shelf, as a gallery does."""
    for message in messages(made):
        number = getattr(message, "round", 0) if isinstance(message, Pairings) else 0
        on.send_latest(f"{type(message).__name__.lower()} {number}", encode(message))


def cup() -> Told:
    return told(settings(Swiss(rounds=3)), ["ann", "bob", "cem", "dun"])


async def test_a_thousand_readers_of_an_edition_cost_one_computation(counted: list[str]) -> None:
    on = Shelf("CUP", lambda shelf: None)
    fill(on, cup())
    pages = await asyncio.gather(*(on.page() for _ in range(1000)))
    assert len({id(page) for page in pages}) == 1
    assert sorted(counted) == ["board", "live", "tournament"]


async def test_what_has_not_changed_is_not_made_again(counted: list[str]) -> None:
    on, made = Shelf("CUP", lambda shelf: None), cup()
    fill(on, made)
    first = await on.page()
    fill(on, made)
    assert await on.page() is first
    live = LiveRace(
        match="1.1", race=1, room="R", of=104, lines=[LiveLine("p000", 5, 9, 20, "playing")]
    )
    on.send_latest("progress", encode(Progress(tournament="CUP", races=[live])))
    second = await on.page()
    assert second is not first
    assert counted.count("board") == 1
    made.tell(*acts.decide_announce(made.t, "owner", "soup is ready"))
    fill(on, made)
    page = await on.page()
    assert page is not None
    assert b"soup is ready" in page.plain
    assert gzip.decompress(page.packed) == page.plain


async def test_open_pages_get_what_changes_and_only_that(counted: list[str]) -> None:
    on, made, screen = Shelf("CUP", lambda shelf: None), cup(), Screen()
    fill(on, made)
    on.enter(screen)
    await screen.until("board", "ann")
    await screen.until("live", "hidden")
    screen.pushed.clear()
    live = LiveRace(
        match="1.1", race=1, room="R", of=104, lines=[LiveLine("p000", 57, 9, 20, "playing")]
    )
    on.send_latest("progress", encode(Progress(tournament="CUP", races=[live])))
    await screen.until("live", "57 cards")
    assert [kind for kind, _ in screen.pushed] == ["live"]
    made.tell(*acts.decide_announce(made.t, "owner", "soup is ready"))
    fill(on, made)
    await screen.until("board", "soup is ready")
    assert [kind for kind, _ in screen.pushed] == ["live", "board"]
    on.exit(screen)
    on.close()


async def test_a_page_is_pushed_to_all_who_look_out_of_one_making(counted: list[str]) -> None:
    on, screens = Shelf("CUP", lambda shelf: None), [Screen() for _ in range(200)]
    for screen in screens:
        on.enter(screen)
    fill(on, cup())
    for screen in screens:
        await screen.until("board", "dun")
    assert counted.count("board") == 1
    late = Screen()
    on.enter(late)
    await late.until("board", "dun")
    await late.until("live", "hidden")
    assert all(len(screen.pushed) == 2 for screen in screens)
    on.close()


async def test_an_empty_shelf_has_no_page() -> None:
    assert await Shelf("CUP", lambda shelf: None).page() is None


async def test_an_arena_fills_no_memory_with_its_rounds() -> None:
    on = Shelf("CUP", lambda shelf: None)
    fill(on, cup())
    for number in range(2, 500):
        on.send_latest(f"pairings {number}", b"%d" % number)
    kept = [kind for kind in on._frames if kind.startswith("pairings")]
    assert len(kept) == shelf.ROUNDS
    assert "pairings 499" in kept


async def test_what_is_not_kept_up_any_more_is_not_left_standing() -> None:
    cleared: list[Shelf] = []
    on, made, screen = Shelf("CUP", cleared.append), cup(), Screen()
    fill(on, made)
    on.enter(screen)
    await screen.until("board", "ann")
    on.lost(Refusal("unreadable-tournament", "This server cannot read tournament CUP."))
    assert screen.closed == (Close.OVERLOAD, "This server cannot read tournament CUP.")
    assert cleared == [on]
    assert on.is_gone
