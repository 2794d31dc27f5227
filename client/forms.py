"""The form that opens a room: fields of text and of choice.

Pure. What the server alone can judge (the rules' text, for one) is left to the server.
"""

from dataclasses import dataclass, replace
from typing import Final, cast

from wire.messages import Create, Settings, SpectatorView, StartRule, UndoPolicy
from wire.text import tidied

RULES: Final = (
    "double-klondike",
    "double-klondike-3-pass",
    "gargantua",
    "klondike-familiar",
    "klondike-strict",
    "klondike-easy",
    "thumb-and-pouch",
)


@dataclass(frozen=True, slots=True)
class Field:
    """One line of the form."""

    label: str
    about: str
    value: str
    choices: tuple[str, ...] = ()
    typed: bool = True  # may be typed, not only chosen
    limit: int = 40


@dataclass(frozen=True, slots=True)
class Form:
    """The form as filled in so far; it lies over the screen."""

    fields: tuple[Field, ...]
    at: int = 0
    fault: str = ""


def _choice(label: str, about: str, *choices: str) -> Field:
    return Field(label, about, choices[0], choices, typed=False)


def new_form() -> Form:
    """Give the form with what most rooms want."""
    return Form(
        (
            Field("title", "shown in the lobby", ""),
            Field("rules", "a preset, with changes after commas", RULES[0], RULES, limit=200),
            Field("seed", "empty: a fair deal; a text: the same deal again", "", limit=64),
            Field("minutes", "time limit, 1 to 240", "15", ("5", "10", "15", "20", "30"), limit=3),
            Field("seats", "1 to 16; one is practice", "8", ("1", "2", "4", "8", "16"), limit=2),
            _choice("start", "when all are ready, or when the host says", "ready", "host"),
            Field("countdown", "seconds before the start, 1 to 60", "5", ("3", "5", "10"), limit=2),
            _choice("undo", "which moves may be taken back", "off", "safe", "free"),
            _choice("hints", "the server lists legal moves on request", "yes", "no"),
            _choice("spectators", "what they see", "scores", "boards", "none"),
            _choice("listed", "whether the lobby shows the room", "yes", "no"),
            Field("password", "empty: none", "", limit=64),
        )
    )


def edited(form: Form, key: str) -> Form:
    """Take a key in that neither sends nor leaves the form."""
    field = form.fields[form.at]
    match key:
        case "up" | "backtab":
            return replace(form, at=(form.at - 1) % len(form.fields), fault="")
        case "down" | "tab":
            return replace(form, at=(form.at + 1) % len(form.fields), fault="")
        case "left" | "right" if field.choices:
            return _with(form, _next(field, 1 if key == "right" else -1))
        case " " if not field.typed:
            return _with(form, _next(field, 1))
        case "backspace" if field.typed:
            return _with(form, field.value[:-1])
        case _ if field.typed and len(key) == 1 and key.isprintable():
            return _with(form, (field.value + key)[: field.limit])
        case _:
            return form


def _next(field: Field, step: int) -> str:
    at = field.choices.index(field.value) if field.value in field.choices else -step
    return field.choices[(at + step) % len(field.choices)]


def _with(form: Form, value: str) -> Form:
    fields = list(form.fields)
    fields[form.at] = replace(fields[form.at], value=value)
    return replace(form, fields=tuple(fields), fault="")


def create_room(form: Form) -> Create | str:
    """Give the request, or what is wrong with the form."""
    value = {field.label: tidied(field.value) for field in form.fields}
    password = next(field.value for field in form.fields if field.label == "password")
    minutes = _number(value["minutes"], 1, 240)
    seats = _number(value["seats"], 1, 16)
    if minutes is None:
        return "The time limit is a number of minutes from 1 to 240."
    if seats is None:
        return "Seats are a number from 1 to 16."
    countdown = _number(value["countdown"], 1, 60)
    if countdown is None:
        return "The countdown is a number of seconds from 1 to 60."
    if not value["rules"]:
        return "Choose the rules."
    settings = Settings(
        title=value["title"],
        rules=value["rules"],
        seed=value["seed"] or None,
        time_limit_s=minutes * 60,
        seats=seats,
        start=cast(StartRule, value["start"]),
        countdown_s=countdown,
        undo=cast(UndoPolicy, value["undo"]),
        hints=value["hints"] == "yes",
        spectators=cast(SpectatorView, value["spectators"]),
        public=value["listed"] == "yes",
    )
    return Create(settings=settings, password=password)


def _number(text: str, least: int, most: int) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        return None
    return int(text) if least <= int(text) <= most else None
