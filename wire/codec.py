"""Frames to messages and back: MessagePack bytes, typed classes.

Two doors. `decode_client` is strict, for what comes from anybody; `decode_server` is
tolerant, so that an older client survives a newer server.
"""

from typing import Any, TypeVar

import msgpack
import msgspec
from msgspec import Struct

from wire import messages
from wire.messages import ClientMessage, ServerMessage

M = TypeVar("M", bound=Struct)


class BadFrame(Exception):
    """The bytes are not a message; the text says what is wrong, for the sender."""


def _tags(base: type[M]) -> dict[str, type[M]]:
    return {kind.__struct_config__.tag: kind for kind in base.__subclasses__()}  # type: ignore[misc]


CLIENT_TAGS: dict[str, type[ClientMessage]] = _tags(ClientMessage)
SERVER_TAGS: dict[str, type[ServerMessage]] = _tags(ServerMessage)


def _pack_default(value: object) -> object:
    raise TypeError(f"{type(value).__name__} does not cross the wire")


def encode(message: ClientMessage | ServerMessage) -> bytes:
    """Pack a message into the payload of one binary frame."""
    packed: bytes = msgpack.packb(
        msgspec.to_builtins(message, builtin_types=(bytes,)), default=_pack_default
    )
    return packed


def _unpack(data: bytes) -> dict[str, Any]:
    # Whatever msgpack raises on hostile bytes, it is the sender's fault and one answer
    # serves: its errors share no base class (ValueError, UnpackException, StackError).
    try:
        value = msgpack.unpackb(
            data,
            max_map_len=32,
            max_array_len=64,
            max_str_len=1024,
            max_bin_len=64,
            max_ext_len=0,
        )
    except Exception as error:
        raise BadFrame(f"not MessagePack within the limits: {error or type(error).__name__}") from None
    if type(value) is not dict:
        raise BadFrame("a message is a map with its tag in the field t")
    return value


def decode_client(data: bytes) -> ClientMessage:
    """Read what a client sent.

    Raises:
        BadFrame: anything is unknown, missing, of the wrong type or out of range.
    """
    value = _unpack(data)
    tag = value.get("t")
    kind = CLIENT_TAGS.get(tag) if type(tag) is str else None
    if kind is None:
        raise BadFrame(f"unknown message {str(tag)[:40]!r}")
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise BadFrame(f"{tag}: {error}") from None


def decode_server(data: bytes) -> ServerMessage | None:
    """Read what a server sent; None for a tag this client does not know yet.

    Raises:
        BadFrame: the bytes are not a message of this protocol.
    """
    try:
        value = msgpack.unpackb(data)
        tag = value["t"]
    except Exception as error:
        raise BadFrame(f"not a message: {error or type(error).__name__}") from None
    kind = SERVER_TAGS.get(tag)
    if kind is None:
        return None
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise BadFrame(f"{tag}: {error}") from None


__all__ = ["CLIENT_TAGS", "SERVER_TAGS", "BadFrame", "decode_client", "decode_server", "encode", "messages"]
