"""How long the store keeps what belongs to a room, and the list of rooms."""

from msgspec.structs import replace

from server.store import keys
from tests.faults.processes import ValkeyProcess, until
from tests.server.floor import QUICK, Someone, node, race_of
from wire import messages as m


def lifetimes(store: ValkeyProcess, pattern: str) -> list[int]:
    """How long the keys of a pattern have to live, in seconds."""
    with store.client() as client:
        return [client.ttl(key) for key in client.scan_iter(pattern)]


def lobby(store: ValkeyProcess) -> list[bytes]:
    """The codes of the listed rooms."""
    with store.client() as client:
        listed: list[bytes] = client.zrange(keys.LOBBY, 0, -1)
        return listed


async def test_a_room_whose_race_never_started_is_soon_forgotten(store: ValkeyProcess) -> None:
    async with node(store.url) as started:
        anna = await Someone.arrive(started.port)
        await anna.say(m.Create(settings=replace(QUICK, seed=None)))
        await anna.hear(m.Room)
        await anna.say(m.Leave())
        await anna.hear(m.Left)
        await until(lambda: not lobby(store), "it is off the list")
        assert max(lifetimes(store, "dk:{r:*")) <= keys.ABORTED_S
        assert 0 < max(lifetimes(store, "dk:deal:*")) < keys.DEAL_S / 10


async def test_a_started_race_keeps_its_deal_for_as_long_as_its_record(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as started:
        await race_of(started.port, "anna", settings=replace(QUICK, seed=None))
        assert min(lifetimes(store, "dk:deal:*")) > keys.FINISHED_S


async def test_a_room_for_a_start_in_some_days_is_still_there_then(store: ValkeyProcess) -> None:
    async with node(store.url) as started:
        anna = await Someone.arrive(started.port)
        week = 7 * 24 * 3_600_000
        at_time = replace(QUICK, start="time", start_at=started._store.clock.now() + week)
        await anna.say(m.Create(settings=at_time))
        await anna.hear(m.Room)
        assert min(lifetimes(store, "dk:{r:*")) > week // 1000
        never = replace(QUICK, start="time", start_at=started._store.clock.now() + 5 * week)
        ben = await Someone.arrive(started.port, "ben")
        assert (await ben.refused(m.Create(settings=never))).code == "start-at"


async def test_the_list_of_rooms_is_mended_by_who_reads_it(store: ValkeyProcess) -> None:
    async with node(store.url) as started:
        codes = [await started._rooms.open(QUICK, "nobody") for _ in range(3)]
        with store.client() as client:
            client.hset(keys.journal(keys.room(codes[0])).summary, "phase", "over")
        lines = await started._rooms.lobby()
        assert {line.room for line in lines} == set(codes[1:])
        await until(lambda: len(lobby(store)) == 2, "it is off the list")
