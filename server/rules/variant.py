"""The rules of a game as one frozen value of parameters (rules 2)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from server.rules.cards import IS_RED, KINGS, PACK, RANK, SUIT, Card

MAX_DECKS = 2
MAX_COLUMNS = 9  # a move names a column by one digit
MAX_DRAW = 3  # as many as the waste shows, so that no drawn card goes by unseen
MAX_PASSES = 99


class RulesError(ValueError):
    """A text or a set of values is no game; the message says what is wrong and what is allowed."""


class Build(StrEnum):
    """Which card of the next lower rank goes on a card of a column."""

    ALTERNATE = "alternate"
    ANY_OTHER_SUIT = "any_other_suit"


class Opening(StrEnum):
    """Which card may open an empty column."""

    KING = "king"
    ANY = "any"


class Lift(StrEnum):
    """How much of a column's face-up run moves to another column."""

    ANY_SUFFIX = "any_suffix"
    FULL_OR_TOP = "full_or_top"
    FULL_ONLY = "full_only"


_GOES_ON: Mapping[Build, Callable[[Card, Card], bool]] = {
    Build.ALTERNATE: lambda card, on: IS_RED[card] != IS_RED[on],
    Build.ANY_OTHER_SUIT: lambda card, on: SUIT[card] != SUIT[on],
}
_OPENS: Mapping[Opening, frozenset[Card]] = {Opening.KING: KINGS, Opening.ANY: frozenset(PACK)}


def _taken(build: Build, on: Card) -> frozenset[Card]:
    return frozenset(
        card for card in PACK if RANK[card] == RANK[on] - 1 and _GOES_ON[build](card, on)
    )


# One more entry than there are cards: the last is found by the index EMPTY.
_TAKES = {
    (build, opening): (*(_taken(build, on) for on in PACK), _OPENS[opening])
    for build in Build
    for opening in Opening
}


def _lifts(lift: Lift, run: int, is_whole: bool) -> tuple[int, ...]:
    top, full = ((1,) if run else ()), ((run,) if is_whole and run else ())
    match lift:
        case Lift.ANY_SUFFIX:
            return tuple(range(1, run + 1))
        case Lift.FULL_OR_TOP:
            return tuple(sorted({*top, *full}))
        case Lift.FULL_ONLY:
            return full


_LIFTS = {
    lift: tuple(tuple(_lifts(lift, run, whole) for run in range(14)) for whole in (False, True))
    for lift in Lift
}


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything in which one game differs from another.

    `takes[top]` is the set of cards that may be laid on a column whose open card is `top`
    (EMPTY: an empty column); `lifts[is_whole][run]` the counts that may leave a column of
    whose face-up cards the last `run` are in order, being all of them or not. Both follow
    from the parameters.
    """

    decks: int
    sizes: tuple[int, ...]  # cards dealt to each column, left to right
    draw: int
    passes: int | None  # None: without limit
    build: Build
    empty: Opening
    run: Lift
    foundation_return: bool
    takes: tuple[frozenset[Card], ...] = field(init=False, compare=False, repr=False)
    lifts: tuple[tuple[tuple[int, ...], ...], ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuses impossible values and looks the derived tables up."""
        _within("decks", self.decks, 1, MAX_DECKS)
        _within("columns", len(self.sizes), 1, MAX_COLUMNS)
        for size in self.sizes:
            _within("sizes: a column", size, 1, 52 * self.decks)
        if sum(self.sizes) > 52 * self.decks:
            raise RulesError(f"the columns take {sum(self.sizes)} of {52 * self.decks} cards")
        _within("draw", self.draw, 1, MAX_DRAW)
        if self.passes is not None:
            _within("passes", self.passes, 1, MAX_PASSES)
        object.__setattr__(self, "takes", _TAKES[self.build, self.empty])
        object.__setattr__(self, "lifts", _LIFTS[self.run])

    @property
    def columns(self) -> int:
        """The number of columns."""
        return len(self.sizes)

    @property
    def cards(self) -> int:
        """The number of cards in the game."""
        return 52 * self.decks

    @property
    def foundations(self) -> int:
        """The number of foundations."""
        return 4 * self.decks

    @property
    def stock(self) -> int:
        """The number of cards in the hand after the deal."""
        return self.cards - sum(self.sizes)

    @classmethod
    def parse(cls, text: str) -> "Rules":
        """Reads a preset's name and the parameters that differ from it.

        Raises:
            RulesError: says what is wrong, and what is allowed.
        """
        name, *overrides = text.split(",")
        preset = RULES.get(name)
        if preset is None:
            raise RulesError(f"there is no game {name[:40]!r}: there are {', '.join(RULES)}")
        return replace(preset, **_read_overrides(overrides))

    def text(self) -> str:
        """Returns the nearest preset's name and what differs from it; `parse` reads it back."""
        described = [(name, _overrides(self, preset)) for name, preset in RULES.items()]
        name, overrides = min(described, key=lambda one: len(one[1]))
        return ",".join([name, *overrides])


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise RulesError(f"{name} is {value}: it may be {low} to {high}")


# --- parameters as text ---------------------------------------------------------------

Choice = TypeVar("Choice", bound=StrEnum)


class _Parameter(NamedTuple):
    """How one parameter is read and written; `read` raises ValueError for anything odd."""

    field: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]
    allowed: str


def _number(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]?[0-9]?", text):
        raise ValueError(text)
    return int(text)


def _pyramid(columns: int) -> tuple[int, ...]:
    return tuple(range(1, columns + 1))


def _choice(field_name: str, kind: type[Choice]) -> _Parameter:
    return _Parameter(field_name, kind, str, " or ".join(kind))


_FLAGS = {"no": False, "yes": True}

_PARAMETERS: Mapping[str, _Parameter] = {
    "decks": _Parameter("decks", _number, str, f"1 to {MAX_DECKS}"),
    "columns": _Parameter(
        "sizes",
        lambda text: _pyramid(_number(text)),
        lambda sizes: str(len(sizes)),
        f"1 to {MAX_COLUMNS}, of 1, 2, 3 … cards",
    ),
    "sizes": _Parameter(
        "sizes",
        lambda text: tuple(_number(size) for size in text.split("-")),
        lambda sizes: "-".join(map(str, sizes)),
        "the cards of each column, such as 1-2-3-4-5-6-7",
    ),
    "draw": _Parameter("draw", _number, str, f"1 to {MAX_DRAW}"),
    "passes": _Parameter(
        "passes",
        lambda text: None if text == "unlimited" else _number(text),
        lambda passes: "unlimited" if passes is None else str(passes),
        f"1 to {MAX_PASSES} or unlimited",
    ),
    "build": _choice("build", Build),
    "empty": _choice("empty", Opening),
    "run": _choice("run", Lift),
    "foundation_return": _Parameter(
        "foundation_return",
        lambda text: _FLAGS[text],
        lambda flag: "yes" if flag else "no",
        "no or yes",
    ),
}


def _read_overrides(overrides: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for override in overrides:
        name, equals, text = override.partition("=")
        parameter = _PARAMETERS.get(name)
        if parameter is None or not equals:
            raise RulesError(
                f"{override[:40]!r} sets no parameter: write name=value with a name of "
                + ", ".join(_PARAMETERS)
            )
        if parameter.field in values:
            raise RulesError(f"{override[:40]!r}: {parameter.field} is already set, set it once")
        try:
            values[parameter.field] = parameter.read(text)
        except (ValueError, KeyError):
            raise RulesError(f"{override[:40]!r}: {name} may be {parameter.allowed}") from None
    return values


def _overrides(rules: Rules, preset: Rules) -> list[str]:
    hidden = "sizes" if rules.sizes == _pyramid(rules.columns) else "columns"
    return [
        f"{name}={parameter.write(getattr(rules, parameter.field))}"
        for name, parameter in _PARAMETERS.items()
        if name != hidden and getattr(rules, parameter.field) != getattr(preset, parameter.field)
    ]


# --- presets --------------------------------------------------------------------------

_DOUBLE_KLONDIKE = Rules(
    decks=2,
    sizes=_pyramid(9),
    draw=3,
    passes=None,
    build=Build.ALTERNATE,
    empty=Opening.KING,
    run=Lift.ANY_SUFFIX,
    foundation_return=False,
)
_KLONDIKE = replace(_DOUBLE_KLONDIKE, decks=1, sizes=_pyramid(7))

RULES: Mapping[str, Rules] = MappingProxyType(
    {
        "double-klondike": _DOUBLE_KLONDIKE,
        "double-klondike-3-pass": replace(_DOUBLE_KLONDIKE, passes=3),
        "gargantua": replace(_DOUBLE_KLONDIKE, draw=1, passes=2),
        "klondike-familiar": _KLONDIKE,
        "klondike-strict": replace(_KLONDIKE, draw=1, passes=1, run=Lift.FULL_ONLY),
        "klondike-easy": replace(_KLONDIKE, draw=1),
        "thumb-and-pouch": replace(
            _KLONDIKE,
            draw=1,
            passes=1,
            build=Build.ANY_OTHER_SUIT,
            empty=Opening.ANY,
            run=Lift.FULL_OR_TOP,
        ),
    }
)
