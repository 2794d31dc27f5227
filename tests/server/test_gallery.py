"""What is shown of a tournament: once worked out for all, and to nobody before their time."""

import asyncio
import threading
from typing import Any

import pytest
from msgspec.structs import replace

from server import gallery as galleries
from server.gallery import Gallery, open_rounds, parted, parts_of, touched
from server.store import Entry
from server.tournament import acts, calls, views
from server.tournament import events as ev
from server.tournament.settings import Single, Swiss
from tests.server.fair import RACE
from tests.server.fair import settings as quick
from tests.server.floor import PATIENCE_S, until
from tests.server.onlookers import Visitor, announce
from tests.server.stage import Crew
from tests.tournament.told import T0, Told, settings
from wire import tournaments as w


def entries(told: Told) -> list[Entry]:
    lines = enumerate(told.lines, 1)
    return [Entry(version, at, payload) for version, (at, payload) in lines]


def begun(*, hold: bool = False) -> Told:
    told = Told(settings(Swiss(rounds=3), hold=hold))
    told.enter(4)
    told.start()
    return told


# --- what, of which part ----------------------------------------------------------------


def test_before_the_start_there_is_the_tournament_and_who_takes_part() -> None:
    told = Told(settings(Single()))
    assert parts_of(told.t) == [("tournament", 0), ("entrants", 0)]


def test_the_rounds_that_are_shown_are_those_with_something_to_come_and_the_last() -> None:
    told = begun()
    assert open_rounds(told.t) == [1]
    told.race_all_of_round()
    assert open_rounds(told.t) == [2]
    told.race_all()
    assert open_rounds(told.t) == [3]
    assert ("pairings", 3) in parts_of(told.t)
    assert ("pairings", 1) not in parts_of(told.t)


def test_a_result_of_an_earlier_round_concerns_that_round_too() -> None:
    told = begun()
    told.race_all_of_round()
    parts = touched(told.t, ev.Announced(by="owner", text="x"), {"1.1"})
    assert {("pairings", 1), ("pairings", 2), ("ranking", 0), ("tournament", 0)} <= parts
    assert ("entrants", 0) not in parts
    assert ("entrants", 0) in touched(told.t, ev.Withdrawn(by="p001", p="p001"), set())


def test_the_public_sees_the_tournament_as_it_was_and_that_it_is_there() -> None:
    told = begun()
    told.now += 60_000
    told.tell(*acts.decide_announce(told.t, "owner", "pizza"))
    late, rest = parted(entries(told), T0)
    assert late.version == len(told.lines) - 1
    assert [entry.version for entry in rest] == [len(told.lines)]
    nothing, all_but_one = parted(entries(told), T0 - 1)
    assert nothing.version == 1
    assert len(all_but_one) == len(told.lines) - 1


# --- a gallery over the store -----------------------------------------------------------


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[set[galleries.Part]]:
    """What was worked out, and in how many goes."""
    monkeypatch.setattr(galleries, "SHOW_EVERY_S", 0.01)
    made: list[set[galleries.Part]] = []
    real: Any = galleries._drawn

    def count(t: Any, parts: set[galleries.Part], now: int) -> Any:
        made.append(set(parts))
        return real(t, parts, now)

    monkeypatch.setattr(galleries, "_drawn", count)
    return made


class Slow:
    """Lets nothing be worked out to its end within the block."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._at_work, self._done = threading.Event(), threading.Event()
        real: Any = galleries._drawn

        def draw(*args: Any) -> Any:
            self._at_work.set()
            self._done.wait(PATIENCE_S)
            return real(*args)

        monkeypatch.setattr(galleries, "_drawn", draw)

    async def until_at_work(self) -> None:
        assert await asyncio.to_thread(self._at_work.wait, PATIENCE_S)

    def __enter__(self) -> "Slow":
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()


async def gallery_of(crew: Crew, delay_s: int = 0) -> Gallery:
    wanted = quick(Single(), race=replace(RACE, delay_s=delay_s))
    code = (await crew.halls.open(wanted, public=True)).tournament
    made = Gallery(await crew.halls.hold(code), crew.store, lambda: None)
    await made.open()
    return made


async def test_however_many_look_a_change_is_worked_out_once_for_each_way_to_see(
    crew: Crew, drawn: list[set[galleries.Part]]
) -> None:
    gallery = await gallery_of(crew)
    visitors = [Visitor() for _ in range(300)]
    await asyncio.gather(*(gallery.enter(each, "public") for each in visitors))
    assert drawn == [{("tournament", 0), ("entrants", 0)}]
    await announce(crew, gallery.hall.code, "pizza")
    await asyncio.gather(*(each.hears("pizza") for each in visitors))
    assert drawn[1:] == [{("tournament", 0)}]
    assert [len(each.all(w.Entrants)) for each in visitors] == [1] * 300
    gallery.close()


async def test_what_changes_while_the_first_one_comes_in_is_shown_to_them(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery, visitor = await gallery_of(crew), Visitor()
    with Slow(monkeypatch) as slow:
        entering = asyncio.create_task(gallery.enter(visitor, "public"))
        await slow.until_at_work()
        await announce(crew, gallery.hall.code, "pizza")
    await entering
    await visitor.hears("pizza")
    gallery.close()


async def test_what_somebody_who_comes_has_worked_out_is_shown_to_those_who_are_there(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(galleries, "SHOW_EVERY_S", 3600)
    gallery, first, second = await gallery_of(crew), Visitor(), Visitor()
    await gallery.enter(first, "public")
    await announce(crew, gallery.hall.code, "pizza")
    await first.hears("pizza")
    await announce(crew, gallery.hall.code, "cake")
    await gallery.enter(second, "public")
    await second.hears("cake")
    await first.hears("cake")
    gallery.close()


async def test_what_somebody_who_went_away_meanwhile_wanted_is_shown_to_the_others(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(galleries, "SHOW_EVERY_S", 3600)
    gallery, first, second = await gallery_of(crew), Visitor(), Visitor()
    await gallery.enter(first, "public")
    await announce(crew, gallery.hall.code, "pizza")
    await first.hears("pizza")
    await announce(crew, gallery.hall.code, "cake")
    with Slow(monkeypatch) as slow:
        entering = asyncio.create_task(gallery.enter(second, "public"))
        await slow.until_at_work()
        entering.cancel()
        await asyncio.wait([entering])
    await gallery.enter(Visitor(), "public")
    await first.hears("cake")
    gallery.close()


async def test_what_is_asked_for_is_worked_out_once_for_each_version(
    crew: Crew, drawn: list[set[galleries.Part]]
) -> None:
    gallery = await gallery_of(crew)
    part = ("entrants", 0)
    first = await asyncio.gather(*(gallery.frame("public", part) for _ in range(20)))
    assert len(set(first)) == len(drawn) == 1
    await announce(crew, gallery.hall.code, "pizza")
    assert await gallery.frame("public", part) != first[0]
    assert len(drawn) == 2
    gallery.close()


async def test_the_public_is_shown_things_later_than_the_players(
    crew: Crew, drawn: list[set[galleries.Part]]
) -> None:
    gallery = await gallery_of(crew, delay_s=1)
    public, player = Visitor(), Visitor()
    await gallery.enter(public, "public")
    await gallery.enter(player, "player")
    await announce(crew, gallery.hall.code, "pizza")
    said = crew.store.clock.now()
    await player.hears("pizza")
    assert public.all(w.Tournament)[-1].notices == []
    assert gallery.state("public").announced == []
    await public.hears("pizza")
    assert crew.store.clock.now() - said >= 900
    gallery.close()


async def test_a_gallery_that_opens_late_holds_back_what_is_too_new_as_well(crew: Crew) -> None:
    gallery = await gallery_of(crew, delay_s=30)
    await announce(crew, gallery.hall.code, "pizza")
    gallery.close()
    again = Gallery(gallery.hall, crew.store, lambda: None)
    await again.open()
    assert again.state("public").version == 1
    assert again.state("player").version == again.state("organiser").version == 2
    again.close()


@pytest.mark.parametrize("sight", ["organiser", "player", "public"])
async def test_who_comes_later_is_shown_live_scores_that_have_not_changed_since(
    crew: Crew, monkeypatch: pytest.MonkeyPatch, sight: galleries.Sight
) -> None:
    monkeypatch.setattr(galleries, "LIVE_EVERY_S", 0.01)
    gallery = await gallery_of(crew)
    first, second = Visitor(), Visitor()
    await gallery.enter(first, sight)

    async def is_shown() -> bool:
        return bool(first.all(w.Progress))

    await until(is_shown)
    await gallery.enter(second, sight)
    assert second.all(w.Progress) == first.all(w.Progress)
    gallery.close()


async def test_live_scores_go_on_after_a_fault_in_them(
    crew: Crew, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(galleries, "LIVE_EVERY_S", 0.01)
    real, faults = Gallery._progress, [ZeroDivisionError()]

    async def progress(gallery: Gallery) -> w.Progress:
        if faults:
            raise faults.pop()
        return await real(gallery)

    monkeypatch.setattr(Gallery, "_progress", progress)
    gallery = await gallery_of(crew)
    visitor = Visitor()
    await gallery.enter(visitor, "public")

    async def is_shown() -> bool:
        return bool(visitor.all(w.Progress))

    await until(is_shown)
    assert "live scores failed" in caplog.text
    gallery.close()


def test_held_results_are_for_the_organisers_alone() -> None:
    told = begun(hold=True)
    told.race(calls(told.t)[0], [["p001"], ["p003"]])
    shown = views.public(told.t)
    assert told.t.matches["1.1"].result is not None
    assert shown.matches["1.1"].result is None
