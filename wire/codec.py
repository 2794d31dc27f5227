"""Frames to messages and back: MessagePack bytes, typed classes.

Two doors. `decode_client` is strict, for what comes from anybody; `decode_server` is
tolerant, so that an older client survives a newer server. What is ours already, a message
to be sent, needs neither.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgpack
import msgspec
from msgspec import Struct

# Imported as a whole: its messages are among the subclasses that the tables are made of.
from wire import tournaments as tournaments
from wire.messages import MAX_CLIENT_FRAME, ClientMessage, Move, Ready, ServerMessage
from wire.text import flaw

M = TypeVar("M", bound=Struct)

NO_MESSAGE = "a message is a map with its tag in the field t"
MAX_REASON = 200  # characters of a BadFrame that quote the sender
MAX_LIST = 512  # elements of an array


class BadFrame(Exception):
    """The bytes are not a message; the text says what is wrong, for the sender.

    The text is printable and short, whatever the sender put into the part it quotes.
    """

    def __init__(self, reason: str) -> None:
        shown = "".join(c if c.isprintable() else "?" for c in reason[:MAX_REASON])
        super().__init__(shown)


def _tags(base: type[M]) -> dict[str, type[M]]:
    return {kind.__struct_config__.tag: kind for kind in base.__subclasses__()}  # type: ignore[misc]


CLIENT_TAGS: dict[str, type[ClientMessage]] = _tags(ClientMessage)
SERVER_TAGS: dict[str, type[ServerMessage]] = _tags(ServerMessage)

# Without this, convert takes a text for bytes in Base64; with it, it takes twice as long.
_BINARY: dict[type[ClientMessage], tuple[type, ...]] = {Ready: (bytes,)}

# Fields of a client's message that hold a map or an array; all others are plain.
_INNER = ("settings", "act")

# A move as nearly every client writes it: three fields, the tag first. What is left can only
# be the two that a move needs, so nothing stands twice, and its class reads the bytes itself.
_PLAIN_MOVE = b"\x83\xa1t\xa4move"
_read_move = msgspec.msgpack.Decoder(Move).decode
_pack = msgspec.msgpack.Encoder().encode


def encode(message: ClientMessage | ServerMessage) -> bytes:
    """Pack a message into the payload of one binary frame."""
    return _pack(message)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands twice")
    return fields


def _unpack(data: bytes, pairs: Callable[..., dict[str, Any]] | None = None) -> dict[str, Any]:
    # Whatever msgpack raises on hostile bytes, it is the sender's fault and one answer
    # serves: its errors share no base class (ValueError, UnpackException, StackError).
    try:
        value = msgpack.unpackb(
            data,
            object_pairs_hook=pairs,
            max_map_len=32,
            max_array_len=MAX_LIST,
            max_str_len=1024,
            max_bin_len=1024,
            max_ext_len=0,
        )
    except Exception as error:
        what = str(error) or type(error).__name__
        raise BadFrame(f"not MessagePack within the limits: {what}") from None
    if type(value) is not dict:
        raise BadFrame(NO_MESSAGE)
    return value


def _fields(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_CLIENT_FRAME:
        raise BadFrame(f"a message has at most {MAX_CLIENT_FRAME} bytes")
    fields = _unpack(data)
    # Looking at every pair would double the time of the unpacking. The first byte of a
    # short map counts its fields, so only longer headers and inner maps need it.
    if data[0] ^ 0x80 != len(fields) or any(name in fields for name in _INNER):
        return _unpack(data, _without_doubles)
    return fields


def _check_texts(tag: str, fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        if type(value) is str and name != "password":
            _check_text(tag, value, f"$.{name}")


def _check_text(tag: str, text: str, path: str) -> None:
    fault = flaw(text)
    if fault is not None:
        raise BadFrame(f"{tag}: the text {fault} - at `{path}`")


def _check_inner(tag: str, made: object, given: Any, path: str) -> None:
    # Values inside a message also come back from the server, where an older client has to
    # live with a newer server's: so their classes let unknown fields pass, and this door
    # does not. It walks what was made and what it was made from side by side.
    if isinstance(made, Struct):
        known = {*made.__struct_fields__, made.__struct_config__.tag_field}
        unknown = given.keys() - known
        if unknown:
            raise BadFrame(f"{tag}: there is no setting `{min(unknown)}` - at `{path}`")
        for name, value in given.items():
            _check_inner(tag, getattr(made, name, None), value, f"{path}.{name}")
    elif type(given) is list:
        for value, each in zip(made, given, strict=True):  # type: ignore[call-overload]
            _check_inner(tag, value, each, f"{path}[]")
    elif type(given) is str:
        _check_text(tag, given, path)


def decode_client(data: bytes) -> ClientMessage:
    """Read what a client sent.

    Raises:
        BadFrame: anything is unknown, missing, of the wrong type, out of range or unclean.
    """
    if data.startswith(_PLAIN_MOVE):
        try:
            return _read_move(data)
        except msgspec.MsgspecError:
            pass  # the long way knows the words for what is wrong
    fields = _fields(data)
    tag = fields.get("t")
    if type(tag) is not str:
        raise BadFrame(NO_MESSAGE)
    kind = CLIENT_TAGS.get(tag)
    if kind is None:
        raise BadFrame(f"unknown message {tag[:40]!r}")
    try:
        message = msgspec.convert(fields, kind, builtin_types=_BINARY.get(kind))
    except msgspec.ValidationError as error:
        raise BadFrame(f"{tag}: {error}") from None
    # A move is no text for people: the referee knows its whole vocabulary.
    if kind is not Move:
        _check_texts(tag, fields)
    for name in _INNER:
        if name in fields:
            _check_inner(tag, getattr(message, name), fields[name], f"$.{name}")
    return message


def decode_server(data: bytes) -> ServerMessage | None:
    """Read what a server sent; None for a tag this client does not know yet.

    Raises:
        BadFrame: the bytes are not a message of this protocol.
    """
    try:
        fields = msgpack.unpackb(data)
        kind = SERVER_TAGS.get(fields["t"])
    except Exception as error:
        what = str(error) or type(error).__name__
        raise BadFrame(f"not a message: {what}") from None
    if kind is None:
        return None
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise BadFrame(f"{fields['t']}: {error}") from None


__all__ = ["CLIENT_TAGS", "SERVER_TAGS", "BadFrame", "decode_client", "decode_server", "encode"]
