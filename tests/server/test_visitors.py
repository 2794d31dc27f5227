"""What visitors of a tournament see, and when."""

from msgspec.structs import replace

from server.journaling import chain
from server.store import Store, keys
from tests.server.fair import RACE, Organiser, bots, enter, opened, settings
from tests.server.floor import Someone, until
from wire import acts as a
from wire import tournaments as w
from wire.formats import (
    Single,
    Swiss,
)


async def test_the_public_sees_as_late_as_spectators_do(port: int, store_url: str) -> None:
    wanted = settings(Swiss(rounds=1), race=replace(RACE, delay_s=2))
    chief = await opened(port, wanted)
    public = await Someone.arrive(port, "zoe")
    async with bots([port], 2) as players:
        await enter(chief, players)

        async def is_seen() -> bool:
            await public.say(w.Visit(tournament=chief.code))
            return len((await public.hear(w.Entrants)).entrants) == 2

        await until(is_seen)
        await chief.direct(a.Begin())
        shown = await chief.over()
        late = await public.find(w.Tournament, lambda each: each.phase == "finished")
        assert late.version == shown.version
    store = await Store.open(store_url)
    entries = await store.journals.read(keys.tournament(chief.code), 0)
    await store.close()
    happened = {entry.version: entry.at for entry in entries}
    seen = public.all(w.Tournament)
    # That there is a tournament may be known at once.
    lags = [each.now - happened[each.version] for each in seen if each.version > 1]
    assert min(lags) >= 2_000


async def test_results_that_are_held_are_shown_to_organisers_only(port: int) -> None:
    chief = await opened(port, settings(Swiss(rounds=1), hold=True))
    public = await Someone.arrive(port, "zoe")
    async with bots([port], 2) as players:
        await enter(chief, players)
        await public.say(w.Visit(tournament=chief.code))
        await chief.direct(a.Begin())
        await chief.line.find(w.Pairings, lambda shown: bool(shown.matches[0].kind))
        held = await public.find(w.Tournament, lambda shown: shown.held)
        assert held.open == 0
        assert all(not shown.matches[0].kind for shown in public.all(w.Pairings))
        await chief.direct(a.Publish())
        await public.find(w.Pairings, lambda shown: bool(shown.matches[0].kind))


async def test_live_scores_are_told_while_races_run(ports: list[int]) -> None:
    single_deck = replace(RACE, rules="klondike-familiar")
    chief = await opened(ports[0], settings(Single(), race=single_deck))
    async with bots(ports, 2) as players:
        for bot in players:
            bot.moves = 500
        await enter(chief, players)
        await chief.direct(a.Begin())
        seen = await chief.line.find(
            w.Progress, lambda shown: any(line.moves for race in shown.races for line in race.lines)
        )
        assert {line.entry for line in seen.races[0].lines} == {bot.player for bot in players}
        assert seen.races[0].of == 52


async def test_the_list_has_public_tournaments_only(port: int) -> None:
    line = await Someone.arrive(port, "chief")
    chief = await Organiser.open(line, settings(Swiss(rounds=5)))
    await line.say(w.Organise(settings=settings(Single()), public=False))
    await line.hear(w.Organised)
    await line.say(w.Tournaments())
    (only,) = (await line.hear(w.Programme)).tournaments
    assert (only.tournament, only.title, only.format) == (chief.code, "Cup", "swiss, 5 rounds")


async def test_the_journal_is_for_organisers_until_the_end(port: int) -> None:
    chief = await opened(port, settings(Single()))
    public = await Someone.arrive(port, "zoe")
    chronicle = w.Chronicle(tournament=chief.code)
    assert (await public.refused(chronicle)).code == "not-over"
    await chief.line.say(replace(chronicle, key=chief.keys.referee))
    assert (await chief.line.hear(w.Annals)).total == 1
    await chief.direct(a.Cancel(), "rain")
    await public.say(chronicle)
    annals = await public.hear(w.Annals)
    assert annals.total == 2
    assert '"why":"rain"' in annals.entries[1]
    assert chief.keys.owner not in "".join(annals.entries)
    lines = (entry.encode() for entry in annals.entries)
    await public.say(w.Visit(tournament=chief.code))
    assert (await public.hear(w.Tournament)).head == chain(lines).hex()


async def test_the_journal_and_its_head_come_as_late_as_all_that_visitors_see(port: int) -> None:
    chief = await opened(port, settings(Single(), race=replace(RACE, delay_s=60)))
    await chief.direct(a.Cancel(), "rain")
    public = await Someone.arrive(port, "zoe")
    chronicle = w.Chronicle(tournament=chief.code)
    assert (await public.refused(chronicle)).code == "not-over"
    await public.say(w.Visit(tournament=chief.code))
    assert (await public.hear(w.Tournament)).head == ""
    await chief.line.say(replace(chronicle, key=chief.keys.owner))
    assert (await chief.line.hear(w.Annals)).total == 2
