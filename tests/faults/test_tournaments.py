"""Whole tournaments over two nodes, of which one dies in each phase."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from server.tournament import Tournament
from tests.faults.field import (
    QUICK,
    RACE,
    a_field,
    assert_nothing_failed,
    check,
    has_raced,
    is_round,
)
from tests.faults.fleet import Berth, Fleet
from wire import acts as a
from wire.formats import Arena, Double, StageSettings, Swiss

pytestmark = [pytest.mark.asyncio(loop_scope="function"), pytest.mark.slow]


def two_nodes(folder: Path) -> Fleet:
    return Fleet(folder, nodes=2, fsync="everysec")


async def test_64_players_swiss_and_the_best_eight_double_elimination_with_a_death_in_each_phase(
    tmp_path: Path,
) -> None:
    wanted = replace(
        QUICK,
        stages=[
            StageSettings(play=Swiss(rounds=5), qualify=8),
            StageSettings(play=Double(final="reset")),
        ],
    )
    async with a_field(two_nodes(tmp_path), 64, wanted, seed=1) as field:
        one, other = field.fleet.berths
        deaths: list[tuple[str, Callable[[Tournament], bool], Berth]] = [
            ("the first round is called", is_round(1), one),
            ("the first round is on", has_raced(1), other),
            ("the second round is called", is_round(2), other),
            ("the third round is on", has_raced(3), one),
            ("the bracket begins", lambda t: len(t.stages) > 1, one),
            ("the bracket is on", has_raced(7), other),
        ]
        await field.kill(one)  # while everybody waits
        await field.direct(a.Begin())
        for what, is_so, berth in deaths:
            await field.come_to(what, is_so)
            await field.kill(berth)
        await field.come_to("the end", lambda t: t.phase == "finished")
        t = await asyncio.to_thread(check, field)
        assert_nothing_failed(field)
        assert field.killed == 7
        assert len(t.stages) == 2
        assert len(t.stages[1].groups[0]) == 8
        played = [match for match in t.matches.values() if match.is_played]
        assert len(played) >= 5 * 32 - 16 + 14


async def test_an_arena_of_200_players_with_deaths_on_the_way(tmp_path: Path) -> None:
    wanted = replace(
        QUICK,
        stages=[StageSettings(play=Arena(minutes=1))],
        race=replace(RACE, time_limit_s=5),
        no_shows=5,
    )
    async with a_field(two_nodes(tmp_path), 200, wanted, seed=2) as field:
        one, other = field.fleet.berths
        await field.direct(a.Begin())
        await field.come_to("races", has_raced(1))
        await field.kill(one)
        await field.come_to("a second pairing", is_round(2))
        await field.kill(other)
        await field.come_to("the end", lambda t: t.phase == "finished")
        t = await asyncio.to_thread(check, field)
        assert_nothing_failed(field)
        played = [match for match in t.matches.values() if match.is_played]
        assert len(played) >= 200


async def test_a_tournament_goes_on_after_all_nodes_have_died_at_once(tmp_path: Path) -> None:
    wanted = replace(QUICK, stages=[StageSettings(play=Swiss(rounds=2))])
    async with a_field(two_nodes(tmp_path), 8, wanted, seed=3) as field:
        await field.direct(a.Begin())
        await field.come_to("races", has_raced(1))
        for berth in field.fleet.berths:
            await berth.node.kill()
        await asyncio.sleep(2)
        for berth in field.fleet.berths:
            berth.begin()
        for berth in field.fleet.berths:
            await berth.ready()
        await field.come_to("the end", lambda t: t.phase == "finished")
        await asyncio.to_thread(check, field)
        assert_nothing_failed(field)
