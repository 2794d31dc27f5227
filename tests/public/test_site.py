"""The public pages of a real node, over plain HTTP and the websockets of open pages."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from server.app import Node
from server.hall import Hall
from server.halls import Halls
from server.refusal import Refusal
from tests.server.fair import RACE, Bot, Organiser, bots, settings
from tests.server.floor import Someone, node, until
from wire import acts as a
from wire import tournaments as w
from wire.formats import Single, Swiss, TournamentSettings
from wire.messages import Close

WAIT_S = 30.0


@asynccontextmanager
async def cup(
    store_url: str, players: int, chosen: TournamentSettings | None = None
) -> AsyncIterator[tuple[Node, Organiser, list[Bot], httpx.AsyncClient]]:
    """A node, a tournament on it with players who have entered, and somebody with a browser."""
    async with node(store_url) as made, bots([made.port], players) as entered:
        boss = await Someone.arrive(made.port, "boss")
        organiser = await Organiser.open(boss, chosen or settings(Single()))
        for each in entered:
            await each.line.say(w.Enter(tournament=organiser.code))
            await each.line.hear(w.Place)
        url = f"http://127.0.0.1:{made.port}"
        async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
            yield made, organiser, entered, client
        await boss.go()


async def shows(client: httpx.AsyncClient, path: str, text: str) -> None:
    """Wait until a page has a text."""

    async def is_there() -> bool:
        return text in (await client.get(path)).text

    await until(is_there)


async def test_a_tournament_has_a_page_from_its_first_entry_to_its_end(store_url: str) -> None:
    async with cup(store_url, 3) as (_, organiser, _, client):
        path = f"/t/{organiser.code}"
        answer = await client.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        await shows(client, path, "p2")
        assert "not started" in answer.text
        await organiser.line.say(w.Visit(tournament=organiser.code))
        await organiser.direct(a.Begin())
        await organiser.over()
        await shows(client, path, "finished")
        page = (await client.get(path)).text
        assert "<svg" in page
        assert "Round 2" in page
        first = await client.get(f"{path}/round/1")
        assert "Round 1" in first.text
        stage = await client.get(f"{path}/stage/1")
        assert "Stage 1" in stage.text
        assert (await client.get(f"{path}/round/9")).status_code == 404
        assert (await client.get(f"{path}/stage/2")).status_code == 404


async def test_the_code_may_be_typed_in_small_letters(store_url: str) -> None:
    async with cup(store_url, 0) as (_, organiser, _, client):
        assert (await client.get(f"/t/{organiser.code.lower()}")).status_code == 200


@pytest.mark.parametrize("path", ["/t/NOSUCH", "/t/NOSUCH/round/1"])
async def test_a_tournament_that_is_not_there_is_said_so(store_url: str, path: str) -> None:
    async with cup(store_url, 0) as (_, _, _, client):
        answer = await client.get(path)
        assert answer.status_code == 404
        assert "There is no tournament NOSUCH." in answer.text


@pytest.mark.parametrize(
    "path", ["/t/../x", "/t/A/rounds/1", "/t/A/round/0", "/t/A/round/x", "/t/<b>", "/t/A/live"]
)
async def test_other_paths_are_not_found(store_url: str, path: str) -> None:
    async with cup(store_url, 0) as (_, _, _, client):
        assert (await client.get(path)).status_code == 404


async def test_every_page_has_its_guards_and_loads_nothing_from_elsewhere(store_url: str) -> None:
    async with cup(store_url, 0) as (_, organiser, _, client):
        for path in ("/t", f"/t/{organiser.code}", "/t/NOSUCH"):
            answer = await client.get(path)
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none';")
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "http:" not in answer.text
            assert "https:" not in answer.text


async def test_the_files_beside_a_page_are_kept_for_ever_by_their_name(store_url: str) -> None:
    async with cup(store_url, 0) as (_, organiser, _, client):
        page = (await client.get(f"/t/{organiser.code}")).text
        for start, kind in (('href="', "text/css"), ('src="', "text/javascript")):
            path = page.split(start + "/t/-/")[1].split('"')[0]
            answer = await client.get(f"/t/-/{path}")
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith(kind)
            assert "immutable" in answer.headers["cache-control"]


async def test_a_page_that_has_not_changed_is_not_sent_again(store_url: str) -> None:
    async with cup(store_url, 2) as (_, organiser, _, client):
        path = f"/t/{organiser.code}"
        await shows(client, path, "p1")
        first = await client.get(path)
        again = await client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        await organiser.direct(a.Announce(text="soup is ready"))
        await shows(client, path, "soup is ready")
        third = await client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert third.status_code == 200


async def test_a_page_is_packed_for_those_who_can_unpack_it(store_url: str) -> None:
    async with cup(store_url, 2) as (_, organiser, _, client):
        path = f"/t/{organiser.code}"
        await shows(client, path, "p1")
        plain = await client.get(path, headers={"Accept-Encoding": "identity"})
        packed = await client.get(path, headers={"Accept-Encoding": "gzip"})
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.text == plain.text
        assert int(packed.headers["content-length"]) < len(plain.content)
        assert packed.headers["etag"] != plain.headers["etag"]
        assert packed.headers["vary"] == "Accept-Encoding"


async def test_the_list_has_the_public_tournaments_only(store_url: str) -> None:
    async with cup(store_url, 1) as (made, organiser, _, client):
        boss = await Someone.arrive(made.port, "quiet")
        await boss.say(w.Organise(settings=settings(Swiss()), public=False))
        hidden = (await boss.hear(w.Organised)).tournament
        listed = (await client.get("/t")).text
        assert f"/t/{organiser.code}" in listed
        assert hidden not in listed
        assert (await client.get(f"/t/{hidden}")).status_code == 200
        await boss.go()


# --- open pages -------------------------------------------------------------------------


def look(made: Node, code: str, **options: Any) -> connect:
    return connect(
        f"ws://127.0.0.1:{made.port}/t/{code}/live", proxy=None, compression=None, **options
    )


async def pushed(socket: ClientConnection, text: str) -> str:
    """Wait for a push with a text in it."""
    async with asyncio.timeout(WAIT_S):
        while True:
            data = await socket.recv()
            assert isinstance(data, bytes)
            html = gzip.decompress(data).decode()
            if text in html:
                return html


async def test_an_open_page_is_pushed_all_at_first_and_then_what_changes(store_url: str) -> None:
    async with (
        cup(store_url, 2) as (made, organiser, _, _),
        look(made, organiser.code, origin="https://club.example") as socket,
    ):
        await pushed(socket, "p1")
        await organiser.direct(a.Announce(text="soup is ready"))
        await pushed(socket, "soup is ready")
        await organiser.line.say(w.Visit(tournament=organiser.code))
        await organiser.direct(a.Begin())
        await organiser.over()
        await pushed(socket, "finished")


async def test_who_talks_to_an_open_page_is_sent_away(store_url: str) -> None:
    async with cup(store_url, 0) as (made, organiser, _, _):
        async with look(made, organiser.code) as socket:
            await socket.send(b"let me in")
            with pytest.raises(ConnectionClosed):
                await pushed(socket, "no such text")
        assert socket.close_code == Close.POLICY


async def test_the_page_of_no_tournament_is_closed(store_url: str) -> None:
    async with cup(store_url, 0) as (made, _, _, _):
        async with look(made, "NOSUCH") as socket:
            with pytest.raises(ConnectionClosed):
                await asyncio.wait_for(socket.recv(), WAIT_S)
        assert socket.close_code == Close.POLICY


async def test_nothing_is_left_of_pages_that_nobody_looks_at(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.public.site.KEPT_S", 0.05)
    monkeypatch.setattr("server.foyer.LINGER_S", 0.05)
    monkeypatch.setattr("server.holding.UNLOAD_AFTER_S", 0.05)
    monkeypatch.setattr("server.public.shelf.PUSH_EVERY_S", 0.02)
    async with cup(store_url, 0) as (made, organiser, _, client):
        for _ in range(20):
            await client.get(f"/t/{organiser.code}")
            async with look(made, organiser.code) as socket:
                await pushed(socket, "head")

        async def is_gone() -> bool:
            return not made._site._shelves and not len(made._halls)

        await until(is_gone)
        assert not made._site._idle
        assert not made._site._tasks


async def test_the_public_sees_nothing_before_its_time(store_url: str) -> None:
    late = settings(Single(), race=replace(RACE, spectators="scores", delay_s=600))
    async with cup(store_url, 2, late) as (made, organiser, entered, client):
        await organiser.line.say(w.Visit(tournament=organiser.code, key=organiser.keys.owner))
        await organiser.direct(a.Announce(text="only for later"))
        await organiser.direct(a.Begin())
        await organiser.over()
        page = (await client.get(f"/t/{organiser.code}")).text
        for secret in ("finished", "only for later", "p0", "p1", "cards home", 'class="over"'):
            assert secret not in page
        assert (await client.get(f"/t/{organiser.code}/round/1")).status_code == 404
        async with look(made, organiser.code) as socket:
            assert "p0" not in await pushed(socket, "head")


async def test_a_page_whose_tournament_cannot_be_read_any_more_is_not_left_standing(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cup(store_url, 2) as (made, organiser, _, client):
        path = f"/t/{organiser.code}"
        assert (await client.get(path)).status_code == 200
        page = await look(made, organiser.code)
        read = Halls._read

        async def refuse(halls: Halls, code: str) -> Hall:
            raise Refusal("unreadable-tournament", f"This server cannot read tournament {code}.")

        monkeypatch.setattr(Halls, "_read", refuse)
        async with made._halls.held(organiser.code) as hall:
            hall.failed = True
            hall._broken()
        async with asyncio.timeout(WAIT_S):
            await page.wait_closed()
        assert page.close_code == Close.OVERLOAD
        answer = await client.get(path)
        assert answer.status_code == 503
        assert "cannot read" in answer.text
        monkeypatch.setattr(Halls, "_read", read)
        assert (await client.get(path)).status_code == 200
