"""Whoever looks at a tournament, or plays in it, does so whatever becomes of its hall."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable

import pytest

from server import foyer as foyers
from server.foyer import Foyer
from server.gallery import Showing
from server.hall import Hall
from server.halls import Halls
from server.refusal import Refusal
from server.store import Store, Unavailable, keys
from server.tournament import events as ev
from server.tournament.acts import decide_start
from server.tournament.around import Around
from tests.server.fair import settings
from tests.server.floor import until
from tests.server.onlookers import Visitor, announce, enter
from tests.server.stage import Crew
from wire import tournaments as w
from wire.formats import Single


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    made = await Store.open(store_url)
    yield made
    await made.close()


@pytest.fixture
async def crew(store: Store) -> AsyncIterator[Crew]:
    made = Crew(store)
    yield made
    await made.close()


@pytest.fixture
async def foyer(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Foyer]:
    monkeypatch.setattr(foyers, "AGAIN_AFTER_S", 0.02)
    monkeypatch.setattr(foyers, "LONGEST_PAUSE_S", 0.05)
    monkeypatch.setattr("server.gallery.SHOW_EVERY_S", 0.01)
    made = Foyer(crew.store, crew.halls, crew.director, crew.steward)
    yield made
    made.close()


@pytest.fixture
async def code(crew: Crew) -> str:
    return (await crew.halls.open(settings(Single()), public=True)).tournament


async def announced(crew: Crew, code: str, text: str) -> None:
    """Have an announcement in the journal, whether or not this node can read it."""
    payload = ev.encode(ev.Announced(by="owner", text=text))
    jid = keys.tournament(code)
    version = await crew.store.journals.version(jid)
    await crew.store.journals.append(jid, [payload], expect=version, ttl_s=60)


async def fail(crew: Crew, code: str) -> None:
    """Let the hall of this node fail, as a fault in a fold does."""
    async with crew.halls.held(code) as hall:
        hall.failed = True
        hall._broken()


class Unreadable:
    """Lets a tournament be read by nobody on this node for a while."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, code: str = "unreadable-tournament"):
        self.tries = 0
        self._patch = monkeypatch
        self._code = code
        self._read = Halls._read

    def __enter__(self) -> "Unreadable":
        async def refuse(halls: Halls, code: str) -> Hall:
            self.tries += 1
            raise Refusal(self._code, f"This server cannot read tournament {code}.")

        self._patch.setattr(Halls, "_read", refuse)
        return self

    def __exit__(self, *_: object) -> None:
        self._patch.setattr(Halls, "_read", self._read)


async def test_a_visitor_is_shown_the_whole_and_then_what_changes(
    crew: Crew, foyer: Foyer, code: str
) -> None:
    visitor = Visitor()
    await foyer.visit(code, visitor, "public")
    assert [type(each) for each in visitor.heard] == [w.Tournament, w.Entrants]
    await announce(crew, code, "pizza")
    await visitor.hears("pizza")
    foyer.depart(code, visitor)
    count = len(visitor.heard)
    await announce(crew, code, "cake")
    await asyncio.sleep(0.05)
    assert len(visitor.heard) == count


async def test_what_is_not_there_cannot_be_visited(foyer: Foyer) -> None:
    with pytest.raises(Refusal) as refused:
        await foyer.visit("NOSUCH", Visitor(), "public")
    assert refused.value.code == "no-tournament"


async def test_only_who_has_a_place_is_a_guest(crew: Crew, foyer: Foyer, code: str) -> None:
    await enter(crew, code, "ann")
    assert await foyer.enter(code, Visitor("ann"))
    assert not await foyer.enter(code, Visitor("bob"))


async def test_who_plays_is_noted_again_when_the_store_is_back(
    crew: Crew, foyer: Foyer, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await enter(crew, code, "ann")
    await foyer.enter(code, Visitor("ann"))
    assert await crew.store.tournaments.of("ann") == []  # as if it had been lost
    failures, real = [Unavailable("not yet")] * 2, crew.store.tournaments.enter

    async def fail_first(players: Iterable[str], code: str, now: int) -> None:
        if failures:
            raise failures.pop()
        await real(players, code, now)

    monkeypatch.setattr(crew.store.tournaments, "enter", fail_first)
    crew.store.line.leave("a test")

    async def is_noted() -> bool:
        try:
            return await crew.store.tournaments.of("ann") == [code]
        except Unavailable:
            return False

    await until(is_noted)


async def test_a_hall_that_fails_is_opened_again_for_all_who_are_there(
    crew: Crew, foyer: Foyer, code: str
) -> None:
    await enter(crew, code, "ann")
    visitor, guest = Visitor(), Visitor("ann")
    await foyer.visit(code, visitor, "public")
    await foyer.enter(code, guest)
    await fail(crew, code)
    await announce(crew, code, "pizza")
    await visitor.hears("pizza")
    await enter(crew, code, "bob")
    async with crew.halls.held(code) as hall:
        await hall.commit(lambda t: decide_start(t, "owner", Around(str)))

    async def is_told() -> bool:
        return any(place.phase == "running" for place in guest.all(w.Place))

    await until(is_told)
    assert visitor.refusals == []


async def test_a_hall_that_cannot_be_opened_again_is_said_so_once_and_tried_on(
    crew: Crew, foyer: Foyer, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = Visitor()
    await foyer.visit(code, visitor, "public")
    with Unreadable(monkeypatch) as tried:
        await fail(crew, code)

        async def is_tried_on() -> bool:
            return tried.tries > 3

        await until(is_tried_on)
        assert visitor.refusals == ["unreadable-tournament"]
        await announced(crew, code, "here again")
    await visitor.hears("here again")


async def test_what_is_gone_for_good_is_said_so_and_not_tried_again(
    crew: Crew, foyer: Foyer, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = Visitor()
    await foyer.visit(code, visitor, "public")
    with Unreadable(monkeypatch, "no-tournament") as tried:
        await fail(crew, code)

        async def is_told() -> bool:
            return visitor.refusals == ["no-tournament"]

        await until(is_told)
        await asyncio.sleep(0.1)
        assert tried.tries == 1


@pytest.mark.parametrize("how", ["departs", "is gone"])
async def test_nobody_is_brought_back_who_has_left_meanwhile(
    crew: Crew, foyer: Foyer, code: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = Visitor()
    await foyer.visit(code, visitor, "public")
    with Unreadable(monkeypatch) as tried:
        await fail(crew, code)
        if how == "departs":
            foyer.depart(code, visitor)
        else:
            visitor.is_gone = True
        count = len(visitor.heard)
        await asyncio.sleep(0.1)
        assert tried.tries == 0
    await asyncio.sleep(0.05)
    assert len(visitor.heard) == count


async def test_who_visits_again_before_the_hall_is_open_stays(
    crew: Crew, foyer: Foyer, code: str
) -> None:
    visitor = Visitor()
    await foyer.visit(code, visitor, "public")
    await fail(crew, code)
    foyer.depart(code, visitor)
    await foyer.visit(code, visitor, "organiser")
    await asyncio.sleep(0.1)
    await announce(crew, code, "pizza")
    await visitor.hears("pizza")


@pytest.mark.parametrize("fate", ["fails", "was about to be closed"])
async def test_who_is_let_in_while_the_hall_goes_is_shown_what_changes_all_the_same(
    crew: Crew, foyer: Foyer, code: str, fate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foyers, "LINGER_S", 0.02)
    former = Visitor()
    await foyer.visit(code, former, "public")
    gallery, refresh = foyer._galleries[code], Showing._refresh

    async def is_due() -> bool:
        return code not in foyer._closing

    async def hold_up(showing: Showing) -> None:
        monkeypatch.setattr(Showing, "_refresh", refresh)
        if fate == "fails":
            await fail(crew, code)
        else:
            foyer.depart(code, former)
            await until(is_due)
        await refresh(showing)

    monkeypatch.setattr(Showing, "_refresh", hold_up)
    visitor = Visitor()
    await foyer.visit(code, visitor, "public")
    assert (foyer._galleries[code] is gallery) == (fate != "fails")
    await announce(crew, code, "pizza")
    await visitor.hears("pizza")


async def test_a_fault_while_a_hall_is_opened_again_does_not_end_the_tries(
    crew: Crew,
    foyer: Foyer,
    code: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    visitor = Visitor()
    await foyer.visit(code, visitor, "public")
    read = Halls._read

    async def fault(halls: Halls, code: str) -> Hall:
        raise ZeroDivisionError

    monkeypatch.setattr(Halls, "_read", fault)
    with caplog.at_level(logging.ERROR):
        await fail(crew, code)

        async def is_logged() -> bool:
            return any(each.exc_info is not None for each in caplog.records)

        await until(is_logged)
    await announced(crew, code, "pizza")
    monkeypatch.setattr(Halls, "_read", read)
    await visitor.hears("pizza")


async def test_a_gallery_closes_some_time_after_the_last_visitor(
    crew: Crew, foyer: Foyer, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foyers, "LINGER_S", 0.02)
    monkeypatch.setattr("server.holding.UNLOAD_AFTER_S", 0.05)
    visitor = Visitor()
    await foyer.visit(code, visitor, "public")
    await asyncio.sleep(0.05)
    assert len(crew.halls) == 1
    foyer.depart(code, visitor)

    async def is_closed() -> bool:
        return len(crew.halls) == 0

    await until(is_closed)
    assert await crew.store.journals.version(keys.tournament(code)) == 1
