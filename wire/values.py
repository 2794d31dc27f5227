"""The values that messages are made of: names and numbers with their limits, settings, lines.

Instants are Unix times in milliseconds of the store's clock, durations say their unit in the
name.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Name = Annotated[str, Meta(min_length=1, max_length=16)]
Title = Annotated[str, Meta(max_length=40)]
Password = Annotated[str, Meta(max_length=64)]
Token = Annotated[str, Meta(min_length=20, max_length=100)]
RoomCode = Annotated[str, Meta(min_length=1, max_length=12, pattern=r"^[0-9A-Za-z_-]+\Z")]
PlayerId = Annotated[str, Meta(min_length=1, max_length=24, pattern=r"^[0-9A-Za-z_-]+\Z")]
PlayNumber = Annotated[int, Meta(ge=1, le=1_000_000)]
MoveText = Annotated[str, Meta(min_length=1, max_length=12)]
Salt = Annotated[bytes, Meta(max_length=64)]
Instant = int
MAX_INSTANT = 2**53  # beyond it a double loses milliseconds

UndoPolicy = Literal["off", "safe", "free"]
ScoreKind = Literal["cards", "casino"]
SpectatorView = Literal["none", "scores", "boards"]
StartRule = Literal["ready", "host", "time"]
Phase = Literal["open", "locked", "running", "over"]
Outcome = Literal["playing", "solved", "resigned", "disqualified", "unfinished"]


class Settings(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a room races; chosen once by who opens it, published to all."""

    title: Title = ""
    rules: Annotated[str, Meta(max_length=200)] = "double-klondike"
    # A public seed; None asks for a fair deal whose secret is revealed afterwards.
    seed: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    time_limit_s: Annotated[int, Meta(ge=5, le=14_400)] = 900
    seats: Annotated[int, Meta(ge=1, le=16)] = 8
    score: ScoreKind = "cards"
    undo: UndoPolicy = "off"
    hints: bool = True
    chat: bool = True
    spectators: SpectatorView = "scores"
    delay_s: Annotated[int, Meta(ge=0, le=600)] = 0  # how far spectators lag behind
    start: StartRule = "ready"
    # with start="time"
    start_at: Annotated[Instant, Meta(ge=0, le=MAX_INSTANT)] | None = None
    countdown_s: Annotated[int, Meta(ge=0, le=60)] = 5
    public: bool = True


# A pile as its viewer may see it: the number of cards not shown, a colon, the cards
# shown from bottom to top, two characters each ("3:KHQS", "59:", "0:"). Piles are named
# as in move texts: "h" hand, "w" waste, "f1".."f8" foundations, "1".."9" columns.
Pile = str
Piles = dict[str, Pile]


class Seat(Struct, frozen=True, kw_only=True):
    """One player's place in a room, as everybody may see it."""

    player: PlayerId
    name: Name
    bot: bool = False
    host: bool = False
    ready: bool = False
    here: bool = True  # has a live connection to some node
    cards: int = 0  # on the foundations
    down: int = 0  # still face down in the columns
    score: int = 0
    moves: int = 0
    undos: int = 0
    outcome: Outcome = "playing"
    done_ms: int | None = None  # official time since the start at which the player was done
    place: int | None = None  # once the race is over


class Score(Struct, frozen=True, array_like=True):
    """One line of a score push."""

    seat: int  # index into Room.seats
    cards: int
    down: int
    score: int
    moves: int
    undos: int
    outcome: Outcome
    done_ms: int | None


class RoomLine(Struct, frozen=True, kw_only=True):
    """One room in the lobby."""

    room: RoomCode
    title: str
    rules: str
    phase: Phase
    taken: int
    seats: int
    host: str  # the host's name
    locked: bool  # wants a password
    spectators: SpectatorView
    opened: Instant


class Standing(Struct, frozen=True, kw_only=True):
    """One line of the final standings."""

    player: PlayerId
    name: Name
    bot: bool
    place: int
    outcome: Outcome
    cards: int
    down: int
    score: int
    moves: int
    undos: int
    finished_ms: int | None  # of a solved deal: official time since the start
    reached_ms: int  # when the final score was reached, since the start


class Reveal(Struct, frozen=True, kw_only=True):
    """What rebuilds the deal: see docs/fairness.md."""

    deal: str  # the deal's id
    commitment: str  # hex; empty for a public seed
    secret: str  # hex; empty for a public seed
    seed: str | None  # the public seed
    salts: list[str]  # hex, the players' own bytes in seat order
    position: str  # the layout as one line of text, hidden cards and all
