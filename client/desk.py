"""What the player is in the middle of, and the deeds that keys lead to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from client.forms import Form, Scheduled
from client.model import Tone
from client.putout import PutOut
from client.tournament.hall import Hall
from wire.messages import ClientMessage, Join, Spectate

PromptKind = Literal["chat", "code", "name", "password"]
ConfirmKind = Literal["quit", "resign", "leave", "kick"]

PROMPT_LIMITS: Final[dict[PromptKind, int]] = {"chat": 200, "code": 12, "name": 16, "password": 64}


@dataclass(frozen=True, slots=True)
class Help:
    """A page of keys lies over the screen: those of a race, or those of all around it."""

    around: bool = False


@dataclass(frozen=True, slots=True)
class Log:
    """What happened and was said in the room lies over the screen."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A line that is being typed."""

    kind: PromptKind
    text: str = ""
    room: str = ""  # of a password
    watch: bool = False  # to watch that room, not to play in it


@dataclass(frozen=True, slots=True)
class Confirm:
    """A question to be answered with y."""

    kind: ConfirmKind
    player: str = ""  # who is kicked


Overlay = Help | Log | Prompt | Confirm | Form | PutOut | Hall


@dataclass(frozen=True, slots=True)
class Desk:
    """What the player is in the middle of."""

    half: str = ""  # the pile a move starts from
    count: int = 0  # cards picked from it; 0: as many as fit
    cursor: str = ""  # the pile under the arrow keys' cursor
    panel: bool = False  # scores in the board's place, or boards in the standings' place
    hinting: bool = False  # the player asked for the legal moves
    row: int = 0  # selected line of a list
    seat: int = 0  # the board that a spectator looks at
    overlay: Overlay | None = None
    entering: Join | Spectate | None = None  # asked for, in case a password is wanted


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask for a play."""

    text: str


@dataclass(frozen=True, slots=True)
class GetReady:
    """Be ready, with random bytes for the deal."""


@dataclass(frozen=True, slots=True)
class Rename:
    """Come back under another name."""

    name: str


@dataclass(frozen=True, slots=True)
class Say:
    """Tell the player something."""

    text: str
    tone: Tone = "bad"


@dataclass(frozen=True, slots=True)
class Local:
    """Something about this program alone."""

    what: Literal["quit", "repaint", "colour", "ascii", "bell", "retry"]


Deed = ClientMessage | Ask | GetReady | Rename | Scheduled | Say | Local

Pressed = tuple[Desk, Sequence[Deed]]  # what a key leads to
