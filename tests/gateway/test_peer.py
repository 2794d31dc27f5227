"""An open websocket, with time and bytes turned by hand."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from websockets.frames import Frame
from websockets.protocol import OPEN, State
from websockets.server import ServerProtocol

from tests.gateway.rig import frame
from tests.gateway.stage import Stage
from wire.messages import MAX_CLIENT_FRAME, Close

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
PING_FRAME = b"\x89\x00"
SIGNS = {
    "a message": frame(BINARY, b"x"),
    "a long message": frame(BINARY, b"x" * 200),
    "a part of a frame": frame(BINARY, b"x" * 100)[:1],
    "a pong": frame(PONG),
    "a ping": frame(PING),
}

# --- time -----------------------------------------------------------------------------


def test_a_ping_goes_out_after_15_seconds_of_silence_and_no_other_follows() -> None:
    stage = Stage()
    stage.clock.turn(14.9)
    assert stage.take() == b""
    stage.clock.turn(0.2)
    assert stage.take() == PING_FRAME
    stage.clock.turn(14.8)
    assert stage.take() == b""
    assert stage.line.end == ""


def test_a_clock_of_milliseconds_does_not_repeat_the_ping() -> None:
    stage = Stage()
    stage.clock.early = 0.0005
    stage.peer.data_received(frame(PONG))
    stage.clock.turn(20)
    assert stage.take() == PING_FRAME
    stage.clock.turn(10.1)
    assert stage.take() == b""
    assert stage.line.end == "cut"


def test_a_peer_that_is_silent_for_30_seconds_is_cut() -> None:
    stage = Stage()
    stage.clock.turn(29.9)
    assert stage.line.end == ""
    stage.clock.turn(0.2)
    assert stage.line.end == "cut"
    stage.peer.connection_lost(None)
    assert stage.notes.codes == [1006]
    assert stage.clock.pending == 0


@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_any_traffic_is_a_sign_of_life(sign: bytes) -> None:
    stage = Stage()
    for _ in range(3):
        stage.clock.turn(10)
        assert PING_FRAME not in stage.take()
        stage.peer.data_received(sign)
    stage.clock.turn(29.9)
    assert stage.line.end == ""
    stage.clock.turn(0.2)
    assert stage.line.end == "cut"


def test_a_line_with_a_latency_of_many_seconds_stays() -> None:
    stage = Stage()
    for _ in range(20):
        stage.clock.turn(15.1)
        assert stage.take() == PING_FRAME
        stage.clock.turn(12)
        stage.peer.data_received(frame(PONG))
    assert stage.line.end == ""


@pytest.mark.parametrize("before", [1.0, 14.9, 16.0, 29.9])
def test_after_standing_still_ourselves_a_peer_is_asked_anew_before_it_is_judged(
    before: float,
) -> None:
    stage = Stage()
    stage.clock.turn(before)
    stage.take()
    stage.clock.stand_still(65)
    assert stage.line.end == ""
    assert stage.take() == PING_FRAME
    stage.clock.turn(14.9)
    assert stage.line.end == ""
    stage.clock.turn(0.2)
    assert stage.line.end == "cut"


def test_after_standing_still_ourselves_a_slow_peer_may_catch_up() -> None:
    stage = Stage()
    stage.peer.pause_writing()
    stage.clock.stand_still(65)
    stage.peer.data_received(frame(BINARY, b"x"))
    assert stage.line.end == ""
    stage.peer.resume_writing()
    for _ in range(10):
        stage.clock.turn(10)
        stage.peer.data_received(frame(BINARY, b"x"))
    assert stage.line.end == ""


def test_a_busy_connection_costs_the_clock_one_timer() -> None:
    stage = Stage(messages_per_s=1e6)
    for _ in range(10_000):
        stage.clock.turn(0.01)
        stage.peer.data_received(frame(BINARY, b"x"))
    assert stage.clock.pending == 1


def test_a_peer_that_stays_slow_for_30_seconds_is_cut_although_it_talks() -> None:
    stage = Stage()
    stage.peer.pause_writing()
    for _ in range(29):
        stage.clock.turn(1)
        stage.peer.data_received(frame(BINARY, b"x"))
        assert stage.line.end == ""
    for _ in range(16):  # it is looked at when a ping might be due
        stage.clock.turn(1)
        stage.peer.data_received(frame(BINARY, b"x"))
    assert stage.line.end == "cut"
    stage.peer.connection_lost(None)
    assert stage.notes.codes == [Close.SLOW]


def test_a_peer_that_catches_up_now_and_then_is_not_cut() -> None:
    stage = Stage()
    for _ in range(20):
        stage.peer.pause_writing()
        stage.clock.turn(14)
        stage.peer.data_received(frame(BINARY, b"x"))
        stage.peer.resume_writing()
    assert stage.line.end == ""


def test_a_steady_player_is_never_taken_for_a_flood() -> None:
    stage = Stage()
    for _ in range(2_000):
        stage.clock.turn(0.011)
        stage.peer.data_received(frame(BINARY, b"x"))
    assert len(stage.notes.messages) == 2_000


def test_messages_that_piled_up_while_the_server_stalled_are_no_flood() -> None:
    stage = Stage()
    stage.peer.data_received(frame(BINARY, b"x") * 400)
    assert len(stage.notes.messages) == 400
    assert stage.line.end == ""


def test_a_flood_is_cut_short() -> None:
    stage = Stage()
    stage.peer.data_received(frame(BINARY, b"x") * 10_000)
    assert len(stage.notes.messages) == 400
    assert stage.line.end == "eof"


def test_a_close_is_waited_for_three_seconds_whatever_comes() -> None:
    stage = Stage()
    stage.peer.close(Close.RESTART)
    for _ in range(29):
        stage.clock.turn(0.1)
        stage.peer.data_received(frame(PING) + frame(BINARY, b"x"))
    assert stage.line.end == ""
    stage.clock.turn(0.2)
    assert stage.line.end == "cut"


def test_after_a_fault_the_end_is_waited_for_three_seconds() -> None:
    stage = Stage()
    stage.peer.data_received(frame(TEXT, b"x"))
    assert stage.line.end == "eof"
    stage.clock.turn(2.9)
    assert stage.line.end == "eof"
    stage.clock.turn(0.2)
    assert stage.line.end == "cut"


# --- bounds ---------------------------------------------------------------------------


def test_the_bound_is_looked_at_when_the_buffer_fills_and_with_every_send_after() -> None:
    stage = Stage(write_bound=100_000)
    stage.line.buffered = 100_000
    stage.peer.pause_writing()
    stage.peer.send(b"x")
    assert stage.line.end == ""
    stage.line.buffered = 100_001
    stage.peer.send(b"x")
    assert stage.line.end == "cut"


def test_the_bound_holds_for_pongs_too() -> None:
    stage = Stage(write_bound=100_000)
    stage.peer.pause_writing()
    stage.line.buffered = 100_001
    stage.peer.data_received(frame(PING))
    assert stage.line.end == "cut"


def test_the_bound_holds_where_the_transport_notices_after_the_send() -> None:
    stage = Stage(write_bound=100_000)
    stage.peer.send(b"x" * 100_001)
    stage.line.buffered = 100_001
    stage.peer.pause_writing()
    assert stage.line.end == "cut"


def test_what_waits_for_a_slow_peer_is_one_of_each_kind() -> None:
    stage = Stage()
    stage.peer.pause_writing()
    for index in range(1_000):
        stage.peer.send_latest("a", b"%d" % index)
    assert stage.take() == b""
    stage.peer.resume_writing()
    assert stage.take() == b"\x82\x03999"


def test_what_waits_is_dropped_when_the_connection_closes() -> None:
    stage = Stage()
    stage.peer.pause_writing()
    stage.peer.send_latest("a", b"x")
    stage.peer.close(Close.REPLACED)
    stage.take()
    stage.peer.resume_writing()
    assert stage.take() == b""
    assert stage.notes.caught_up == 0


def test_a_peer_that_becomes_slow_again_while_it_catches_up_keeps_the_rest_waiting() -> None:
    stage = Stage()
    stage.peer.pause_writing()
    for kind in "abc":
        stage.peer.send_latest(kind, kind.encode())
    write = stage.line.write

    def write_and_fill(data: bytes) -> None:
        write(data)
        stage.peer.pause_writing()

    stage.line.write = write_and_fill  # type: ignore[method-assign]
    stage.peer.resume_writing()
    assert stage.take() == b"\x82\x01a"
    stage.line.write = write  # type: ignore[method-assign]
    stage.peer.resume_writing()
    assert stage.take() == b"\x82\x01b\x82\x01c"


def test_what_comes_during_a_pause_waits_in_order_and_nothing_overtakes_it() -> None:
    stage = Stage()
    stage.peer.pause()
    stage.peer.data_received(frame(BINARY, b"1"))
    stage.peer.data_received(frame(BINARY, b"2"))
    assert not stage.line.is_reading
    stage.peer.resume()
    assert stage.line.is_reading
    stage.peer.data_received(frame(BINARY, b"3"))
    stage.clock.turn()
    assert stage.notes.messages == [b"1", b"2", b"3"]


def test_what_waited_during_a_pause_comes_without_anything_new() -> None:
    stage = Stage()
    stage.peer.pause()
    stage.peer.data_received(frame(BINARY, b"1"))
    stage.peer.resume()
    assert stage.notes.messages == []  # not from within the call
    stage.clock.turn()
    assert stage.notes.messages == [b"1"]


def test_unknown_close_codes_do_not_multiply_in_the_counts() -> None:
    stage = Stage()
    stage.peer.data_received(frame(CLOSE, (4_567).to_bytes(2, "big")))
    stage.peer.connection_lost(None)
    assert stage.notes.codes == [4_567]
    assert stage.register.tally().closed == {0: 1}


# --- the same as the protocol alone ---------------------------------------------------

frames = st.builds(
    frame,
    opcode=st.sampled_from([BINARY] * 8 + [CONT] * 3 + [PING, PONG, TEXT, CLOSE, 3, 0x42]),
    data=st.one_of(
        st.binary(max_size=4),
        st.sampled_from([0, 1, 125, 126, 127, 4_095, 4_096, 4_097]).map(bytes),
        st.sampled_from([b"\x03\xe8", b"\x03\xe8bye", b"\x03\xed"]),
    ),
    fin=st.sampled_from([True, True, False]),
)
streams = st.one_of(st.lists(frames, max_size=12).map(b"".join), st.binary(max_size=64))


def by_the_protocol(stream: bytes) -> tuple[list[bytes], int]:
    """What the protocol alone makes of a stream: binary messages and the code of the end."""
    protocol = ServerProtocol(state=OPEN, max_size=MAX_CLIENT_FRAME)
    protocol.receive_data(stream)
    messages: list[bytes] = []
    parts = b""
    for event in protocol.events_received():
        assert isinstance(event, Frame)
        if event.opcode == TEXT:
            return messages, Close.UNSUPPORTED
        if event.opcode in (BINARY, CONT):
            parts += event.data
            if event.fin:
                messages.append(parts)
                parts = b""
    if protocol.state is State.OPEN:
        return messages, 0
    if protocol.close_rcvd is not None:
        return messages, protocol.close_rcvd.code
    assert protocol.close_sent is not None
    return messages, protocol.close_sent.code


@given(streams, st.lists(st.integers(1, 5_000), min_size=1, max_size=20))
@example(frame(BINARY, b"a") + frame(BINARY, b"b"), [3])
@example(frame(BINARY, b"a", fin=False) + frame(BINARY, b"b"), [7])
@example(b"\x82\x87\0\0\0\0" + b"\x82\x81\0\0\0\0A", [6, 7])  # a frame within a frame
@example(b"\x82\xff\x00\x00\x00\x00\x00\x00\x10\x01", [1])
def test_however_a_stream_is_cut_it_means_what_the_protocol_says(
    stream: bytes, cuts: list[int]
) -> None:
    stage = Stage()
    start = 0
    while start < len(stream):
        for cut in cuts:
            stage.peer.data_received(stream[start : start + cut])
            start += cut
    messages, code = by_the_protocol(stream)
    assert stage.notes.messages == messages
    # A frame that can only be wrong may wait for its end.
    waits = stage.peer._code == 0 and stage.peer._rest != b""
    assert stage.peer._code == code or waits


@given(streams, st.sampled_from(["close", "abort", "pause"]), st.integers(0, 5))
def test_a_handler_may_do_anything_at_any_message(stream: bytes, act: str, at: int) -> None:
    stage = Stage()
    acts: dict[str, Callable[[], None]] = {
        "close": lambda: stage.peer.close(Close.POLICY),
        "abort": stage.peer.abort,
        "pause": stage.peer.pause,
    }
    note = stage.notes.received

    def received(data: bytes) -> None:
        note(data)
        if len(stage.notes.messages) == at:
            acts[act]()

    stage.notes.received = received  # type: ignore[method-assign]
    stage.peer.data_received(stream)
    messages, _ = by_the_protocol(stream)
    if not 0 < at <= len(messages):
        assert stage.notes.messages == messages
        return
    assert stage.notes.messages == messages[:at]
    stage.peer.resume()
    stage.clock.turn()
    assert stage.notes.messages == (messages if act == "pause" else messages[:at])
