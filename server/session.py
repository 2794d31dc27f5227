"""The connection machine, without I/O: what one connection may say, and how often.

States and what moves between them:

    new --welcomed--> lobby --seated--> seated --left--> lobby
                      lobby --watching--> watching --left--> lobby

From a room, join and spectate lead straight to another one, or to the other role.

What may be said in which state is a table. Frames that are no message, messages out of
place and floods of chat are answered with a typed error; a peer that keeps sending bad
frames is closed. Whether a request makes sense in the *race* is not decided here.
"""

from typing import Final, Literal

from msgspec import UNSET, UnsetType

from server.rate import Rate
from wire import messages as m
from wire import tournaments as w
from wire.codec import BadFrame, decode_client

State = Literal["new", "lobby", "seated", "watching"]
Transition = Literal["welcomed", "seated", "watching", "left"]

_Kinds = frozenset[type[m.ClientMessage]]

# What is said about tournaments is said from everywhere, a seat in a race included.
TOURNAMENTS: Final[_Kinds] = frozenset(
    {
        w.Organise,
        w.Direct,
        w.Webhook,
        w.Tournaments,
        w.Enter,
        w.CheckIn,
        w.Withdraw,
        w.Rejoin,
        w.Visit,
        w.Browse,
        w.Chronicle,
        w.Ratings,
        w.Career,
    }
)
_ALWAYS: Final[_Kinds] = TOURNAMENTS | {m.Ping, m.Rooms, m.Record}
_IN_ROOM: Final[_Kinds] = _ALWAYS | _Kinds(
    (m.Leave, m.Snapshot, m.Join, m.Spectate, m.Kick, m.Start, m.Disqualify, m.Chat)
)

SAYABLE: Final[dict[State, frozenset[type[m.ClientMessage]]]] = {
    "new": frozenset({m.Hello}),
    "lobby": _ALWAYS | _Kinds((m.Create, m.Join, m.Spectate)),
    "seated": _IN_ROOM
    | _Kinds((m.Ready, m.Unready, m.Move, m.Undo, m.Finish, m.Resign, m.Hint, m.Rematch)),
    "watching": _IN_ROOM,
}

NEXT: Final[dict[tuple[State, Transition], State]] = {
    ("new", "welcomed"): "lobby",
    ("lobby", "seated"): "seated",
    ("lobby", "watching"): "watching",
    ("seated", "seated"): "seated",
    ("seated", "watching"): "watching",
    ("watching", "seated"): "seated",
    ("watching", "watching"): "watching",
    ("seated", "left"): "lobby",
    ("watching", "left"): "lobby",
}

BAD_FRAMES_ALLOWED: Final = 5
CHAT_BURST: Final = 5
CHAT_PER_S: Final = 0.5


class Fault(Exception):
    """What came is not acceptable; `error` goes to the peer, then `close` if there is one."""

    def __init__(
        self,
        code: str,
        reason: str,
        close: m.Close | None = None,
        request: m.ClientMessage | None = None,
    ) -> None:
        """`request` is what came, where it could be read."""
        super().__init__(reason)
        re, n = ("", UNSET) if request is None else named(request)
        self.error = m.Error(code=code, reason=reason, re=re, n=n)
        self.close = close


def named(request: m.ClientMessage) -> tuple[str, int | UnsetType]:
    """Give what an answer names a request by: its tag, and the number of a play."""
    return type(request).__name__.lower(), getattr(request, "n", UNSET)


class Session:
    """One connection's state."""

    def __init__(self) -> None:
        """A session starts new: nothing but a hello may be said."""
        self.state: State = "new"
        self._bad_frames = 0
        self._chat = Rate(CHAT_PER_S, CHAT_BURST)

    def receive(self, data: bytes, now: float) -> m.ClientMessage:
        """Read a frame's payload; `now` in seconds of any steady clock.

        Raises:
            Fault: the bytes are no message, or not one that may be said now.
        """
        try:
            message = decode_client(data)
        except BadFrame as error:
            self._bad_frames += 1
            enough = self._bad_frames >= BAD_FRAMES_ALLOWED
            raise Fault("bad-frame", str(error), m.Close.INVALID if enough else None) from None
        if type(message) not in SAYABLE[self.state]:
            raise self._out_of_place(message)
        if type(message) is m.Chat and not self._chat.takes(now):
            reason = "Too much chat at once; wait a few seconds."
            raise Fault("slow-down", reason, request=message)
        return message

    def _out_of_place(self, message: m.ClientMessage) -> Fault:
        tag, _ = named(message)
        match self.state:
            case "new":
                return Fault("hello-first", "The first message is hello.", m.Close.POLICY, message)
            case _ if tag == "hello":
                return Fault("not-now", "Hello is said once, as the first message.", None, message)
            case "lobby":
                return Fault("no-room", f"{tag} needs a room: enter one first.", None, message)
            case "watching" if tag != "create":
                return Fault("spectator", f"A spectator cannot {tag}.", None, message)
            case _:
                return Fault("not-now", f"{tag} cannot be said here; leave first.", None, message)

    def move(self, transition: Transition) -> None:
        """Go on to the next state; a transition that the table lacks is our fault."""
        self.state = NEXT[self.state, transition]
