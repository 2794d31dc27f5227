"""A rolling deploy: nodes of two neighbouring versions on one store, with races on all of them."""

import json
import signal
from pathlib import Path

import pytest

from server import events as ev
from tests.faults.fleet import Berth, Fleet, Race
from tests.faults.test_nodes import BUSY, ROOM, finish

pytestmark = pytest.mark.slow


async def replace(berth: Berth) -> None:
    """Puts a node of the next version where one of today's was."""
    berth.node.send(signal.SIGTERM)
    assert await berth.node.ended() == 0
    berth.module = "tests.faults.newer_node"
    await berth.restart()


def format_of(fleet: Fleet, race: Race) -> int:
    opened = json.loads(fleet.journal(race.room)[0].partition(" ")[2])
    assert opened["e"] == "opened"
    return int(opened["format"])


async def test_two_neighbouring_versions_share_a_store_while_one_replaces_the_other(
    tmp_path: Path,
) -> None:
    async with Fleet(tmp_path, options=["--drain-seconds", "1"]) as fleet:
        begun_before = [await Race(fleet, BUSY, ROOM).begin() for _ in range(3)]
        for race in begun_before:
            await race.running()
        begun_since: list[Race] = []
        for index, berth in enumerate(fleet.berths):
            await replace(berth)
            fleet.races = index - 1  # the next room is opened there, its others come elsewhere
            race = await Race(fleet, BUSY, ROOM).begin()
            await race.running()
            begun_since.append(race)
            for each in (*begun_before, *begun_since):
                await each.go_on(10)
        assert {format_of(fleet, race) for race in begun_before} == {ev.FORMAT}
        assert {format_of(fleet, race) for race in begun_since} == {ev.FORMAT + 1}
        # Those who came to a node of today's version were sent on, by name of the reason.
        refusals = [record.refusals["newer-room"] for record in begun_since[0].records]
        assert sum(refusals) > 0
        for race in (*begun_before, *begun_since):
            await finish(race)
        for berth in fleet.berths:
            assert berth.logged("ERROR") == []
