"""A Cluster: what is served where, slots that move, masters that die and are replaced."""

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import redis

from server.store import (
    ActOutcome,
    Appended,
    Conflict,
    Denied,
    Embedded,
    JournalId,
    Limits,
    Lost,
    Store,
    Unavailable,
    Unfit,
    Unreachable,
    keys,
)
from server.store.address import Address, read
from server.store.cluster import Cluster
from server.store.line import Line
from server.store.slots import SLOTS, View, slot_of
from tests.faults.processes import HOST, ValkeyProcess, free_port
from tests.faults.stores import ClusterTrio
from tests.store.conftest import BRISK, Ear, appended, cluster_url, empty, known, outcome, until

DAY_MS = 86_400_000


@pytest.fixture
async def stores(cluster: ClusterTrio) -> AsyncIterator[tuple[Store, Store]]:
    """Two nodes on a Cluster with nothing in it."""
    url = empty(cluster)
    pair = [await Store.open(url, limits=BRISK) for _ in range(2)]
    yield pair[0], pair[1]
    for store in pair:
        await store.close()


def share(number: int) -> range:
    """The slots of one of the three masters, as `ClusterTrio` gives them."""
    size = -(-SLOTS // 3)
    return range(number * size, min(SLOTS, (number + 1) * size))


def room_of(number: int, start: int = 0) -> JournalId:
    """A room that one of the three masters has."""
    return next(
        jid
        for n in range(start, start + 10_000)
        if slot_of(keys.journal(jid := keys.room(f"ROOM{n}")).journal) in share(number)
    )


ROOMS = [room_of(number) for number in range(3)]


async def begin(store: Store, jid: JournalId) -> Appended:
    done = await store.journals.append(
        jid,
        [b"started"],
        expect=0,
        ttl_s=600,
        sets={"phase": "running"},
        offsets={"start": 0, "deadline": 600_000},
    )
    assert isinstance(done, Appended)
    return done


async def play(store: Store, jid: JournalId, n: int) -> ActOutcome:
    return await outcome(
        lambda done: store.journals.act(jid, "ann", 1, n, b"play %d" % n, {}, done)
    )


async def move(slot: int, source: ValkeyProcess, target: ValkeyProcess) -> AsyncIterator[str]:
    """Moves a slot in the classic way, with a stop after each step."""
    with source.client() as a, target.client() as b:
        from_id, to_id = (each.execute_command("CLUSTER", "MYID") for each in (a, b))
        b.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", from_id)
        a.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", to_id)
        yield "begun"
        for key in a.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 1000):
            a.execute_command("MIGRATE", HOST, target.port, key, 0, 2000)
        yield "keys moved"
        for each in (b, a):
            each.execute_command("CLUSTER", "SETSLOT", slot, "NODE", to_id)
        yield "done"


# --- what belongs together ------------------------------------------------------------


def test_what_one_script_or_one_room_needs_is_in_one_place() -> None:
    together = [
        [*keys.journal(keys.room("ABCDEF")), keys.deal("ABCDEF-0123")],
        [*keys.journal(keys.tournament("CUP")), keys.deal("CUP.1-1")],
        [keys.player("ann"), keys.entered("ann")],
        [*keys.ratings("x")[:1], keys.ratings("x").leaders, keys.ratings("x").history("ann")],
    ]
    for names in together:
        assert len({slot_of(name) for name in names}) == 1, names


def test_timers_are_shared_out() -> None:
    assert len({slot_of(keys.timers(shard)) for shard in range(keys.TIMER_SHARDS)}) > 2


# --- a Cluster in order ---------------------------------------------------------------


async def test_rooms_on_all_masters_are_served_alike(stores: tuple[Store, Store]) -> None:
    one, two = stores
    ears = [Ear() for _ in ROOMS]
    for jid, ear in zip(ROOMS, ears, strict=True):
        await two.journals.subscribe(jid, ear)
        await begin(one, jid)
        assert isinstance(await play(two, jid, 1), Appended)
        assert await one.journals.attach(jid, "ann", 7)
        assert await two.journals.append(jid, [b"x"], expect=1, ttl_s=60) == Conflict(2)
        assert await play(one, jid, 2) == Denied("replaced", 1)
    await until(lambda: all(len(ear.entries) == 2 and ear.notes for ear in ears))
    assert {line.label for line in one.lines} == {line.label for line in two.lines}
    assert [line.counts.connects for line in one.lines] == [1, 1, 1]


async def test_lists_are_drawn_from_all_masters(stores: tuple[Store, Store]) -> None:
    one, two = stores
    for opened, jid in enumerate(ROOMS):
        await begin(one, jid)
        await one.directory.add(jid.removeprefix("r:"), opened)
    listed = await two.directory.newest(50)
    assert [keys.room(each.code) for each in listed] == ROOMS[::-1]
    await asyncio.gather(*(one.timers.set(f"m{n}", 1000 + n) for n in range(50)))
    claims = await two.timers.claim(5_000, 200, now=2_000)
    assert sorted(claim.member for claim in claims) == sorted(f"m{n}" for n in range(50))
    for claim in claims:
        assert await one.timers.done(claim)
    for name in "abcdef":
        await one.nodes.beat(name, 5, {"of": name})
    assert {node.id: node.about["of"] for node in await two.nodes.live()} == {
        name: name for name in "abcdef"
    }


async def test_scripts_that_are_forgotten_are_told_again_on_every_master(
    stores: tuple[Store, Store], cluster: ClusterTrio
) -> None:
    one, _ = stores
    players = [await one.players.create(f"p{n}") for n in range(9)]
    for jid in ROOMS:
        await begin(one, jid)
    for member in cluster.masters:
        with member.client() as client:
            client.script_flush()
    for jid in ROOMS:
        assert isinstance(await play(one, jid, 1), Appended)
    for player, _ in players:
        assert await one.players.connect(player.id)


async def test_each_journal_s_time_is_that_of_its_own_master(stores: tuple[Store, Store]) -> None:
    one, _ = stores
    for number, jid in enumerate(ROOMS):
        one._shards.of(keys.journal(jid).journal).line.clock._offset += number + 1
    times = [one.journals.now_at(jid) for jid in ROOMS]
    assert [round((time - times[0]) / 1000) for time in times] == [0, 1, 2]


# --- slots that move ------------------------------------------------------------------


def has_resynced(ear: Ear, times: int) -> bool:
    return ear.resyncs >= times


def has_heard(ear: Ear, version: int) -> bool:
    return ear.entries[-1].version == version


async def test_a_room_is_played_on_while_its_slot_moves(
    stores: tuple[Store, Store], cluster: ClusterTrio, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = stores
    jid, (source, target) = ROOMS[0], cluster.masters[:2]
    slot = slot_of(keys.journal(jid).journal)
    ear, still = Ear(), Ear()
    await begin(one, jid)
    await one.journals.subscribe(jid, ear)
    await two.journals.subscribe(ROOMS[2], still)
    ends = ((source, target), (target, source))
    n = 0
    for there_and_back, (a, b) in enumerate(ends, 1):
        async for _ in move(slot, a, b):
            for node in (one, two):
                n += 1
                assert isinstance(await play(node, jid, n), Appended)
                assert len(await node.journals.read(jid)) == 1 + n
        await until(partial(has_resynced, ear, there_and_back))
        n += 1
        heard = appended(await play(two, jid, n)).version
        await until(partial(has_heard, ear, heard))
    assert [line.counts.connects for line in one.lines] == [1, 1, 1]
    assert still.resyncs == 0
    one.journals.unsubscribe(jid, ear)
    assert isinstance(await play(one, jid, n + 1), Appended)
    assert sum([await _channels(member) for member in cluster.masters]) == 1  # still's


async def _channels(member: ValkeyProcess) -> int:
    with member.client() as client:
        return len(client.execute_command("PUBSUB", "SHARDCHANNELS"))


async def test_requests_are_made_while_their_slot_moves(
    stores: tuple[Store, Store], cluster: ClusterTrio
) -> None:
    one, two = stores
    made = [await one.players.create(f"p{n}") for n in range(40)]
    player, token = next(
        (player, token) for player, token in made if slot_of(keys.player(player.id)) in share(0)
    )
    slot = slot_of(keys.player(player.id))
    seen = []
    for a, b in ((0, 1), (1, 0)):
        async for _ in move(slot, cluster.masters[a], cluster.masters[b]):
            for node in (one, two):
                seen.append(await node.players.connect(player.id))
                await node.players.set_room(player.id, f"R{len(seen)}")
                found = known(await node.players.find(token))
                assert (found.room, found.epoch) == (f"R{len(seen)}", seen[-1])
                (name,) = await node.players._pool.each([("HGET", keys.player(player.id), "name")])
                assert name.decode() == player.name
    assert seen == sorted(set(seen))


async def test_a_room_that_is_new_while_its_slot_moves_is_opened_when_it_has_moved(
    stores: tuple[Store, Store], cluster: ClusterTrio
) -> None:
    one, _ = stores
    jid = room_of(0, 10_000)
    slot = slot_of(keys.journal(jid).journal)
    steps = move(slot, *cluster.masters[:2])
    await anext(steps)
    assert await one.journals.append(jid, [b"x"], expect=0, ttl_s=60) == Lost(sent=False)
    async for _ in steps:
        pass
    await begin(one, jid)
    async for _ in move(slot, *cluster.masters[1::-1]):
        pass


# --- what is no Cluster, or not one to rely on ----------------------------------------


async def test_a_url_that_does_not_say_what_the_store_is_is_refused(
    cluster: ClusterTrio, private: Embedded
) -> None:
    with pytest.raises(Unfit, match=r"name the whole with cluster://127.0.0.1:"):
        await Store.open(cluster.masters[0].url)
    admin = await Store.open(private.url)
    port = free_port()
    await admin.line.ask("CONFIG", "SET", "port", port)
    await admin.close()
    with pytest.raises(Unfit, match="cluster support disabled"):
        await Store.open(f"cluster://{HOST}:{port}")


async def test_a_cluster_that_stands_still_as_a_whole_is_warned_of(
    cluster: ClusterTrio, caplog: pytest.LogCaptureFixture
) -> None:
    with cluster.masters[0].client() as client:
        for setting, warned in (("yes", True), ("no", False)):
            client.config_set("cluster-require-full-coverage", setting)
            caplog.clear()
            store = await Store.open(f"cluster://{HOST}:{cluster.masters[0].port}")
            assert ("set cluster-require-full-coverage to no" in caplog.text) is warned
            await store.close()


async def test_one_door_that_answers_is_enough(cluster: ClusterTrio) -> None:
    nowhere = f"{HOST}:{free_port()}"
    url = cluster_url(cluster).replace("cluster://", f"cluster://{nowhere},")
    store = await Store.open(url)
    assert len(store.lines) == 3
    await store.close()


async def test_where_no_door_answers_the_error_names_them() -> None:
    nowhere = f"{HOST}:{free_port()}"
    with pytest.raises(Unreachable, match=f"the Cluster of {nowhere}"):
        await Store.open(f"cluster://{nowhere}", patience_s=2.0)


async def test_a_master_that_drops_keys_is_refused_and_later_complained_of(
    cluster: ClusterTrio, caplog: pytest.LogCaptureFixture
) -> None:
    url = cluster_url(cluster)
    store = await Store.open(url, limits=BRISK)
    with cluster.masters[1].client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        client.config_set("maxmemory", "100mb")
        try:
            with pytest.raises(Unfit, match=f"{cluster.masters[1].port}.*allkeys-lru"):
                await Store.open(url)
            client.client_kill_filter(_type="normal")
            await until(lambda: "allkeys-lru" in caplog.text)
        finally:
            client.config_set("maxmemory", 0)
            client.config_set("maxmemory-policy", "noeviction")
    await store.close()


async def test_opening_and_closing_leaves_nothing_behind(cluster: ClusterTrio) -> None:
    before = asyncio.all_tasks()
    for _ in range(3):
        store = await Store.open(cluster_url(cluster))
        await store.players.find("nobody")
        await store.close()
    assert asyncio.all_tasks() == before


# --- who serves what, by views alone --------------------------------------------------


@pytest.fixture
async def alone() -> AsyncIterator[Cluster]:
    """A Cluster of which nobody answers."""
    site = read(f"cluster://{HOST}:1")
    cluster = Cluster(site, Limits(connect_s=0.1, backoff_s=1))
    yield cluster
    await cluster.close()


def view(*masters: range, first: int = 1) -> View:
    """A view in which masters at ports from `first` on serve these slots."""
    places = {(HOST, first + n): [slots] for n, slots in enumerate(masters)}
    return View(True, 1, places, frozenset())


def line_of(cluster: Cluster, slot: int) -> Line:
    return cluster._by_slot[slot].line


async def test_a_line_goes_on_to_the_master_that_took_over_the_slots(
    alone: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    alone._adopt(view(range(8_000), range(8_000, SLOTS)))
    lines = [line_of(alone, 0), line_of(alone, 8_000)]
    taken_over = View(
        True, 2, {(HOST, 1): [range(8_000)], (HOST, 9): [range(8_000, SLOTS)]}, frozenset()
    )
    changes: list[int] = []
    alone.on_change(lambda: changes.append(1))
    alone._adopt(taken_over)
    assert [line_of(alone, 0), line_of(alone, 8_000)] == lines
    assert alone._by_slot[8_000].address == Address(HOST, 9)
    assert changes == []  # the same lines lead to the same slots


async def test_slots_that_move_are_served_over_another_line(
    alone: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    alone._adopt(view(range(8_000), range(8_000, SLOTS)))
    first, second = line_of(alone, 0), line_of(alone, 8_000)
    changes: list[int] = []
    alone.on_change(lambda: changes.append(1))
    alone._adopt(view(range(4_000), range(8_000, SLOTS), range(4_000, 8_000)))
    third = line_of(alone, 4_000)
    assert len({first, second, third}) == 3
    assert line_of(alone, 3_999) is first
    assert changes == [1]
    alone._adopt(view(range(4_000), range(4_000, SLOTS)))
    assert line_of(alone, 4_000) is second
    assert [shard.line for shard in alone.all()] == [first, second]


async def test_slots_that_nobody_serves_stay_with_who_had_them(
    alone: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    alone._adopt(view(range(8_000), range(8_000, SLOTS)))
    first, second = line_of(alone, 0), line_of(alone, 8_000)
    alone._adopt(view(range(8_000), range(9_000, SLOTS)))
    assert line_of(alone, 8_500) is second
    alone._adopt(view(range(8_000)))
    assert line_of(alone, 8_500) is first


# --- masters that die -----------------------------------------------------------------


@pytest.fixture
async def mortal(tmp_path: Path) -> AsyncIterator[ClusterTrio]:
    """Three masters to be ill-treated, each serving its own slots whatever the others do."""
    trio = ClusterTrio(tmp_path)
    for member in trio.members:
        member.options["cluster-require-full-coverage"] = "no"
    async with trio:
        yield trio


@pytest.mark.slow
async def test_while_one_master_is_away_the_others_rooms_go_on(
    mortal: ClusterTrio, caplog: pytest.LogCaptureFixture
) -> None:
    store = await Store.open(cluster_url(mortal), limits=BRISK)
    ears = [Ear() for _ in ROOMS]
    for number, (jid, ear) in enumerate(zip(ROOMS, ears, strict=True)):
        await begin(store, jid)
        await store.journals.subscribe(jid, ear)
        await store.directory.add(jid.removeprefix("r:"), number)
    away, *others = ROOMS
    await mortal.masters[0].kill()
    await until(lambda: not store.journals.is_up(away))
    assert store.up
    assert not store.is_whole
    assert not await store.journals.wait_up(away, 0.2)
    assert await store.wait_up(0.2)
    assert await play(store, away, 1) == Lost(sent=False)
    with pytest.raises(Unavailable):
        await store.journals.read(away)
    for jid in others:
        assert await store.journals.wait_up(jid, 0)
        assert isinstance(await play(store, jid, 1), Appended)
    # Timers of all members find a place, and what is due is acted on.
    for n in range(20):
        await store.timers.set(f"m{n}", 1_000)
    claims = await store.timers.claim(5_000, 100, now=2_000)
    assert len({claim.member for claim in claims}) == 20
    for claim in claims:
        assert await store.timers.done(claim)
    assert await store.timers.claim(5_000, 100, now=20_000) == []
    if slot_of(keys.LOBBY) not in share(0):
        assert [keys.room(each.code) for each in await store.directory.newest(50)] == others[::-1]
    # Who starts now can serve the others.
    late = await Store.open(cluster_url(mortal), limits=BRISK, patience_s=1)
    assert isinstance(await play(late, others[0], 2), Appended)
    assert "a part of the store is away" in caplog.text

    await mortal.masters[0].start()
    for node in (store, late):
        assert await node.journals.wait_up(away, 20)
        assert node.is_whole
    assert isinstance(await play(late, away, 1), Appended)
    await until(lambda: ears[0].resyncs == 1 and len(ears[0].entries) == 1)
    assert [ear.resyncs for ear in ears] == [1, 0, 0]
    await late.close()
    await store.close()


@pytest.mark.slow
async def test_a_replica_that_takes_over_is_followed(tmp_path: Path) -> None:
    async with ClusterTrio(tmp_path, replicas=True) as trio:
        store = await Store.open(cluster_url(trio), limits=BRISK)
        away = ROOMS[0]
        ears = [Ear() for _ in ROOMS]
        for jid, ear in zip(ROOMS, ears, strict=True):
            await begin(store, jid)
            await store.journals.subscribe(jid, ear)
        assert isinstance(await play(store, away, 1), Appended)
        with trio.masters[0].client() as client:
            assert client.wait(1, 2_000) == 1
        line = store._shards.of(keys.journal(away).journal).line
        await trio.masters[0].kill()
        await until(lambda: not store.journals.is_up(away))
        assert await store.journals.wait_up(away, 20)
        assert line.label == f"{HOST}:{trio.replicas[0].port}"
        assert store._shards.of(keys.journal(away).journal).line is line
        assert [entry.payload for entry in await store.journals.read(away, 1)] == [b"play 1"]
        assert isinstance(await play(store, away, 2), Appended)
        await until(lambda: ears[0].resyncs == 1 and ears[0].entries[-1].version == 3)
        # What was the master is a replica from now on, and is asked for nothing.
        await trio.masters[0].start()
        assert isinstance(await play(store, away, 3), Appended)
        # A failover that the operator wants.
        with trio.masters[0].client() as client:
            await until(lambda: _is_replica(client), 20)
            client.execute_command("CLUSTER", "FAILOVER")
        n = 3
        async with asyncio.timeout(20):
            while line.label != f"{HOST}:{trio.masters[0].port}":
                n += 1
                while isinstance(await play(store, away, n), Lost):
                    await store.journals.wait_up(away, 1)
        assert isinstance(await play(store, away, n + 1), Appended)
        plays = [entry.payload for entry in await store.journals.read(away, 1)]
        assert plays == [b"play %d" % k for k in range(1, n + 2)]
        await store.close()


def _is_replica(client: redis.Redis) -> bool:
    try:
        said = client.info("replication")
    except redis.RedisError:
        return False
    return bool(said["role"] == "slave" and said["master_link_status"] == "up")
