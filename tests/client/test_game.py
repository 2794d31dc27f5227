"""The game without a terminal: what keys send, and what follows from what is heard."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from client.desk import Confirm, Desk, Prompt
from client.forms import Form
from client.game import Aim, Game
from client.identity import Identity
from client.line import Line
from client.style import Style
from client.tournament.hall import Hall
from tests.client.stage import (
    LIMIT,
    NOW,
    TOKEN,
    Actor,
    Stage,
    board,
    moved,
    room,
    staged,
)
from wire.messages import (
    Chat,
    Close,
    Create,
    Error,
    Follow,
    Hint,
    Hints,
    Join,
    Leave,
    Left,
    Lobby,
    Move,
    Ready,
    Refused,
    Rooms,
    Snapshot,
    Spectate,
    Standings,
)
from wire.tournaments import Tournaments, Visit


@pytest.fixture(autouse=True)
def quick_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("client.line.FIRST_DELAY", 0.01)
    monkeypatch.setattr("client.game.LOBBY_GAP", 60.0)
    monkeypatch.setattr("client.passing.AGAIN_AFTER", 0.05)


@asynccontextmanager
async def playing(stage: Stage, aim: Aim | None = None) -> AsyncIterator[Game]:
    game = Game(stage.url, Identity(), Style(), name="ann", aim=aim or Aim())
    task = asyncio.create_task(game.run())
    try:
        yield game
    finally:
        game.press("ctrl-c")
        game.press("ctrl-c")
        await asyncio.wait_for(task, LIMIT)


async def until(game: Game, is_so: Callable[[], object]) -> None:
    """Wait until something is so, looking after every change."""
    async with asyncio.timeout(LIMIT):
        while not is_so():
            game.changed.clear()
            await game.changed.wait()


def shown(game: Game) -> str:
    return "\n".join(game.frame(24, 80).lines())


def type_in(game: Game, *keys: str) -> None:
    for key in keys:
        game.press(key)


async def test_from_the_lobby_to_a_race_and_back() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        await actor.say(Lobby(rooms=[]))
        assert (await actor.hear(Join)).room == "ABCDEF"
        await actor.say(room(phase="open", actions=["ready", "leave", "chat"]))
        assert len((await actor.hear(Ready)).salt) == 16
        await actor.say(room(), board())
        assert await actor.hear(Move) == Move(n=1, m="d")
        await actor.say(moved(1))
        await actor.hear(Leave)
        await actor.say(Left(room="ABCDEF", kind="left"))
        await actor.hear(Rooms)
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.rooms is not None)
        type_in(game, "j", *"abcdef", "enter")
        await until(game, lambda: game.state.room)
        type_in(game, "r")
        await until(game, lambda: game.state.board)
        type_in(game, " ")
        await until(game, lambda: game.state.board and game.state.board.n == 1)
        type_in(game, "l", "y")
        await until(game, lambda: game.state.room is None)
        await stage.played()


async def test_a_move_is_marked_until_it_is_answered() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.say(room(), board())
        await actor.hear(Rooms)
        await actor.hear(Move)
        await actor.hear(Chat)
        await actor.say(moved(1))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.board)
        type_in(game, " ")
        assert "Waiting for the server: d" in shown(game)
        type_in(game, "t", "x", "enter")
        await until(game, lambda: game.state.plays.waiting == 0)
        assert "Waiting for the server" not in shown(game)


async def test_legal_moves_are_those_after_the_move_that_is_under_way() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.say(room(actions=["move", "hint"]), board())
        await actor.hear(Rooms)
        await actor.hear(Hint)
        await actor.say(Hints(n=0, moves=["d", "6>7"]))
        await actor.hear(Move)
        await actor.say(moved(1))
        await actor.hear(Hint)
        await actor.say(Hints(n=1, moves=["d"]))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.board)
        type_in(game, "h", "h")
        await until(game, lambda: "Legal: d  6>7" in shown(game))
        type_in(game, " ", "h")
        await until(game, lambda: "Legal: d" in shown(game) and "6>7" not in shown(game))
        await stage.played()


async def test_legal_moves_that_a_broken_line_has_kept_are_asked_for_again() -> None:
    async def lose(actor: Actor) -> None:
        await actor.welcome()
        await actor.say(room(actions=["move", "hint"]), board())
        await actor.hear(Rooms)
        await actor.hear(Hint)
        actor.drop()

    async def go_on(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(actions=["move", "hint"]), board())
        await actor.hear(Hint)
        await actor.say(Hints(n=0, moves=["d"]))
        await actor.stay()

    async with staged(lose, go_on) as stage, playing(stage) as game:
        await until(game, lambda: game.state.board)
        type_in(game, "h")
        await until(game, lambda: "Legal: d" in shown(game))


async def test_legal_moves_that_are_refused_are_not_waited_for() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.say(room(actions=["move", "hint"]), board())
        await actor.hear(Rooms)
        await actor.hear(Hint)
        await actor.say(Refused(re="hint", code="rate", reason="Not so fast."))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.board)
        type_in(game, "h")
        await until(game, lambda: "Not so fast." in shown(game))
        assert not game.desk.hinting


@pytest.mark.parametrize("watch", [False, True])
async def test_it_goes_straight_to_the_room_it_was_started_for(watch: bool) -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        kind: type[Spectate | Join] = Spectate if watch else Join
        request = await actor.hear(kind)
        assert request == kind(room="ABCDEF", password="pw")
        await actor.say(room())
        await actor.stay()

    aim = Aim(room="ABCDEF", password="pw", watch=watch)
    async with staged(script) as stage, playing(stage, aim) as game:
        await until(game, lambda: game.state.room)


@pytest.mark.parametrize("watch", [False, True])
async def test_a_room_it_was_started_for_comes_before_the_one_it_was_in(watch: bool) -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome(room="FORMER")
        await actor.say(room(room="FORMER", phase="over"))
        kind: type[Spectate | Join] = Spectate if watch else Join
        assert (await actor.hear(kind)).room == "ABCDEF"
        await actor.say(room())
        await actor.stay()

    aim = Aim(room="ABCDEF", watch=watch)
    async with staged(script) as stage, playing(stage, aim) as game:
        await until(game, lambda: game.state.room and game.state.room.room == "ABCDEF")


async def test_a_race_that_waits_elsewhere_is_gone_back_to_and_said() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(room="FORMER")
        await actor.hear(Join)
        await actor.say(room(room="FORMER"), board())
        reason = "You have a seat in room FORMER; leave it first."
        await actor.say(Refused(re="join", code="seated", reason=reason))
        await actor.close(Close.RESTART)

    async def second(actor: Actor) -> None:
        await actor.welcome(room="FORMER")
        assert await actor.hears_nothing()  # asked for once: back on the line it stays there
        await actor.say(room(room="FORMER"), board())
        await actor.stay()

    async with staged(first, second) as stage, playing(stage, Aim(room="ABCDEF")) as game:
        await until(game, lambda: game.state.notice.text.startswith("You have a seat"))
        assert "leave it first" in shown(game)
        await until(game, lambda: game.state.line.status == "waiting")
        game.link.poke()
        await until(game, lambda: stage.served == 2 and game.state.board)
        await stage.played()


@pytest.mark.parametrize("code", ["", "CUP"])
async def test_the_tournaments_on_the_screen_are_asked_for_again_on_a_new_line(code: str) -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.hear(Rooms)
        await actor.hear(Visit if code else Tournaments)
        actor.drop()

    async def second(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        await actor.hear(Visit if code else Tournaments)
        await actor.say(room())
        await actor.stay()

    async with staged(first, second) as stage, playing(stage) as game:
        await until(game, lambda: game.state.line.status == "online")
        game.desk = Desk(overlay=Hall(code))
        game.link.send(Visit(tournament=code) if code else Tournaments())
        await until(game, lambda: game.state.room)


async def test_the_room_it_is_in_already_is_not_asked_for_again() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        assert await actor.hears_nothing()
        await actor.say(room())
        await actor.stay()

    async with staged(script) as stage, playing(stage, Aim(room="ABCDEF")) as game:
        await until(game, lambda: game.state.room)


async def test_its_own_bytes_are_remembered_and_the_same_when_it_gets_ready_again() -> None:
    heard: list[bytes] = []

    async def script(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(phase="open", actions=["ready"]))
        heard.append((await actor.hear(Ready)).salt)
        heard.append((await actor.hear(Ready)).salt)
        await actor.say(room(actions=[]))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.room)
        type_in(game, "r", "r")
        await until(game, lambda: game.state.room and game.state.room.phase == "running")
        assert game.state.notes.own == heard[0].hex()
        assert heard[0] == heard[1]
        assert len(heard[0]) == 16


async def test_a_scheduled_room_starts_by_the_servers_clock() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        settings = (await actor.hear(Create)).settings
        assert settings.start == "time"
        assert abs((settings.start_at or 0) - (NOW + 600_000)) < 60_000
        await actor.say(room(phase="open", settings=settings))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.line.status == "online")
        type_in(game, "c", *["down"] * 5, "left", "enter")
        await until(game, lambda: game.state.room)


async def test_a_wanted_password_is_asked_for() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Join)
        await actor.say(Refused(re="join", code="password", reason="This room wants a password."))
        await actor.hear(Rooms)
        assert await actor.hear(Join) == Join(room="ABCDEF", password="pw")
        await actor.say(room())
        await actor.stay()

    async with staged(script) as stage, playing(stage, Aim(room="ABCDEF")) as game:
        await until(game, lambda: isinstance(game.desk.overlay, Prompt))
        type_in(game, *"pw", "enter")
        await until(game, lambda: game.state.room)


async def test_where_the_room_is_not_there_the_others_are_listed_at_once() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Join)
        await actor.say(Refused(re="join", code="no-room", reason="There is no room QQ."))
        await actor.hear(Rooms)
        await actor.say(Lobby(rooms=[]))
        await actor.hear(Join)
        await actor.say(room(phase="open"))
        await actor.stay()

    async with staged(script) as stage, playing(stage, Aim(room="QQ")) as game:
        await until(game, lambda: game.state.rooms is not None)
        assert "There is no room QQ." in shown(game)
        type_in(game, "j", *"abcdef", "enter")
        await until(game, lambda: game.state.room)
        assert "There is no room QQ." not in shown(game)


async def test_leaving_twice_says_nothing() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Join)
        await actor.say(room(phase="open", seat=None, actions=["leave"]))
        await actor.hear(Leave)
        await actor.hear(Leave)
        reason = "leave needs a room: enter one first."
        await actor.say(Left(room="ABCDEF", kind="left"))
        await actor.say(Error(re="leave", code="no-room", reason=reason), Lobby(rooms=[]))
        await actor.hear(Rooms)
        await actor.stay()

    async with staged(script) as stage, playing(stage, Aim(room="ABCDEF")) as game:
        await until(game, lambda: game.state.room)
        type_in(game, "l", "l")
        await until(game, lambda: game.state.rooms is not None)
        assert "leave needs a room" not in shown(game)


async def test_a_seat_that_the_store_has_lost_is_taken_again() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(phase="open"), Left(room="ABCDEF", kind="lost"))
        assert (await actor.hear(Join)).room == "ABCDEF"
        await actor.say(Refused(re="join", code="store", reason="The store is away."))
        await actor.hear(Rooms)
        assert (await actor.hear(Join)).room == "ABCDEF"
        await actor.say(room(phase="open"))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: "You have your seat in room ABCDEF again." in shown(game))
        assert game.state.room is not None


@pytest.mark.parametrize(
    ("player", "why"),
    [
        ("p1", "You have no seat in room ABCDEF any more"),
        ("p2", "The server does not know you any more; asking for a new seat in room ABCDEF."),
    ],
)
async def test_who_comes_back_without_a_room_asks_for_the_seat_and_is_told(
    player: str, why: str
) -> None:
    told = asyncio.Event()

    async def dropping(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(), board())
        await actor.hear(Move)
        actor.drop()

    async def forgetting(actor: Actor) -> None:
        await actor.welcome(player=player)
        await actor.hear(Rooms)
        assert (await actor.hear(Join)).room == "ABCDEF"
        await asyncio.wait_for(told.wait(), LIMIT)
        await actor.say(Refused(re="join", code="no-room", reason="There is no room ABCDEF."))
        await actor.stay()

    async with staged(dropping, forgetting) as stage, playing(stage) as game:
        await until(game, lambda: game.state.board)
        type_in(game, " ")
        await until(game, lambda: why in shown(game))
        told.set()
        await until(game, lambda: "Room ABCDEF is gone" in shown(game))
        assert game.state.room is None


async def test_who_would_not_say_the_password_of_a_lost_seat_is_asked_no_more() -> None:
    async def losing(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF", token=TOKEN)
        await actor.say(room(phase="open"), Left(room="ABCDEF", kind="lost"))
        await actor.hear(Join)
        await actor.say(Refused(re="join", code="password", reason="This room wants a password."))
        await actor.hear(Rooms)
        await actor.say(Lobby(rooms=[]))
        assert (await actor.hear(Join)).room == "ZZZZZZ"
        await actor.say(Refused(re="join", code="full", reason="Room ZZZZZZ is full."))
        await asyncio.wait_for(told.wait(), LIMIT)
        actor.drop()

    async def knowing(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        assert await actor.hears_nothing()
        await actor.stay()

    told = asyncio.Event()
    async with staged(losing, knowing) as stage, playing(stage) as game:
        await until(game, lambda: isinstance(game.desk.overlay, Prompt))
        await until(game, lambda: game.state.rooms is not None)
        type_in(game, "esc", "j", *"zzzzzz", "enter")
        await until(game, lambda: game.state.notice.text == "Room ZZZZZZ is full.")
        told.set()
        await stage.played()


async def test_who_is_lost_as_well_takes_the_seat_as_somebody_new() -> None:
    async def losing(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF", token=TOKEN)
        await actor.say(room(phase="open"), Left(room="ABCDEF", kind="lost"))
        await actor.hear(Join)
        await actor.close(Close.BAD_TOKEN)

    async def forgetting(actor: Actor) -> None:
        await actor.welcome(player="p2")
        await actor.hear(Rooms)
        assert (await actor.hear(Join)).room == "ABCDEF"
        await actor.say(room(phase="open"))
        await actor.stay()

    async with staged(losing, forgetting) as stage, playing(stage) as game:
        await until(game, lambda: "You have your seat in room ABCDEF again." in shown(game))


async def test_who_is_somebody_new_to_the_server_is_told() -> None:
    async def knowing(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.hear(Rooms)
        await actor.close(Close.BAD_TOKEN)

    async def forgetting(actor: Actor) -> None:
        await actor.welcome(player="p2")
        await actor.stay()

    async with staged(knowing, forgetting) as stage, playing(stage) as game:
        await until(game, lambda: "somebody new" in shown(game))


async def test_a_rematch_is_followed() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(phase="over", actions=["rematch", "leave"]))
        await actor.say(Standings(room="ABCDEF", reason="time", rows=[], head="00"))
        await actor.say(Follow(room="NEXTUP"))
        assert (await actor.hear(Join)).room == "NEXTUP"
        await actor.say(room(room="NEXTUP", phase="open"))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.room and game.state.room.room == "NEXTUP")
        # The race that ended is still known, to be kept and told at the end.
        assert game.result is not None
        assert game.result[0].room == "ABCDEF"


async def test_a_missing_answer_is_asked_for_once() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(), board(), moved(5), moved(6))
        await actor.hear(Snapshot)
        assert await actor.hears_nothing()
        await actor.say(board(n=6))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.board and game.state.board.n == 6)


async def test_what_needs_a_line_is_refused_without_one_and_moves_are_kept() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.say(room(), board())
        await actor.hear(Rooms)
        await actor.close(Close.OVERLOAD)

    async def second(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(), board())
        assert await actor.hear(Move) == Move(n=1, m="d")
        await actor.say(moved(1))
        await actor.stay()

    async with staged(first, second) as stage, playing(stage) as game:
        await until(game, lambda: game.state.line.status == "waiting")
        type_in(game, "t", "x", "enter")
        assert game.state.notice.text.startswith("No connection just now")
        type_in(game, " ")
        assert "1 move is kept and sent again" in shown(game)
        type_in(game, "r")  # as after the machine woke up: do not wait the seconds out
        await until(game, lambda: game.state.board and game.state.board.n == 1)


async def test_a_new_screen_lets_go_of_what_was_half_typed_on_the_old_one() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(), board())
        await actor.hear(Chat)
        await actor.say(room(phase="over"))
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.board)
        game.press("t")
        type_in(game, "x", "enter", "6", "q")
        assert isinstance(game.desk.overlay, Confirm)
        await until(game, lambda: game.state.room and game.state.room.phase == "over")
        assert game.desk.overlay is None
        assert game.desk.half == ""


async def test_a_chat_line_being_typed_outlives_the_change_of_screens() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(phase="open", actions=["chat"]))
        await actor.hear(Chat)
        await actor.say(room(actions=["chat", "move"]))
        await actor.hear(Chat)
        await actor.stay()

    async with staged(script) as stage, playing(stage) as game:
        await until(game, lambda: game.state.room)
        type_in(game, "t", "x", "enter", "t", *"half")
        await until(game, lambda: game.state.room and game.state.room.phase == "running")
        assert game.desk.overlay == Prompt("chat", "half")
        game.press("enter")
        await stage.played()


async def test_a_key_tries_at_once_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Game("ws://127.0.0.1:1", Identity(), Style(), name=None, aim=Aim())
    tried: list[bool] = []
    monkeypatch.setattr(game.link, "poke", lambda: tried.append(True))
    game.state = replace(game.state, line=Line("waiting", "nobody answers there"))
    game.press("r")
    assert tried


async def test_looks_change_without_a_server() -> None:
    game = Game("ws://127.0.0.1:1", Identity(), Style(), name=None, aim=Aim())
    type_in(game, "A", "C")
    assert game.style == Style(ascii=True, colour=False)
    assert game.wants_repaint
    type_in(game, "c")
    assert isinstance(game.desk.overlay, Form)
