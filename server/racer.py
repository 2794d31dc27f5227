"""One player's place in a race and what they did with it."""

from dataclasses import dataclass, field
from typing import NamedTuple

from server.rules import Position
from wire.values import Outcome


class Counted(NamedTuple):
    """A board, and what is asked of it again and again."""

    board: Position
    cards: int  # on the foundations
    down: int  # still face down in the columns


@dataclass(slots=True)
class Racer:
    """One player's place in the race and what they did with it."""

    id: str
    name: str
    bot: bool
    ready: bool = False
    salt: bytes = b""
    board: Position | None = None
    cards: int = 0  # on the foundations
    down: int = 0  # still face down in the columns
    former: list[Position] = field(default_factory=list)  # only where undo is allowed
    plays: list[tuple[str, int]] = field(default_factory=list)  # (text, official time) by n - 1
    moves: int = 0
    undos: int = 0
    reached_at: int = 0  # when cards and down became what they are
    outcome: Outcome = "playing"
    done_at: int | None = None
    # The move that the referee has just allowed: (board, text, what it leads to). The fold
    # takes the result from here instead of playing the same move twice.
    ahead: tuple[Position, str, Counted] | None = None
    # Proved by whoever follows the race: nothing more can be gained. That no play can
    # gain anything holds after every further play, too; only an undo leads out of it.
    is_stuck: bool = False

    @property
    def n(self) -> int:
        """The last play number that counts."""
        return len(self.plays)

    def count(self, board: Position) -> Counted:
        """Count a board; what it shares with the board now is not counted again."""
        now, cards, down = self.board, self.cards, self.down
        if now is None or board.foundations is not now.foundations:
            cards = board.cards
        if now is None or board.columns is not now.columns:
            down = board.down
        return Counted(board, cards, down)

    @property
    def is_done(self) -> bool:
        """Whether this player's race has ended."""
        return self.outcome != "playing"
