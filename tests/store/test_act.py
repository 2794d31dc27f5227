"""The guards of a play: every reason to refuse one, on the real scripts."""

import asyncio

import pytest

from server.store import ActOutcome, Appended, Denied, Entry, Outcome, Store, keys
from tests.store.conftest import appended, outcome

ROOM = keys.room("ABCDEF")
PAST, FUTURE = -3_600_000, 3_600_000


async def race(
    store: Store, start: int = PAST, deadline: int = FUTURE, phase: str = "running"
) -> Outcome:
    """Have a race in the journal: one event, Ann connected with epoch 5."""
    return await store.journals.append(
        ROOM,
        [b"started"],
        expect=0,
        ttl_s=600,
        sets={"phase": phase},
        offsets={"start": start, "deadline": deadline},
        actor=("ann", 5),
    )


async def play(
    store: Store,
    n: int,
    *,
    player: str = "ann",
    epoch: int | None = 5,
    sets: dict[str, str] | None = None,
) -> ActOutcome:
    return await outcome(
        lambda done: store.journals.act(ROOM, player, epoch, n, b"play %d" % n, sets or {}, done)
    )


async def test_a_play_is_appended_with_the_official_time(store: Store) -> None:
    await race(store)
    done = await play(store, 1, sets={"score:ann": "3"})
    assert isinstance(done, Appended)
    assert done.version == 2
    assert abs(done.at - store.clock.now()) < 5_000
    assert await store.journals.read(ROOM, 1) == [Entry(2, done.at, b"play 1")]
    summary = await store.journals.summary(ROOM)
    assert summary["n:ann"] == "1"
    assert summary["score:ann"] == "3"
    assert summary["at"] == str(done.at)


async def test_a_number_that_is_taken_is_a_repeat_and_has_no_effect(store: Store) -> None:
    await race(store)
    await play(store, 1)
    await play(store, 2)
    assert await play(store, 1) == Denied("repeat", 2)
    assert await play(store, 2) == Denied("repeat", 2)
    assert await store.journals.version(ROOM) == 3


async def test_a_repeat_is_told_so_even_after_the_end(store: Store) -> None:
    await race(store)
    await play(store, 1, sets={"done:ann": "solved", "phase": "over"})
    assert await play(store, 1) == Denied("repeat", 1)


async def test_a_number_too_high_leaves_a_gap(store: Store) -> None:
    await race(store)
    assert await play(store, 2) == Denied("gap", 0)
    await play(store, 1)
    assert await play(store, 3) == Denied("gap", 1)
    assert await store.journals.version(ROOM) == 2


async def test_players_are_numbered_apart(store: Store) -> None:
    await race(store)
    await play(store, 1)
    assert isinstance(await play(store, 1, player="bob", epoch=1), Appended)


async def test_before_the_start_it_is_early(store: Store) -> None:
    await race(store, start=FUTURE)
    assert await play(store, 1) == Denied("early", 0)


async def test_from_the_deadline_on_it_is_late(store: Store) -> None:
    await race(store, deadline=0)
    assert await play(store, 1) == Denied("late", 0)


@pytest.mark.parametrize("phase", ["open", "locked", "over"])
async def test_outside_the_race_nothing_is_played(store: Store, phase: str) -> None:
    await race(store, phase=phase)
    assert await play(store, 1) == Denied("not-running", 0)


async def test_without_a_journal_nothing_is_played_or_made(store: Store) -> None:
    assert await play(store, 1) == Denied("missing", 0)
    assert await store.journals.version(ROOM) == 0
    assert await store.journals.summary(ROOM) == {}


async def test_an_older_connection_is_replaced(store: Store) -> None:
    await race(store)
    assert await play(store, 1, epoch=4) == Denied("replaced", 0)


async def test_a_newer_connection_replaces_by_its_first_play(store: Store) -> None:
    await race(store)
    assert isinstance(await play(store, 1, epoch=6), Appended)
    assert await play(store, 2, epoch=5) == Denied("replaced", 1)


async def test_who_is_done_plays_no_more(store: Store) -> None:
    await race(store)
    await play(store, 1, sets={"done:ann": "solved"})
    assert await play(store, 2) == Denied("done", 1)


async def test_an_act_without_a_number_counts_once_by_what_it_sets(store: Store) -> None:
    await race(store)
    await play(store, 1)
    assert isinstance(await play(store, 0, sets={"done:ann": "resigned"}), Appended)
    assert await play(store, 0, sets={"done:ann": "resigned"}) == Denied("done", 1)
    assert (await store.journals.summary(ROOM))["n:ann"] == "1"


async def test_what_no_connection_asks_for_is_not_held_to_one(store: Store) -> None:
    await race(store)
    assert isinstance(await play(store, 0, epoch=None), Appended)
    assert (await store.journals.summary(ROOM))["e:ann"] == "5"


async def test_the_clock_never_runs_behind_the_last_event(store: Store) -> None:
    await race(store)
    ahead = store.clock.now() + 60_000
    await store.line.ask("HSET", keys.journal(ROOM).summary, "at", ahead)
    done = appended(await play(store, 1))
    assert done.at == ahead
    later = appended(await store.journals.append(ROOM, [b"x"], expect=2, ttl_s=600))
    assert later.at == ahead


async def test_a_clock_ahead_by_an_event_also_ends_the_race(store: Store) -> None:
    # The window is held by the time that is written down, so that the journal never shows
    # a play after its deadline.
    await race(store, deadline=30_000)
    await store.line.ask("HSET", keys.journal(ROOM).summary, "at", store.clock.now() + 60_000)
    assert await play(store, 1) == Denied("late", 0)


async def test_plays_of_two_nodes_never_get_one_place(store: Store, other: Store) -> None:
    await race(store)
    players = [f"p{i}" for i in range(20)]
    done = await asyncio.gather(
        *(play(node, 1, player=player, epoch=1) for player in players for node in (store, other))
    )
    appended = [each for each in done if isinstance(each, Appended)]
    assert sorted(each.version for each in appended) == list(range(2, 22))
    assert done.count(Denied("repeat", 1)) == 20
    entries = await store.journals.read(ROOM)
    assert [entry.at for entry in entries] == sorted(entry.at for entry in entries)


async def test_forgotten_scripts_are_brought_back_under_pipelined_plays(store: Store) -> None:
    await race(store)
    first = [play(store, 1, player=f"p{i}", epoch=1) for i in range(50)]
    store.line.send(("SCRIPT", "FLUSH"), lambda reply: None)
    done = await asyncio.gather(
        *first, *(play(store, 2, player=f"p{i}", epoch=1) for i in range(50))
    )
    # A second play of a player that overtook the first gets a gap and is simply made again.
    again = [i - 50 for i, each in enumerate(done) if each == Denied("gap", 0)]
    done += await asyncio.gather(*(play(store, 2, player=f"p{i}", epoch=1) for i in again))
    assert sum(isinstance(each, Appended) for each in done) == 100
    assert await store.journals.version(ROOM) == 101
