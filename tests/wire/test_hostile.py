"""Hostile bytes give a BadFrame, in a bounded time and with bounded growth, and nothing else."""

import time
import tracemalloc
from collections.abc import Callable

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire.samples import client_messages
from wire.codec import BadFrame, decode_client, decode_server, encode
from wire.messages import MAX_CLIENT_FRAME, ClientMessage

# Generous for a loaded machine; each of these takes a few milliseconds at the very most.
LIMIT_S = 0.5
LIMIT_BYTES = 2 * 1024 * 1024


def nested(opening: bytes, size: int, core: bytes = b"\xc0") -> bytes:
    return opening * ((size - len(core)) // len(opening)) + core


HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "the byte that means nothing": b"\xc1",
    "arrays 4,000 deep": nested(b"\x91", 4000),
    "maps 2,000 deep": nested(b"\x81\xa0", 4096),
    "maps 1,300 deep under the tag": b"\x81\xa1t" + nested(b"\x81\xa1t", 4000),
    "maps 300 deep under the tag": b"\x81\xa1t" + nested(b"\x81\xa1t", 900),
    "maps 300 deep in the settings": b"\x82\xa1t\xa6create\xa8settings" + nested(b"\x81\xa1t", 900),
    "an array that claims 2^32-1 items": b"\xdd\xff\xff\xff\xff",
    "a map that claims 2^32-1 fields": b"\xdf\xff\xff\xff\xff",
    "a text that claims 2^32-1 bytes": b"\xdb\xff\xff\xff\xff",
    "bytes that claim 2^32-1": b"\xc6\xff\xff\xff\xff",
    "an array of empty maps": b"\xdc\x0f\xf0" + b"\x80" * 0xFF0,
    "maps of empty maps": b"\x8f" + (b"\xa0\x80" * 15) * 100,
    "1 MiB of empty maps": b"\xdd\x00\x10\x00\x00" + b"\x80" * 2**20,
    "numbers for keys": msgpack.packb({1: 2, "t": "ping"}),
    "bytes for keys": msgpack.packb({b"t": "ping", b"c": 1}),
    "a bytes key beside good ones": msgpack.packb({"t": "ping", "c": 1, b"x": 1}),
    "trailing bytes": msgpack.packb({"t": "rooms"}) + b"\x00",
    "two messages in one": msgpack.packb({"t": "rooms"}) * 2,
    "bad UTF-8": b"\x81\xa1t\xa2\xff\xfe",
    "a surrogate": b"\x83\xa1t\xa5hello\xa1v\x01\xa4name\xa3\xed\xa0\x80",
    "an extension": b"\x81\xa1t\xd4\x05\x00",
    "a time stamp": b"\x81\xa1t\xd6\xff\x00\x00\x00\x00",
    "not a number": msgpack.packb({"t": "ping", "c": float("nan")}),
    "a truth for a number": msgpack.packb({"t": "ping", "c": True}),
    "a number of 64 bits without sign": msgpack.packb({"t": "ping", "c": 2**64 - 1}),
    "a tag of bytes": msgpack.packb({"t": b"ping", "c": 1}),
    "a map for a tag": msgpack.packb({"t": {}}),
    "no tag": msgpack.packb({"c": 1}),
    "a message of the server": msgpack.packb({"t": "pong", "c": 1, "s": 1}),
    "the name of the base class": msgpack.packb({"t": "clientmessage"}),
    "a number alone": b"\x07",
    "a text alone": b"\xa1t",
    "40 fields": msgpack.packb({str(i): i for i in range(40)}),
    "a long text": msgpack.packb({"t": "chat", "text": "x" * 1025}),
    "text for JSON": b'{"t":"ping","c":1}',
    "zeros": b"\x00" * MAX_CLIENT_FRAME,
    "the highest bytes": b"\xff" * MAX_CLIENT_FRAME,
}


def cost(action: Callable[[], object]) -> tuple[float, int]:
    """Runs an action; seconds of CPU it took, and the bytes by which memory grew at the peak."""
    tracemalloc.start()
    try:
        began = time.process_time()
        action()
        return time.process_time() - began, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_a_bad_frame_soon_and_without_growth(name: str) -> None:
    def refuse() -> None:
        with pytest.raises(BadFrame) as caught:
            decode_client(HOSTILE[name])
        assert caught.value.__cause__ is None
        assert str(caught.value)

    seconds, grown = cost(refuse)
    assert seconds < LIMIT_S
    assert grown < LIMIT_BYTES


@pytest.mark.parametrize("name", HOSTILE)
def test_a_client_survives_the_same_bytes_from_a_server(name: str) -> None:
    if len(HOSTILE[name]) <= MAX_CLIENT_FRAME:
        assert is_harmless(decode_server, HOSTILE[name])


def is_harmless(decode: Callable[[bytes], object], data: bytes) -> bool:
    try:
        decode(data)
    except BadFrame as error:
        return str(error).isprintable()
    return True


@given(st.binary(max_size=MAX_CLIENT_FRAME))
@settings(max_examples=300)
def test_any_bytes_are_a_message_or_a_bad_frame(data: bytes) -> None:
    assert is_harmless(decode_client, data)
    assert is_harmless(decode_server, data)


messagepack_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@given(
    client_messages,
    st.dictionaries(
        st.sampled_from(["t", "n", "m", "room", "settings", "salt", "v", "name", "text", "c"]),
        messagepack_values,
        max_size=2,
    ),
)
@settings(max_examples=150)
def test_a_message_with_any_values_put_in_is_a_message_or_a_bad_frame(
    message: ClientMessage, changes: dict[str, object]
) -> None:
    assert is_harmless(
        decode_client, msgpack.packb({**msgpack.unpackb(encode(message)), **changes})
    )


@given(client_messages, st.data())
@settings(max_examples=300)
def test_a_message_with_bytes_changed_cut_or_added_is_a_message_or_a_bad_frame(
    message: ClientMessage, data: st.DataObject
) -> None:
    whole = bytearray(encode(message))
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=4)):
        whole[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    assert is_harmless(decode_client, bytes(whole[:cut]))
    assert is_harmless(decode_client, bytes(whole) + data.draw(st.binary(max_size=8)))
