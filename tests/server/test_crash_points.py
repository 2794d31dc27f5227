"""Whoever runs a tournament dies at every step in turn, and another one goes on."""

from collections.abc import AsyncIterator

import pytest

from server import events as rev
from server.store import Store, keys
from server.tournament import Tournament
from server.tournament import events as ev
from tests.server.fair import settings
from tests.server.stage import Crew, Dead, Mortal, finish, opened
from tests.tournament.laws import Watch, check_end
from wire.formats import Deals, Single, Swiss, TournamentSettings

PLAYERS = 4
KNOCK_OUT = settings(Single())
SHARED = settings(Swiss(rounds=2), deals=Deals(source="fair", share="round"))


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    opened_store = await Store.open(store_url)
    yield opened_store
    await opened_store.close()


async def check(store: Store, code: str, matches: int) -> None:
    """Hold a tournament that is over against the laws, and its rooms against it."""
    t, watch = Tournament(), Watch()
    for entry in await store.journals.read(keys.tournament(code)):
        event = ev.decode(entry.payload)
        watch.before(t, event)
        t.apply(entry.at, entry.payload, event)
        watch.after(t, event)
    check_end(t, watch)
    assert len([match for match in t.matches.values() if match.is_played]) == matches
    for match in t.matches.values():
        (race,) = match.races  # none was called again for a crash
        summary = await store.journals.summary(keys.room(race.room))
        assert summary["phase"] == "over"
        last = (await store.journals.read(keys.room(race.room)))[-1]
        assert isinstance(rev.decode(last.payload), rev.Over if is_public(t) else rev.Revealed)


def is_public(t: Tournament) -> bool:
    return t.settings.deals.source == "public"


async def is_deadly(
    store: Store, wanted: TournamentSettings, step: int, *, last_counts: bool
) -> bool:
    """Run a tournament whose first crew dies at a step; whether it came to that."""
    code = await opened(store, wanted, PLAYERS)
    first = Crew(Mortal(store, step, last_counts=last_counts))  # type: ignore[arg-type]
    died = False
    try:
        await finish(store, code, first)
    except Dead:
        died = True
    await first.close()
    other = Crew(store, "other")
    await finish(store, code, other)
    await other.close()
    await check(store, code, 3 + (wanted is SHARED))
    return died


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(KNOCK_OUT, id="knock-out"),
        pytest.param(SHARED, id="shared deals", marks=pytest.mark.slow),
    ],
)
async def test_a_crash_at_any_step_changes_nothing(
    store: Store, wanted: TournamentSettings
) -> None:
    step = 1
    while await is_deadly(store, wanted, step, last_counts=step % 2 == 0):
        step += 1
    assert step > 40
