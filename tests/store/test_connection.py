"""The connection alone, on a transport that is none: bytes in, bytes out."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from hiredis import ReplyError, pack_command

from server.store.connection import Arg, Connection, Limits
from server.store.errors import Lost
from server.store.lua import Script

SCRIPT = Script("double", b"return 2", "a" * 40)


def packed(args: tuple[Arg, ...]) -> bytes:
    """A command as it goes out."""
    command: bytes = pack_command(args)  # type: ignore[arg-type]
    return command


class Wire(asyncio.Transport):
    """Keeps what is written; an abort ends the connection in the next turn, as a real one does."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.connection: Connection
        self.aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True
        asyncio.get_running_loop().call_soon(self.connection.connection_lost, None)


class Leads:
    """A guide that keeps what it is asked."""

    def __init__(self) -> None:
        self.led: list[tuple[str, tuple[Arg, ...], int]] = []

    def lead(
        self, word: str, args: tuple[Arg, ...], done: object, script: object, hops: int
    ) -> None:
        self.led.append((word, args, hops))

    def doubt(self) -> None:
        pass


class Bench:
    """A connection on a Wire, with everything it reports."""

    def __init__(self, limits: Limits | None = None, guide: "Leads | None" = None) -> None:
        self.ended: list[bytes] = []
        self.messages: list[tuple[bytes, bytes]] = []
        self.ends: list[str] = []
        self.replies: list[object] = []
        self.wire = Wire()
        self.connection = Connection(
            limits or Limits(),
            lambda channel, message: self.messages.append((channel, message)),
            lambda connection, reason: self.ends.append(reason),
            guide=guide,
            on_ended=self.ended.append if guide else None,
        )
        self.wire.connection = self.connection
        self.connection.connection_made(self.wire)

    def send(self, *args: str) -> None:
        self.connection.send(args, self.replies.append)

    def run(self) -> None:
        self.connection.send(("EVALSHA", SCRIPT.sha, 1, "k", "v"), self.replies.append, SCRIPT)

    def tick(self) -> None:
        assert self.connection._watchdog is not None
        self.connection._watchdog.cancel()
        self.connection._tick()

    def hear(self, data: bytes) -> None:
        self.connection.data_received(data)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    bench = Bench()
    yield bench
    if not bench.ends:
        bench.connection.connection_lost(None)


async def turn() -> None:
    await asyncio.sleep(0)


async def test_commands_of_one_turn_go_out_in_one_write(bench: Bench) -> None:
    bench.send("GET", "a")
    bench.send("GET", "b")
    await turn()
    bench.send("GET", "c")
    await turn()
    assert bench.wire.writes == [
        packed(("GET", "a")) + packed(("GET", "b")),
        packed(("GET", "c")),
    ]


async def test_replies_are_matched_in_order_however_they_are_cut(bench: Bench) -> None:
    for name in "abc":
        bench.send("GET", name)
    data = b"$1\r\nA\r\n_\r\n:3\r\n"
    for i in range(len(data)):
        bench.hear(data[i : i + 1])
    assert bench.replies == [b"A", None, 3]


async def test_an_error_is_handed_over_as_a_value(bench: Bench) -> None:
    bench.send("NONSENSE")
    bench.hear(b"-ERR unknown command\r\n")
    assert isinstance(bench.replies[0], ReplyError)
    assert not bench.ends


async def test_messages_between_replies_disturb_nothing(bench: Bench) -> None:
    bench.send("GET", "a")
    bench.send("GET", "b")
    bench.hear(b":1\r\n>3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n:2\r\n")
    assert bench.replies == [1, 2]
    assert bench.messages == [(b"c", b"hi")]


async def test_a_subscription_is_confirmed_in_its_place(bench: Bench) -> None:
    bench.send("GET", "a")
    bench.connection.send(("SSUBSCRIBE", b"c"), bench.replies.append)
    bench.connection.send(("SSUBSCRIBE", b"d"), bench.replies.append)
    bench.send("GET", "b")
    bench.hear(b":1\r\n")
    bench.hear(b">3\r\n$10\r\nssubscribe\r\n$1\r\nc\r\n:1\r\n")
    bench.hear(b">3\r\n$10\r\nssubscribe\r\n$1\r\nd\r\n:2\r\n:9\r\n")
    assert bench.replies == [1, 1, 2, 9]


async def test_a_refused_subscription_leaves_the_order_as_it_is(bench: Bench) -> None:
    bench.connection.send(("SSUBSCRIBE", b"c"), bench.replies.append)
    bench.send("GET", "a")
    bench.hear(b"-NOPERM this user has no permissions\r\n:7\r\n")
    assert isinstance(bench.replies[0], ReplyError)
    assert bench.replies[1] == 7


async def test_a_subscription_that_the_store_ends_ends_the_connection(bench: Bench) -> None:
    bench.send("GET", "a")
    bench.hear(b">3\r\n$12\r\nsunsubscribe\r\n$1\r\nc\r\n:0\r\n")
    await turn()
    await turn()
    assert bench.replies == [Lost()]
    assert "ended the subscription" in bench.ends[0]


async def test_a_forgotten_script_is_sent_whole_and_its_order_kept(bench: Bench) -> None:
    bench.run()
    bench.run()
    await turn()
    bench.hear(b"-NOSCRIPT No matching script.\r\n-NOSCRIPT No matching script.\r\n")
    assert bench.replies == []
    await turn()
    whole = packed(("EVAL", SCRIPT.text, 1, "k", "v"))
    assert bench.wire.writes[1] == whole + whole
    bench.hear(b":1\r\n:2\r\n")
    assert bench.replies == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "READONLY a replica",
        "LOADING the data",
        "MASTERDOWN link",
        "CLUSTERDOWN The cluster is down",
    ],
)
async def test_a_store_that_cannot_serve_is_given_up(bench: Bench, text: str) -> None:
    bench.send("SET", "a", "b")
    bench.send("SET", "a", "c")
    bench.hear(f"-{text}\r\n".encode())
    await turn()
    assert isinstance(bench.replies[0], ReplyError)
    assert bench.replies[1:] == [Lost()]
    assert text in bench.ends[0]


async def test_what_is_in_flight_when_the_line_breaks_is_lost_after_the_line_knows(
    bench: Bench,
) -> None:
    order = []
    bench.connection._on_closed = lambda connection, reason: order.append("closed")
    bench.connection.send(("GET", "a"), order.append)
    bench.connection.connection_lost(OSError("cut"))
    assert order == ["closed", Lost()]
    bench.ends.append("by the test")


async def test_what_is_sent_over_a_dead_connection_is_lost_and_waited_for_by_nobody(
    bench: Bench,
) -> None:
    bench.connection.connection_lost(None)
    bench.send("GET", "a")
    assert bench.replies == []
    await turn()
    assert bench.replies == [Lost(sent=False)]
    with pytest.raises(ConnectionError):
        await bench.connection.ask("GET", "a")


async def test_bytes_that_are_no_protocol_end_the_connection(bench: Bench) -> None:
    bench.send("GET", "a")
    bench.hear(b"HTTP/1.1 400 Bad Request\r\n")
    await turn()
    assert bench.replies == [Lost()]
    assert "not its protocol" in bench.ends[0]


async def test_a_reply_that_nobody_asked_for_ends_the_connection(bench: Bench) -> None:
    bench.hear(b":1\r\n")
    await turn()
    assert "without a command" in bench.ends[0]


async def test_a_failing_callback_harms_no_other(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(reply: object) -> None:
        raise ZeroDivisionError

    bench.connection.send(("GET", "a"), fail)
    bench.send("GET", "b")
    with caplog.at_level(logging.CRITICAL):
        bench.hear(b":1\r\n:2\r\n")
    assert bench.replies == [2]


async def test_silence_with_a_reply_owed_ends_the_connection() -> None:
    bench = Bench(Limits(reply_s=0.04))
    bench.send("GET", "a")
    async with asyncio.timeout(30):
        await bench.connection.closed.wait()
    assert bench.replies == [Lost()]
    assert bench.ends == ["no reply within 0.04 s"]


async def test_silence_with_nothing_owed_is_peace() -> None:
    bench = Bench(Limits(reply_s=1000))
    for _ in range(20):
        bench.tick()
    assert not bench.wire.aborted
    bench.connection.connection_lost(None)


async def test_a_stall_of_our_own_does_not_blame_the_store() -> None:
    bench = Bench(Limits(reply_s=1000))
    bench.send("GET", "a")
    for _ in range(4):  # the limit has run out while this process stood still
        bench.tick()
    bench.hear(b":1\r\n")
    bench.send("GET", "b")
    for _ in range(4):
        bench.tick()
    assert not bench.wire.aborted
    bench.tick()
    assert bench.wire.aborted
    await turn()


async def test_asking_raises_what_the_store_refuses_and_what_is_lost(bench: Bench) -> None:
    asked = asyncio.create_task(bench.connection.ask("GET", "a"))
    lost = asyncio.create_task(bench.connection.ask("GET", "b"))
    await turn()
    bench.hear(b"-ERR no\r\n")
    bench.connection.abort("cut")
    with pytest.raises(ReplyError, match="ERR no"):
        await asked
    with pytest.raises(ConnectionError, match="cut"):
        await lost


async def test_a_cancelled_question_takes_no_reply_from_the_next(bench: Bench) -> None:
    first = asyncio.create_task(bench.connection.ask("GET", "a"))
    await turn()
    first.cancel()
    second = asyncio.create_task(bench.connection.ask("GET", "b"))
    await turn()
    bench.hear(b":1\r\n:2\r\n")
    assert await second == 2


# --- a member of a Cluster ------------------------------------------------------------


@pytest.fixture
async def member() -> AsyncIterator[Bench]:
    member = Bench(guide=Leads())
    yield member
    if not member.ends:
        member.connection.connection_lost(None)


def led(bench: Bench) -> list[tuple[str, tuple[Arg, ...], int]]:
    guide = bench.connection._guide
    assert isinstance(guide, Leads)
    return guide.led


SUBSCRIBED = b">3\r\n$10\r\nssubscribe\r\n$1\r\nc\r\n:1\r\n"
ENDED = b">3\r\n$12\r\nsunsubscribe\r\n$1\r\nc\r\n:0\r\n"
MOVED = b"-MOVED 292 127.0.0.1:7002\r\n"


@pytest.mark.parametrize(
    "word", ["MOVED 292 127.0.0.1:7002", "ASK 292 127.0.0.1:7002", "TRYAGAIN later"]
)
async def test_what_another_member_has_is_led_there_and_its_place_is_free(
    member: Bench, word: str
) -> None:
    member.run()
    member.send("GET", "b")
    member.hear(f"-{word}\r\n:2\r\n".encode())
    assert led(member) == [(word, ("EVALSHA", SCRIPT.sha, 1, "k", "v"), 1)]
    assert member.replies == [2]


async def test_nobody_is_led_round_in_circles(member: Bench) -> None:
    for hops in range(4):
        member.connection.send(("GET", "a"), member.replies.append, hops=hops)
    member.hear(MOVED * 4)
    assert [hops for _, _, hops in led(member)] == [1, 2, 3]
    assert member.replies == [Lost(sent=False)]


async def test_a_single_store_s_word_for_elsewhere_is_handed_over(bench: Bench) -> None:
    bench.send("GET", "a")
    bench.hear(MOVED)
    assert isinstance(bench.replies[0], ReplyError)


async def test_a_channel_that_is_given_away_is_told_and_ends_nothing(member: Bench) -> None:
    member.connection.send(("SSUBSCRIBE", b"c"), member.replies.append)
    member.send("GET", "a")
    member.hear(SUBSCRIBED + ENDED + b":5\r\n")
    assert member.replies == [1, 5]
    assert member.ended == [b"c"]


async def test_a_subscription_to_what_another_has_is_answered_and_not_led(member: Bench) -> None:
    member.connection.send(("SSUBSCRIBE", b"c"), member.replies.append)
    member.hear(MOVED)
    assert isinstance(member.replies[0], ReplyError)
    assert led(member) == []


@pytest.mark.parametrize(
    "said",
    [
        ENDED,  # as it should be
        ENDED + ENDED,  # given away just before, and confirmed all the same
        ENDED + MOVED,  # given away just before, and refused
        MOVED,  # given away long before
    ],
)
async def test_the_end_of_a_subscription_takes_no_other_s_reply(member: Bench, said: bytes) -> None:
    member.connection.unsubscribe(b"c")
    member.send("GET", "a")
    member.hear(said)
    member.hear(b"$1\r\nc\r\n")  # the fence
    member.hear(b":7\r\n")
    assert member.replies == [7]
    assert led(member) == []
    assert not member.wire.aborted


async def test_replies_that_are_out_of_step_are_taken_by_nobody(member: Bench) -> None:
    member.connection.unsubscribe(b"c")
    member.send("GET", "a")
    member.hear(ENDED + b":7\r\n:8\r\n")
    await turn()
    assert member.replies == [Lost()]
    assert "out of step" in member.ends[0]
