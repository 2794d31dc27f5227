"""Every event of a tournament's journal and its canonical bytes.

As in a room's journal an event is one JSON object with its kind in `e`. `p` is an entry:
the id of the player who took the place in the tournament; whoever plays on it later does
so under that id. Every act says `by` whom it was (a player's id, "owner" or "referee";
empty: by the tournament's own rules) and `why`. The instants of acts are the journal's.
"""

from typing import Final, Literal, get_args

import msgspec
from msgspec import Struct

from server.journaling import UnknownEvent
from server.tournament.settings import TournamentSettings
from wire.values import Outcome

FORMAT: Final = 1

ByeKind = Literal["bye", "half-bye", "none"]


# --- values ---------------------------------------------------------------------------


class Row(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a race's standings, as far as a tournament needs it."""

    p: str  # the player who raced; in the journal the entry
    place: int
    outcome: Outcome
    cards: int
    down: int = 0
    time_ms: int  # to the last card home, or to the final score


class Bout(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A match as a round calls it: its number in the round is its place in the list."""

    p: list[str]
    why: str  # why just these meet
    slot: str = ""  # the place in a bracket or schedule, e.g. W2.1
    group: int = 0
    room: str = ""  # code of the first race's room; empty if nothing is played
    deal: str = ""
    out: list[str] = []  # who of them cannot play: a walkover, or void


class Bye(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A round without a match for someone, and what it counts."""

    p: str
    why: str
    kind: ByeKind = "bye"


class Seat(Struct, frozen=True, kw_only=True):
    """A race to be called: the next of a match."""

    match: str
    race: int
    room: str
    deal: str


# --- events ---------------------------------------------------------------------------


class Event(Struct, frozen=True, tag=str.lower, tag_field="e", omit_defaults=True, kw_only=True):
    """Base of all events of a tournament."""


class Act(Event, frozen=True, kw_only=True):
    """Base of the events that are somebody's act."""

    by: str = ""
    why: str = ""


class Created(Act, frozen=True, kw_only=True):
    """The tournament exists. First entry of every journal."""

    format: int
    code: str
    settings: TournamentSettings


class Edited(Act, frozen=True, kw_only=True):
    """Other settings, before the start."""

    settings: TournamentSettings


class Entered(Act, frozen=True, kw_only=True):
    """A player takes a place; after the start it is a late entry."""

    p: str
    name: str
    rating: int
    bot: bool = False
    checked: bool = False  # in
    bye: ByeKind = "none"  # what a late entry gets for the round that is on


class Withdrawn(Act, frozen=True, kw_only=True):
    """A player leaves: the place is free before the start, kept empty after it."""

    p: str


class Rejoined(Act, frozen=True, kw_only=True):
    """A player who had withdrawn is back."""

    p: str


class CheckInOpened(Act, frozen=True, kw_only=True):
    """Players are asked to say that they are there."""


class CheckInClosed(Act, frozen=True, kw_only=True):
    """Nobody is asked any more; what was said stays."""


class CheckedIn(Act, frozen=True, kw_only=True):
    """A player is there."""

    p: str


class Seeded(Act, frozen=True, kw_only=True):
    """How the seeds are found; the order itself is in the stage that opens."""

    method: Literal["rating", "list", "random"]
    order: list[str] = []  # of a list, best first; the rating decides among those not in it
    draw: str = ""  # the public seed of a random order


class Begun(Act, frozen=True, kw_only=True):
    """The tournament starts, without those who are not there."""

    dropped: list[Bye] = []


class StageOpened(Event, frozen=True, kw_only=True):
    """A stage begins: its groups in seed order."""

    stage: int
    groups: list[list[str]]
    ends: int | None = None  # of an arena


class RoundCalled(Event, frozen=True, kw_only=True):
    """A round: who meets whom and why, who sits out, when it starts.

    With the number of the round that is on it adds matches to that round, in place of
    matches that a ruling has discarded.
    """

    stage: int
    round: int
    starts: int
    deadline: int | None = None
    bouts: list[Bout]
    byes: list[Bye] = []


class Repaired(Act, frozen=True, kw_only=True):
    """A round that has not started is paired again; its former matches do not count."""

    round: int
    starts: int
    bouts: list[Bout]
    byes: list[Bye] = []


class RacesCalled(Event, frozen=True, kw_only=True):
    """The next races of some matches, which start at one instant."""

    seats: list[Seat]
    starts: int


class Raced(Event, frozen=True, kw_only=True):
    """A race is over; counted once."""

    match: str
    race: int
    rows: list[Row]


class Absent(Act, frozen=True, kw_only=True):
    """Some did not play within the limit: the match is lost for them."""

    match: str
    race: int
    p: list[str]


class RaceVoided(Act, frozen=True, kw_only=True):
    """A race does not count and is raced again on a new deal.

    After the `last` one it is not: the match is decided on what has been raced.
    """

    match: str
    race: int
    last: bool = False


class RoundClosed(Event, frozen=True, kw_only=True):
    """The round's time is up: no further race starts in it."""

    round: int


class Published(Act, frozen=True, kw_only=True):
    """The results of a round are out, and the next may come."""

    round: int


class Held(Act, frozen=True, kw_only=True):
    """Results wait for the organiser from now on, or no longer."""

    hold: bool


class MatchRestarted(Act, frozen=True, kw_only=True):
    """A match begins anew on a new deal once its players are free; its races do not count."""

    match: str
    stage: int  # the stage that is on afterwards
    discards: list[str] = []  # matches that followed from the former result


class MatchVoided(Act, frozen=True, kw_only=True):
    """A match counts for nobody."""

    match: str
    stage: int
    discards: list[str] = []


class Overridden(Act, frozen=True, kw_only=True):
    """The organiser decides a match: who is first, second …; equals stand together."""

    match: str
    places: list[list[str]]
    stage: int
    discards: list[str] = []


class Disqualified(Act, frozen=True, kw_only=True):
    """A player is out; results stand, the current match is lost."""

    p: str


class Reinstated(Act, frozen=True, kw_only=True):
    """A player who was disqualified or withdrawn is in again."""

    p: str


class Substituted(Act, frozen=True, kw_only=True):
    """Somebody else plays on in a player's place."""

    p: str
    player: str
    name: str


class TokenRenewed(Act, frozen=True, kw_only=True):
    """A player has another token to come in with; the former one is dead."""

    p: str


class Summoned(Act, frozen=True, kw_only=True):
    """A player is called once more to the race that waits."""

    p: str


class Paused(Act, frozen=True, kw_only=True):
    """Nothing new starts; races that run are raced to their end."""


class Resumed(Act, frozen=True, kw_only=True):
    """It goes on; instants still to come have moved by the pause's length."""


class Extended(Act, frozen=True, kw_only=True):
    """Later by `ms`: the start, the start or deadline of the round, or an arena's end."""

    what: Literal["start", "round-start", "round", "arena"]
    ms: int


class Announced(Act, frozen=True, kw_only=True):
    """A word to everybody."""

    text: str


class StageEnded(Event, frozen=True, kw_only=True):
    """A stage is over."""

    stage: int
    why: str


class Finished(Event, frozen=True, kw_only=True):
    """The tournament is over."""

    why: str


class Cancelled(Act, frozen=True, kw_only=True):
    """The tournament is off."""


AnyEvent = (
    Created
    | Edited
    | Entered
    | Withdrawn
    | Rejoined
    | CheckInOpened
    | CheckInClosed
    | CheckedIn
    | Seeded
    | Begun
    | StageOpened
    | RoundCalled
    | Repaired
    | RacesCalled
    | Raced
    | Absent
    | RaceVoided
    | RoundClosed
    | Published
    | Held
    | MatchRestarted
    | MatchVoided
    | Overridden
    | Disqualified
    | Reinstated
    | Substituted
    | TokenRenewed
    | Summoned
    | Paused
    | Resumed
    | Extended
    | Announced
    | StageEnded
    | Finished
    | Cancelled
)

KINDS: Final = get_args(AnyEvent)

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEvent)


def encode(event: AnyEvent) -> bytes:
    """Give an event's canonical bytes."""
    # What equals its default is left out only if it is the very same object, which a text from
    # another process or put together here is not; what has been read is.
    return _encoder.encode(_decoder.decode(_encoder.encode(event)))


def decode(payload: bytes) -> AnyEvent:
    """Read an event.

    Raises:
        UnknownEvent: the bytes are of a newer version, or damaged.
    """
    try:
        return _decoder.decode(payload)
    except msgspec.MsgspecError as error:
        raise UnknownEvent(f"cannot read the journal entry {payload[:80]!r}: {error}") from None
