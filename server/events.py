"""Every event of a room's journal and its canonical bytes.

An event is one JSON object with its kind in `e` and its fields in declared order, so that
equal events have equal bytes. The journal puts the official time in front of it. A room
whose journal carries a newer format than this code knows is refused, never guessed at.
"""

import msgspec
from msgspec import Struct

from server.journaling import NewerFormat as NewerFormat
from server.journaling import UnknownEvent as UnknownEvent
from server.journaling import chain as chain
from wire.values import Settings

FORMAT = 1


class Event(Struct, frozen=True, tag=str.lower, tag_field="e", omit_defaults=True):
    """Base of all events of a room."""


class Opened(Event, frozen=True, kw_only=True):
    """The room exists. First entry of every journal."""

    format: int
    room: str
    deal: str  # the deal's id; rooms of one tournament round may share it
    settings: Settings
    commitment: str  # hex; empty with a public seed
    host: str  # player id; empty in a tournament, whose director is the host
    tournament: str = ""  # its code, where this race is one of its matches
    match: str = ""
    shared: bool = False  # other races use the deal too: the director reveals it


class Joined(Event, frozen=True, kw_only=True):
    """A player takes the next seat."""

    p: str
    name: str
    bot: bool = False


class Left(Event, frozen=True, kw_only=True):
    """A seat is free again; by the player, by the host's kick, or for being away."""

    p: str
    why: str  # left, kicked, away


class Hosted(Event, frozen=True, kw_only=True):
    """The host's role passes on."""

    p: str


class Readied(Event, frozen=True, kw_only=True):
    """A player is ready, with bytes of their own for the deal."""

    p: str
    salt: str = ""  # hex


class Unreadied(Event, frozen=True, kw_only=True):
    """A player is not ready any more."""

    p: str


class Locked(Event, frozen=True, kw_only=True):
    """Seats and salts are frozen; the start is `countdown_ms` after this event."""

    countdown_ms: int


class Started(Event, frozen=True, kw_only=True):
    """The layout goes out; the race runs."""


class Played(Event, frozen=True, kw_only=True):
    """Play n of a player: a legal move in full text."""

    p: str
    n: int
    m: str


class Undone(Event, frozen=True, kw_only=True):
    """Play n of a player: takes the last move back."""

    p: str
    n: int


class Resigned(Event, frozen=True, kw_only=True):
    """A player gives up."""

    p: str


class Disqualified(Event, frozen=True, kw_only=True):
    """A player is put out of the race."""

    p: str
    by: str  # the host; empty in a tournament, whose own journal tells
    why: str


class Over(Event, frozen=True, kw_only=True):
    """The race has ended; no play follows."""

    why: str  # finished, time, stuck, resigned, aborted


class Revealed(Event, frozen=True, kw_only=True):
    """The deal's secret, once nobody plays the deal any more."""

    secret: str  # hex


class Followed(Event, frozen=True, kw_only=True):
    """The one rematch of this room."""

    room: str


AnyEvent = (
    Opened
    | Joined
    | Left
    | Hosted
    | Readied
    | Unreadied
    | Locked
    | Started
    | Played
    | Undone
    | Resigned
    | Disqualified
    | Over
    | Revealed
    | Followed
)

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEvent)


def encode(event: AnyEvent) -> bytes:
    """Give an event's canonical bytes."""
    return _encoder.encode(event)


def decode(payload: bytes) -> AnyEvent:
    """Read an event.

    Raises:
        UnknownEvent: the bytes are of a newer version, or damaged.
    """
    try:
        return _decoder.decode(payload)
    except msgspec.MsgspecError as error:
        raise UnknownEvent(f"cannot read the journal entry {payload[:80]!r}: {error}") from None
