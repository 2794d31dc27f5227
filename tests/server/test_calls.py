"""Players of a tournament who are called, are absent, come back or go."""

from tests.server.fair import Bot, bots, enter, opened, settings
from tests.server.floor import Someone, until
from wire import acts as a
from wire import messages as m
from wire import tournaments as w
from wire.formats import (
    Single,
    Swiss,
)


async def test_players_who_come_back_on_another_node_are_called_again(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(Single()))
    anna, ben = await Someone.arrive(ports[0], "anna"), await Someone.arrive(ports[0], "ben")
    for someone in (anna, ben):
        await someone.say(w.Enter(tournament=chief.code))
        await someone.hear(w.Place)
    await chief.direct(a.Begin())
    called = await anna.hear(w.Called)
    assert called.opponents == ["ben"]
    anna.vanish()
    back = await Someone.arrive(ports[1], token=anna.token)
    assert (await back.hear(w.Called)).room == called.room
    await back.say(m.Join(room=called.room))
    assert (await back.hear(m.Room)).seat is not None


async def test_who_does_not_play_loses_and_who_did_does_not(port: int) -> None:
    chief = await opened(port, settings(Single(), no_show_s=10))
    async with bots([port], 2) as players:
        players[1].plays = False
        players[0].moves = 500  # goes on playing
        await enter(chief, players)
        await chief.direct(a.Begin())
        await chief.over()
        (match,) = (await chief.browse(1)).matches
        assert match.kind == "forfeit"
        assert match.entries[match.places.index(1)] == players[0].player
        # The race that nobody needs any more is ended, too.
        await players[0].line.find(m.Standings, lambda shown: shown.reason == "aborted")


async def test_who_withdraws_in_a_race_loses_it(port: int) -> None:
    chief = await opened(port, settings(Single()))
    async with bots([port], 2) as players:
        for bot in players:
            bot.moves = 500
        await enter(chief, players)
        await chief.direct(a.Begin())
        await players[0].line.find(m.Moved)
        await players[0].line.say(w.Withdraw(tournament=chief.code))
        await chief.over()
        assert chief.line.last(w.Ranking).groups[0][0].entry == players[1].player


async def test_a_player_is_summoned_to_the_race_that_waits(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(Swiss(rounds=1)))
    async with bots(ports, 3) as players:
        await enter(chief, players)
        for bot in players:
            bot.plays = False
        refused = await chief.refused(a.Summon(player=players[0].player))
        assert refused.code == "not-now"
        await chief.direct(a.Begin())
        paired = (await chief.line.hear(w.Pairings)).matches[0].entries
        one, other = (bot for bot in players if bot.player in paired)
        (alone,) = (bot for bot in players if bot.player not in paired)
        room = (await one.line.find(w.Called)).room
        await other.line.find(w.Called)
        await chief.direct(a.Summon(player=one.player), key=chief.keys.referee)
        await until_called(one, [room, room])
        assert len(other.line.all(w.Called)) == 1
        assert (await chief.refused(a.Summon(player=alone.player))).code == "no-race"


async def until_called(bot: Bot, rooms: list[str]) -> None:
    async def is_so() -> bool:
        return [call.room for call in bot.line.all(w.Called)] == rooms

    await until(is_so)


async def test_only_who_checks_in_starts(port: int) -> None:
    chief = await opened(port, settings(Swiss(rounds=1)))
    async with bots([port], 3) as players:
        await enter(chief, players)
        await chief.direct(a.OpenCheckIn())
        for bot in players[:2]:
            await bot.line.say(w.CheckIn(tournament=chief.code))
            await bot.line.find(w.Place, lambda place: place.checked)
        await chief.direct(a.Begin())
        await chief.over()
        assert len(chief.line.last(w.Ranking).groups[0]) == 2
        place = await players[2].line.find(w.Place, lambda place: place.phase == "finished")
        assert place.entry is None


async def test_one_player_does_not_play_in_two_tournaments_at_once(ports: list[int]) -> None:
    first = await opened(ports[0], settings(Single(), break_s=60))
    second = await opened(ports[1], settings(Single(), break_s=60))
    async with bots(ports, 3) as players:
        await enter(first, players)
        await enter(second, players)
        await first.direct(a.Begin())
        assert (await second.refused(a.Begin())).code == "too-few"
        await first.direct(a.Cancel(), "rain")
        await second.direct(a.Begin())
