"""The keeper of time: looks side by side, each on its own."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from server.refusal import Refusal, store_away
from server.store import Claim, Store, Unavailable
from server.tally import Tally
from server.timekeeper import AT_ONCE, FAILED_AGAIN_MS, LEFT_TO_NEWER_MS, Look, Timekeeper
from tests.store.dues import dues


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    opened = await Store.open(store_url)
    yield opened
    await opened.close()


async def kept(store: Store, look: Look, *members: str) -> None:
    """Have a keeper look at these members once."""
    keeper = Timekeeper(store, Tally(), {"": look})
    for member in members:
        await store.timers.set(member, 1)
    await keeper.act()
    await done(keeper)


async def done(keeper: Timekeeper) -> None:
    """Wait until all looks that have begun are over."""
    await asyncio.gather(*keeper._under_way.values())


async def test_a_slow_look_delays_no_other(store: Store) -> None:
    seen, quick, never = list[str](), asyncio.Event(), asyncio.Event()

    async def look(member: str) -> None:
        seen.append(member)
        if member == "SLOW":
            await never.wait()
        quick.set()

    await store.timers.set("SLOW", 1)
    keeper = Timekeeper(store, Tally(), {"": look})
    await keeper.act()
    await store.timers.set("QUICK", 1)
    await keeper.act()
    await asyncio.wait_for(quick.wait(), 30)
    assert seen == ["SLOW", "QUICK"]
    await keeper.close()


async def test_a_look_that_fails_fails_alone_and_is_made_again_later(store: Store) -> None:
    seen = list[str]()

    async def look(member: str) -> None:
        seen.append(member)
        if member == "BAD":
            raise ValueError("our fault")

    before = store.clock.now()
    await kept(store, look, "BAD", "GOOD")
    assert sorted(seen) == ["BAD", "GOOD"]
    assert (await dues(store))["BAD"] >= before + FAILED_AGAIN_MS


async def test_a_fault_while_timers_are_claimed_is_not_the_end_of_them(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, is_seen, claim = list[str](), asyncio.Event(), store.timers.claim

    async def look(member: str) -> None:
        seen.append(member)
        is_seen.set()

    async def claim_badly(*_: object) -> list[Claim]:
        monkeypatch.setattr(store.timers, "claim", claim)
        raise AttributeError("our fault")

    monkeypatch.setattr(store.timers, "claim", claim_badly)
    await store.timers.set("ROOM", 1)
    keeper = Timekeeper(store, Tally(), {"": look})
    keeping = asyncio.create_task(keeper.keep_time())
    async with asyncio.timeout(20):
        await is_seen.wait()
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    assert seen == ["ROOM"]


@pytest.mark.parametrize(
    ("refusal", "wait_ms"),
    [
        (Refusal("newer-tournament", "on a newer server"), LEFT_TO_NEWER_MS),
        (Refusal("unreadable-room", "cannot be read"), FAILED_AGAIN_MS),
    ],
)
async def test_what_cannot_be_looked_at_waits(store: Store, refusal: Refusal, wait_ms: int) -> None:
    async def look(member: str) -> None:
        raise refusal

    before = store.clock.now()
    await kept(store, look, "ROOM")
    due = (await dues(store))["ROOM"]
    assert before + wait_ms <= due <= store.clock.now() + wait_ms


@pytest.mark.parametrize("error", [store_away(), Unavailable("no connection is free")])
async def test_with_the_store_away_the_claim_is_left_to_its_lease(
    store: Store, error: Exception
) -> None:
    async def look(member: str) -> None:
        raise error

    before = store.clock.now()
    await kept(store, look, "ROOM")
    assert before < (await dues(store))["ROOM"] < before + FAILED_AGAIN_MS


async def test_each_kind_of_member_has_its_handler_and_others_are_left_to_newer_nodes(
    store: Store,
) -> None:
    rooms, tournaments = list[str](), list[str]()

    async def look_room(member: str) -> None:
        rooms.append(member)

    async def look_tournament(member: str) -> None:
        tournaments.append(member)

    keeper = Timekeeper(store, Tally(), {"": look_room, "t": look_tournament})
    for member in ("ROOM", "t:CUP", "t:CUP/1.1/1", "z:WHAT"):
        await store.timers.set(member, 1)
    await keeper.act()
    await done(keeper)
    assert rooms == ["ROOM"]
    assert sorted(tournaments) == ["t:CUP", "t:CUP/1.1/1"]
    assert set(await dues(store)) == {"z:WHAT"}


async def test_a_look_says_when_to_look_again_unless_that_was_set_anew_meanwhile(
    store: Store,
) -> None:
    async def look(member: str) -> int:
        if member == "ANEW":
            await store.timers.set(member, 7)
        return 5_000_000_000_000

    await kept(store, look, "KEPT", "ANEW")
    assert await dues(store) == {"ANEW": 7, "KEPT": 5_000_000_000_000}


async def test_no_more_looks_go_on_at_once_than_there_is_room_for(store: Store) -> None:
    seen, never = list[str](), asyncio.Event()

    async def look(member: str) -> None:
        seen.append(member)
        await never.wait()

    await store.timers.set_all({f"R{number}": 1 for number in range(3 * AT_ONCE)})
    keeper = Timekeeper(store, Tally(), {"": look})
    for _ in range(4):
        await keeper.act()
        await asyncio.sleep(0)
    assert AT_ONCE - 4 <= len(seen) <= AT_ONCE
    await keeper.close()
