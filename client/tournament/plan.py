"""What an organiser wants, from a TOML file and from the command line, as settings.

Pure. The file has the settings' own names; `--stage` and `--set` are short forms of the same.
What must fit together, the server says.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from typing import Any, Final, get_args

import msgspec
from msgspec import Struct

from wire import codec
from wire.formats import AnyPlay, StageSettings, TournamentSettings
from wire.messages import MAX_CLIENT_FRAME, ClientMessage
from wire.text import flaw, tidied

KINDS: Final = {kind.__struct_config__.tag: kind for kind in get_args(AnyPlay)}
_STAGE_FIELDS: Final = frozenset(StageSettings.__struct_fields__) - {"play"}
_TEXTS: Final = ("title", "draw")


class BadPlan(Exception):
    """The settings cannot be; the text says which and why."""


def read(text: str, stages: Iterable[str] = (), sets: Iterable[str] = ()) -> TournamentSettings:
    """Give the settings of a file's text, with stages and single settings put in their place.

    Raises:
        BadPlan: something in it is unknown, of the wrong kind or out of range.
    """
    try:
        given: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadPlan(f"this is no TOML: {error}") from None
    return _made(given, stages, sets)


def changed(
    settings: TournamentSettings, stages: Iterable[str], sets: Iterable[str]
) -> TournamentSettings:
    """Give settings with other stages and single settings; errors as in `read`."""
    given: dict[str, Any] = msgspec.to_builtins(settings)
    return _made(given, stages, sets)


def stage(text: str) -> dict[str, Any]:
    """Read a stage as in `--stage`: a format, then its settings, as in swiss:rounds=6,qualify=8.

    Raises:
        BadPlan: there is no such format or setting.
    """
    kind, _, rest = text.partition(":")
    if kind not in KINDS:
        raise BadPlan(f"there is no format {kind!r}; there are {', '.join(KINDS)}")
    play: dict[str, Any] = {"kind": kind}
    found: dict[str, Any] = {"play": play}
    for each in filter(None, rest.split(",")):
        name, sign, value = each.partition("=")
        if not sign:
            raise BadPlan(f"{each!r}: write NAME=VALUE")
        name = name.replace("-", "_")
        (found if name in _STAGE_FIELDS else play)[name] = _value(value)
    return found


def _set(given: dict[str, Any], text: str) -> None:
    path, sign, value = text.partition("=")
    if not sign:
        raise BadPlan(f"{text!r}: write NAME=VALUE, as in race.time_limit_s=600")
    *parts, name = path.replace("-", "_").split(".")
    inner = given
    for part in parts:
        inner = inner.setdefault(part, {})
        if not isinstance(inner, dict):
            raise BadPlan(f"{path}: {part} has no settings inside")
    inner[name] = value if (path in _TEXTS or name in _TEXTS) else _value(value)


def _value(text: str) -> Any:
    """Read a value as TOML would, and as a text where it is none."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _made(given: dict[str, Any], stages: Iterable[str], sets: Iterable[str]) -> TournamentSettings:
    chosen = [stage(each) for each in stages]
    if chosen:
        given["stages"] = chosen
    for each in sets:
        _set(given, each)
    plain = _plain(given, "")
    try:
        made = msgspec.convert(plain, TournamentSettings)
    except msgspec.ValidationError as error:
        raise BadPlan(_words(str(error))) from None
    _check(made, plain, "")
    return made


def _words(text: str) -> str:
    """Make of the checker's message what somebody who writes the file needs."""
    what, _, path = text.partition(" - at `$")
    # People count from one, as all that is said of stages does.
    path = re.sub(r"\[(\d+)\]", lambda found: f"[{int(found[1]) + 1}]", path)
    return f"{path.rstrip('`').lstrip('.') or 'the settings'}: {what}" if path else what


def _plain(value: Any, name: str) -> Any:
    """Give a value with instants as the wire has them."""
    match value:
        case Mapping():
            return {key: _plain(each, key) for key, each in value.items()}
        case list():
            return [_plain(each, name) for each in value]
        case datetime():
            return round(value.astimezone().timestamp() * 1000)
        case date() | time():
            raise BadPlan(f"{name}: write day and time, as in 2027-01-15T19:30:00")
        case str() if name == "start_at":
            return _instant(value)
        case str():
            return tidied(value)
        case _:
            return value


def _instant(text: str) -> int:
    try:
        return round(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise BadPlan(f"start_at: {text!r} is no time; write 2027-01-15T19:30") from None


def _check(made: object, given: Any, path: str) -> None:
    """Refuse names that no setting has: they would be passed over in silence."""
    if isinstance(made, Struct) and isinstance(given, Mapping):
        known = {*made.__struct_fields__, made.__struct_config__.tag_field}
        unknown = sorted(given.keys() - known)
        if unknown:
            there = ", ".join(sorted(filter(None, known)))
            raise BadPlan(f"there is no setting {path}{unknown[0]}; there are {there}")
        for name in given:
            if hasattr(made, name):
                _check(getattr(made, name), given[name], f"{path}{name}.")
    elif isinstance(made, list) and isinstance(given, list):
        for number, (one, of) in enumerate(zip(made, given, strict=True), 1):
            _check(one, of, f"{path.rstrip('.')}[{number}].")
    elif isinstance(made, str):
        fault = flaw(made)
        if fault is not None:
            raise BadPlan(f"{path.rstrip('.')}: the text {fault}")


def check_size(message: ClientMessage) -> None:
    """Refuse what the server would not read.

    Raises:
        BadPlan: the message is too long.
    """
    size = len(codec.encode(message))
    if size > MAX_CLIENT_FRAME:
        raise BadPlan(
            f"this takes {size} bytes, and the server reads {MAX_CLIENT_FRAME}: "
            "list fewer players or pairs"
        )
