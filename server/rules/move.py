"""Moves: which piles, how many cards, never which cards (rules 4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from server.rules.variant import MAX_COLUMNS, MAX_DECKS

# Piles by number: columns are 0 to 8, the rest follows.
WASTE: Final = MAX_COLUMNS
HAND: Final = WASTE + 1
FOUNDATION: Final = HAND + 1  # a target: whichever takes the card; FOUNDATION + i: a source
FOUNDATIONS: Final = 4 * MAX_DECKS
LONGEST_RUN: Final = 13


class IllegalMove(ValueError):
    """A move cannot be played; `code` is for programs, `reason` a sentence for the player."""

    def __init__(self, code: str, reason: str) -> None:
        """Keeps both."""
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Move:
    """A move from pile to pile.

    `target` None leaves the target to the rules; `count` None leaves out how many cards go
    from column to column. A move without either None is full.
    """

    source: int
    target: int | None
    count: int | None = 1

    @classmethod
    def parse(cls, text: str) -> "Move":
        """Reads a move.

        Raises:
            IllegalMove: with the code "unreadable".
        """
        move = _MOVE_OF.get(text)
        if move is None:
            raise IllegalMove(
                "unreadable",
                f"{text[:12]!r} is not a move: write d, w>f, w>3, 5>f, 5>2 or 5>2:4.",
            )
        return move

    def text(self) -> str:
        """Returns the only text of this move; `parse` reads it back."""
        if self.source == HAND:
            return "d"
        source = pile_text(self.source)
        if self.target is None:
            return f"{source}>"
        target = "f" if self.target == FOUNDATION else pile_text(self.target)
        counted = self.source < WASTE and self.target < WASTE and self.count is not None
        return f"{source}>{target}:{self.count}" if counted else f"{source}>{target}"

    @property
    def is_full(self) -> bool:
        """Whether target and count are both known."""
        return self.target is not None and self.count is not None


def pile_text(pile: int) -> str:
    """Returns a pile's name, the same in moves and on the wire: 1 to 9, w, h, f1 to f8."""
    if pile < WASTE:
        return str(pile + 1)
    if pile < FOUNDATION:
        return "w" if pile == WASTE else "h"
    return f"f{pile - FOUNDATION + 1}"


# --- every move there is, made once -----------------------------------------------------

DRAW: Final = Move(HAND, WASTE)
WASTE_HOME: Final = Move(WASTE, FOUNDATION)
WASTE_TO: Final = tuple(Move(WASTE, column) for column in range(MAX_COLUMNS))
HOME: Final = tuple(Move(column, FOUNDATION) for column in range(MAX_COLUMNS))
# SHIFT[source][target][count]; the entry of count 0 is the move that does not say how many.
SHIFT: Final = tuple(
    tuple(
        tuple(Move(source, target, count or None) for count in range(LONGEST_RUN + 1))
        for target in range(MAX_COLUMNS)
    )
    for source in range(MAX_COLUMNS)
)
# RETURN[foundation][column]
RETURN: Final = tuple(
    tuple(Move(FOUNDATION + foundation, column) for column in range(MAX_COLUMNS))
    for foundation in range(FOUNDATIONS)
)
SOURCE_ONLY: Final = tuple(Move(source, None, None) for source in (*range(MAX_COLUMNS), WASTE))


def every_move() -> Iterator[Move]:
    """Yields every move that has a text, full or not."""
    yield DRAW
    yield WASTE_HOME
    yield from WASTE_TO
    yield from HOME
    yield from SOURCE_ONLY
    for source, by_target in enumerate(SHIFT):
        for target, by_count in enumerate(by_target):
            if source != target:
                yield from by_count
    for by_column in RETURN:
        yield from by_column


_MOVE_OF = {move.text(): move for move in every_move()}
