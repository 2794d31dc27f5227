"""What an organiser chooses: the stages and their formats, the races, the times, the points.

Published with the tournament and fixed once it starts. Ranges are checked by the types; what
must fit together, the server checks.
"""

from typing import Annotated, Final, Literal, assert_never

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from wire.values import MAX_INSTANT, Settings, Title

MAX_PLAYERS: Final = 1024
MAX_STAGES: Final = 4
TIEBREAK_ORDER: Final = (
    "buchholz-cut1",
    "buchholz",
    "sonneborn-berger",
    "direct-encounter",
    "cards",
    "total-time",
)

Seconds = Annotated[int, Meta(ge=0, le=86_400)]
HalfPoints = Annotated[int, Meta(ge=0, le=20)]  # a win by the usual count is two of them
Who = Annotated[str, Meta(max_length=24)]  # a player's id
TieBreak = Annotated[str, Meta(max_length=24)]


class Play(Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """Base of the formats: how a stage is played, with its parameters."""


class Single(Play, frozen=True, kw_only=True, tag="single"):
    """Out with the first loss."""

    third_place: bool = False


class Double(Play, frozen=True, kw_only=True, tag="double"):
    """Out with the second loss: winners' and losers' bracket.

    The grand final is not played (`none`: who wins the winners' bracket has won), is one
    match (`single`), or is played again if the winners' champion loses it (`reset`).
    """

    final: Literal["none", "single", "reset"] = "reset"


class NFold(Play, frozen=True, kw_only=True, tag="n-fold"):
    """Out with the n-th loss; players with equal losses meet."""

    losses: Annotated[int, Meta(ge=1, le=6)] = 3


class Swiss(Play, frozen=True, kw_only=True, tag="swiss"):
    """Equals meet, nobody twice; rounds None is two more than halving would need."""

    rounds: Annotated[int, Meta(ge=1, le=30)] | None = None
    engine: Literal["exact", "dutch"] = "exact"


class RoundRobin(Play, frozen=True, kw_only=True, tag="round-robin"):
    """Everybody meets everybody, once or twice.

    The rest of someone who leaves is forfeited; with `remove`, their matches do not count
    at all if fewer than half of them were played.
    """

    double: bool = False
    left: Literal["forfeit", "remove"] = "forfeit"


class Arena(Play, frozen=True, kw_only=True, tag="arena"):
    """Whoever is free meets whoever is near, until time is up."""

    minutes: Annotated[int, Meta(ge=1, le=720)] = 60
    streaks: bool = True  # the third win in a row and what follows count double
    pauses: bool = True  # who leaves and returns waits a little


class Heats(Play, frozen=True, kw_only=True, tag="heats"):
    """Races of several, of which the best go on, down to a final."""

    size: Annotated[int, Meta(ge=3, le=8)] = 6
    advance: Annotated[int, Meta(ge=1, le=7)] = 2  # the best of each heat
    best: Annotated[int, Meta(ge=0, le=64)] = 0  # and the next best by score of them all


class Duplicate(Play, frozen=True, kw_only=True, tag="duplicate"):
    """Everybody plays the same deals; compared across all tables."""

    deals: Annotated[int, Meta(ge=1, le=24)] = 4
    score: Literal["places", "cards"] = "places"
    table: Annotated[int, Meta(ge=2, le=16)] = 8  # players in one room


AnyPlay = Single | Double | NFold | Swiss | RoundRobin | Arena | Heats | Duplicate


class StageSettings(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One stage: a format, played in one field or in several groups side by side."""

    play: AnyPlay
    best_of: Annotated[int, Meta(ge=1, le=9)] = 1  # races of a match, odd
    groups: Annotated[int, Meta(ge=1, le=64)] = 1
    qualify: Annotated[int, Meta(ge=1, le=512)] | None = None  # of each group, for the next stage


class Points(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a match is worth, in half points."""

    win: HalfPoints = 2
    draw: HalfPoints = 1
    loss: HalfPoints = 0
    bye: HalfPoints = 2


class Deals(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the deals come from, and whether a whole round plays the same one."""

    source: Literal["fair", "public"] = "fair"
    share: Literal["match", "round"] = "match"
    seed: Annotated[str, Meta(max_length=32)] = ""  # of public deals; each adds its number


class TournamentSettings(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tournament as its organiser wants it."""

    title: Title = ""
    stages: Annotated[list[StageSettings], Meta(min_length=1, max_length=MAX_STAGES)] = field(
        default_factory=lambda: [StageSettings(play=Swiss())]
    )
    race: Settings = Settings()
    players: Annotated[int, Meta(ge=2, le=MAX_PLAYERS)] = 256  # at most
    entry: Literal["open", "invited"] = "open"
    late: bool = True  # entry after the start where the format allows
    seeding: Literal["rating", "list", "random"] = "rating"
    draw: Annotated[str, Meta(max_length=64)] = ""  # public seed of random seeding
    start_at: Annotated[int, Meta(ge=0, le=MAX_INSTANT)] | None = None
    check_in_s: Seconds | None = None  # opens so long before start_at; who is not there is out
    no_show_s: Annotated[int, Meta(ge=10, le=3600)] = 60  # no play so long after a race's start
    no_shows: Annotated[int, Meta(ge=1, le=10)] = 2  # so many in a row: withdrawn
    break_s: Seconds = 30  # from the pairings of a round to its start
    race_break_s: Annotated[int, Meta(ge=0, le=3600)] = 20  # between the races of a match
    round_limit_s: Annotated[int, Meta(ge=60, le=604_800)] | None = None  # from a round's start
    points: Points = Points()
    tiebreaks: Annotated[list[TieBreak], Meta(max_length=8)] = field(
        default_factory=lambda: list(TIEBREAK_ORDER)
    )
    deals: Deals = Deals()
    forbidden: Annotated[list[tuple[Who, Who]], Meta(max_length=1000)] = []  # pairs, in Swiss
    hold: bool = False  # each round's results wait for the organiser
    rated: bool = True


def titled(settings: TournamentSettings, code: str) -> TournamentSettings:
    """Give settings with a title: a plain one where the organiser has chosen none."""
    return settings if settings.title else replace(settings, title=f"Tournament {code}")


def in_words(stage: StageSettings) -> str:
    """Say how a stage is played, e.g. `swiss, 5 rounds, best of 3`."""
    words = [_play_in_words(stage.play)]
    if stage.groups > 1:
        words.append(f"{stage.groups} groups")
    if stage.best_of > 1:
        words.append(f"best of {stage.best_of}")
    if stage.qualify is not None:
        words.append(f"top {stage.qualify} go on")
    return ", ".join(words)


def _play_in_words(play: AnyPlay) -> str:
    match play:
        case Single():
            return "single elimination"
        case Double():
            return "double elimination"
        case NFold():
            return f"out with {play.losses} losses"
        case Swiss():
            return "swiss" if play.rounds is None else f"swiss, {play.rounds} rounds"
        case RoundRobin():
            return "double round robin" if play.double else "round robin"
        case Arena():
            return f"arena, {play.minutes} min"
        case Heats():
            return f"heats of {play.size}"
        case Duplicate():
            return f"duplicate, {play.deals} deals"
        case _:
            assert_never(play)
