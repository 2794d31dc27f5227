"""Plays that fail on our side, and plays to the end of a board that are cut, doubled or halved."""

import asyncio

import pytest

from server import referee
from server.events import Played
from server.race import Race
from tests.faults import solvable
from tests.faults.processes import HOST, ValkeyProcess, until
from tests.faults.proxy import Proxy
from tests.server.floor import Someone, node, race_of
from wire import messages as m


async def test_a_play_that_fails_on_our_side_is_that_player_s_trouble_alone(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide = referee.decide_move

    def broken(race: Race, player: str, n: int, text: str) -> Played:
        if text == "9>8":
            raise RuntimeError("a fault of ours")
        return decide(race, player, n, text)

    monkeypatch.setattr(referee, "decide_move", broken)
    async with node(store.url) as started:
        _, (anna, ben) = await race_of(started.port, "anna", "ben")
        for n, text in enumerate(("d", "9>8", "d"), 1):  # the second waits for the first
            await anna.say(m.Move(n=n, m=text))
        assert (await anna.hear(m.Error)).code == "internal"
        assert (await anna.hear(m.Refused)).n == 3
        assert (await ben.play(1, "d")).n == 1
        assert (await anna.play(2, "d")).n == 2
        assert started.tally.room_faults == 1


async def test_who_drops_in_the_middle_of_finishing_leaves_nothing_that_waits(
    store: ValkeyProcess,
) -> None:
    async with Proxy((HOST, store.port)) as line, node(f"redis://{HOST}:{line.port}") as started:
        _, (anna,) = await race_of(started.port, "anna", settings=solvable.settings(1))
        for n, text in enumerate(solvable.CLEARING, 1):
            await anna.say(m.Move(n=n, m=text))
        await anna.hear(m.Moved, lambda moved: "finish" in moved.can)
        line.hold("down")
        await anna.say(m.Finish(n=len(solvable.CLEARING) + 1))
        await until(lambda: finishing() == 1, "it is under way")
        anna.vanish()
        await anna.closed()
        await until(lambda: finishing() == 0, "nobody waits any more")
        line.calm()
        back = await Someone.arrive(started.port, token=anna.token)
        board = await back.hear(m.Board)
        await back.say(m.Finish(n=board.n + 1))
        assert (await back.hear(m.Finished)).outcome == "solved"


async def test_finishing_twice_is_finishing_once_and_answered_twice(
    store: ValkeyProcess,
) -> None:
    async with node(store.url) as started:
        code, (anna, _) = await race_of(started.port, "anna", "ben", settings=solvable.settings(2))
        for n, text in enumerate(solvable.CLEARING, 1):
            await anna.say(m.Move(n=n, m=text))
        n = len(solvable.CLEARING) + 1
        refused = await anna.refused(m.Finish(n=n + 5))
        assert (refused.code, refused.n) == ("gap", n + 5)
        for _ in range(2):
            await anna.say(m.Finish(n=n))
        numbers = [n + k for k in range(len(solvable.HOMEWARD))]
        for _ in range(2):
            answers = [await anna.hear(m.Moved, lambda moved: moved.n >= n) for _ in numbers]
            assert [answer.n for answer in answers] == numbers
            assert answers[-1].outcome == "solved"
        # The same after half of it: what counts is answered, what does not is played.
        back = await Someone.arrive(started.port, token=anna.token)
        await back.say(m.Finish(n=n + 10))
        assert (await back.hear(m.Moved)).n == n + 10
        await back.say(m.Ping(c=1))
        await back.hear(m.Pong)
        assert back.all(m.Refused) == []


async def test_half_a_finish_is_gone_on_with(store: ValkeyProcess) -> None:
    async with node(store.url) as started:
        _, (anna,) = await race_of(started.port, "anna", settings=solvable.settings(1))
        half = [*solvable.CLEARING, *solvable.HOMEWARD[:12]]
        for n, text in enumerate(half, 1):
            await anna.say(m.Move(n=n, m=text))
        await anna.hear(m.Moved, lambda moved: moved.n == len(half))
        await anna.say(m.Finish(n=len(solvable.CLEARING) + 1))
        assert (await anna.hear(m.Finished)).outcome == "solved"
        assert anna.all(m.Refused) == []


def finishing() -> int:
    """How many requests to finish are under way in this process."""
    return sum(task.get_name().endswith("Finish") for task in asyncio.all_tasks())
