"""What the messages of tournaments are made of: lines of lists, standings, rounds and brackets.

Players are named by `entry`, as `wire.tournaments` says.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from wire.values import Instant, Name, Outcome, PlayerId, RoomCode, Token

TournamentCode = RoomCode
Key = Annotated[str, Meta(max_length=64)]
Why = Annotated[str, Meta(max_length=200)]
StageNumber = Annotated[int, Meta(ge=0, le=10)]
RoundNumber = Annotated[int, Meta(ge=1, le=100_000)]

TournamentPhase = Literal["draft", "check-in", "running", "paused", "finished", "cancelled"]
EntryStatus = Literal["in", "withdrawn", "disqualified"]
RaceState = Literal["called", "raced", "void"]
ResultKind = Literal["played", "forfeit", "walkover", "void", "ruled"]
SlotState = Literal["waiting", "ready", "called", "over", "bye", "empty"]


class TournamentLine(Struct, frozen=True, kw_only=True):
    """One tournament in the list."""

    tournament: TournamentCode
    title: str
    format: str  # its stages in words
    phase: TournamentPhase
    entrants: int
    places: int
    opened: Instant
    starts: Instant | None = None
    round: int = 0


class Entrant(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A place in a tournament and who has it."""

    entry: PlayerId
    name: Name
    rating: int  # as it was at the entry
    player: PlayerId | None = None  # who plays on in it, where that is another one
    bot: bool = False
    status: EntryStatus = "in"
    checked: bool = False  # in


class RankLine(Struct, frozen=True, array_like=True):
    """One line of the standings."""

    entry: PlayerId
    place: int | None  # None: disqualified
    points: float
    values: list[float]  # in the order of the ranking's `keys`
    note: str


class RaceRow(Struct, frozen=True, array_like=True):
    """What somebody did in a race."""

    entry: PlayerId
    place: int
    outcome: Outcome
    cards: int
    down: int
    time_ms: int


class RaceLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One race of a match."""

    race: int
    room: RoomCode
    starts: Instant
    state: RaceState = "called"
    rows: list[RaceRow] = field(default_factory=list)


class MatchLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A match."""

    match: str
    entries: list[PlayerId]
    why: str  # why just these meet
    group: int = 0
    slot: str = ""  # in the bracket
    races: list[RaceLine] = field(default_factory=list)
    kind: ResultKind | None = None  # None: not decided yet
    places: list[int] = field(
        default_factory=list
    )  # of the entries in their order; empty if it counts for nobody
    reason: str = ""  # of the result


class ByeLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A round without a match for somebody."""

    entry: PlayerId
    kind: Literal["bye", "half-bye", "none"]
    why: str


class SlotLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One box of a bracket."""

    slot: str
    side: str  # winners, losers, final, third
    round: int
    number: int
    name: str = ""
    sides: list[str]  # an entry; empty: not known yet, or nobody (see `state`)
    sources: list[str]  # where each side comes from, in words
    state: SlotState = "waiting"
    match: str = ""
    winner: str = ""
    # Of each side, once something is raced: cards in a single race, races won in a series.
    scores: list[float] = field(default_factory=list)


class PathLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One round of one player."""

    round: int
    match: str = ""  # empty: a bye
    slot: str = ""
    opponents: list[PlayerId] = field(default_factory=list)
    place: int | None = None  # in the match, once it is decided
    points: float = 0
    result: str = ""  # played, forfeit, walkover, void, ruled, or the kind of bye


class LiveLine(Struct, frozen=True, array_like=True):
    """How somebody stands in a race that runs."""

    entry: PlayerId
    cards: int
    down: int
    moves: int
    outcome: Outcome


class LiveRace(Struct, frozen=True, kw_only=True):
    """A race that runs."""

    match: str
    race: int
    room: RoomCode
    of: int  # cards in the game
    lines: list[LiveLine]


class MatchStart(Struct, frozen=True, kw_only=True):
    """When a match starts that starts later than its round."""

    match: str
    at: Instant


class Notice(Struct, frozen=True, kw_only=True):
    """An announcement of the organiser."""

    at: Instant
    text: str


class Claim(Struct, frozen=True, kw_only=True):
    """A player whom an organiser has enrolled; who says hello with the token is that player."""

    player: PlayerId
    name: Name
    token: Token


class RatingLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the leaderboard."""

    place: int
    player: PlayerId
    name: Name
    rating: int
    races: int
    provisional: bool = False
    bot: bool = False


class RatingChange(Struct, frozen=True, kw_only=True):
    """What a match did to a player's rating."""

    at: Instant
    tournament: TournamentCode
    match: str
    rating: int  # after it
    change: int
