"""docs/protocol.md says what the program does: every message, field, type, limit and code."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import get_args

import msgpack
import msgspec
import pytest
import umsgpack
from msgspec import NODEFAULT, Struct, inspect

from server.events import Event
from tests.wire.samples import CLIENT_KINDS, SERVER_KINDS, fields_of
from wire import formats as f
from wire import lines as tournament_lines
from wire.acts import AnyAct
from wire.codec import decode_client, decode_server, encode
from wire.formats import AnyPlay
from wire.messages import MAX_CLIENT_FRAME, PROTOCOL, SUBPROTOCOL, Close
from wire.values import Reveal, RoomLine, Score, Seat, Settings, Standing

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
VALUE_KINDS: list[type[Struct]] = [
    *(Settings, Seat, Score, RoomLine, Standing, Reveal),
    *(f.TournamentSettings, f.StageSettings, f.Points, f.Deals),
    *(
        kind
        for kind in vars(tournament_lines).values()
        if isinstance(kind, type) and kind.__mro__[1:2] == (Struct,) and kind is not Struct
    ),
]
MESSAGE_KINDS: list[type[Struct]] = [*CLIENT_KINDS, *SERVER_KINDS]


def title(kind: type) -> str:
    """The heading that a class has in the document: a message's is its tag."""
    return kind.__name__ if kind in VALUE_KINDS else kind.__name__.lower()


def is_array(kind: type[Struct]) -> bool:
    """Whether a value crosses the wire as an array."""
    return kind.__struct_config__.array_like


def section(heading: str) -> str:
    """The text below a heading, up to the next one of any level."""
    found = re.search(rf"^#+ `?{re.escape(heading)}`?\n(.*?)(?=^#|\Z)", DOC, re.M | re.S)
    assert found, f"docs/protocol.md has no heading {heading!r}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The rows of the table in a text, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def codes_in(heading: str) -> list[str]:
    """The first column of the table below a heading."""
    return [row[0].strip("`") for row in rows(section(heading))]


def limits_text(low: int | None, high: int | None) -> str:
    """Bounds as the document writes them, with a leading blank."""
    if low and high is not None:
        return f" {low}–{high}"
    if high is not None:
        return f" up to {high}" if not low else f" {low}–{high}"
    return f" from {low}" if low is not None else ""


def type_text(kind: inspect.Type) -> str:
    """A declared type as the document writes it."""
    match kind:
        case inspect.IntType(ge=low) if low == -(2**63):
            return "integer of 64 bits"
        case inspect.StrType(min_length=low, max_length=high, pattern=pattern):
            return ("code" if pattern else "text") + limits_text(low, high)
        case inspect.IntType(ge=low, le=high):
            return "integer" + (f" {low}–{high}" if low is not None else limits_text(low, high))
        case inspect.BytesType(min_length=low, max_length=high):
            return "bytes" + limits_text(low, high)
        case inspect.BoolType():
            return "boolean"
        case inspect.NoneType():
            return "nil"
        case inspect.LiteralType(values=choices):
            return ", ".join(f"`{choice}`" for choice in choices)
        case inspect.UnionType(types=types) if all(
            isinstance(t, inspect.StructType) for t in types
        ):
            (base,) = {each.cls.__mro__[1].__name__ for each in types}  # type: ignore[attr-defined]
            return f"[{base}](#{base.lower()}s)"
        case inspect.UnionType(types=types):
            return " or ".join(map(type_text, types))
        case inspect.FloatType():
            return "number"
        case inspect.TupleType(item_types=items):
            return "array of " + " and ".join(map(type_text, items))
        case inspect.ListType(item_type=item, max_length=high) if high is not None:
            return f"array of {type_text(item)}, at most {high}"
        case inspect.ListType(item_type=item):
            return f"array of {type_text(item)}"
        case inspect.DictType(key_type=key, value_type=value):
            return f"map of {type_text(key)} to {type_text(value)}"
        case inspect.StructType(cls=cls):
            return f"[{cls.__name__}](#{cls.__name__.lower()})"
        case _:
            raise AssertionError(f"the document has no words for {kind}")


def absent_text(field: inspect.Field) -> str:
    """What it means that a field is not there, as the document writes it."""
    if field.default_factory is not NODEFAULT:
        return "empty"
    if field.required:
        return "needed"
    if field.default is NODEFAULT:  # of a field that may be missing and is never nil
        return "–"
    if field.default is None:
        return "nil"
    if field.default in ("", b""):
        return "empty"
    if isinstance(field.default, bool):
        return str(field.default).lower()
    return f"`{field.default}`"


@pytest.mark.parametrize("kind", [*MESSAGE_KINDS, *VALUE_KINDS], ids=title)
def test_the_document_has_every_field_with_its_type_limits_and_default(
    kind: type[Struct],
) -> None:
    told = [[row[0].strip("`"), *row[1:-1]] for row in rows(section(title(kind)))]
    declared = [
        [field.name, type_text(field.type)] + ([] if is_array(kind) else [absent_text(field)])
        for field in fields_of(kind)
    ]
    assert told == declared


def in_short(field: inspect.Field) -> str:
    """A field as the tables of tagged maps have it."""
    absent = "" if field.required else f" ({absent_text(field)})"
    return f"`{field.name}` {type_text(field.type)}{absent}"


@pytest.mark.parametrize(("heading", "union"), [("Acts", AnyAct), ("Plays", AnyPlay)])
def test_the_document_has_every_tagged_map_with_its_fields(heading: str, union: object) -> None:
    told = [row[:2] for row in rows(section(heading))]
    assert told == [
        [f"`{kind.__struct_config__.tag}`", "; ".join(map(in_short, fields_of(kind))) or "–"]
        for kind in get_args(union)
    ]
    assert all(row[2] for row in rows(section(heading)))


@pytest.mark.parametrize("kind", [*MESSAGE_KINDS, *VALUE_KINDS], ids=title)
def test_the_document_says_something_of_every_field(kind: type) -> None:
    for row in rows(section(title(kind))):
        assert row[-1], f"{title(kind)}.{row[0]} is not explained"


def test_the_document_has_no_message_that_does_not_exist() -> None:
    told = set(re.findall(r"^### `(\w+)`$", DOC, re.M))
    assert told == {title(kind) for kind in MESSAGE_KINDS}


def test_the_document_has_every_close_code_and_what_a_client_does() -> None:
    told = {int(row[0]): row[1:] for row in rows(section("Close codes"))}
    assert told.keys() == {int(code) for code in Close}
    assert all(len(cells) == 2 and all(cells) for cells in told.values())


def test_the_document_says_version_subprotocol_and_frame_limit() -> None:
    for told in (f"`{SUBPROTOCOL}`", f"{MAX_CLIENT_FRAME} bytes", f"version is {PROTOCOL}"):
        assert told in DOC


# --- codes ----------------------------------------------------------------------------


@cache
def sources() -> list[ast.Module]:
    """The modules of the server; but what recounts a tournament offline speaks to no client."""
    return [
        ast.parse(path.read_text(encoding="utf-8"))
        for path in (ROOT / "server").rglob("*.py")
        if "recount" not in path.parts
    ]


def codes_said(*names: str) -> set[str]:
    """The texts that the server gives as first argument, or as `code`, to calls of a name."""
    found = set()
    for node in (node for tree in sources() for node in ast.walk(tree)):
        if isinstance(node, ast.Call):
            func = node.func
            called = func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")
            if called in names:
                codes = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "code")]
                found |= {code.value for code in codes if isinstance(code, ast.Constant)}
    return {code for code in found if isinstance(code, str)}


def reasons_of_the_store() -> set[str]:
    """The codes with which the store's scripts deny an event: keys of a table in server.follower."""
    tables = [
        node.value
        for tree in sources()
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "DENIED"
    ]
    return {key.value for table in tables for key in table.keys}  # type: ignore[union-attr]


def test_the_document_has_every_code_of_a_refusal_and_no_other() -> None:
    told = codes_in("Refusal codes")
    assert len(told) == len(set(told))
    said = codes_said("Refusal", "IllegalMove") | reasons_of_the_store()
    assert set(told) == said | {"needs-confirm"}  # which a class of its own says


def test_the_document_has_every_code_of_an_error_and_no_other() -> None:
    assert codes_said("Fault", "Error") == set(codes_in("Error codes"))


def test_the_document_has_every_kind_of_news_that_there_can_be() -> None:
    told = set(re.findall(r"`(\w+)`", section("news").partition("The kinds")[2]))
    kinds = {kind.__name__.lower() for kind in Event.__subclasses__()}
    unsaid = {"opened", "played", "undone", "revealed"}  # other messages say it all
    assert kinds - unsaid <= told


# --- worked examples ------------------------------------------------------------------

EXAMPLES = re.findall(
    r"^```example (client|server)\n(.*?)\n((?:[0-9a-f]{2}[ \n]?)+)\n```", DOC, re.M | re.S
)


def test_the_document_has_worked_examples_of_both_sides() -> None:
    assert {side for side, _, _ in EXAMPLES} == {"client", "server"}
    assert len(EXAMPLES) == DOC.count("```example ")


@pytest.mark.parametrize(("side", "told", "digits"), EXAMPLES)
def test_the_bytes_of_an_example_are_the_message_beside_them(
    side: str, told: str, digits: str
) -> None:
    data = bytes.fromhex(digits)
    message = (decode_client if side == "client" else decode_server)(data)
    assert message is not None
    assert encode(message) == data
    assert msgpack.unpackb(data) == umsgpack.unpackb(data) == _spoken(told)


def _spoken(told: str) -> object:
    """Reads the notation of the examples: JSON, with h'…' for bytes."""
    bytes_found: list[bytes] = []

    def keep(match: re.Match[str]) -> str:
        bytes_found.append(bytes.fromhex(match[1]))
        return f'"bytes {len(bytes_found) - 1}"'

    value = msgspec.json.decode(re.sub(r"h'([0-9a-f]*)'", keep, told))
    return {
        key: bytes_found[int(each.split()[1])]
        if isinstance(each, str) and each.startswith("bytes ")
        else each
        for key, each in value.items()
    }
