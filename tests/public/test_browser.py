"""The public pages in a real browser: with and without scripts, on a projector and a phone."""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from server.app import Node
from server.gateway import Peer
from server.public.site import OpenPage
from tests.public.browser import Page, browser, needs_browser
from tests.public.test_site import cup
from tests.server.fair import Bot, settings
from tests.server.floor import until
from wire import acts as a
from wire import messages as m
from wire import tournaments as w
from wire.formats import Double, Single, StageSettings, Swiss

pytestmark = needs_browser

NASTY = "<img src=x onerror=document.title='broken'>"[:40]


async def slow(bot: Bot) -> None:
    """Join the race that calls, in the bot's place, and play a move now and then."""
    bot._task.cancel()
    call = await bot.line.hear(w.Called)
    await bot.line.say(m.Join(room=call.room))
    await bot.line.hear(m.Board)
    for n in range(1, 400):
        mark = len(bot.line.heard)
        await bot.line.say(m.Hint())
        hints = await bot.line.since(mark, m.Hints)
        if hints is None:
            return
        best = max(hints.moves, key=lambda text: (text.endswith(">f"), text[0].isdigit()))
        await bot.line.say(m.Move(n=n, m=best))
        await asyncio.sleep(0.02)


def open_pages(made: Node) -> list[Peer]:
    """The connections of pages that are open somewhere."""
    return [peer for peer in made._gateway.peers if isinstance(peer._handler, OpenPage)]


async def test_an_open_page_follows_the_tournament_by_itself(
    store_url: str, tmp_path: Path
) -> None:
    chosen = settings(Single(), title=NASTY)
    async with cup(store_url, 4, chosen) as (made, organiser, bots, _), browser(tmp_path) as page:
        await page.resize(1920, 1080)
        await page.visit(f"http://127.0.0.1:{made.port}/t/{organiser.code}")
        await page.until("document.querySelectorAll('.players li').length == 4")
        assert NASTY in await page.text("h1")
        await page.run("window.stays = true")
        races = [asyncio.create_task(slow(bot)) for bot in bots]
        await organiser.direct(a.Begin())
        await page.until("document.querySelectorAll('#bracket .called').length == 2")
        await page.until("document.querySelectorAll('#live .race').length == 2")
        await page.until("document.querySelector('#live meter').value > 0")
        await organiser.direct(a.Announce(text="soup is ready"))
        await page.until("document.querySelector('#notices').innerText.includes('soup')")
        await organiser.direct(a.Cancel(), why="fire alarm")
        await page.until("document.querySelector('.phase').innerText == 'cancelled'")
        for race in races:
            race.cancel()
        await asyncio.gather(*races, return_exceptions=True)
        assert await page.run("window.stays"), "the page was loaded again"
        assert await page.run("document.title") == NASTY
        assert page.faults == []


async def test_a_page_says_when_it_has_lost_the_server_and_comes_back_by_itself(
    store_url: str, tmp_path: Path
) -> None:
    async with cup(store_url, 1) as (made, organiser, _, _), browser(tmp_path) as page:
        await page.visit(f"http://127.0.0.1:{made.port}/t/{organiser.code}")
        await page.until("document.getElementById('line').hidden")
        await page.until("document.querySelector('.players')")

        async def is_open() -> bool:
            return bool(open_pages(made))

        await until(is_open)
        for peer in open_pages(made):
            peer.abort()
        await page.until("!document.getElementById('line').hidden")
        assert "No connection" in await page.text("#line")
        await organiser.direct(a.Announce(text="soup is ready"))
        await page.until("document.getElementById('line').hidden")
        await page.until("document.querySelector('#notices').innerText.includes('soup')")


async def test_without_scripts_the_page_shows_all_but_what_changes(
    store_url: str, tmp_path: Path
) -> None:
    async with cup(store_url, 4) as (made, organiser, _, _), browser(tmp_path) as page:
        await organiser.line.say(w.Visit(tournament=organiser.code))
        await organiser.direct(a.Begin())
        await organiser.over()
        await page.without_scripts()
        await page.visit(f"http://127.0.0.1:{made.port}/t/{organiser.code}")
        shown = await page.text("main")
        for text in ("finished", "Standings", "Bracket", "Round 2", "UTC"):
            assert text in shown
        assert await page.run("document.querySelectorAll('#bracket .box').length") == 3
        assert page.faults == []


STAGES = [
    StageSettings(play=Swiss(rounds=1), qualify=4),
    StageSettings(play=Double(final="single")),
]
SCREENS = [(1920, 1080, 20), (390, 844, 16), (320, 480, 16)]  # and the least size of letters


async def fits(page: Page) -> None:
    """See that nothing makes the page wider than any screen, and that it can be read."""
    for width, height, letters in SCREENS:
        await page.resize(width, height, phone=width < 1000)
        assert await page.run("document.documentElement.scrollWidth <= innerWidth")
        size = await page.run("parseFloat(getComputedStyle(document.body).fontSize)")
        assert size >= letters


async def test_pages_fit_a_projector_and_a_phone(store_url: str, tmp_path: Path) -> None:
    chosen = replace(settings(), title="Seventeen signs!!" * 2, stages=STAGES)
    async with cup(store_url, 6, chosen) as (made, organiser, _, _), browser(tmp_path) as page:
        path = f"http://127.0.0.1:{made.port}/t/{organiser.code}"
        await page.visit(f"http://127.0.0.1:{made.port}/t")
        await fits(page)
        await page.visit(path)
        await fits(page)
        await organiser.line.say(w.Visit(tournament=organiser.code))
        await organiser.direct(a.Begin())
        await page.until("document.querySelector('#pairings li')")
        await fits(page)
        await page.until("document.querySelector('#bracket svg')")
        await fits(page)
        await organiser.over()
        await page.visit(f"{path}/stage/1")
        await fits(page)
