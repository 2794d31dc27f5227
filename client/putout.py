"""Putting somebody out of the race: who, why, and whether that is meant.

Pure. Lies over the race like a form; what it leads to cannot be taken back, so it asks last.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from client.model import State
from client.words import clean
from wire.messages import Disqualify
from wire.text import tidied
from wire.values import Seat

WHY_LIMIT: Final = 100  # as much as two lines show of it; the wire takes twice that

_STEPS: Final[dict[str, int]] = {"left": -1, "up": -1, "right": 1, "down": 1}


@dataclass(frozen=True, slots=True)
class PutOut:
    """How far the host is with it."""

    player: str
    why: str = ""
    step: Literal["who", "why", "sure"] = "who"


def racing(state: State) -> list[Seat]:
    """Give the others who still race."""
    room = state.room
    if room is None:
        return []
    return [
        seat
        for number, seat in enumerate(room.seats)
        if number != room.seat and seat.outcome == "playing"
    ]


def press(over: PutOut, state: State, key: str) -> tuple[PutOut | None, Sequence[Disqualify]]:
    """Take one key in; None once it is done or dropped."""
    if key == "esc":
        return None, []
    match over.step:
        case "who":
            return _press_who(over, state, key), []
        case "why":
            return _press_why(over, key), []
        case "sure":
            meant = [Disqualify(player=over.player, why=over.why)] if key in ("y", "Y") else []
            return None, meant


def _press_who(over: PutOut, state: State, key: str) -> PutOut | None:
    players = [seat.player for seat in racing(state)]
    if over.player not in players:  # done meanwhile
        return replace(over, player=players[0]) if players else None
    if key == "enter":
        return replace(over, step="why")
    at = players.index(over.player) + _STEPS.get(key, 0)
    return replace(over, player=players[at % len(players)])


def _press_why(over: PutOut, key: str) -> PutOut:
    if key == "enter":
        why = tidied(over.why)
        return replace(over, why=why, step="sure") if why else over
    if key == "backspace":
        return replace(over, why=over.why[:-1])
    if len(key) == 1 and key.isprintable():
        return replace(over, why=(over.why + key)[:WHY_LIMIT])
    return over


def question(over: PutOut, state: State) -> str:
    """Say what is asked at this step."""
    name = clean(state.name_of(over.player))
    match over.step:
        case "who":
            return f"Disqualify < {name} >?   [arrows another one, Enter, Esc nobody]"
        case "why":
            return f"Why {name}, for all to read: {clean(over.why)}_"
        case "sure":
            return f"Disqualify {name} for good? (y/n)   {clean(over.why)}"
