"""Who may do what when: the table that every act is checked against.

`by` is a player's id, "owner" or "referee"; the latter two are roles that whoever runs the
tournament has made sure of.
"""

from typing import Final, Literal

from server.refusal import Refusal
from server.tournament.records import Phase
from server.tournament.state import State

Role = Literal["owner", "referee", "player"]

_RULINGS: Final = frozenset(
    {"extend", "restart", "void", "override", "disqualify", "reinstate", "publish", "announce"}
)
_CONDUCT: Final = frozenset({"pause", "resume", "repair", "hold", "remove", "readmit", "summon"})
_OWNER_ONLY: Final = frozenset({"cancel", "substitute", "invite", "new-token"})
_BEFORE: Final = frozenset(
    {"edit", "invite", "new-token", "remove", "open-check-in", "seed", "start", "extend"}
    | {"announce", "cancel"}
)
_PAUSED: Final = _RULINGS | _CONDUCT - {"pause"}
_RUNNING: Final = _RULINGS | _CONDUCT - {"resume"}

# phase -> role -> acts
ALLOWED: Final[dict[Phase, dict[Role, frozenset[str]]]] = {
    "draft": {
        "owner": _BEFORE,
        "referee": frozenset({"open-check-in", "announce"}),
        "player": frozenset({"enter", "withdraw"}),
    },
    "check-in": {
        "owner": (_BEFORE | {"close-check-in", "check-in-for"}) - {"edit", "open-check-in"},
        "referee": frozenset({"close-check-in", "check-in-for", "announce"}),
        "player": frozenset({"enter", "withdraw", "check-in"}),
    },
    "running": {
        "owner": _RUNNING | _OWNER_ONLY,
        "referee": _RUNNING,
        "player": frozenset({"enter", "withdraw", "rejoin"}),
    },
    "paused": {
        "owner": _PAUSED | _OWNER_ONLY,
        "referee": _PAUSED,
        "player": frozenset({"enter", "withdraw", "rejoin"}),
    },
    "finished": {
        "owner": _RULINGS - {"extend"},
        "referee": frozenset({"announce"}),
        "player": frozenset(),
    },
    "cancelled": {
        "owner": frozenset({"announce"}),
        "referee": frozenset(),
        "player": frozenset(),
    },
}

_NOT_NOW: Final[dict[Phase, str]] = {
    "draft": "The tournament has not started yet.",
    "check-in": "The tournament is about to start: check-in is open.",
    "running": "The tournament is running.",
    "paused": "The tournament is paused.",
    "finished": "The tournament is over.",
    "cancelled": "The tournament is cancelled.",
}


_WHILE: Final[dict[Phase, str]] = {
    "draft": "before check-in and start",
    "check-in": "while check-in is open",
    "running": "while it runs",
    "paused": "while it is paused",
    "finished": "once it is over",
    "cancelled": "once it is cancelled",
}

# What to do where it is too early, or too late.
_INSTEAD: Final[dict[tuple[Phase, str], str]] = {
    ("draft", "hold"): "Until then the setting hold says it.",
    ("draft", "check-in-for"): "Open check-in first.",
    ("draft", "check-in"): "The organiser opens check-in.",
    ("check-in", "edit"): "Close check-in first.",
}


def role(by: str) -> Role:
    """Give the role in which somebody acts."""
    if by == "owner":
        return "owner"
    return "referee" if by == "referee" else "player"


def actions(state: State, by: str) -> list[str]:
    """Give what somebody in this role may do now, by the acts' names."""
    return sorted(ALLOWED[state.phase][role(by)])


def check(state: State, by: str, act: str) -> None:
    """Refuse what the table does not allow.

    Raises:
        Refusal: with the reason for whoever asked.
    """
    who = role(by)
    if act in ALLOWED[state.phase][who]:
        return
    phases = [_WHILE[phase] for phase, roles in ALLOWED.items() if act in roles[who]]
    if phases:
        told = [
            _NOT_NOW[state.phase],
            f"{act.capitalize()} is possible {' or '.join(phases)}.",
            _INSTEAD.get((state.phase, act), ""),
        ]
        raise Refusal("not-now", " ".join(filter(None, told)))
    raise Refusal("not-yours", f"That is not for a {who} of this tournament to do.")


def check_why(why: str) -> None:
    """Refuse a ruling without a reason."""
    if not why.strip():
        raise Refusal("no-reason", "Say why: the reason goes into the audit log.")
