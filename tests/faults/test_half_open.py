"""Lines that look open and carry nothing any more: both ends notice, each in its time."""

import asyncio
import time
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest

from client.identity import Identity
from client.line import Line
from client.link import Link
from server.gateway import Limits
from tests.client.stage import Ear, running
from tests.faults.fleet import Fleet
from tests.faults.processes import HOST, ValkeyProcess, until
from tests.faults.proxy import Proxy, Way
from tests.server.floor import Someone, node
from wire import messages as m
from wire.values import Settings

ROOM = Settings(seed="42", countdown_s=0, seats=2, time_limit_s=300)
LIMIT_S = 30.0  # the promise
MARGIN_S = 1.5  # for what a busy machine adds to it
SOON_S = 10.0  # with a play that is not answered


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ends notice in a fraction of the time."""
    monkeypatch.setattr("server.config.Limits", partial(Limits, ping_after=0.5, silence=1.0))
    monkeypatch.setattr("client.link.LOOK_GAP", 0.1)
    monkeypatch.setattr("client.doubt.ASK_AFTER", 0.3)
    monkeypatch.setattr("client.doubt.ANSWER_LIMIT", 0.5)


async def race(port: int, link: Link, ear: Ear) -> Someone:
    """A running race of the link's player and another one, who is given."""
    ben = await Someone.arrive(port, "ben")
    await ben.say(m.Create(settings=ROOM))
    code = (await ben.hear(m.Room)).room
    await ear.until(m.Welcome)
    link.send(m.Join(room=code))
    await ear.until(m.Room)
    link.send(m.Ready())
    await ben.say(m.Ready())
    await ear.until(m.Board)
    return ben


@pytest.mark.parametrize("ways", [("up", "down"), ("up",), ("down",)], ids="-".join)
async def test_a_client_whose_play_gets_no_answer_comes_back_and_it_counts_once(
    hasty: None, store: ValkeyProcess, ways: tuple[Way, ...]
) -> None:
    async with node(store.url) as started, Proxy((HOST, started.port)) as front:
        ear = Ear()
        link = Link(f"ws://{HOST}:{front.port}/ws", Identity(), ear, name="anna")
        async with running(link):
            ben = await race(started.port, link, ear)
            link.play("d")
            await ear.until(m.Moved)
            front.swallow(*ways)
            link.play("3>2")
            await ear.until(m.Board, 2)
            await until(lambda: not link.plays.waiting, "it is answered")
            assert link.plays.counted == 2
            link.play("d")
            scores = await ben.hear(m.Scores, lambda scores: scores.lines[1].moves == 3)
            assert scores.lines[0].moves == 0
        await ben.go()


async def test_a_server_lets_go_of_a_line_that_is_dead_and_the_others_see_it(
    hasty: None, store: ValkeyProcess
) -> None:
    async with node(store.url) as started, Proxy((HOST, started.port)) as front:
        ben = await Someone.arrive(started.port, "ben")
        await ben.say(m.Create(settings=ROOM))
        code = (await ben.hear(m.Room)).room
        anna = await Someone.arrive(front.port, "anna")
        await anna.say(m.Join(room=code))
        await ben.hear(m.Room, lambda room: len(room.seats) == 2 and room.seats[1].here)
        front.swallow()
        await ben.hear(m.Room, is_away)
        anna.vanish()
        await ben.go()


def is_off(ear: Ear) -> bool:
    """Whether a link was ever without its line."""
    return any(isinstance(each, Line) and each.retry_at is not None for each in ear.all)


def is_away(room: m.Room) -> bool:
    return len(room.seats) == 2 and not room.seats[1].here


@pytest.mark.slow
async def test_by_the_limits_that_hosts_get_dead_lines_are_noticed_within_half_a_minute(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        fleet = await stack.enter_async_context(Fleet(tmp_path, nodes=1))
        berth = fleet.berths[0]
        busy, idle = Ear(), Ear()
        links = [
            Link(berth.door, Identity(), ear, name=name)
            for name, ear in (("anna", busy), ("ida", idle))
        ]
        for link in links:
            await stack.enter_async_context(running(link))
        ben = await race(berth.port, links[0], busy)
        await idle.until(m.Welcome)
        # Who waits in an open room is shown as away as soon as the server knows.
        host = await Someone.arrive(berth.port, "host")
        await host.say(m.Create(settings=ROOM))
        gone = await Someone.arrive(berth.front.port, "gone")
        await gone.say(m.Join(room=(await host.hear(m.Room)).room))
        await host.hear(m.Room, lambda room: len(room.seats) == 2 and room.seats[1].here)
        await asyncio.sleep(2)  # the clocks are measured
        mark = len(host.all(m.Room))
        berth.front.swallow()
        began = time.monotonic()
        links[0].play("d")

        async def lost(ear: Ear) -> float:
            await until(lambda: is_off(ear), "the client notices", LIMIT_S + 15)
            return time.monotonic() - began

        async def away() -> float:
            await until(
                lambda: any(is_away(room) for room in host.all(m.Room)[mark:]),
                "the server notices",
                LIMIT_S + 15,
            )
            return time.monotonic() - began

        took = await asyncio.gather(lost(busy), lost(idle), away())
        print(
            "noticed after {:.1f} s with a play owed, {:.1f} s idle, {:.1f} s by the server".format(
                *took
            )
        )
        assert took[0] < SOON_S
        assert max(took) < LIMIT_S + MARGIN_S
        await busy.until(m.Board, 2)
        await until(lambda: links[0].plays.counted == 1, "it is answered")
        for someone in (host, ben):
            await someone.go()
        gone.vanish()
