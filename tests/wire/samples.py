"""Messages of every class, made from the declared types and their limits."""

from typing import Any

import msgpack
from hypothesis import strategies as st
from msgspec import inspect

from wire import tournaments as tournaments  # its messages are among the subclasses
from wire.messages import ClientMessage, ServerMessage

CLIENT_KINDS = ClientMessage.__subclasses__()
SERVER_KINDS = ServerMessage.__subclasses__()

# A value for every field that some message of a client needs.
GOOD: dict[str, object] = {
    "v": 1,
    "settings": {},
    "room": "AB",
    "player": "p1",
    "n": 1,
    "m": "d",
    "text": "Hi",
    "why": "two screens",
    "c": 1,
    "tournament": "AB",
    "key": "k1",
    "act": {"do": "pause"},
    "url": "https://club.example/hook",
}

CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789_-"
# Clean in any order and at either end, from one to four bytes each.
LETTERS = "abcXYZ0189.,!?><:Ää߿Жщ中あ🂡𝒜"


def frame(**fields: object) -> bytes:
    """Any map as a frame."""
    packed: bytes = msgpack.packb(fields)
    return packed


def fields_of(cls: type) -> list[inspect.Field]:
    """The declared fields of a message class."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    return list(info.fields)


def message_of(kind: type, **changes: object) -> bytes:
    """A frame with the fields that a message of a client needs, and with changes."""
    needed = {each.name: GOOD[each.name] for each in fields_of(kind) if each.required}
    return frame(**{**needed, "t": kind.__name__.lower(), **changes})


def texts(kind: inspect.StrType) -> st.SearchStrategy[str]:
    """Clean texts within the limits of a type."""
    return st.text(
        CODE_LETTERS if kind.pattern else LETTERS,
        min_size=kind.min_length or 0,
        max_size=min(kind.max_length or 40, 200),
    )


def values(kind: inspect.Type) -> st.SearchStrategy[Any]:
    """Values of a declared type."""
    match kind:
        case inspect.StrType():
            return texts(kind)
        case inspect.IntType():
            low = -(2**63) if kind.ge is None else kind.ge
            high = 2**63 - 1 if kind.le is None else kind.le
            return st.integers(low, high)
        case inspect.BytesType():
            return st.binary(min_size=kind.min_length or 0, max_size=kind.max_length or 0)
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.LiteralType():
            return st.sampled_from(kind.values)
        case inspect.UnionType():
            return st.one_of(*map(values, kind.types))
        case inspect.FloatType():
            return st.floats(-1e9, 1e9)
        case inspect.ListType():
            return st.lists(values(kind.item_type), min_size=kind.min_length or 0, max_size=4)
        case inspect.TupleType():
            return st.tuples(*map(values, kind.item_types))
        case inspect.DictType():
            return st.dictionaries(values(kind.key_type), values(kind.value_type), max_size=4)
        case inspect.StructType():
            return structs(kind.cls)
        case _:
            raise AssertionError(f"no values for {kind}")


def structs(cls: type) -> st.SearchStrategy[Any]:
    """Instances of a message class or of a value inside one."""
    fields = fields_of(cls)
    required = {field.name: values(field.type) for field in fields if field.required}
    optional = {field.name: values(field.type) for field in fields if not field.required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda given: cls(**given))


client_messages = st.one_of(*map(structs, CLIENT_KINDS))
server_messages = st.one_of(*map(structs, SERVER_KINDS))
