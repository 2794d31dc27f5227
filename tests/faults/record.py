"""What one client knows of its race: what it said, what was answered, what it was shown."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from wire.messages import Board, Moved, Standings


class Answer(NamedTuple):
    """A play that was acknowledged."""

    n: int
    text: str
    at: int


class Seen(NamedTuple):
    """A board as the client had it when play n was the last one."""

    n: int
    piles: dict[str, str]
    cards: int
    down: int
    score: int
    moves: int
    undos: int


def seen(message: Board | Moved, n: int, piles: dict[str, str]) -> Seen:
    """The board that a message leaves the client with."""
    return Seen(
        n,
        dict(piles),
        message.cards,
        message.down,
        message.score,
        message.moves,
        message.undos,
    )


@dataclass(repr=False)
class Record:
    """Everything that one player can hold against the server."""

    name: str
    player: str = ""
    room: str = ""
    sent: dict[int, set[str]] = field(default_factory=dict)  # by number, as it was asked for
    answers: list[Answer] = field(default_factory=list)
    boards: list[Seen] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)  # by code
    errors: Counter[str] = field(default_factory=Counter)
    standings: list[Standings] = field(default_factory=list)
    # How many answers and boards there were when the server said that the store had lost
    # its last moments: those may differ from the journal, and only those.
    resynchronised: list[tuple[int, int]] = field(default_factory=list)
    is_forgotten: bool = False  # heard that its room is gone, or that nobody knows it
    waits: int = 0  # how often it heard that the store was away
    resumes: list[float] = field(default_factory=list)  # seconds from the loss to the board
    losses: Counter[int] = field(default_factory=Counter)  # by close code
    thrown_out: int = 0  # closed as replaced with no newer connection of its own
    trips: list[float] = field(default_factory=list)  # seconds from a play to its answer

    def ask(self, n: int, text: str) -> None:
        """Notes a play that was sent, for the first time or again."""
        self.sent.setdefault(n, set()).add(text)

    def __repr__(self) -> str:
        return f"<Record of {self.name} in {self.room}: {len(self.answers)} answers>"
