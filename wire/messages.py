"""Every message of the protocol but those about tournaments, grouped by who speaks.

One frozen class a message; its tag on the wire is the class name in lower case, in the
field `t`. The prose for people who write a client is `docs/protocol.md`.
"""

from enum import IntEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from wire.values import (
    Instant,
    MoveText,
    Name,
    Outcome,
    Password,
    Phase,
    Piles,
    PlayerId,
    PlayNumber,
    Reveal,
    RoomCode,
    RoomLine,
    Salt,
    Score,
    Seat,
    Settings,
    Standing,
    Token,
)

PROTOCOL = 1
SUBPROTOCOL = "dk.v1"
MAX_CLIENT_FRAME = 4096  # bytes of one message from a client
# How long the server holds a request, a hello as well, while its store is away. Then it says so:
# whoever waits less for an answer never hears why there was none.
STORE_WAIT_S = 20.0

# --- a client speaks ------------------------------------------------------------------


class ClientMessage(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag=str.lower,
    tag_field="t",
):
    """Base of all that a client may say; unknown fields are refused."""


class Hello(ClientMessage, frozen=True, kw_only=True):
    """The first message: who is there. With `token`, the player of that token is back."""

    v: Annotated[int, Meta(ge=0, le=65_535)]
    client: Annotated[str, Meta(max_length=40)] = ""
    name: Name | None = None
    token: Token | None = None
    bot: bool = False
    # Which run of the program this is, and the how manieth line of it: a line that was
    # opened earlier and comes late then gives way to a newer one, whoever is faster.
    run: Annotated[str, Meta(max_length=24, pattern=r"^[0-9A-Za-z_-]*\Z")] = ""
    line: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0


class Create(ClientMessage, frozen=True, kw_only=True):
    """Opens a room and takes its first seat (or none, with `play` false)."""

    settings: Settings
    password: Password = ""
    play: bool = True


class Rooms(ClientMessage, frozen=True):
    """Asks for the public rooms."""


class Join(ClientMessage, frozen=True, kw_only=True):
    """Takes a seat."""

    room: RoomCode
    password: Password = ""


class Spectate(ClientMessage, frozen=True, kw_only=True):
    """Watches a room."""

    room: RoomCode
    password: Password = ""


class Leave(ClientMessage, frozen=True):
    """Gives the seat up: before the lock it is free again, in a race this resigns."""


class Ready(ClientMessage, frozen=True, kw_only=True):
    """Is ready, with bytes of the player's own for the deal."""

    salt: Salt = b""


class Unready(ClientMessage, frozen=True):
    """Is not ready after all."""


class Start(ClientMessage, frozen=True):
    """The host locks the room and starts the countdown."""


class Kick(ClientMessage, frozen=True, kw_only=True):
    """The host frees a seat before the lock."""

    player: PlayerId


class Disqualify(ClientMessage, frozen=True, kw_only=True):
    """The host puts a player out of the running race."""

    player: PlayerId
    why: Annotated[str, Meta(min_length=1, max_length=200)]


class Move(ClientMessage, frozen=True, kw_only=True):
    """Play number n of this player: a move as text."""

    n: PlayNumber
    m: MoveText


class Undo(ClientMessage, frozen=True, kw_only=True):
    """Play number n of this player: takes the last move back, if the room allows."""

    n: PlayNumber


class Finish(ClientMessage, frozen=True, kw_only=True):
    """Plays all cards home from number n on; possible when only that is left to do."""

    n: PlayNumber


class Resign(ClientMessage, frozen=True):
    """Gives the race up."""


class Hint(ClientMessage, frozen=True):
    """Asks for the legal moves now, if the room allows."""


class Snapshot(ClientMessage, frozen=True):
    """Asks for everything anew: room and board."""


class Chat(ClientMessage, frozen=True, kw_only=True):
    """Says something to the room."""

    text: Annotated[str, Meta(min_length=1, max_length=200)]


class Rematch(ClientMessage, frozen=True):
    """Asks for the room that follows a finished one; one however many ask."""


class Record(ClientMessage, frozen=True, kw_only=True):
    """Asks for the journal of a finished room, from entry `start` on."""

    room: RoomCode
    start: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0


class Ping(ClientMessage, frozen=True, kw_only=True):
    """Measures the line and the clock; `c` comes back as it is."""

    c: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


# --- the server speaks ----------------------------------------------------------------


class ServerMessage(Struct, frozen=True, tag=str.lower, tag_field="t", omit_defaults=True):
    """Base of all that a server says; clients ignore fields and tags they do not know."""


class Welcome(ServerMessage, frozen=True, kw_only=True):
    """Answers a hello. `token` is given once, to a new player; keep it to come back."""

    v: int
    server: str
    player: PlayerId
    name: Name
    now: Instant
    token: Token | None = None
    room: RoomCode | None = None  # the room this player is back in


class Lobby(ServerMessage, frozen=True, kw_only=True):
    """Answers rooms."""

    rooms: list[RoomLine]


class Room(ServerMessage, frozen=True, kw_only=True):
    """A room, whole; replaces all that was known of it."""

    room: RoomCode
    version: int  # of the journal
    settings: Settings
    phase: Phase
    commitment: str  # hex of the fair deal's commitment, empty for a public seed
    seats: list[Seat]
    seat: int | None = None  # the viewer's own index in seats; None for a spectator
    actions: list[str]  # the messages this viewer may send now, by tag
    now: Instant
    opened: Instant
    spectators: int = 0
    locked: bool = False  # wants a password
    starts: Instant | None = None
    ends: Instant | None = None
    next_room: RoomCode | None = None  # the rematch


class News(ServerMessage, frozen=True, kw_only=True):
    """Something happened in the room, for the log line: see docs/protocol.md for kinds."""

    kind: str
    player: PlayerId | None = None
    name: str | None = None
    text: str = ""
    at: Instant


class Countdown(ServerMessage, frozen=True, kw_only=True):
    """The room is locked; the race starts at `starts`."""

    starts: Instant
    remaining_ms: int
    salts: list[str]  # hex, in seat order: what the players put into the deal


class Board(ServerMessage, frozen=True, kw_only=True):
    """A board, whole: the layout at the start, and the answer to any doubt."""

    seat: int
    n: int  # the last play number that counts
    piles: Piles
    cards: int
    down: int
    score: int
    moves: int
    undos: int
    turn: int  # the pass through the hand that is under way, from 1
    passes: int | None  # how many there are, None without limit
    can: list[str] = []  # of draw, redeal, undo, finish
    stuck: bool = False  # proved: nothing more can be gained
    outcome: Outcome = "playing"


class Moved(ServerMessage, frozen=True, kw_only=True):
    """Play n counts: the piles that changed, whole. Sent once it is in the journal."""

    n: int
    m: str  # the move as the referee read it, or "undo"
    piles: Piles
    cards: int
    down: int
    score: int
    moves: int
    undos: int
    turn: int
    at: Instant
    can: list[str] = []
    stuck: bool = False
    outcome: Outcome = "playing"


class Refused(ServerMessage, frozen=True, kw_only=True):
    """The request `re` was understood and cannot be done; nothing has changed."""

    re: str
    code: str
    reason: str
    n: int | UnsetType = UNSET  # of a play


class Hints(ServerMessage, frozen=True, kw_only=True):
    """The legal moves after play n."""

    n: int
    moves: list[str]


class Scores(ServerMessage, frozen=True, kw_only=True):
    """Everybody's line; replaces the former push."""

    version: int
    lines: list[Score]


class Finished(ServerMessage, frozen=True, kw_only=True):
    """The viewer's own race is done: solved, resigned or put out."""

    outcome: Outcome
    done_ms: int


class Standings(ServerMessage, frozen=True, kw_only=True):
    """The race is over."""

    room: RoomCode
    reason: str  # finished, time, stuck, resigned, aborted
    rows: list[Standing]
    head: str  # hex of the hash chain over the whole journal
    reveal: Reveal | None = None  # later, where other races still use the deal


class Chatted(ServerMessage, frozen=True, kw_only=True):
    """Somebody said something."""

    player: PlayerId
    name: Name
    text: str
    at: Instant


class Left(ServerMessage, frozen=True, kw_only=True):
    """The viewer is no longer in the room; `kind` is left, kicked, away, closed, lost."""

    room: RoomCode
    kind: str


class Follow(ServerMessage, frozen=True, kw_only=True):
    """The room that follows the finished one; join it like any other."""

    room: RoomCode


class Journal(ServerMessage, frozen=True, kw_only=True):
    """Entries of a finished room's journal, from `start` on, of `total`."""

    room: RoomCode
    start: int
    total: int
    entries: list[str]


class Pong(ServerMessage, frozen=True, kw_only=True):
    """Answers a ping: `c` as it came, `s` the server's time."""

    c: int
    s: Instant


class Store(ServerMessage, frozen=True, kw_only=True):
    """The store behind the server does not answer or takes nothing in (`waiting`), or does again."""

    waiting: bool


class Error(ServerMessage, frozen=True, kw_only=True):
    """The sender's bytes were wrong, or something failed on our side."""

    code: str
    reason: str
    re: str = ""  # the request; empty where the bytes were none, or nobody asked
    n: int | UnsetType = UNSET  # of a play


# --- closing --------------------------------------------------------------------------


class Close(IntEnum):
    """Close codes; what a client does about each is in docs/protocol.md."""

    NORMAL = 1000
    GOING_AWAY = 1001
    PROTOCOL_ERROR = 1002
    UNSUPPORTED = 1003  # a text frame
    INVALID = 1007  # undecodable, repeatedly
    POLICY = 1008
    TOO_BIG = 1009
    INTERNAL = 1011
    RESTART = 1012  # come back, here or on another node, with jitter
    OVERLOAD = 1013  # come back later
    BAD_TOKEN = 4001  # forget the token
    FLOOD = 4002
    REPLACED = 4003  # a newer connection of the same player; do not come back
    VERSION = 4004  # update the side that the reason names
    SLOW = 4005  # the peer does not read
