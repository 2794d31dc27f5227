"""What a tournament's state is made of: immutable records, replaced when something happens."""

from typing import Literal

from msgspec import Struct

from server.tournament.events import Bye, Row
from server.tournament.settings import StageSettings, TournamentSettings

Phase = Literal["draft", "check-in", "running", "paused", "finished", "cancelled"]
Seeding = Literal["rating", "list", "random"]
Status = Literal["in", "withdrawn", "disqualified"]
ResultKind = Literal["played", "forfeit", "walkover", "void", "ruled"]


class Entry(Struct, frozen=True):
    """A place in the tournament and who has it."""

    id: str  # of the player who took the place
    player: str  # who plays on it now
    name: str
    rating: int
    bot: bool = False
    status: Status = "in"
    checked: bool = False  # in
    absences: int = 0  # no-shows in a row
    pauses: int = 0  # times withdrawn and back, which an arena makes wait for
    back_at: int = 0
    free_at: int = 0  # since when without a match

    @property
    def is_in(self) -> bool:
        """Whether this place still takes part."""
        return self.status == "in"


class Race(Struct, frozen=True):
    """One race of a match."""

    number: int
    room: str
    deal: str
    starts: int
    players: tuple[str, ...]  # who has the match's places when the race is called
    rows: tuple[Row, ...] = ()
    state: Literal["called", "raced", "void"] = "called"


class Result(Struct, frozen=True):
    """What a match came to: each entry's place, equal ones equal; none if it is void."""

    places: tuple[tuple[str, int], ...]
    kind: ResultKind
    why: str = ""

    def place(self, entry: str) -> int | None:
        """Give an entry's place."""
        return dict(self.places).get(entry)

    @property
    def winner(self) -> str | None:
        """The one entry in the first place; None in a draw or a void match."""
        first = [entry for entry, place in self.places if place == 1]
        return first[0] if len(first) == 1 else None


class Match(Struct, frozen=True):
    """Two or more who meet: one race or a series."""

    id: str  # ROUND.NUMBER
    stage: int
    group: int
    round: int
    slot: str
    entries: tuple[str, ...]
    why: str
    races: tuple[Race, ...] = ()
    lost: tuple[str, ...] = ()  # who gave the match up: absent, withdrawn, disqualified
    result: Result | None = None
    failed: int = 0  # races that came to nothing since the start or a restart
    closed: bool = False  # no further race: the round's time is up, or too many have failed
    discarded: bool = False

    @property
    def is_open(self) -> bool:
        """Whether this match has still to be decided."""
        return self.result is None and not self.discarded

    @property
    def race(self) -> Race | None:
        """The race that is called or on."""
        return self.races[-1] if self.races and self.races[-1].state == "called" else None

    @property
    def starts(self) -> int | None:
        """When it starts, or did: its first race that is not void; None before one is called."""
        return next((race.starts for race in self.races if race.state != "void"), None)

    @property
    def raced(self) -> tuple[Race, ...]:
        """The races that count."""
        return tuple(race for race in self.races if race.state == "raced")

    @property
    def is_played(self) -> bool:
        """Whether at least one race of it counts."""
        return any(race.state == "raced" for race in self.races)

    @property
    def other(self) -> dict[str, str]:
        """Who meets whom, where two meet."""
        if len(self.entries) != 2:
            return {}
        a, b = self.entries
        return {a: b, b: a}


class Round(Struct, frozen=True):
    """A round, or a pairing of an arena."""

    number: int  # through all stages
    stage: int
    starts: int
    deadline: int | None
    matches: tuple[str, ...]
    byes: tuple[Bye, ...]
    closed: bool = False
    published: bool = False


class Stage(Struct, frozen=True):
    """A stage that has begun."""

    number: int  # from 0
    groups: tuple[tuple[str, ...], ...]  # in seed order, late entries last
    size: int  # of the first group, without late entries
    opened_at: int
    ends: int | None  # of an arena
    rounds: tuple[int, ...] = ()
    ended: str | None = None  # why


class Field(Struct, frozen=True):
    """What a format sees: one group of a stage, with what has happened in it."""

    group: int
    spec: StageSettings
    settings: TournamentSettings
    order: tuple[str, ...]  # in seed order, late entries last
    size: int  # without late entries
    entries: dict[str, Entry]  # all of the tournament
    rounds: tuple[Round, ...]
    matches: tuple[Match, ...]  # of this group, without discarded ones, as they were called
    opened_at: int = 0
    ends: int | None = None
    now: int = 0
    here: frozenset[str] | None = None  # entries with a connection; None: all
    taken: frozenset[str] = frozenset()  # entries in a match that is open

    def is_in(self, entry: str) -> bool:
        """Whether an entry still takes part."""
        return self.entries[entry].is_in

    @property
    def active(self) -> tuple[str, ...]:
        """Those who still take part, in seed order."""
        return tuple(entry for entry in self.order if self.entries[entry].is_in)


class Meeting(Struct, frozen=True):
    """A match that a format wants."""

    entries: tuple[str, ...]
    why: str
    slot: str = ""
    out: tuple[str, ...] = ()  # of the entries, who cannot play


class Draft(Struct, frozen=True):
    """A round that a format wants."""

    meetings: tuple[Meeting, ...]
    byes: tuple[Bye, ...] = ()
    group: int = 0


class End(Struct, frozen=True):
    """A format has nothing more to play."""

    why: str


class Rank(Struct, frozen=True):
    """One line of the standings."""

    entry: str
    place: int | None  # None: disqualified
    points: int = 0  # half points, where a format has them
    values: tuple[int | float, ...] = ()  # by the tie-breaks in order, or a format's own keys
    note: str = ""  # e.g. where someone was eliminated
