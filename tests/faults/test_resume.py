"""Any node, any player, any room: a race over several real nodes."""

import pytest
from msgspec.structs import replace

from tests.faults.conftest import Arrive
from tests.faults.fleet import Fleet, Race
from tests.faults.processes import until
from tests.faults.racer import Plan
from tests.faults.solvable import WAY_OUT, settings
from tests.server.floor import QUICK, Someone
from wire import messages as m
from wire.values import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def pair(
    fleet: Fleet, arrive: Arrive, chosen: Settings = QUICK
) -> tuple[str, Someone, Someone]:
    """A running race of two players on two nodes."""
    anna = await arrive(fleet.berths[0].port, "anna")
    ben = await arrive(fleet.berths[1].port, "ben")
    await anna.say(m.Create(settings=replace(chosen, start="host")))
    code = (await anna.hear(m.Room)).room
    await ben.say(m.Join(room=code))
    await anna.hear(m.Room, lambda room: len(room.seats) == 2)
    await anna.say(m.Start())
    for player in (anna, ben):
        await player.hear(m.Board)
    return code, anna, ben


async def test_two_players_on_two_nodes_see_each_other_s_scores(
    fleet: Fleet, arrive: Arrive
) -> None:
    _, anna, ben = await pair(fleet, arrive)
    await anna.play(1, "d")
    scores = await ben.hear(m.Scores, lambda scores: scores.lines[0].moves == 1)
    assert scores.lines[1].moves == 0
    await ben.play(1, "3>2")
    await anna.hear(m.Scores, lambda scores: scores.lines[1].moves == 1)


async def test_who_comes_back_on_another_node_finds_everything_as_it_was(
    fleet: Fleet, arrive: Arrive
) -> None:
    _, anna, _ = await pair(fleet, arrive)
    for n, text in enumerate(("d", "3>2", "d"), 1):
        await anna.play(n, text)
    await anna.say(m.Snapshot())
    before, room = await anna.hear(m.Board, lambda board: board.n == 3), anna.last(m.Room)
    for berth in (fleet.berths[2], fleet.berths[1]):
        back = await arrive(berth.port, token=anna.token)
        assert back.welcome.room == room.room
        assert await back.hear(m.Board) == before
        again = back.last(m.Room)
        assert (again.starts, again.ends, again.seat) == (room.starts, room.ends, room.seat)
        assert again.now >= room.now  # one clock, the store's, whatever the node
    assert await anna.closed() == m.Close.REPLACED


async def test_the_late_end_of_an_old_line_on_another_node_does_nothing(
    fleet: Fleet, arrive: Arrive
) -> None:
    code, anna, ben = await pair(fleet, arrive)
    front = fleet.berths[0].front
    old = await arrive(front.port, token=anna.token)
    await old.hear(m.Board)
    front.hold()  # its end is under way and does not arrive
    old.vanish()
    new = await arrive(fleet.berths[2].port, token=anna.token)
    await new.hear(m.Board)
    await new.play(1, "d")
    front.calm()
    await until(lambda: not front.lines, "the old line is over")
    await new.say(m.Snapshot())
    room = await new.hear(m.Room, lambda room: room.version > 0)
    assert room.seats[0].here
    await new.play(2, "d")
    assert [answer.n for answer in new.all(m.Moved)] == [1, 2]
    assert fleet.journal(code)[-1].endswith('"n":2,"m":"d"}')


async def test_a_play_whose_answer_was_lost_counts_once_and_gets_it_from_another_node(
    fleet: Fleet, arrive: Arrive
) -> None:
    code, anna, ben = await pair(fleet, arrive)
    front = fleet.berths[2].front
    here = await arrive(front.port, token=anna.token)
    await here.hear(m.Board)
    front.hold("down")
    for n, text in enumerate(("d", "3>2", "d"), 1):
        await here.say(m.Move(n=n, m=text))
    await ben.hear(m.Scores, lambda scores: scores.lines[0].moves == 3)
    assert here.all(m.Moved) == []
    front.cut()
    front.calm()
    back = await arrive(fleet.berths[1].port, token=anna.token)
    board = await back.hear(m.Board)
    assert board.n == 3
    said = [await back.play(n, text) for n, text in enumerate(("d", "3>2", "d"), 1)]
    assert [(each.n, each.m, each.moves) for each in said] == [
        (1, "d", 3),
        (2, "3>2:1", 3),
        (3, "d", 3),
    ]
    assert [each.piles for each in said] == [board.piles] * 3
    plays = [line for line in fleet.journal(code) if '"e":"played"' in line]
    assert [int(line.partition(" ")[0]) for line in plays] == [each.at for each in said]


async def test_a_spectator_comes_back_on_another_node(fleet: Fleet, arrive: Arrive) -> None:
    shown = replace(QUICK, spectators="boards")
    code, anna, _ = await pair(fleet, arrive, shown)
    watcher = await arrive(fleet.berths[2].port, "wanda")
    await watcher.say(m.Spectate(room=code))
    await watcher.hear(m.Board)
    watcher.vanish()
    back = await arrive(fleet.berths[1].port, token=watcher.token)
    assert (await back.hear(m.Room)).seat is None
    await anna.play(1, "d")
    assert (await back.hear(m.Board, lambda board: board.n == 1)).moves == 1


async def test_a_photo_finish_on_two_nodes_is_decided_by_the_store_s_clock(fleet: Fleet) -> None:
    plan = Plan(plays=200, per_s=1000, ahead=20, script=WAY_OUT)
    race = await Race(fleet, [plan, plan, plan], settings(3)).begin()
    await race.running()
    verdict = await race.end()
    assert verdict.findings == []
    (standings, *_) = race.records[0].standings
    assert standings.reason == "finished"
    assert {row.outcome for row in standings.rows} == {"solved"}
    assert len({racer.door for racer in race.racers}) > 1
    # Nobody's own clock and no order of arrival: what the journal says about the last plays.
    last = {
        record.player: next(each.at for each in record.answers if each.n == len(WAY_OUT))
        for record in race.records
    }
    by_time = sorted(last, key=lambda player: last[player])
    assert [last[row.player] for row in standings.rows] == [last[each] for each in by_time]


@pytest.mark.slow
async def test_players_who_come_back_all_the_time_lose_nothing(fleet: Fleet) -> None:
    plan = Plan(plays=40, per_s=30)
    plans = [Plan(plays=40, per_s=30, undo=True), plan, Plan(watches=True)]
    chosen = Settings(countdown_s=0, seats=2, undo="free", time_limit_s=120)
    race = await Race(fleet, plans, chosen).begin()
    await race.running()
    for _ in range(3):
        await race.go_on(10)
        race.racers[0].take_over()
        race.racers[1].hang_up()
        race.racers[2].hang_up()
    verdict = await race.end()
    assert verdict.findings == []
    assert verdict.plays == 80
    assert sum(len(record.resumes) for record in race.records) >= 5
    assert [record.thrown_out for record in race.records] == [0, 0, 0]
    ghosts = race.racers[0].ghosts
    assert [ghost.code for ghost in ghosts] == [m.Close.REPLACED] * len(ghosts)
