"""The messages of hosted tournaments, for organisers, players and those who look.

*An organiser* says `organise` with the settings and gets `organised`: the tournament's code,
and two secret keys, the owner's and the referee's, which are told this once. Whoever has a
key may then `direct`: one act of `wire.acts` in each message, with a reason for the audit
log. The answer is `directed` (or `enrolled`, with tokens that players are to be given),
or `refused`; the code `needs-confirm` says which matches would be discarded: say the same
again with `confirm`. `duties` lists what may be directed now.

*A player* says `enter`, `checkin`, `withdraw`, `rejoin`; each is answered by `place`. Of a
race the player is `called`, on every connection and again after each hello; the answer is to
`join` the room named there, where a seat is held. Rooms, races and results are the usual ones.

*Whoever looks* says `visit`, and gets the whole as it stands: `tournament`, `entrants`,
`ranking`, `bracket` (where the format has one) and `pairings` of the round that is on; from
then on each of them again when it has changed, and `progress` of the races that run, until
`visit` names another one or none. Each replaces the former of the same round, or stage; one
of an older version may be dropped. What a visitor sees lags behind as spectators do
(`settings.race.delay_s`); with a key, or a place in the tournament, it does not. Earlier
rounds and stages are asked for by `browse`.

Players are named by `entry` here: the id of whoever took the place, who need not be the one
who plays on in it; `entrants` has the names.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from wire.acts import AnyAct
from wire.formats import TournamentSettings
from wire.lines import (
    ByeLine,
    Claim,
    Entrant,
    EntryStatus,
    Key,
    LiveRace,
    MatchLine,
    MatchStart,
    Notice,
    PathLine,
    RankLine,
    RatingChange,
    RatingLine,
    RoundNumber,
    SlotLine,
    StageNumber,
    TournamentCode,
    TournamentLine,
    TournamentPhase,
    Why,
)
from wire.messages import ClientMessage, ServerMessage
from wire.values import Instant, Name, PlayerId, RoomCode

# --- a client speaks ------------------------------------------------------------------


class Organise(ClientMessage, frozen=True, kw_only=True):
    """Opens a tournament; whoever says so is its owner by the key in the answer."""

    settings: TournamentSettings
    public: bool = True  # in the list


class Direct(ClientMessage, frozen=True, kw_only=True):
    """An organiser's act."""

    tournament: TournamentCode
    key: Key
    act: AnyAct
    why: Why = ""  # into the audit log; rulings need one


class Webhook(ClientMessage, frozen=True, kw_only=True):
    """Has the server tell a URL of the tournament, in place of a former one; empty: no more.

    For the owner alone; nobody is shown it.
    """

    tournament: TournamentCode
    key: Key
    url: Annotated[str, Meta(max_length=300)]
    rounds: bool = True
    results: bool = True
    end: bool = True


class Tournaments(ClientMessage, frozen=True):
    """Asks for the public tournaments."""


class Enter(ClientMessage, frozen=True, kw_only=True):
    """Takes a place in a tournament."""

    tournament: TournamentCode


class CheckIn(ClientMessage, frozen=True, kw_only=True):
    """Says that the player is there."""

    tournament: TournamentCode


class Withdraw(ClientMessage, frozen=True, kw_only=True):
    """Gives the place up; in a race that runs this resigns."""

    tournament: TournamentCode
    why: Why = ""


class Rejoin(ClientMessage, frozen=True, kw_only=True):
    """Comes back after having withdrawn."""

    tournament: TournamentCode


class Visit(ClientMessage, frozen=True, kw_only=True):
    """Looks at a tournament from now on, in place of the former one; nil at none."""

    tournament: TournamentCode | None = None
    key: Key = ""  # without the delay


class Browse(ClientMessage, frozen=True, kw_only=True):
    """Asks for one round, or for the standings and the bracket of one stage."""

    tournament: TournamentCode
    round: RoundNumber | None = None
    stage: StageNumber | None = None
    key: Key = ""


class Chronicle(ClientMessage, frozen=True, kw_only=True):
    """Asks for the journal of a tournament from entry `start` on: with a key, or once over."""

    tournament: TournamentCode
    start: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0
    key: Key = ""


class Ratings(ClientMessage, frozen=True, kw_only=True):
    """Asks for the leaderboard of some rules, from line `start` on."""

    rules: Annotated[str, Meta(max_length=200)] = "double-klondike"
    start: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class Career(ClientMessage, frozen=True, kw_only=True):
    """Asks how a player's rating came about."""

    player: PlayerId
    rules: Annotated[str, Meta(max_length=200)] = "double-klondike"


# --- the server speaks ----------------------------------------------------------------


class Organised(ServerMessage, frozen=True, kw_only=True):
    """Answers organise. The keys are told this once."""

    tournament: TournamentCode
    owner: str
    referee: str


class Directed(ServerMessage, frozen=True, kw_only=True):
    """Answers direct: the act is in the journal, or was before."""

    tournament: TournamentCode
    do: str
    version: int  # of the tournament afterwards


class Hooked(ServerMessage, frozen=True, kw_only=True):
    """Answers webhook. The secret that notices are signed with is told this once."""

    tournament: TournamentCode
    secret: str  # empty: nothing is told any more


class Duties(ServerMessage, frozen=True, kw_only=True):
    """What the holder of a key may direct now: after a visit with it, and after each act."""

    tournament: TournamentCode
    role: Literal["owner", "referee"]
    acts: list[str]  # by their tags


class Enrolled(ServerMessage, frozen=True, kw_only=True):
    """Answers direct with enrol or new-token, in place of directed."""

    tournament: TournamentCode
    players: list[Claim]
    passed: list[Name]  # over: somebody of that name was entered before


class Programme(ServerMessage, frozen=True, kw_only=True):
    """Answers tournaments, newest first."""

    tournaments: list[TournamentLine]


class Tournament(ServerMessage, frozen=True, kw_only=True):
    """A tournament without what is long: that is in the messages beside it."""

    tournament: TournamentCode
    version: int  # of the journal
    settings: TournamentSettings
    phase: TournamentPhase
    now: Instant
    opened: Instant
    entrants: int  # who are in
    starts: Instant | None = None  # as scheduled now; once it has begun, when that was
    stage: StageNumber | None = None  # that is on, from 0
    stages: list[str]  # in words
    groups: int = 1  # of the stage that is on
    round: int | None = None  # called last, through all stages
    rounds: list[int] = field(default_factory=list)  # of each stage that has begun, how many
    round_starts: Instant | None = None  # the first of its matches, as they now stand
    late: list[MatchStart] = field(default_factory=list)  # of that round: called anew, say
    deadline: Instant | None = None  # of the round
    ends: Instant | None = None  # of an arena
    open: int = 0  # matches still to be decided
    held: bool = False  # the round's results wait to be published
    reason: str = ""  # why it is over
    notices: list[Notice] = field(default_factory=list)  # the newest ones
    # Of the hash chain over the journal, in hex, once the tournament is over. Sooner it would
    # let results that are held back be guessed: few can be told apart, and all be tried.
    head: str = ""


class Entrants(ServerMessage, frozen=True, kw_only=True):
    """Who takes part, in the order of the seeds."""

    tournament: TournamentCode
    version: int
    entrants: list[Entrant]


class Ranking(ServerMessage, frozen=True, kw_only=True):
    """The standings of a stage, group by group, best first."""

    tournament: TournamentCode
    version: int
    stage: StageNumber
    keys: list[str]  # what the values of each line are
    groups: list[list[RankLine]]


class Pairings(ServerMessage, frozen=True, kw_only=True):
    """One round: who meets whom, and what it came to."""

    tournament: TournamentCode
    version: int
    round: RoundNumber
    stage: StageNumber
    starts: Instant
    deadline: Instant | None = None
    closed: bool = False  # no further race starts in it
    published: bool = False
    matches: list[MatchLine]
    byes: list[ByeLine] = field(default_factory=list)


class Bracket(ServerMessage, frozen=True, kw_only=True):
    """The bracket of a stage, group by group, each box after those it draws from."""

    tournament: TournamentCode
    version: int
    stage: StageNumber
    groups: list[list[SlotLine]]


class Progress(ServerMessage, frozen=True, kw_only=True):
    """The races that run, at most once a second; replaces the former one."""

    tournament: TournamentCode
    races: list[LiveRace]


class Called(ServerMessage, frozen=True, kw_only=True):
    """A race waits for this player: join the room; the seat is held."""

    tournament: TournamentCode
    title: str
    match: str
    race: int
    room: RoomCode
    starts: Instant
    opponents: list[Name]
    no_show_s: int  # so long after the start without a play, the match is lost


class Place(ServerMessage, frozen=True, kw_only=True):
    """The viewer's own tournament: answers enter and the like, and comes when it changes."""

    tournament: TournamentCode
    phase: TournamentPhase
    entry: PlayerId | None = None  # None: the viewer has no place
    status: EntryStatus = "in"
    checked: bool = False
    seed: int | None = None
    place: int | None = None  # in the stage's standings
    points: float = 0
    match: str = ""  # the next one, if it is known
    room: RoomCode | None = None  # of the race that is called
    starts: Instant | None = None
    actions: list[str] = field(
        default_factory=list
    )  # enter, check-in, withdraw, rejoin: what may be said now
    path: list[PathLine] = field(default_factory=list)  # round by round


class Annals(ServerMessage, frozen=True, kw_only=True):
    """Entries of a tournament's journal, from `start` on, of `total`."""

    tournament: TournamentCode
    start: int
    total: int
    entries: list[str]


class Leaderboard(ServerMessage, frozen=True, kw_only=True):
    """Lines of the leaderboard, from `start` on, of `total`."""

    rules: str
    start: int
    total: int
    lines: list[RatingLine]


class History(ServerMessage, frozen=True, kw_only=True):
    """Answers career: the newest changes, latest first."""

    player: PlayerId
    rules: str
    rating: int | None = None  # None: none yet
    provisional: bool = False
    races: int = 0
    changes: list[RatingChange] = field(default_factory=list)
