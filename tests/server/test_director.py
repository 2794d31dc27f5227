"""Tournaments over the wire: real nodes, real sockets, a real store, players who race."""

from collections.abc import AsyncIterator

import pytest

from tests.server.fair import Organiser, bots, settings
from tests.server.floor import Someone, node
from wire import acts as a
from wire import tournaments as w
from wire.formats import Single


@pytest.fixture
async def port(store_url: str) -> AsyncIterator[int]:
    async with node(store_url) as started:
        yield started.port


async def test_four_players_play_a_knock_out_to_its_end(port: int) -> None:
    chief = await Organiser.open(await Someone.arrive(port, "chief"), settings(Single()))
    async with bots([port], 4) as players:
        for bot in players:
            await bot.line.say(w.Enter(tournament=chief.code))
            assert (await bot.line.hear(w.Place)).entry == bot.player
        await chief.line.say(w.Visit(tournament=chief.code))
        await chief.line.hear(w.Tournament)
        assert (await chief.direct(a.Begin())).do == "start"
        shown = await chief.over()
        assert shown.phase == "finished"
        ranking = chief.line.last(w.Ranking)
        assert sorted(line.place for line in ranking.groups[0]) == [1, 2, 3, 3]
        assert all(bot.raced for bot in players)
