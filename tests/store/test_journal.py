import asyncio
from typing import Any

import pytest

from server.store import (
    Appended,
    Conflict,
    Denied,
    Entry,
    Limits,
    Lost,
    Missing,
    Outcome,
    Store,
    Unavailable,
    attached,
    journal,
    keys,
)
from tests.store.conftest import Ear, appended, until

ROOM = keys.room("ABCDEF")


async def append(store: Store, *payloads: bytes, expect: int, **more: Any) -> Outcome:
    return await store.journals.append(ROOM, payloads, expect=expect, ttl_s=600, **more)


async def test_a_journal_is_read_as_it_was_written(store: Store) -> None:
    done = appended(await append(store, b"opened", b"joined \x00\xff ann", expect=0))
    assert done.version == 2
    assert await store.journals.read(ROOM) == [
        Entry(1, done.at, b"opened"),
        Entry(2, done.at, b"joined \x00\xff ann"),
    ]
    assert await store.journals.read(ROOM, 1) == [Entry(2, done.at, b"joined \x00\xff ann")]
    assert await store.journals.read(ROOM, 2) == []


async def test_the_line_of_an_entry_is_what_the_store_holds(store: Store) -> None:
    await append(store, b"opened by ann", expect=0)
    (entry,) = await store.journals.read(ROOM)
    assert [entry.line()] == await store.line.ask("LRANGE", keys.journal(ROOM).journal, 0, -1)


async def test_a_long_journal_is_read_in_pages(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "PAGE", 7)
    for size in (6, 7, 8, 20):
        room = keys.room(f"R{size}")
        payloads = [b"%d" % i for i in range(size)]
        await store.journals.append(room, payloads, expect=0, ttl_s=600)
        assert [entry.payload for entry in await store.journals.read(room)] == payloads


async def test_creation_is_set_if_absent(store: Store, other: Store) -> None:
    assert isinstance(await append(store, b"opened", expect=0), Appended)
    assert await append(other, b"opened too", expect=0) == Conflict(1)


async def test_an_append_decided_on_an_older_version_is_refused(store: Store) -> None:
    await append(store, b"opened", b"joined", expect=0)
    assert await append(store, b"locked", expect=1) == Conflict(2)
    assert await append(store, b"locked", expect=3) == Conflict(2)
    assert await store.journals.version(ROOM) == 2


async def test_an_append_to_a_journal_that_is_gone_makes_none(store: Store) -> None:
    assert await append(store, b"locked", expect=3) == Denied("missing", 0)
    assert await store.journals.version(ROOM) == 0


async def test_of_two_nodes_one_is_faster_and_the_other_hears_of_it(
    store: Store, other: Store
) -> None:
    await append(store, b"opened", expect=0)
    for version in range(1, 30):
        done = await asyncio.gather(
            append(store, b"here", expect=version), append(other, b"there", expect=version)
        )
        assert sorted(type(each).__name__ for each in done) == ["Appended", "Conflict"]
        assert Conflict(version + 1) in done


async def test_the_summary_gets_fields_and_instants(store: Store) -> None:
    done = appended(
        await append(
            store,
            b"locked",
            expect=0,
            sets={"phase": "locked", "host": "ann"},
            offsets={"start": 5_000, "deadline": 905_000},
        )
    )
    assert await store.journals.summary(ROOM) == {
        "at": str(done.at),
        "phase": "locked",
        "host": "ann",
        "start": str(done.at + 5_000),
        "deadline": str(done.at + 905_000),
    }


async def test_what_is_not_there_has_an_empty_summary(store: Store) -> None:
    assert await store.journals.summary(ROOM) == {}


async def test_too_early_is_early(store: Store) -> None:
    await append(store, b"locked", expect=0, offsets={"start": 60_000, "opened": -1})
    early = await append(store, b"started", expect=1, not_before_field="start")
    assert early == Denied("early", 0)
    assert isinstance(await append(store, b"x", expect=1, not_before_field="opened"), Appended)
    assert isinstance(await append(store, b"x", expect=2, not_before_field="nothing"), Appended)


async def test_a_connection_that_was_replaced_decides_nothing(store: Store) -> None:
    await append(store, b"opened", expect=0, actor=("ann", 3))
    assert await append(store, b"locked", expect=1, actor=("ann", 2)) == Denied("replaced", 0)
    assert isinstance(await append(store, b"locked", expect=1, actor=("ann", 3)), Appended)
    assert isinstance(await append(store, b"x", expect=2, actor=("ann", 4)), Appended)
    assert await append(store, b"x", expect=3, actor=("ann", 3)) == Denied("replaced", 0)
    assert isinstance(await append(store, b"x", expect=3, actor=("bob", 1)), Appended)


async def test_both_keys_live_as_long_as_the_last_append_says(store: Store) -> None:
    await append(store, b"opened", expect=0)
    await store.journals.append(ROOM, [b"over"], expect=1, ttl_s=keys.FINISHED_S)
    for key in keys.journal(ROOM)[:2]:
        assert keys.FINISHED_S - 5 <= await store.line.ask("TTL", key) <= keys.FINISHED_S


async def test_a_subscriber_hears_every_entry_of_every_node(store: Store, other: Store) -> None:
    ear = Ear()
    await append(store, b"opened", expect=0)
    await store.journals.subscribe(ROOM, ear)
    mine = appended(await append(store, b"a b", b"c", expect=1))
    theirs = appended(await append(other, b"d", expect=3))
    await until(lambda: len(ear.entries) == 3)
    assert ear.entries == [
        Entry(2, mine.at, b"a b"),
        Entry(3, mine.at, b"c"),
        Entry(4, theirs.at, b"d"),
    ]


async def test_between_subscribing_and_reading_nothing_is_lost(store: Store, other: Store) -> None:
    await append(store, b"0", expect=0)

    async def write() -> None:
        for version in range(1, 200):
            await append(other, b"%d" % version, expect=version)

    writing = asyncio.create_task(write())
    while not writing.done():
        ear = Ear()
        await store.journals.subscribe(ROOM, ear)
        read = await store.journals.read(ROOM)
        await asyncio.sleep(0.002)
        known = {entry.version for entry in read} | {entry.version for entry in ear.entries}
        assert known == set(range(1, max(known) + 1))
        store.journals.unsubscribe(ROOM, ear)
    await writing


async def test_notes_are_heard_and_kept_nowhere(store: Store, other: Store) -> None:
    ear = Ear()
    await store.journals.subscribe(ROOM, ear)
    other.journals.publish(ROOM, b"chat ann hello there")
    await until(lambda: bool(ear.notes))
    assert ear.notes == [b"chat ann hello there"]
    assert ear.entries == []
    assert await store.journals.version(ROOM) == 0


async def test_who_has_unsubscribed_hears_nothing_more(store: Store, other: Store) -> None:
    leaving, staying = Ear(), Ear()
    await store.journals.subscribe(ROOM, leaving)
    await store.journals.subscribe(ROOM, staying)
    store.journals.unsubscribe(ROOM, leaving)
    store.journals.unsubscribe(ROOM, leaving)
    other.journals.publish(ROOM, b"1")
    await until(lambda: bool(staying.notes))
    store.journals.unsubscribe(ROOM, staying)
    await store.journals.version(ROOM)
    assert await other.line.ask("SPUBLISH", keys.journal(ROOM).news, b"0 2") == 0
    assert leaving.notes == []
    assert staying.notes == [b"1"]


async def test_leaving_and_coming_back_at_once_leaves_a_live_subscription(
    store: Store, other: Store
) -> None:
    first, second = Ear(), Ear()
    await store.journals.subscribe(ROOM, first)
    store.journals.unsubscribe(ROOM, first)
    await store.journals.subscribe(ROOM, second)
    other.journals.publish(ROOM, b"hi")
    await until(lambda: bool(second.notes))
    assert first.notes == []


async def test_a_failing_listener_harms_no_other_journal(
    store: Store, other: Store, caplog: pytest.LogCaptureFixture
) -> None:
    class Deaf(Ear):
        def on_entry(self, entry: Entry) -> None:
            raise RuntimeError("on purpose")

    ear = Ear()
    await store.journals.subscribe(ROOM, Deaf())
    await store.journals.subscribe(keys.room("OTHER"), ear)
    with caplog.at_level("CRITICAL"):
        await append(other, b"opened", expect=0)
        await other.journals.append(keys.room("OTHER"), [b"opened"], expect=0, ttl_s=600)
        await until(lambda: bool(ear.entries))
    assert store.up


async def test_attaching_takes_over_and_tells_everybody(store: Store, other: Store) -> None:
    ear = Ear()
    await append(store, b"opened", expect=0, actor=("ann", 1))
    await store.journals.subscribe(ROOM, ear)
    assert await other.journals.attach(ROOM, "ann", 3)
    assert await other.journals.attach(ROOM, "ann", 3)
    assert not await store.journals.attach(ROOM, "ann", 2)
    await until(lambda: bool(ear.notes))
    assert [attached(note) for note in ear.notes] == [("ann", 3)]
    assert attached(b"chat hello") is None


async def test_attaching_to_nothing_is_an_error_and_makes_nothing(store: Store) -> None:
    with pytest.raises(Missing, match="r:ABCDEF"):
        await store.journals.attach(ROOM, "ann", 3)
    assert await store.journals.summary(ROOM) == {}


async def test_the_stores_time_is_known_and_guessed(store: Store) -> None:
    for _ in range(20):
        before = store.journals.clock.now()
        seconds, micros = await store.line.ask("TIME")
        now = int(seconds) * 1000 + int(micros) // 1000
        assert before - 50 <= now <= store.journals.clock.now() + 50


async def test_a_full_line_refuses_without_sending(store_url: str) -> None:
    store = await Store.open(store_url, limits=Limits(in_flight=3))
    done = await asyncio.gather(*(append(store, b"x", expect=i) for i in range(6)))
    assert [type(each) for each in done[:3]] == [Appended] * 3
    assert done[3:] == [Lost(sent=False)] * 3
    assert store.line.counts.lost == 3
    await store.close()


async def test_a_closed_store_is_unavailable(store_url: str) -> None:
    store = await Store.open(store_url)
    await store.close()
    assert not store.up
    assert await append(store, b"x", expect=0) == Lost(sent=False)
    with pytest.raises(Unavailable):
        await store.journals.read(ROOM)
    with pytest.raises(Unavailable):
        await store.journals.subscribe(ROOM, Ear())


async def test_trouble_inside_the_store_is_an_unknown_outcome(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    await append(store, b"opened", expect=0)
    await store.line.ask("DEL", keys.journal(ROOM).summary)
    await store.line.ask("SET", keys.journal(ROOM).summary, "not a hash")
    with caplog.at_level("CRITICAL"):
        assert await append(store, b"x", expect=1) == Lost()
