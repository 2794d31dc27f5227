"""A player at the terminal follows the calls of a tournament, as do bots."""

import asyncio
import random

import pytest
from msgspec.structs import replace

from client.bot import BotFailed
from client.desk import Desk
from client.identity import Identity
from client.tournament.entrant import Entrant
from client.tournament.hall import Hall
from tests.client.stage import Actor, board, room, seat, staged, welcome
from tests.client.test_game import playing, shown, until
from tests.client.tournament.test_hall import call
from tests.server.fair import RACE, Organiser
from tests.server.fair import settings as quick
from tests.server.floor import Someone, node
from wire import acts as a
from wire.formats import Swiss
from wire.messages import Hello, Join, Leave, Left, Lobby, Refused, Rooms
from wire.tournaments import (
    CheckIn,
    Enter,
    Place,
    Programme,
    Tournament,
    Tournaments,
    Visit,
)


@pytest.fixture(autouse=True)
def quick_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("client.line.FIRST_DELAY", 0.01)
    monkeypatch.setattr("client.game.LOBBY_GAP", 60.0)
    monkeypatch.setattr("client.passing.AGAIN_AFTER", 0.05)


async def test_a_call_leads_from_the_lobby_into_the_room() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        await actor.say(Lobby(rooms=[]), call())
        assert (await actor.hear(Join)).room == "ROOM"
        await actor.say(room(room="ROOM", phase="open"))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.room is not None)
        assert "Match 1.1 against bob" in shown(game)


async def test_a_race_that_is_on_is_raced_to_its_end_first() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(), board(), call())
        assert await actor.hears_nothing()
        await actor.say(room(phase="over", seats=[seat("ann", outcome="resigned")]))
        assert (await actor.hear(Join)).room == "ROOM"
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game._answered == "ROOM")


async def test_a_seat_in_a_room_that_has_not_begun_is_given_up_for_it() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(phase="open"), call())
        await actor.hear(Leave)
        assert (await actor.hear(Join)).room == "ROOM"
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game._answered == "ROOM")


async def test_a_room_that_cannot_be_joined_yet_is_tried_again() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        await actor.say(Lobby(rooms=[]), call())
        await actor.hear(Join)
        await actor.say(Refused(re="join", code="store", reason="The store is away."))
        assert (await actor.hear(Join)).room == "ROOM"
        await actor.say(room(room="ROOM", phase="open"))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.room is not None)


async def test_a_match_whose_room_the_store_has_lost_is_gone_to_when_it_is_opened_again() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        await actor.say(call(), Lobby(rooms=[]))
        await actor.hear(Join)
        await actor.say(room(room="ROOM", phase="open"), Left(room="ROOM", kind="lost"))
        for _ in range(2):
            assert (await actor.hear(Join)).room == "ROOM"
            await actor.say(Refused(re="join", code="no-room", reason="There is no room ROOM."))
        assert (await actor.hear(Join)).room == "ROOM"
        await actor.say(room(room="ROOM", phase="running"))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.room and game.state.room.phase == "running")


async def test_who_leaves_the_room_of_a_match_is_not_dragged_back() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        await actor.say(call())
        await actor.hear(Join)
        await actor.say(room(room="ROOM", phase="open"), Left(room="ROOM", kind="left"))
        await actor.hear(Rooms)
        assert await actor.hears_nothing()
        await actor.say(Lobby(rooms=[]))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.rooms is not None)


async def test_pages_are_asked_for_anew_on_a_new_line_and_let_go_of_for_a_race() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        await actor.say(Lobby(rooms=[]))
        await actor.hear(Tournaments)
        await actor.say(Programme(tournaments=[]))
        actor.drop()

    async def second(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        assert (await actor.hear(Visit)).tournament == "CUP"
        await actor.say(call())
        await actor.hear(Join)
        await actor.say(room(room="ROOM", phase="open"))
        assert (await actor.hear(Visit)).tournament is None
        await actor.stay()

    async with staged(first, second) as stage, playing(stage) as game:
        await until(game, lambda: game.state.rooms is not None)
        game.press("T")
        assert isinstance(game.desk.overlay, Hall)
        game.desk = Desk(overlay=Hall("CUP"))
        await until(game, lambda: game.state.room is not None)
        assert game.desk.overlay is None


# --- bots -------------------------------------------------------------------------------


async def test_a_bot_enters_checks_in_and_follows_its_calls_until_the_end() -> None:
    async def script(actor: Actor) -> None:
        hello = await actor.hear(Hello)
        assert hello.bot
        await actor.say(welcome())
        assert (await actor.hear(Enter)).tournament == "CUP"
        place = Place(tournament="CUP", phase="check-in", entry="p1", actions=["checkin"])
        await actor.say(place)
        await actor.hear(CheckIn)
        await actor.say(call())
        assert (await actor.hear(Join)).room == "ROOM"
        await actor.say(Refused(re="join", code="store", reason="Later."))
        assert (await actor.hear(Join)).room == "ROOM"
        await actor.say(Place(tournament="CUP", phase="finished", entry="p1", place=3))
        await actor.stay()

    async with staged(script) as stage:
        bot = entrant(stage.url, "CUP")
        place = await asyncio.wait_for(bot.take_part(), 30)
        assert place.place == 3


def entrant(url: str, code: str, number: int = 1) -> Entrant:
    return Entrant(url, Identity(), f"bot{number}", code, 40.0, random.Random(number))


async def test_a_bot_that_may_not_enter_says_why() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Enter)
        await actor.say(Refused(re="enter", code="store", reason="Not just now."))  # this passes
        await actor.hear(Enter)
        await actor.say(Refused(re="enter", code="full", reason="All places are taken."))
        await actor.stay()

    async with staged(script) as stage:
        with pytest.raises(BotFailed, match="All places are taken"):
            await asyncio.wait_for(entrant(stage.url, "CUP").take_part(), 30)


async def test_bots_play_a_whole_tournament_on_a_real_node(store_url: str) -> None:
    chosen = quick(Swiss(rounds=1), race=replace(RACE, time_limit_s=5))
    async with node(store_url) as made:
        boss = await Someone.arrive(made.port, "boss")
        organiser = await Organiser.open(boss, chosen)
        url = f"ws://127.0.0.1:{made.port}"
        bots = [entrant(url, organiser.code, number) for number in range(4)]
        playing = [asyncio.create_task(bot.take_part()) for bot in bots]
        await boss.say(Visit(tournament=organiser.code))
        await boss.hear(Tournament, lambda shown: shown.entrants == 4)
        await organiser.direct(a.Begin())
        async with asyncio.timeout(90):
            places = await asyncio.gather(*playing)
        assert sorted(place.place or 0 for place in places)[0] == 1
        assert {place.phase for place in places} == {"finished"}
        assert all(len(place.path) == 1 for place in places)
        await boss.go()
