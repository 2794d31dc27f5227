"""The journal's events and their bytes."""

import hashlib

import msgspec
import pytest

from server import events as ev
from wire.values import Settings

SAMPLES: list[ev.AnyEvent] = [
    ev.Opened(
        format=1, room="ABCDEF", deal="D", settings=Settings(seed="42"), commitment="", host="p"
    ),
    ev.Joined(p="p", name="Änne ♠", bot=True),
    ev.Left(p="p", why="kicked"),
    ev.Hosted(p="p"),
    ev.Readied(p="p", salt="00ff"),
    ev.Unreadied(p="p"),
    ev.Locked(countdown_ms=5000),
    ev.Started(),
    ev.Played(p="p", n=7, m="5>2:4"),
    ev.Undone(p="p", n=8),
    ev.Resigned(p="p"),
    ev.Disqualified(p="p", by="owner", why="two windows"),
    ev.Over(why="time"),
    ev.Revealed(secret="ab" * 32),
    ev.Followed(room="GHJKMN"),
]


def test_there_is_a_sample_of_every_event() -> None:
    assert {type(sample) for sample in SAMPLES} == set(ev.Event.__subclasses__())


@pytest.mark.parametrize("event", SAMPLES, ids=lambda event: type(event).__name__)
def test_an_event_survives_its_bytes_and_has_only_one_form(event: ev.AnyEvent) -> None:
    payload = ev.encode(event)
    assert ev.decode(payload) == event
    assert ev.encode(ev.decode(payload)) == payload
    assert b"\n" not in payload
    assert msgspec.json.decode(payload)["e"] == type(event).__name__.lower()


@pytest.mark.parametrize("payload", [b"", b"{}", b'{"e":"teleported"}', b'{"e":"played","p":1}'])
def test_what_cannot_be_read_is_refused_with_the_entry_named(payload: bytes) -> None:
    with pytest.raises(ev.UnknownEvent, match="cannot read the journal entry"):
        ev.decode(payload)


def test_the_chain_is_sha_256_over_the_former_head_and_the_line() -> None:
    first = hashlib.sha256(bytes(32) + b"1 a").digest()
    assert ev.chain([b"1 a", b"2 b"]) == hashlib.sha256(first + b"2 b").digest()


def test_the_chain_can_be_continued_from_any_head() -> None:
    lines = [b"1 a", b"2 b", b"3 c"]
    assert ev.chain(lines[1:], ev.chain(lines[:1])) == ev.chain(lines)
