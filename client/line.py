"""What a lost connection means: come back, and when, or stay away.

Pure. The table follows the close codes of `wire.messages.Close`; whatever is not in it is
an ordinary drop of the line.
"""

from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from wire.messages import Close

# Held up: connected, and the server has not answered the hello.
Status = Literal["connecting", "held up", "online", "waiting", "ended"]


@dataclass(frozen=True, slots=True)
class Line:
    """The state of the connection, as a player is told of it."""

    status: Status = "connecting"
    why: str = ""  # of waiting and ended
    retry_at: float | None = None  # monotonic instant of the next try
    trip_ms: float | None = None
    is_answered: bool = False  # of waiting: a server is there, and does not take us just now


@dataclass(frozen=True, slots=True)
class Loss:
    """How a connection ended: a close code with its reason, or none and what failed."""

    code: int | None
    reason: str
    is_final: bool = False  # the server's answer to the opening: no use in trying again


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do about a loss; seconds to wait lie anywhere between the bounds."""

    why: str
    is_final: bool = False
    forget_token: bool = False
    least: float = 0.0
    most: float = 0.0
    is_answered: bool = False  # the server is there, and does not take this client just now

    def delay(self, chance: Random) -> float:
        """Draw the seconds to wait, so that many clients do not come back at once."""
        return chance.uniform(self.least, self.most)


FIRST_DELAY: Final = 0.5  # seconds; doubled with every failure up to the longest
LONGEST_DELAY: Final = 15.0

_FINAL: Final[dict[int, str]] = {
    Close.PROTOCOL_ERROR: "The server did not understand this client",
    Close.UNSUPPORTED: "The server did not understand this client",
    Close.INVALID: "The server did not understand this client",
    Close.TOO_BIG: "The server did not understand this client",
    Close.POLICY: "The server refused this connection",
    Close.REPLACED: "You are playing from another window; this one has stopped",
    Close.VERSION: "Client and server do not fit together",
}

_PAUSES: Final[dict[int, tuple[str, float, float]]] = {
    Close.RESTART: ("the server restarts", 0.2, 2.0),
    Close.OVERLOAD: ("the server is full", 3.0, 8.0),
    Close.FLOOD: ("too many messages", 3.0, 6.0),
}


def judge(loss: Loss, failures: int) -> Verdict:
    """Decide about a loss after so many failures in a row."""
    code = loss.code
    if loss.is_final:
        return Verdict(loss.reason, is_final=True)
    if code in _FINAL:
        return Verdict(_sentence(_FINAL[code], loss.reason), is_final=True)
    if code == Close.BAD_TOKEN:
        return Verdict("the server does not know this player any more", forget_token=True)
    longest = min(LONGEST_DELAY, FIRST_DELAY * 2**failures)
    why, least, most = _PAUSES.get(code or 0, ("the line dropped", longest / 2, longest))
    if failures > 0:
        least, most = longest / 2, longest
    return Verdict(loss.reason or why, least=least, most=most, is_answered=code in _PAUSES)


def _sentence(ours: str, theirs: str) -> str:
    return f"{ours}: {theirs}" if theirs else f"{ours}."
