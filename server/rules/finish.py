"""Taking the last cards home when nothing can go wrong any more (rules 6.2)."""

from typing import TYPE_CHECKING

from server.rules.cards import NEEDS
from server.rules.move import HOME, Move

if TYPE_CHECKING:
    from server.rules.position import Position


def can_finish(position: "Position") -> bool:
    """Whether all that is left lies face up in the columns."""
    if position.hand or position.waste:
        return False
    return any(column.up for column in position.columns) and not any(
        column.down for column in position.columns
    )


def finish_moves(position: "Position") -> list[Move]:
    """Returns the moves that take every card home, leftmost column first.

    The lowest card of all lies at an open end and its foundation waits for it, so a sound
    position is always solved by them.
    """
    moves: list[Move] = []
    while can_finish(position):
        move = _next_home(position)
        if move is None:
            break
        moves.append(move)
        position = position.play(move)
    return moves


def _next_home(position: "Position") -> Move | None:
    return next(
        (
            HOME[source]
            for source, column in enumerate(position.columns)
            if column.up and NEEDS[column.up[-1]] in position.foundations
        ),
        None,
    )
