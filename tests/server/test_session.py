"""The connection machine, without any connection."""

import pytest
from msgspec import UNSET

from server.session import BAD_FRAMES_ALLOWED, CHAT_BURST, NEXT, SAYABLE, Fault, Session
from wire import messages as m
from wire.codec import CLIENT_TAGS, encode

HELLO = m.Hello(v=1, name="anna")


def said(session: Session, message: m.ClientMessage, now: float = 0.0) -> m.ClientMessage:
    return session.receive(encode(message), now)


def test_the_first_message_is_hello_and_nothing_else() -> None:
    assert said(Session(), HELLO) == HELLO
    with pytest.raises(Fault) as fault:
        said(Session(), m.Rooms())
    assert fault.value.close is m.Close.POLICY
    assert fault.value.error.code == "hello-first"


def test_an_error_names_the_request_and_the_play_that_it_is_about() -> None:
    session = Session()
    session.move("welcomed")
    for message, named in (
        (m.Move(n=7, m="d"), ("move", 7)),
        (m.Finish(n=8), ("finish", 8)),
        (m.Resign(), ("resign", UNSET)),
        (HELLO, ("hello", UNSET)),
    ):
        with pytest.raises(Fault) as fault:
            said(session, message)
        assert (fault.value.error.re, fault.value.error.n) == named
    with pytest.raises(Fault) as fault:
        session.receive(b"?", 0.0)
    assert (fault.value.error.re, fault.value.error.n) == ("", UNSET)


def test_hello_is_said_once() -> None:
    session = Session()
    session.move("welcomed")
    with pytest.raises(Fault):
        said(session, HELLO)


def test_every_message_can_be_said_in_some_state() -> None:
    assert frozenset().union(*SAYABLE.values()) == frozenset(CLIENT_TAGS.values())


def test_every_state_but_the_first_can_be_reached_and_left() -> None:
    assert set(NEXT.values()) | {"new"} == set(SAYABLE)
    assert {state for state, _ in NEXT} == set(SAYABLE)


def test_a_spectator_cannot_play() -> None:
    session = Session()
    session.move("welcomed")
    session.move("watching")
    with pytest.raises(Fault) as fault:
        said(session, m.Move(n=1, m="d"))
    assert fault.value.error.code == "spectator"
    assert fault.value.close is None


def test_a_play_outside_a_room_is_told_to_enter_one() -> None:
    session = Session()
    session.move("welcomed")
    with pytest.raises(Fault, match="needs a room"):
        said(session, m.Move(n=1, m="d"))


def test_a_few_bad_frames_are_answered_and_more_of_them_end_the_line() -> None:
    session = Session()
    for _ in range(BAD_FRAMES_ALLOWED - 1):
        with pytest.raises(Fault) as fault:
            session.receive(b"\xc1", 0.0)
        assert fault.value.close is None
    with pytest.raises(Fault) as fault:
        session.receive(b"\xc1", 0.0)
    assert fault.value.close is m.Close.INVALID


def test_chat_is_limited_and_allowed_again_after_a_while() -> None:
    session = Session()
    session.move("welcomed")
    session.move("seated")
    for _ in range(CHAT_BURST):
        said(session, m.Chat(text="x"))
    with pytest.raises(Fault, match="wait"):
        said(session, m.Chat(text="x"))
    said(session, m.Chat(text="x"), now=2.0)
