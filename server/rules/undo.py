"""Whether a move may be taken back (rules 9)."""

from typing import Literal

from server.rules.move import IllegalMove
from server.rules.position import Position

UndoPolicy = Literal["off", "safe", "free"]


def undo_refusal(policy: UndoPolicy, before: Position, after: Position) -> IllegalMove | None:
    """Returns why the move that led from `before` to `after` may not be taken back, or None."""
    if policy == "free":
        return None
    if policy == "off":
        return IllegalMove("undo-off", "Moves are not taken back in this race.")
    if has_revealed(before, after):
        return IllegalMove("undo-revealed", "That move showed a new card: it cannot be taken back.")
    return None


def has_revealed(before: Position, after: Position) -> bool:
    """Whether a move showed a card that its player had not seen.

    The waste shows a whole packet, so all of the hand is known from the second pass on.
    """
    drew_unseen = before.turn == 1 and len(after.hand) < len(before.hand)
    return drew_unseen or after.down < before.down
