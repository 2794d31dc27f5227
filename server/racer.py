"""One player's place in a race and what they did with it."""

from dataclasses import dataclass, field

from server.rules import Position
from wire.values import Outcome


@dataclass(slots=True)
class Racer:
    """One player's place in the race and what they did with it."""

    id: str
    name: str
    bot: bool
    ready: bool = False
    salt: bytes = b""
    board: Position | None = None
    former: list[Position] = field(default_factory=list)  # only where undo is allowed
    plays: list[tuple[str, int]] = field(default_factory=list)  # (text, official time) by n - 1
    moves: int = 0
    undos: int = 0
    reached_at: int = 0  # when cards and down became what they are
    outcome: Outcome = "playing"
    done_at: int | None = None
    # The move that the referee has just allowed: (board, text, board after it). The fold
    # takes the result from here instead of playing the same move twice.
    ahead: tuple[Position, str, Position] | None = None
    _counted: tuple[Position | None, int, int] = (None, 0, 0)
    # Proved by whoever follows the race: nothing more can be gained. That no play can
    # gain anything holds after every further play, too; only an undo leads out of it.
    is_stuck: bool = False

    @property
    def n(self) -> int:
        """The last play number that counts."""
        return len(self.plays)

    @property
    def cards(self) -> int:
        """Cards on the foundations."""
        return self._count()[1]

    @property
    def down(self) -> int:
        """Cards still face down in the columns."""
        return self._count()[2]

    def _count(self) -> tuple[Position | None, int, int]:
        # Once a board: every play asks several times, for the order, the push, the answer.
        board = self.board
        if self._counted[0] is not board:
            self._counted = (board, board.cards, board.down) if board else (None, 0, 0)
        return self._counted

    @property
    def is_done(self) -> bool:
        """Whether this player's race has ended."""
        return self.outcome != "playing"
