"""The strict door takes exactly what is declared, the tolerant one survives what is new."""

from collections.abc import Iterator

import msgpack
import msgspec
import pytest
import umsgpack
from hypothesis import given
from msgspec import inspect

from tests.wire.samples import (
    CLIENT_KINDS,
    SERVER_KINDS,
    client_messages,
    fields_of,
    frame,
    message_of,
    server_messages,
    structs,
)
from wire.acts import Repair
from wire.codec import CLIENT_TAGS, SERVER_TAGS, BadFrame, decode_client, decode_server, encode
from wire.messages import (
    MAX_CLIENT_FRAME,
    ClientMessage,
    Create,
    Hello,
    Join,
    Move,
    Pong,
    Ready,
    Room,
    Scores,
    ServerMessage,
    Standings,
)
from wire.tournaments import Direct
from wire.values import Settings


def message_of_act(act: dict[str, object]) -> dict[str, object]:
    return {"t": "direct", "tournament": "AB", "key": "k", "act": act}


def refusal(data: bytes) -> str:
    with pytest.raises(BadFrame) as caught:
        decode_client(data)
    return str(caught.value)


@given(client_messages)
def test_what_a_client_says_arrives_as_it_was_said(message: ClientMessage) -> None:
    assert decode_client(encode(message)) == message


@given(server_messages)
def test_what_a_server_says_arrives_as_it_was_said(message: ServerMessage) -> None:
    assert decode_server(encode(message)) == message


@given(client_messages)
def test_another_messagepack_library_reads_and_writes_what_clients_say(
    message: ClientMessage,
) -> None:
    fields = umsgpack.unpackb(encode(message))
    assert fields == msgpack.unpackb(encode(message))
    assert decode_client(umsgpack.packb(fields)) == message


@given(server_messages)
def test_another_messagepack_library_reads_and_writes_what_servers_say(
    message: ServerMessage,
) -> None:
    fields = umsgpack.unpackb(encode(message))
    assert fields == msgpack.unpackb(encode(message))
    assert decode_server(umsgpack.packb(fields)) == message


@given(client_messages)
def test_every_message_of_a_client_fits_the_frame_it_may_send(message: ClientMessage) -> None:
    assert len(encode(message)) <= MAX_CLIENT_FRAME


@pytest.mark.parametrize("kind", [*CLIENT_KINDS, *SERVER_KINDS], ids=lambda kind: kind.__name__)
def test_every_tag_is_the_name_of_its_class_and_stands_for_nothing_else(kind: type) -> None:
    tags = CLIENT_TAGS if issubclass(kind, ClientMessage) else SERVER_TAGS
    assert tags[kind.__name__.lower()] is kind
    assert len(CLIENT_TAGS) == len(CLIENT_KINDS)
    assert len(SERVER_TAGS) == len(SERVER_KINDS)


@pytest.mark.parametrize("kind", CLIENT_KINDS, ids=lambda kind: kind.__name__)
def test_the_strict_door_takes_what_is_needed_and_refuses_a_field_more(kind: type) -> None:
    assert isinstance(decode_client(message_of(kind)), kind)
    assert "unknown field `surplus`" in refusal(message_of(kind, surplus=None))


@pytest.mark.parametrize("kind", CLIENT_KINDS, ids=lambda kind: kind.__name__)
def test_the_strict_door_refuses_a_message_without_a_field_that_it_needs(kind: type) -> None:
    whole = msgpack.unpackb(message_of(kind))
    for name in whole.keys() - {"t"}:
        rest = {key: value for key, value in whole.items() if key != name}
        assert f"missing required field `{name}`" in refusal(frame(**rest))


PLAIN = (inspect.StrType, inspect.IntType, inspect.BytesType)

WRONG: list[tuple[type[inspect.Type], list[object]]] = [
    (inspect.StrType, [7, b"AAAA", True, {}, 1.5]),
    (inspect.IntType, ["7", 7.0, True, float("nan"), {}, b"7"]),
    (inspect.BoolType, [1, 0, "true", {}]),
    (inspect.BytesType, ["QUFBQQ==", 7, {}]),
    (inspect.LiteralType, ["nonsense", 7, {}]),
    (inspect.StructType, [7, "x", b"x", True]),
]


def wrong_values(kind: inspect.Type) -> list[object]:
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    for declared, wrong in WRONG:
        if any(isinstance(each, declared) for each in kinds):
            return wrong
    raise AssertionError(f"no wrong values for {kind}")


CLIENT_FIELDS = [(kind, field) for kind in CLIENT_KINDS for field in fields_of(kind)]


@pytest.mark.parametrize(
    ("kind", "field"), CLIENT_FIELDS, ids=lambda part: getattr(part, "__name__", None) or part.name
)
def test_the_strict_door_refuses_every_field_of_a_wrong_type(
    kind: type, field: inspect.Field
) -> None:
    for wrong in wrong_values(field.type):
        assert f"`$.{field.name}`" in refusal(message_of(kind, **{field.name: wrong}))


@pytest.mark.parametrize("field", fields_of(Settings), ids=lambda field: field.name)
def test_the_strict_door_refuses_every_setting_of_a_wrong_type(field: inspect.Field) -> None:
    for wrong in wrong_values(field.type):
        assert f"`$.settings.{field.name}`" in refusal(
            frame(t="create", settings={field.name: wrong})
        )


def beyond(kind: inspect.Type) -> list[object]:
    """The values that miss the limits of a type by one, where MessagePack can say them."""
    found: list[object] = []
    match kind:
        case inspect.UnionType():
            found += [value for each in kind.types for value in beyond(each)]
        case inspect.IntType(ge=low, le=high):
            found += [low - 1] if low is not None and low > -(2**63) else []
            found += [high + 1] if high is not None else []
        case inspect.StrType(min_length=low, max_length=high):
            found += ["A" * (low - 1)] if low else []
            found += ["A" * (high + 1)] if high else []
        case inspect.BytesType(max_length=high):
            found += [b"A" * (high + 1)] if high else []
        case inspect.ListType(max_length=high):
            found += [["A"] * (high + 1)] if high else []
    return found


@pytest.mark.parametrize(
    ("kind", "field"), CLIENT_FIELDS, ids=lambda part: getattr(part, "__name__", None) or part.name
)
def test_the_strict_door_refuses_what_is_one_beyond_a_limit(
    kind: type, field: inspect.Field
) -> None:
    for value in beyond(field.type):
        assert f"`$.{field.name}`" in refusal(message_of(kind, **{field.name: value}))


@pytest.mark.parametrize("field", fields_of(Settings), ids=lambda field: field.name)
def test_the_strict_door_refuses_a_setting_one_beyond_its_limit(field: inspect.Field) -> None:
    for value in beyond(field.type):
        assert f"`$.settings.{field.name}`" in refusal(
            frame(t="create", settings={field.name: value})
        )


def parts(name: str, kind: inspect.Type) -> Iterator[tuple[str, inspect.Type]]:
    """Every type inside a type that is no map with fields of its own, by its path."""
    match kind:
        case inspect.UnionType() if not any(isinstance(each, PLAIN) for each in kind.types):
            for each in kind.types:
                yield from parts(name, each)
        case inspect.StructType():
            for field in fields_of(kind.cls):
                yield from parts(f"{name}.{kind.cls.__name__}.{field.name}", field.type)
        case inspect.ListType():
            yield f"{name} itself", kind
            yield from parts(f"{name}[]", kind.item_type)
        case inspect.TupleType():
            for each in kind.item_types:
                yield from parts(f"{name}[]", each)
        case inspect.NoneType():
            pass
        case _:
            yield name, kind


def test_every_text_number_and_list_of_a_client_has_its_limits() -> None:
    free = (inspect.BoolType, inspect.LiteralType)
    found = [
        part
        for kind, each in CLIENT_FIELDS
        for part in parts(f"{kind.__name__}.{each.name}", each.type)
    ]
    assert any(name.endswith("Substitute.substitute") for name, _ in found)
    assert [name for name, kind in found if not isinstance(kind, free) and not beyond(kind)] == []


def test_the_strict_door_refuses_a_setting_it_does_not_know() -> None:
    assert refusal(frame(t="create", settings={"seat": 2})) == (
        "create: there is no setting `seat` - at `$.settings`"
    )


@pytest.mark.parametrize(
    ("told", "path"),
    [
        ({"t": "organise", "settings": {"colour": 1}}, "$.settings"),
        ({"t": "organise", "settings": {"race": {"colour": 1}}}, "$.settings.race"),
        (
            {"t": "organise", "settings": {"stages": [{"play": {"kind": "single", "colour": 1}}]}},
            "$.settings.stages[].play",
        ),
        (message_of_act({"do": "pause", "colour": 1}), "$.act"),
        (message_of_act({"do": "edit", "settings": {"colour": 1}}), "$.act.settings"),
    ],
)
def test_the_strict_door_refuses_a_field_it_does_not_know_however_deep(
    told: dict[str, object], path: str
) -> None:
    assert refusal(frame(**told)).endswith(f"there is no setting `colour` - at `{path}`")


def test_texts_are_clean_however_deep_they_lie() -> None:
    unclean = "A\u202enn"
    assert "$.act.text" in refusal(frame(**message_of_act({"do": "announce", "text": unclean})))
    assert "$.act.names[]" in refusal(frame(**message_of_act({"do": "enrol", "names": [unclean]})))


def test_an_act_reads_as_the_class_of_its_name() -> None:
    told = message_of_act({"do": "repair", "pairs": [["a", "b"]]})
    message = decode_client(frame(**told))
    assert message == Direct(tournament="AB", key="k", act=Repair(pairs=[("a", "b")]))
    assert decode_client(encode(message)) == message


def test_the_strict_door_refuses_a_field_that_stands_twice() -> None:
    twice = b"\x83" + b"".join(map(msgpack.packb, ["t", "ping", "c", 1, "c", 2]))
    assert "stands twice" in refusal(twice)
    inner = b"\x82" + b"".join(map(msgpack.packb, ["seats", 1, "seats", 2]))
    settings = b"\x82" + b"".join(map(msgpack.packb, ["t", "create", "settings"])) + inner
    assert "stands twice" in refusal(settings)


@pytest.mark.parametrize(
    "rest",
    [
        b"\xa1n\x07",
        b"\xa1n\x07\xa1n\x08",
        b"\xa1m\xa1d\xa1m\xa1d",
        b"\xa1n\x07\xa1t\xa4move",
        b"\xa1n\x07\xa1x\xa1d",
        b"\xa1n\x07\xa1m\xa1d\xc0",
        b"\xa1n\x07\xa1m\xc4\x01d",
        b"\xa1n\x07\xa1m\xa1\xff",
        b"\xa1n\xca\x40\xe0\x00\x00\xa1m\xa1d",
        b"\xa1n\xc3\xa1m\xa1d",
        b"\xa1n\x00\xa1m\xa1d",
    ],
)
def test_a_move_that_begins_as_most_do_is_read_as_strictly(rest: bytes) -> None:
    begins = b"\x83\xa1t\xa4move"
    assert decode_client(begins + b"\xa1m\xa1d\xa1n\x07") == Move(n=7, m="d")
    assert refusal(begins + rest)


def test_the_strict_door_reads_a_map_with_a_longer_header_than_it_needs() -> None:
    pairs = b"".join(map(msgpack.packb, ["t", "move", "n", 3, "m", "5>f"]))
    for header in (b"\x83", b"\xde\x00\x03", b"\xdf\x00\x00\x00\x03"):
        assert decode_client(header + pairs) == Move(n=3, m="5>f")
    assert "stands twice" in refusal(
        b"\xde\x00\x04" + pairs + b"".join(map(msgpack.packb, ["n", 4]))
    )


@pytest.mark.parametrize("unclean", ["\x1b[2J", " Ann", "A\u202enn", "A\u200bnn", "\u0301nn"])
@pytest.mark.parametrize(
    ("tag", "path"),
    [
        ("hello", "name"),
        ("hello", "client"),
        ("chat", "text"),
        ("create", "settings.title"),
        ("create", "settings.rules"),
        ("create", "settings.seed"),
    ],
)
def test_what_people_write_comes_in_clean_or_not_at_all(tag: str, path: str, unclean: str) -> None:
    outer, _, inner = path.partition(".")
    field = {inner: unclean} if inner else unclean
    needed = {"v": 1} if tag == "hello" else {}
    assert f"`$.{path}`" in refusal(frame(t=tag, **needed, **{outer: field}))


def test_a_password_may_be_any_text() -> None:
    password = " \x1b\u200b "
    message = decode_client(frame(t="join", room="AB", password=password))
    assert message == Join(room="AB", password=password)


def test_a_reason_quotes_the_sender_shortly_and_in_print() -> None:
    for name in ("\x1b[2J" * 50, "\u202e" * 200, "x" * 1000):
        reason = refusal(frame(t="ping", **{name: 1}))
        assert reason.isprintable()
        assert len(reason) <= 200


def test_a_salt_is_bytes_and_never_read_out_of_a_text() -> None:
    assert decode_client(frame(t="ready", salt=b"AAAA")) == Ready(salt=b"AAAA")
    assert "`$.salt`" in refusal(frame(t="ready", salt="QUFBQQ=="))


def test_a_frame_beyond_the_limit_is_refused_by_its_length_alone() -> None:
    assert str(MAX_CLIENT_FRAME) in refusal(b"\x00" * (MAX_CLIENT_FRAME + 1))


def test_the_tolerant_door_passes_over_what_it_does_not_know() -> None:
    assert decode_server(frame(t="fireworks", height=3)) is None
    assert decode_server(frame(t="pong", c=1, s=2, drift=3)) == Pong(c=1, s=2)


@given(structs(Room))
def test_a_newer_server_may_add_settings_and_fields_of_a_seat(room: Room) -> None:
    fields = msgpack.unpackb(encode(room))
    fields["settings"]["teams"] = 2
    for seat in fields["seats"]:
        seat["country"] = "fi"
    assert decode_server(frame(**fields)) == room


@given(structs(Scores))
def test_a_newer_server_may_lengthen_the_lines_of_a_score_push(scores: Scores) -> None:
    fields = msgpack.unpackb(encode(scores))
    fields["lines"] = [[*line, "new"] for line in fields["lines"]]
    assert decode_server(frame(**fields)) == scores


@given(structs(Standings))
def test_what_has_its_default_is_left_out(standings: Standings) -> None:
    assert ("reveal" in msgpack.unpackb(encode(standings))) == (standings.reveal is not None)


@pytest.mark.parametrize(
    "data", [b"", b"\xc1", b"\x93\x01\x02\x03", b"\x81\xa1t\x91\x01", b"\x81\xa1t\xa4pong", b"\x80"]
)
def test_the_tolerant_door_says_that_bytes_are_no_message(data: bytes) -> None:
    with pytest.raises(BadFrame):
        decode_server(data)


def test_a_value_that_does_not_cross_the_wire_is_our_own_fault() -> None:
    with pytest.raises(TypeError):
        encode(Hello(v=1, name=object()))  # type: ignore[arg-type]


def test_defaults_need_not_be_sent() -> None:
    assert decode_client(frame(t="create", settings={})) == Create(settings=Settings())
    assert msgspec.structs.asdict(Settings())["rules"] == "double-klondike"
