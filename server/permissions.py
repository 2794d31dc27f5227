"""What is allowed to whom in which phase of a room, as a table.

The referee, the list of actions sent to clients and the documentation are made from it.
"""

from typing import Final, Literal

from wire.values import Phase

Role = Literal["host", "player", "racer", "done", "spectator"]

# phase -> role -> what may be asked. A host who plays is both "host" and "player".
ALLOWED: Final[dict[Phase, dict[Role, frozenset[str]]]] = {
    "open": {
        "host": frozenset({"start", "kick", "leave", "chat"}),
        "player": frozenset({"ready", "unready", "leave", "chat"}),
        "spectator": frozenset({"join", "leave"}),
    },
    "locked": {
        "host": frozenset({"chat"}),
        "player": frozenset({"leave", "chat"}),
        "spectator": frozenset({"leave"}),
    },
    "running": {
        "host": frozenset({"disqualify", "chat"}),
        "racer": frozenset({"move", "undo", "finish", "hint", "resign", "leave", "chat"}),
        "done": frozenset({"leave", "chat"}),
        "spectator": frozenset({"leave"}),
    },
    "over": {
        "host": frozenset({"leave", "chat"}),
        "done": frozenset({"rematch", "leave", "chat"}),
        "spectator": frozenset({"leave"}),
    },
}

CLOSED: Final[dict[Phase, str]] = {
    "open": "The room is open.",
    "locked": "The race is about to start: nobody else can take a seat.",
    "running": "The race is running: nobody else can take a seat.",
    "over": "The race is over.",
}

# What the host does, and nobody else.
HOSTED: Final = frozenset({"start", "kick", "disqualify"})

# What a tournament's director does in its rooms instead of the players.
ARRANGED: Final = HOSTED | {"ready", "unready", "join", "rematch"}

NOT_NOW: Final[dict[Phase, str]] = {
    "open": "The race has not started yet.",
    "locked": "The race is about to start; wait for the layout.",
    "running": "The race is running.",
    "over": "The race is over.",
}
