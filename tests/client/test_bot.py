"""The bot against a scripted server: enters, plays what is offered, ends as it should."""

import asyncio
from random import Random
from typing import Any

import pytest

from client.bot import Bot, BotFailed, Plan
from client.identity import Identity
from tests.client.stage import NOW, Actor, board, moved, room, seat, staged
from wire.messages import (
    Board,
    Close,
    Create,
    Finished,
    Follow,
    Hint,
    Hints,
    Join,
    Left,
    Lobby,
    Move,
    Ready,
    Refused,
    Rematch,
    Resign,
    Room,
    Rooms,
    Scores,
    Snapshot,
    Standings,
)
from wire.values import RoomLine, Score, Settings

END = Standings(room="ABCDEF", reason="time", rows=[], head="00")
PERSON = [seat("ann", bot=True), seat("bob")]
BOTS = [seat("ann", bot=True), seat("bob", bot=True)]


def open_room(**changes: Any) -> Room:
    return room(phase="open", actions=["ready", "leave"], **changes)


async def played(url: str, plan: Plan | None = None) -> Standings:
    bot = Bot(url, Identity(), "robot", plan or Plan(room="ABCDEF"), Random(1))
    return await asyncio.wait_for(bot.run(), 30)


async def seated(actor: Actor) -> None:
    """Let the bot in, and see it ready with bytes of its own."""
    await actor.welcome(token="t" * 32)
    assert (await actor.hear(Join)).room == "ABCDEF"
    await actor.say(open_room())
    assert len((await actor.hear(Ready)).salt) == 16


async def test_it_joins_gets_ready_plays_what_is_offered_and_ends_with_the_race() -> None:
    async def script(actor: Actor) -> None:
        await seated(actor)
        await actor.say(room(), board(piles={"1": "0:AS", "2": "3:KH", "h": "9:", "w": "0:"}))
        await actor.hear(Hint)
        await actor.say(Hints(n=0, moves=["d", "1>f"]))
        assert await actor.hear(Move) == Move(n=1, m="1>f")
        await actor.say(moved(1, "1>f", piles={"1": "0:", "f1": "0:AS"}, cards=1))
        await actor.hear(Hint)
        await actor.say(Hints(n=1, moves=["d"]))
        assert await actor.hear(Move) == Move(n=2, m="d")
        await actor.say(moved(2), END)
        await actor.stay()

    async with staged(script) as stage:
        assert await played(stage.url) == END


async def test_a_bot_that_is_put_out_plays_no_more_and_waits_for_the_end() -> None:
    async def script(actor: Actor) -> None:
        await seated(actor)
        await actor.say(room(), board(piles={"1": "0:AS", "2": "3:KH", "h": "9:", "w": "0:"}))
        await actor.hear(Hint)
        out = [seat("ann", bot=True, outcome="disqualified"), seat("bob")]
        await actor.say(Finished(outcome="disqualified", done_ms=9), room(seats=out))
        await actor.say(Hints(n=0, moves=["d", "1>f"]))
        assert await actor.hears_nothing()
        await actor.say(END)
        await actor.stay()

    async with staged(script) as stage:
        assert await played(stage.url) == END


async def test_after_a_drop_it_goes_on_from_the_board() -> None:
    async def first(actor: Actor) -> None:
        await seated(actor)
        await actor.say(room(), board())
        await actor.hear(Hint)
        actor.drop()

    async def second(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(), board())
        await actor.hear(Hint)
        await actor.say(Hints(n=0, moves=["d"]))
        assert await actor.hear(Move) == Move(n=1, m="d")
        await actor.say(moved(1), END)
        await actor.stay()

    async with staged(first, second) as stage:
        assert await played(stage.url) == END


async def test_a_missing_answer_makes_it_ask_for_everything() -> None:
    async def script(actor: Actor) -> None:
        await seated(actor)
        await actor.say(room(), board())
        await actor.hear(Hint)
        await actor.say(moved(3))
        await actor.hear(Snapshot)
        await actor.say(room(), board(n=3), END)
        await actor.stay()

    async with staged(script) as stage:
        assert await played(stage.url) == END


async def test_without_hints_it_names_only_where_a_move_starts() -> None:
    async def script(actor: Actor) -> None:
        await seated(actor)
        await actor.say(room(), board(piles={"1": "0:5H", "2": "3:QS", "h": "9:", "w": "0:"}))
        await actor.hear(Hint)
        await actor.say(Refused(re="hint", code="hints-off", reason="This room gives no hints."))
        assert await actor.hear(Move) == Move(n=1, m="2>")
        await actor.say(Refused(re="move", code="no-target", reason="nowhere to go", n=1))
        assert await actor.hear(Move) == Move(n=1, m="1>")
        await actor.say(Refused(re="move", code="no-target", reason="nowhere to go", n=1))
        assert await actor.hear(Move) == Move(n=1, m="d")
        await actor.say(moved(1), END)
        await actor.stay()

    async with staged(script) as stage:
        assert await played(stage.url) == END


@pytest.mark.parametrize(
    "left", [board(), board(stuck=True, can=["undo"])], ids=["out of ideas", "stuck, with undo"]
)
async def test_among_bots_it_gives_up_when_nothing_is_left(left: Board) -> None:
    async def script(actor: Actor) -> None:
        await seated(actor)
        await actor.say(room(seats=BOTS), left)
        await actor.hear(Hint)
        await actor.say(Hints(n=0, moves=[]))
        await actor.hear(Resign)
        await actor.say(END)
        await actor.stay()

    async with staged(script) as stage:
        assert await played(stage.url) == END


@pytest.mark.parametrize(
    ("seats", "stuck"), [(PERSON, False), (BOTS, True)], ids=["a person races", "proved stuck"]
)
async def test_it_keeps_its_place_while_that_can_matter(seats: list[Any], stuck: bool) -> None:
    async def script(actor: Actor) -> None:
        await seated(actor)
        await actor.say(room(seats=seats), board(stuck=stuck))
        await actor.hear(Hint)
        await actor.say(Hints(n=0, moves=[]))
        assert await actor.hears_nothing()
        await actor.say(END)
        await actor.stay()

    async with staged(script) as stage:
        assert await played(stage.url) == END


async def test_once_all_people_are_done_it_plays_on_at_full_pace() -> None:
    async def script(actor: Actor) -> None:
        await seated(actor)
        await actor.say(room(seats=PERSON), board())
        for number in range(5):
            await actor.hear(Hint)
            await actor.say(Hints(n=number, moves=["d"]))
            if number == 0:  # in the middle of a pause of minutes
                gone = Score(
                    seat=1,
                    cards=0,
                    down=36,
                    score=0,
                    moves=0,
                    undos=0,
                    outcome="resigned",
                    done_ms=1,
                )
                await actor.say(Scores(version=2, lines=[gone]))
            assert await actor.hear(Move) == Move(n=number + 1, m="d")
            await actor.say(moved(number + 1))
        await actor.say(END)
        await actor.stay()

    async with staged(script) as stage:
        slow = Plan(room="ABCDEF", moves_per_second=0.01)
        assert await played(stage.url, slow) == END


async def test_among_bots_alone_it_keeps_the_pace_it_was_told() -> None:
    async def script(actor: Actor) -> None:
        await seated(actor)
        await actor.say(room(seats=BOTS), board())
        await actor.hear(Hint)
        await actor.say(Hints(n=0, moves=["d"]))
        assert await actor.hears_nothing(0.3)
        await actor.say(END)
        await actor.stay()

    async with staged(script) as stage:
        slow = Plan(room="ABCDEF", moves_per_second=0.01)
        assert await played(stage.url, slow) == END


async def test_it_opens_a_room_of_its_own() -> None:
    settings = Settings(rules="gargantua")

    async def script(actor: Actor) -> None:
        await actor.welcome()
        assert await actor.hear(Create) == Create(settings=settings)
        await actor.say(open_room())
        await actor.hear(Ready)
        await actor.say(END)
        await actor.stay()

    async with staged(script) as stage:
        assert await played(stage.url, Plan(settings=settings)) == END


async def test_without_a_code_it_takes_the_first_open_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("client.bot.LOBBY_PAUSE", 0.01)

    def line(code: str, **changes: Any) -> RoomLine:
        fields: dict[str, Any] = {
            "room": code,
            "title": "",
            "rules": "gargantua",
            "phase": "open",
            "taken": 1,
            "seats": 2,
            "host": "bob",
            "locked": False,
            "spectators": "scores",
            "opened": NOW,
        }
        return RoomLine(**(fields | changes))

    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Rooms)
        await actor.say(Lobby(rooms=[line("LOCKED", locked=True), line("FULLUP", taken=2)]))
        await actor.hear(Rooms)
        await actor.say(Lobby(rooms=[line("BEGUNN", phase="running"), line("ABCDEF")]))
        assert (await actor.hear(Join)).room == "ABCDEF"
        await actor.say(Refused(re="join", code="full", reason="All 2 seats are taken."))
        await actor.hear(Rooms)
        await actor.say(Lobby(rooms=[line("ABCDEF")]))
        await actor.hear(Join)
        await actor.say(open_room())
        await actor.hear(Ready)
        await actor.say(END)
        await actor.stay()

    async with staged(script) as stage:
        assert await played(stage.url, Plan()) == END


async def test_it_goes_on_into_a_rematch_when_told_to() -> None:
    async def script(actor: Actor) -> None:
        await seated(actor)
        await actor.say(END, room(phase="over", next_room="NEXTUP"))
        await actor.hear(Rematch)
        await actor.say(Follow(room="NEXTUP"))
        assert (await actor.hear(Join)).room == "NEXTUP"
        await actor.say(open_room(room="NEXTUP"))
        await actor.hear(Ready)
        await actor.close(Close.REPLACED)

    async with staged(script) as stage:
        with pytest.raises(BotFailed):
            await played(stage.url, Plan(room="ABCDEF", rematches=True))


async def test_without_a_seat_it_fails_with_the_reason() -> None:
    async def turned_away(actor: Actor) -> None:
        await actor.welcome()
        await refused(actor)

    async def kicked(actor: Actor) -> None:
        await seated(actor)
        await actor.say(Left(room="ABCDEF", kind="kicked"))
        await actor.stay()

    async def lost(actor: Actor) -> None:
        await seated(actor)
        actor.drop()

    async def forgotten(actor: Actor) -> None:
        await actor.welcome(room=None)
        await refused(actor)

    async def refused(actor: Actor) -> None:
        await actor.hear(Join)
        await actor.say(Refused(re="join", code="no-room", reason="There is no room ABCDEF."))
        await actor.stay()

    async with staged(turned_away) as stage:
        with pytest.raises(BotFailed, match=r"There is no room ABCDEF\."):
            await played(stage.url)
    async with staged(kicked) as stage:
        with pytest.raises(BotFailed, match="kicked"):
            await played(stage.url)
    async with staged(lost, forgotten) as stage:
        with pytest.raises(BotFailed, match="lost the seat in room ABCDEF: There is no room"):
            await played(stage.url)


@pytest.mark.parametrize("refusals", [[], ["store", "conflict"]])
async def test_a_seat_that_the_store_has_lost_is_taken_again(
    monkeypatch: pytest.MonkeyPatch, refusals: list[str]
) -> None:
    monkeypatch.setattr("client.passing.AGAIN_AFTER", 0.05)

    async def script(actor: Actor) -> None:
        await seated(actor)
        await actor.say(Left(room="ABCDEF", kind="lost"))
        await actor.hear(Join)
        for code in refusals:
            await actor.say(Refused(re="join", code=code, reason="Not just now."))
            assert (await actor.hear(Join)).room == "ABCDEF"
        await actor.say(room(phase="open", seats=[seat("ann")], actions=["ready"]))
        await actor.hear(Ready)
        await actor.say(Standings(room="ABCDEF", reason="done", rows=[], head="00"))
        await actor.stay()

    async with staged(script) as stage:
        assert (await played(stage.url)).reason == "done"


async def test_a_room_that_is_busy_is_asked_again_for_as_long_as_the_bot_is_patient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("client.passing.AGAIN_AFTER", 0.05)

    async def script(actor: Actor) -> None:
        await actor.welcome()
        for _ in range(2):
            assert (await actor.hear(Join)).room == "ABCDEF"
            await actor.say(Refused(re="join", code="conflict", reason="The room is very busy."))
        assert (await actor.hear(Join)).room == "ABCDEF"
        monkeypatch.setattr("client.bot.PATIENCE", 0.0)
        await actor.say(Refused(re="join", code="conflict", reason="The room is very busy."))
        await actor.stay()

    async with staged(script) as stage:
        with pytest.raises(BotFailed, match="very busy"):
            await played(stage.url)
