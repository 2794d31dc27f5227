"""Tokens of players whom an organiser enrols by name."""

import pytest

from server.store.players import Players
from tests.server.fair import Bot, bots, enter, opened, settings
from tests.server.floor import Someone
from wire import acts as a
from wire import messages as m
from wire import tournaments as w
from wire.formats import (
    RoundRobin,
)


async def test_players_enrolled_by_name_come_with_their_tokens(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(RoundRobin(), entry="invited"))
    outsider = await Someone.arrive(ports[0], "zoe")
    assert (await outsider.refused(w.Enter(tournament=chief.code))).code == "invited"
    await chief.line.say(chief.message(a.Enrol(names=["anna", "ben", "anna"])))
    enrolled = await chief.line.hear(w.Enrolled)
    assert [claim.name for claim in enrolled.players] == ["anna", "ben"]
    await chief.line.say(chief.message(a.Enrol(names=["anna", "cleo"])))
    again = await chief.line.hear(w.Enrolled)
    assert again.passed == ["anna"]
    claims = [*enrolled.players, *again.players]
    lines = [await Someone.arrive(ports[1], token=claim.token) for claim in claims]
    assert [line.welcome.name for line in lines] == ["anna", "ben", "cleo"]
    await chief.line.say(w.Visit(tournament=chief.code))
    players = [Bot(line, moves=2 + number) for number, line in enumerate(lines)]
    await chief.direct(a.Begin())
    await chief.over()
    for bot in players:
        await bot.go()
    assert len(chief.line.last(w.Ranking).groups[0]) == 3


async def test_a_lost_token_is_replaced_and_who_uses_it_is_sent_away(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(RoundRobin()))
    await chief.line.say(chief.message(a.Enrol(names=["anna"])))
    claim = (await chief.line.hear(w.Enrolled)).players[0]
    thief = await Someone.arrive(ports[1], token=claim.token)
    renew = a.NewToken(player=claim.player)
    assert (await chief.refused(renew)).code == "no-reason"
    assert (await chief.refused(renew, "lost", key=chief.keys.referee)).code == "not-yours"
    await chief.line.say(chief.message(renew, "lost"))
    found = (await chief.line.hear(w.Enrolled)).players[0]
    assert (found.player, found.name) == (claim.player, "anna")
    assert await thief.closed() == m.Close.BAD_TOKEN
    with pytest.raises(AssertionError, match=str(int(m.Close.BAD_TOKEN))):
        await Someone.arrive(ports[1], token=claim.token)
    anna = await Someone.arrive(ports[1], token=found.token)
    assert anna.welcome.player == claim.player
    await chief.line.say(w.Chronicle(tournament=chief.code, key=chief.keys.owner))
    line = (await chief.line.hear(w.Annals)).entries[-1]
    assert '"e":"tokenrenewed"' in line
    assert '"why":"lost"' in line
    assert found.token not in line


async def test_who_is_just_coming_in_with_the_former_token_is_sent_away_too(
    ports: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    chief = await opened(ports[0], settings(RoundRobin()))
    await chief.line.say(chief.message(a.Enrol(names=["anna"])))
    claim = (await chief.line.hear(w.Enrolled)).players[0]
    connect = Players.connect

    async def renewed(players: Players, player_id: str, run: str = "", line: int = 0) -> int:
        if player_id == claim.player:
            await chief.line.say(chief.message(a.NewToken(player=claim.player), "lost"))
            await chief.line.hear(w.Enrolled)
        return await connect(players, player_id, run, line)

    monkeypatch.setattr(Players, "connect", renewed)
    thief = await Someone.arrive(ports[0], token=claim.token)
    assert await thief.closed() == m.Close.BAD_TOKEN


async def test_an_organiser_gets_no_token_of_somebody_who_came_by_themselves(port: int) -> None:
    chief = await opened(port, settings(RoundRobin()))
    other = await opened(port, settings(RoundRobin()))
    await other.line.say(other.message(a.Enrol(names=["anna"])))
    claim = (await other.line.hear(w.Enrolled)).players[0]
    await chief.direct(a.Invite(player=claim.player))
    async with bots([port], 1) as players:
        await enter(chief, players)
        for player in (players[0].player, claim.player):
            refused = await chief.refused(a.NewToken(player=player), "mine")
            assert refused.code == "own-token"
    assert (await Someone.arrive(port, token=claim.token)).welcome.player == claim.player
