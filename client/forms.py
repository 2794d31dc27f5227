"""The form that opens a room: fields of text and of choice.

Pure. What the server alone can judge (the rules' text, for one) is left to the server.
"""

from dataclasses import dataclass, replace
from typing import Final, cast

import msgspec

from wire.messages import Create
from wire.text import tidied
from wire.values import ScoreKind, Settings, SpectatorView, StartRule, UndoPolicy

MAX_DELAY_MIN: Final = 43_200  # thirty days

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
class Scheduled:
    """A room to open whose race starts so many minutes from now, by the server's clock."""

    create: Create
    minutes: int

    def at(self, server_ms: float) -> Create:
        """Give the request, with the instant of the start."""
        start_at = round(server_ms) + self.minutes * 60_000
        settings = msgspec.structs.replace(self.create.settings, start_at=start_at)
        return msgspec.structs.replace(self.create, settings=settings)


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
            _choice("start", "all are ready, the host says, or at a time", "ready", "host", "time"),
            Field("countdown", "seconds before the start, 1 to 60", "5", ("3", "5", "10"), limit=2),
            Field(
                "start in",
                f"minutes from now, with a start at a time: 1 to {MAX_DELAY_MIN}",
                "10",
                ("5", "10", "30", "60"),
                limit=5,
            ),
            _choice(
                "score",
                "cards home; casino: five a card less one for each of the pack",
                "cards",
                "casino",
            ),
            _choice("undo", "which moves may be taken back", "off", "safe", "free"),
            _choice("hints", "the server lists legal moves on request", "yes", "no"),
            _choice("chat", "whether people may talk in the room", "yes", "no"),
            _choice("spectators", "what they see", "scores", "boards", "none"),
            Field(
                "delay", "how many seconds late they see it, 0 to 600", "0", ("0", "60"), limit=3
            ),
            _choice("listed", "whether the lobby shows the room", "yes", "no"),
            Field("password", "empty: none", "", limit=64),
        )
    )


def warning(form: Form) -> str:
    """Say what the host of such a room should know beforehand, "" where there is nothing."""
    value = {field.label: field.value for field in form.fields}
    if value["spectators"] == "boards" and _number(value["delay"], 0, 0) is not None:
        return "No delay: a friend who watches can tell a racer what the others turn up."
    return ""


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


def create_room(form: Form) -> Create | Scheduled | str:
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
    wait = _number(value["start in"], 1, MAX_DELAY_MIN)
    if value["start"] == "time" and wait is None:
        return f"A start at a time is 1 to {MAX_DELAY_MIN} minutes from now."
    delay = _number(value["delay"], 0, 600)
    if delay is None:
        return "The delay is a number of seconds from 0 to 600."
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
        score=cast(ScoreKind, value["score"]),
        chat=value["chat"] == "yes",
        delay_s=delay,
        spectators=cast(SpectatorView, value["spectators"]),
        public=value["listed"] == "yes",
    )
    create = Create(settings=settings, password=password)
    return Scheduled(create, wait) if settings.start == "time" and wait is not None else create


def _number(text: str, least: int, most: int) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        return None
    return int(text) if least <= int(text) <= most else None
