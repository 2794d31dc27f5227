"""The line: hello and token, resume, plays sent again, and what close codes mean."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from random import Random

import pytest

from client.identity import Identity, open_identity
from client.line import Line, Loss, judge
from client.link import MOST_WAITING, WELCOME_LIMIT, Link
from client.organiser import ANSWER_LIMIT
from tests.client.stage import (
    LIMIT,
    TOKEN,
    Actor,
    Ear,
    Stage,
    board,
    moved,
    room,
    running,
    staged,
    welcome,
)
from tests.listener import listening
from wire import codec
from wire.messages import (
    STORE_WAIT_S,
    Board,
    Close,
    Error,
    Finish,
    Hint,
    Move,
    Moved,
    Ping,
    Pong,
    Refused,
    Room,
    Rooms,
    Scores,
    Snapshot,
    Standings,
    Store,
    Undo,
    Welcome,
)


@pytest.fixture(autouse=True)
def quick_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Come back at once: the delays themselves are tested as values."""
    monkeypatch.setattr("client.line.FIRST_DELAY", 0.01)
    monkeypatch.setattr("client.line.LONGEST_DELAY", 0.02)
    monkeypatch.setattr("client.line._PAUSES", {Close.RESTART: ("the server restarts", 0, 0.01)})


@asynccontextmanager
async def linked(stage: Stage, name: str | None = None) -> AsyncIterator[tuple[Link, Ear]]:
    """A link to a stage, and the ear that hears what it hears."""
    ear = Ear()
    link = Link(stage.url, Identity(), ear, name=name)
    async with running(link):
        yield link, ear


async def test_a_new_player_says_hello_and_keeps_the_token_it_is_given(tmp_path: Path) -> None:
    async def script(actor: Actor) -> None:
        hello = await actor.welcome(token=TOKEN)
        assert (hello.name, hello.token, hello.bot) == ("ann", None, False)
        await actor.stay()

    file = tmp_path / "token"
    async with staged(script) as stage:
        identity = open_identity(stage.url, token_file=file)
        ear = Ear()
        async with running(Link(stage.url, identity, ear, name="ann")):
            await ear.until(Welcome)
        identity.close()
    assert file.stat().st_mode & 0o777 == 0o600
    again = open_identity("ws://h:1", token_file=file)
    assert (again.token, again.name) == (TOKEN, "ann")
    again.close()


async def test_after_a_drop_it_comes_back_with_its_token() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        actor.drop()

    async def second(actor: Actor) -> None:
        hello = await actor.welcome()
        assert hello.token == TOKEN
        await actor.stay()

    async with staged(first, second) as stage, linked(stage, name="ann") as (_, ear):
        await ear.until(Welcome, 2)
    waiting = [each for each in ear.all if isinstance(each, Line) and each.status == "waiting"]
    assert waiting
    assert waiting[0].retry_at is not None


async def test_unanswered_plays_are_sent_again_in_order_with_their_numbers() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.say(room(), board(n=3))
        for n in (4, 5, 6):
            assert (await actor.hear(Move)).n == n
        await actor.say(moved(4))
        actor.drop()

    async def second(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        assert await actor.hears_nothing()
        # Play 5 was counted, its answer was lost: only play 6 is missing.
        await actor.say(room(), board(n=5))
        assert await actor.hear(Move) == Move(n=6, m="6>8")
        await actor.say(moved(6))
        assert await actor.hear(Move) == Move(n=7, m="w>f")
        await actor.stay()

    async with staged(first, second) as stage, linked(stage, name="ann") as (link, ear):
        await ear.until(Board)
        for text in ("d", "d", "6>8"):
            link.play(text)
        await ear.until(Welcome, 2)
        assert link.plays.waiting == 2
        await ear.until(Moved, 2)
        link.play("w>f")
        await stage.played()
        assert link.plays.counted == 6


async def test_a_play_asked_for_while_the_line_is_down_goes_out_after_the_board() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.say(room(), board(n=0))
        actor.drop()

    async def second(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(), board(n=0))
        assert await actor.hear(Move) == Move(n=1, m="d")
        assert await actor.hear(Undo) == Undo(n=2)
        await actor.say(moved(1), moved(2))
        await actor.stay()

    async with staged(first, second) as stage, linked(stage, name="ann") as (link, ear):
        await ear.until_line("waiting")
        link.play("d")
        link.play("undo")
        await ear.until(Moved, 2)


async def test_a_server_that_holds_the_hello_up_is_waited_for_and_the_player_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("client.link.HELD_UP_AFTER", 0.01)
    is_told = asyncio.Event()

    async def script(actor: Actor) -> None:
        await actor.hear_hello()
        await asyncio.wait_for(is_told.wait(), LIMIT)
        await actor.say(welcome())
        await actor.stay()

    async with staged(script) as stage, linked(stage, name="ann") as (_, ear):
        await ear.until_line("held up")
        is_told.set()
        await ear.until_line("online")


def test_nobody_waits_shorter_than_the_server_may_wait_for_its_store() -> None:
    assert min(WELCOME_LIMIT, ANSWER_LIMIT) > STORE_WAIT_S


async def test_plays_that_wait_have_a_bound_and_all_of_them_arrive_after_a_resume() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.say(room(), board())
        await actor.hear(Hint)
        actor.drop()

    async def second(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(), board())
        for n in range(1, MOST_WAITING + 1):
            assert (await actor.hear(Move)).n == n
        await actor.say(moved(MOST_WAITING))
        await actor.stay()

    async with staged(first, second) as stage, linked(stage) as (link, ear):
        await ear.until(Board)
        link.send(Hint())
        await ear.until_line("waiting")
        assert [link.play("d") for _ in range(MOST_WAITING)] == [True] * MOST_WAITING
        assert not link.play("d")
        await ear.until(Moved)
        assert link.play("d")


async def test_a_refused_play_gives_its_number_free_once_all_after_it_are_answered() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.say(room(), board(n=0))
        assert await actor.hear(Move) == Move(n=1, m="1>2")
        assert await actor.hear(Move) == Move(n=2, m="d")
        await actor.say(Refused(re="move", code="x", reason="no", n=1))
        assert await actor.hears_nothing()
        await actor.say(Refused(re="move", code="gap", reason="gap", n=2))
        assert await actor.hear(Move) == Move(n=1, m="w>f")
        await actor.stay()

    async with staged(script) as stage, linked(stage) as (link, ear):
        await ear.until(Board)
        link.play("1>2")
        link.play("d")
        await ear.until(Refused)
        link.play("w>f")
        await ear.until(Refused, 2)
        await stage.played()


async def test_a_play_that_failed_on_the_servers_side_is_given_up_and_the_board_asked_for() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.say(room(), board(n=0))
        assert await actor.hear(Move) == Move(n=1, m="1>2")
        await actor.say(Error(code="internal", reason="ours", re="chat"))
        assert await actor.hears_nothing()
        await actor.say(Error(code="internal", reason="ours", re="move", n=1))
        await actor.hear(Snapshot)
        await actor.say(room(), board(n=1))  # it counts after all
        assert await actor.hear(Move) == Move(n=2, m="w>f")
        await actor.stay()

    async with staged(script) as stage, linked(stage) as (link, ear):
        await ear.until(Board)
        link.play("1>2")
        await ear.until(Board, 2)
        assert link.plays.waiting == 0
        link.play("w>f")
        await stage.played()


async def test_a_snapshot_on_a_whole_line_sends_nothing_twice() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.say(room(), board(n=0))
        assert (await actor.hear(Finish)).n == 1
        await actor.say(room(), board(n=0))
        assert await actor.hears_nothing()
        await actor.stay()

    async with staged(script) as stage, linked(stage) as (link, ear):
        await ear.until(Board)
        link.play("finish")
        await ear.until(Board, 2)
        await stage.played()


async def test_a_refused_finish_is_answered_at_whichever_move_it_was_refused() -> None:
    async def script(actor: Actor) -> None:
        hello = await actor.welcome()
        assert hello.client == f"klondike {version('double-klondike')}"
        await actor.say(room(), board(n=0))
        assert (await actor.hear(Finish)).n == 1
        await actor.say(moved(1), Refused(re="finish", code="done", reason="Over.", n=2))
        assert await actor.hear(Move) == Move(n=2, m="d")
        await actor.say(moved(2))
        await actor.stay()

    async with staged(script) as stage, linked(stage) as (link, ear):
        await ear.until(Board)
        link.play("finish")
        await ear.until(Refused)
        link.play("d")
        await ear.until(Moved, 2)


async def test_plays_of_another_room_or_a_finished_race_are_forgotten() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.say(room(), board(n=0))
        await actor.hear(Move)
        actor.drop()

    async def second(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(phase="over"))
        await actor.say(Standings(room="ABCDEF", reason="time", rows=[], head="00"))
        await actor.say(board(n=0))
        assert await actor.hears_nothing()
        await actor.stay()

    async with staged(first, second) as stage, linked(stage) as (link, ear):
        await ear.until(Board)
        link.play("d")
        await ear.until(Board, 2)
        await stage.played()
        assert link.plays.waiting == 0


@pytest.mark.parametrize("code", [Close.REPLACED, Close.VERSION, Close.POLICY])
async def test_it_stays_away_when_told_to_and_says_why(code: Close) -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.close(code, "update the client")

    async with staged(script) as stage:
        line = await asyncio.wait_for(Link(stage.url, Identity(), Ear()).run(), LIMIT)
        assert line.status == "ended"
        assert "update the client" in line.why
        assert stage.served == 1


async def test_a_hello_that_the_server_does_not_take_is_not_said_again() -> None:
    async def script(actor: Actor) -> None:
        await actor.hear_hello()
        await actor.say(Error(code="bad-frame", reason="hello: the text begins with a blank"))
        await actor.stay()

    async with staged(script) as stage:
        line = await asyncio.wait_for(Link(stage.url, Identity(), Ear(), name="ann").run(), LIMIT)
        assert line.status == "ended"
        assert "begins with a blank" in line.why
        assert stage.served == 1


async def test_a_token_the_server_does_not_know_is_forgotten_and_a_new_player_comes() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        actor.drop()

    async def second(actor: Actor) -> None:
        assert (await actor.hear_hello()).token == TOKEN
        await actor.close(Close.BAD_TOKEN, "unknown token")

    async def third(actor: Actor) -> None:
        assert (await actor.welcome(token="u" * 32)).token is None
        await actor.stay()

    async with staged(first, second, third) as stage:
        ear = Ear()
        identity = Identity()
        async with running(Link(stage.url, identity, ear, name="ann")):
            await ear.until(Welcome, 2)
        assert identity.token == "u" * 32


async def test_a_server_that_restarts_is_come_back_to() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.close(Close.RESTART)

    async def second(actor: Actor) -> None:
        await actor.welcome()
        await actor.stay()

    async with staged(first, second) as stage:
        async with linked(stage) as (_, ear):
            await ear.until(Welcome, 2)
        lines = [each for each in ear.all if isinstance(each, Line)]
        assert "the server restarts" in [line.why for line in lines]


def test_why_a_server_that_is_there_turns_away_is_told_in_its_own_words() -> None:
    away = judge(Loss(Close.RESTART, "the server's store does not answer"), 0)
    assert (away.why, away.is_answered) == ("the server's store does not answer", True)
    assert judge(Loss(Close.RESTART, ""), 3).why == "the server restarts"
    assert not judge(Loss(None, "nobody answers there"), 0).is_answered


async def test_the_clock_follows_the_servers() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        while True:
            await actor.hear(Rooms)

    async with staged(script) as stage:
        async with linked(stage) as (link, ear):
            await ear.until(Pong)
            assert link.clock.trip_ms is not None
            assert link.line.trip_ms == link.clock.trip_ms
        stage.faults.clear()


async def test_nothing_is_sent_without_a_line() -> None:
    link = Link("ws://127.0.0.1:1", Identity(), Ear())
    assert not link.send(Hint())


async def test_impatience_ends_a_link_to_nowhere_with_a_plain_reason() -> None:
    link = Link("ws://127.0.0.1:1", Identity(), Ear(), patience=0.0)
    line = await asyncio.wait_for(link.run(), LIMIT)
    assert line == Line("ended", "nobody answers there")


async def test_closing_in_the_middle_of_connecting_ends_at_once() -> None:
    connecting = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        connecting.set()
        await reader.read()

    async with listening(say_nothing) as port:
        link = Link(f"ws://127.0.0.1:{port}", Identity(), Ear())
        task = asyncio.create_task(link.run())
        await asyncio.wait_for(connecting.wait(), LIMIT)
        link.close()
        # Sooner than an attempt is given up, which is after ten seconds.
        assert (await asyncio.wait_for(task, 8)).status == "ended"


async def test_a_web_server_is_no_race_server() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    async with listening(answer) as port:
        link = Link(f"ws://127.0.0.1:{port}", Identity(), Ear())
        line = await asyncio.wait_for(link.run(), LIMIT)
    assert line.status == "ended"
    assert "is not a race server (HTTP 404)" in line.why


async def test_what_speaks_no_http_is_no_race_server() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.org\r\n")
        await reader.read()

    async with listening(answer) as port:
        link = Link(f"ws://127.0.0.1:{port}", Identity(), Ear())
        line = await asyncio.wait_for(link.run(), LIMIT)
    assert line.status == "ended"
    assert "is not a race server" in line.why


@asynccontextmanager
async def proxied(stage: Stage, answers: Sequence[bytes | None]) -> AsyncIterator[str]:
    """A proxy before a stage; it gives these answers first, where None leads to the stage."""
    left = list(answers)
    port = int(stage.url.rsplit(":", 1)[1])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = left.pop(0) if left else None
        if answer is not None:
            if answer:
                await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            return
        back, on = await asyncio.open_connection("127.0.0.1", port)

        async def forth() -> None:
            while data := await reader.read(65_536):
                on.write(data)
            on.transport.abort()

        there = asyncio.create_task(forth())
        try:
            while data := await back.read(65_536):
                writer.write(data)
        finally:
            there.cancel()
            await asyncio.gather(there, return_exceptions=True)
            on.transport.abort()

    async with listening(serve) as number:
        yield f"ws://127.0.0.1:{number}"


def answered(status: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "the line was closed before the server had answered"),
        (b"HTTP/1.1 101 Swit", "the line was closed before the server had answered"),
        (
            b"HTTP/1.1 502 Bad Gateway\r\nConte",
            "the line was closed before the server had answered",
        ),
        (answered("502 Bad Gateway"), "the server answers 502"),
        (answered("504 Gateway Timeout"), "the server answers 504"),
        (answered("408 Request Timeout"), "the server answers 408"),
    ],
)
async def test_who_is_let_in_by_nobody_waits_until_a_server_is_there(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, why: str
) -> None:
    pauses = {Close.OVERLOAD: ("the server is full", 0, 0.01)}
    monkeypatch.setattr("client.line._PAUSES", pauses)

    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.stay()

    async with staged(script) as stage, proxied(stage, [answer, answer, None]) as url:
        ear = Ear()
        async with running(Link(url, Identity(), ear)):
            await ear.until(Welcome)
    waits = [each.why for each in ear.all if isinstance(each, Line) and each.status == "waiting"]
    assert waits == [why, why]


async def test_where_a_race_server_was_another_answer_is_a_passing_one() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        actor.drop()

    async def second(actor: Actor) -> None:
        await actor.welcome()
        await actor.stay()

    strangers = [answered("404 Not Found"), answered("302 Found"), b"220 mail.example.org\r\n"]
    async with staged(first, second) as stage, proxied(stage, [None, *strangers, None]) as url:
        ear = Ear()
        async with running(Link(url, Identity(), ear)):
            await ear.until(Welcome, 2)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("the server is going down", "the server restarts"),
        ("too many connections", "the server answers 503"),
    ],
)
async def test_a_server_on_its_way_out_is_not_told_to_be_full(said: str, why: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 503 Service Unavailable\r\nContent-Length: {len(said)}\r\n\r\n"
        writer.write((head + said).encode())
        await writer.drain()

    async with listening(answer) as port:
        ear = Ear()
        link = Link(f"ws://127.0.0.1:{port}", Identity(), ear)
        task = asyncio.create_task(link.run())
        heard = await ear.until_line("waiting")
        link.close()
        await asyncio.wait_for(task, LIMIT)
    assert heard.why == why


async def test_a_rename_comes_back_under_the_new_name() -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.stay()

    async def second(actor: Actor) -> None:
        hello = await actor.welcome(name="zoe")
        assert (hello.name, hello.token) == ("zoe", TOKEN)
        await actor.stay()

    async with staged(first, second) as stage, linked(stage, name="ann") as (link, ear):
        await ear.until(Welcome)
        link.rename("zoe")
        await ear.until(Welcome, 2)
        assert link.name == "zoe"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubt a line soon, and measure the clock at the beginning only."""
    monkeypatch.setattr("client.link.LOOK_GAP", 0.02)
    monkeypatch.setattr("client.link.FIRST_PINGS", 1)
    monkeypatch.setattr("client.doubt.ASK_AFTER", 0.2)
    monkeypatch.setattr("client.doubt.ANSWER_LIMIT", 0.3)


async def pings_of(actor: Actor, seconds: float, enough: int | None = None) -> int:
    """Leaves everything unanswered but says scores; counts the pings that come."""
    loop = asyncio.get_running_loop()
    end, count = loop.time() + seconds, 0
    while loop.time() < end and count != enough:
        await actor.say(Scores(version=1, lines=[]))
        try:
            data = await asyncio.wait_for(actor.socket.recv(), 0.02)
        except TimeoutError:
            continue
        assert isinstance(data, bytes)
        count += isinstance(codec.decode_client(data), Ping)
    return count


async def test_a_play_without_an_answer_on_a_line_that_looks_open_brings_it_back_soon(
    hasty: None,
) -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.say(room(), board(n=0))
        assert await actor.hear(Move) == Move(n=1, m="d")
        # What is pushed still arrives; nothing that is said does.
        await actor.say_until_gone(Scores(version=1, lines=[]))

    async def second(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.say(room(), board(n=0))
        assert await actor.hear(Move) == Move(n=1, m="d")
        await actor.say(moved(1))
        await actor.stay()

    async with staged(first, second) as stage:
        async with linked(stage) as (link, ear):
            await ear.until(Board)
            link.play("d")
            await ear.until(Moved)
        waiting = [each.why for each in ear.all if isinstance(each, Line) if each.retry_at]
        assert waiting == ["no answer from the server"]


async def test_while_the_server_says_that_its_store_is_away_nobody_goes(
    hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.doubt.ASK_AFTER", 1.0)  # not before the server has said so

    async def script(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.say(room(), board(n=0))
        assert await actor.hear(Move) == Move(n=1, m="d")
        assert await actor.hears_nothing()  # but the ping of the clock
        await actor.say(Store(waiting=True))
        assert await pings_of(actor, 2.0) == 0
        await actor.say(Store(waiting=False), moved(1))
        await actor.stay()

    async with staged(script) as stage:
        async with linked(stage) as (link, ear):
            await ear.until(Board)
            link.play("d")
            await ear.until(Moved)
        assert stage.served == 1


async def test_a_play_that_takes_long_keeps_a_line_whose_server_answers_a_ping(
    hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.doubt.ANSWER_LIMIT", 2.0)

    async def script(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.say(room(), board(n=0))
        assert await actor.hear(Move) == Move(n=1, m="d")
        assert await actor.hears_nothing(2.5)  # but pings, which it answers
        await actor.say(moved(1))
        await actor.stay()

    async with staged(script) as stage:
        async with linked(stage) as (link, ear):
            await ear.until(Board)
            link.play("d")
            await ear.until(Moved)
        assert stage.served == 1
        # Every fifth of a second, if the machine lets it; it looks ten times as often.
        assert 2 <= len([each for each in ear.all if isinstance(each, Pong)]) <= 40


async def test_after_a_sleep_of_the_machine_the_line_is_asked_and_left_if_it_is_dead(
    hasty: None,
) -> None:
    async def first(actor: Actor) -> None:
        await actor.welcome(token=TOKEN)
        await actor.say(room(), board(n=0))
        assert await actor.hears_nothing(0.2)
        woken.set()
        assert await pings_of(actor, LIMIT, enough=1) == 1
        await actor.stay()

    async def second(actor: Actor) -> None:
        await actor.welcome(room="ABCDEF")
        await actor.stay()

    woken = asyncio.Event()
    async with staged(first, second) as stage, linked(stage) as (link, ear):
        await woken.wait()
        link.poke()
        await ear.until(Welcome, 2)


def test_delays_grow_to_a_bound_and_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    drop = Loss(None, "")
    bounds = [(judge(drop, failures).least, judge(drop, failures).most) for failures in range(12)]
    assert bounds[0] == (0.25, 0.5)
    assert bounds[-1] == (7.5, 15.0)
    assert bounds == sorted(bounds)
    assert all(least < most for least, most in bounds)
    drawn = {judge(drop, 3).delay(Random(seed)) for seed in range(20)}
    assert len(drawn) == 20


def test_an_overloaded_server_is_left_alone_for_some_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    assert judge(Loss(Close.OVERLOAD, ""), 0).least >= 3
    assert judge(Loss(Close.RESTART, ""), 0).most <= 2


async def test_frames_that_are_no_messages_are_passed_over() -> None:
    async def script(actor: Actor) -> None:
        await actor.welcome()
        await actor.socket.send("text")
        await actor.socket.send(b"\xc1")
        await actor.say(room())
        await actor.stay()

    async with staged(script) as stage, linked(stage) as (_, ear):
        assert (await ear.until(Room)).room == "ABCDEF"
