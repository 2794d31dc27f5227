"""Deals, the list of rooms, timers and nodes."""

import asyncio
from dataclasses import replace

import pytest

from server.store import Store, keys
from server.store.directory import ROOMS
from server.store.timers import Claim
from tests.store.dues import dues

DAY_MS = 86_400_000


async def open_room(store: Store, code: str, opened: int) -> None:
    await store.journals.append(
        keys.room(code), [b"opened"], expect=0, ttl_s=600, sets={"title": f"room {code}"}
    )
    await store.directory.add(code, opened)


# --- deals ----------------------------------------------------------------------------


async def test_the_first_secret_of_a_deal_counts(store: Store, other: Store) -> None:
    assert await store.deals.secret("d") is None
    assert await store.deals.keep("d", b"\x00first\xff") == b"\x00first\xff"
    assert await other.deals.keep("d", b"second") == b"\x00first\xff"
    assert await other.deals.secret("d") == b"\x00first\xff"


async def test_of_many_secrets_at_once_all_get_the_same(store: Store, other: Store) -> None:
    kept = await asyncio.gather(
        *(node.deals.keep("d", b"%d" % i) for i in range(20) for node in (store, other))
    )
    assert len(set(kept)) == 1


async def test_a_secret_outlives_the_journal_that_reveals_it(store: Store) -> None:
    await store.deals.keep("d", b"x")
    assert await store.line.ask("TTL", keys.deal("d")) > keys.FINISHED_S


# --- directory ------------------------------------------------------------------------


async def test_the_newest_rooms_come_first_with_their_summaries(store: Store, other: Store) -> None:
    for i, code in enumerate(("A", "B", "C")):
        await open_room(store, code, 1000 + i)
    listings = await other.directory.newest(2)
    assert [(each.code, each.opened) for each in listings] == [("C", 1002), ("B", 1001)]
    assert listings[0].summary["title"] == "room C"


async def test_a_room_that_is_gone_leaves_the_list(store: Store) -> None:
    await open_room(store, "A", 1000)
    await open_room(store, "B", 1001)
    await store.line.ask("DEL", *keys.journal(keys.room("B"))[:2])
    assert [each.code for each in await store.directory.newest(1)] == []
    assert [each.code for each in await store.directory.newest(1)] == ["A"]


async def test_a_room_can_be_taken_off_the_list(store: Store) -> None:
    await open_room(store, "A", 1000)
    await store.directory.remove("A")
    await store.directory.remove("A")
    assert await store.directory.newest(50) == []


async def test_the_list_forgets_old_rooms_and_itself(store: Store) -> None:
    await open_room(store, "A", 1000)
    await open_room(store, "B", 1000 + keys.LISTED_S * 1000 + 1)
    assert await store.line.ask("ZRANGE", keys.LOBBY, 0, -1) == [b"B"]
    assert await store.line.ask("TTL", keys.LOBBY) > 0


async def test_the_list_has_a_bound(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store.directory, "_kind", replace(ROOMS, most=2))
    for i, code in enumerate(("A", "B", "C")):
        await open_room(store, code, 1000 + i)
    assert [each.code for each in await store.directory.newest(50)] == ["C", "B"]


async def test_rooms_and_tournaments_are_listed_apart(store: Store) -> None:
    await open_room(store, "A", 1000)
    await store.journals.append(
        keys.tournament("CUP"), [b"{}"], expect=0, sets={"title": "Cup"}, ttl_s=60
    )
    await store.programme.add("CUP", 2000)
    await store.programme.add("GONE", 3000)
    assert [each.code for each in await store.directory.newest(9)] == ["A"]
    (listing,) = await store.programme.newest(9)
    assert (listing.code, listing.opened) == ("CUP", 2000)
    assert listing.summary["title"] == "Cup"
    assert await store.line.ask("ZRANGE", keys.PROGRAMME, 0, -1) == [b"CUP"]


# --- timers ---------------------------------------------------------------------------


async def test_what_is_due_is_claimed_by_one_node_only(store: Store, other: Store) -> None:
    for i in range(40):
        await store.timers.set(f"m{i}", 1000 + i)
    claims = await asyncio.gather(
        *(node.timers.claim(5_000, 100, now=2_000) for _ in range(4) for node in (store, other))
    )
    members = [claim.member for each in claims for claim in each]
    assert sorted(members) == sorted(f"m{i}" for i in range(40))


async def test_what_is_not_due_is_left(store: Store) -> None:
    await store.timers.set("later", store.clock.now() + DAY_MS)
    await store.timers.set("sooner", 1000)
    assert [claim.member for claim in await store.timers.claim(5_000, 10)] == ["sooner"]


async def test_a_claim_that_nobody_ends_comes_due_again(store: Store, other: Store) -> None:
    await store.timers.set("m", 1000)
    assert await store.timers.claim(5_000, 10, now=2_000) == [Claim("m", 7_000)]
    assert await other.timers.claim(5_000, 10, now=6_999) == []
    assert await other.timers.claim(5_000, 10, now=7_000) == [Claim("m", 12_000)]


async def test_a_timer_that_is_done_is_gone(store: Store) -> None:
    await store.timers.set("m", 1000)
    (claim,) = await store.timers.claim(5_000, 10, now=2_000)
    assert await store.timers.done(claim)
    assert await dues(store) == {}
    assert not await store.timers.done(claim)


async def test_a_timer_can_be_set_for_its_next_time(store: Store) -> None:
    await store.timers.set("m", 1000)
    (claim,) = await store.timers.claim(5_000, 10, now=2_000)
    assert await store.timers.done(claim, next_due=3_000)
    assert await dues(store) == {"m": 3_000}


async def test_the_end_of_a_claim_never_undoes_a_newer_setting(store: Store, other: Store) -> None:
    await store.timers.set("m", 1000)
    (claim,) = await store.timers.claim(5_000, 10, now=2_000)
    await other.timers.set("m", 9_000)
    assert not await store.timers.done(claim)
    assert not await store.timers.done(claim, next_due=3_000)
    assert await dues(store) == {"m": 9_000}


async def test_a_claimant_that_was_too_slow_ends_nothing(store: Store, other: Store) -> None:
    await store.timers.set("m", 1000)
    (slow,) = await store.timers.claim(5_000, 10, now=2_000)
    (quick,) = await other.timers.claim(5_000, 10, now=8_000)
    assert not await store.timers.done(slow)
    assert await other.timers.done(quick)


async def test_a_member_has_one_timer(store: Store) -> None:
    await store.timers.set("m", 1000)
    await store.timers.set("m", 500)
    assert await dues(store) == {"m": 500}
    await store.timers.drop("m")
    assert await dues(store) == {}


# --- nodes ----------------------------------------------------------------------------


async def test_live_nodes_are_listed_and_dead_ones_forgotten(store: Store, other: Store) -> None:
    await store.nodes.beat("one", 1000, {"host": "a"})
    await other.nodes.beat("two", 2000, {})
    assert [(node.id, node.beat, node.about) for node in await store.nodes.live()] == [
        ("one", 1000, {"host": "a"}),
        ("two", 2000, {}),
    ]
    await store.line.ask("DEL", keys.node("one"))  # as its lifetime does
    assert [node.id for node in await store.nodes.live()] == ["two"]
    assert await store.line.ask("ZCARD", keys.NODES) == 1
    await other.nodes.leave("two")
    assert await store.nodes.live() == []


async def test_nothing_of_a_node_stays(store: Store) -> None:
    await store.nodes.beat("one", 1000, {})
    assert 0 < await store.line.ask("TTL", keys.node("one")) <= keys.NODE_S
    assert 0 < await store.line.ask("TTL", keys.NODES) <= keys.NODES_S
