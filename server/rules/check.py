"""The invariants of a position (rules 7)."""

from collections import Counter
from enum import IntFlag, auto
from typing import TYPE_CHECKING

from server.rules.cards import EMPTY, RANK, Cards, full_pack
from server.rules.piles import Foundations, run_length

if TYPE_CHECKING:
    from server.rules.position import Position


class Fault(IntFlag):
    """What is wrong with a position; Fault(0), which is false, if nothing is."""

    CARDS = auto()  # not every card of the pack exactly once for each deck
    PILES = auto()  # not as many columns or foundations as the rules say
    FACING = auto()  # a column shows no card though it has some
    RUN = auto()  # the face-up cards of a column are not one run
    HIDDEN = auto()  # more face-down cards in a column than were dealt to it
    STOCK = auto()  # more cards in hand and waste than were dealt, or not in whole packets
    TURN = auto()  # a pass that the rules do not have


def check(position: "Position") -> Fault:
    """Returns every invariant that does not hold."""
    rules, columns = position.rules, position.columns
    fault = Fault(0)
    if Counter(_all_cards(position)) != Counter(full_pack(rules.decks)):
        fault |= Fault.CARDS
    if len(columns) != rules.columns or len(position.foundations) != rules.foundations:
        fault |= Fault.PILES
    if any(down and not up for down, up, _ in columns):
        fault |= Fault.FACING
    if any(run_length(rules, up) != len(up) for _, up, _ in columns):
        fault |= Fault.RUN
    if any(len(column.down) >= size for column, size in zip(columns, rules.sizes, strict=False)):
        fault |= Fault.HIDDEN
    if not _is_stock_sound(position):
        fault |= Fault.STOCK
    if position.turn < 1 or (rules.passes is not None and position.turn > rules.passes):
        fault |= Fault.TURN
    return fault


def _all_cards(position: "Position") -> list[int]:
    cards = [*position.hand, *position.waste, *_beneath(position.foundations)]
    for down, up, _ in position.columns:
        cards += down + up
    return cards


def _beneath(foundations: Foundations) -> Cards:
    return tuple(
        card for top in foundations if top != EMPTY for card in range(top - RANK[top] + 1, top + 1)
    )


def _is_stock_sound(position: "Position") -> bool:
    rules, hand = position.rules, len(position.hand)
    drawn = rules.stock - hand
    if hand + len(position.waste) > rules.stock:
        return False
    # In the first pass the hand still tells how many packets have left it.
    return position.turn > 1 or hand == 0 or drawn % rules.draw == 0
