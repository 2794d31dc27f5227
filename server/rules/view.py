"""A position as its player may see it (rules 8).

Every board that leaves the server is made here. A pile is text: the number of cards not
shown, a colon, the cards shown from bottom to top.
"""

from server.rules.cards import RANK, TEXT, Card, Cards, cards_text
from server.rules.move import FOUNDATION, HAND, WASTE, pile_text
from server.rules.move import FOUNDATIONS as MAX_FOUNDATIONS
from server.rules.piles import Column
from server.rules.position import Position
from server.rules.variant import MAX_COLUMNS, MAX_DRAW

WASTE_SHOWN = MAX_DRAW

_HAND, _WASTE = pile_text(HAND), pile_text(WASTE)
_FOUNDATIONS = tuple(pile_text(FOUNDATION + place) for place in range(MAX_FOUNDATIONS))
_COLUMNS = tuple(pile_text(column) for column in range(MAX_COLUMNS))
# The text of a foundation by its top card; the last entry is found by the index EMPTY.
_FOUNDATION_TEXT = (*(f"{RANK[top] - 1}:{text}" for top, text in enumerate(TEXT)), "0:")


def piles(position: Position) -> dict[str, str]:
    """Returns every pile by its name."""
    seen = {_HAND: _hand(position.hand), _WASTE: _waste(position.waste)}
    for name, top in zip(_FOUNDATIONS, position.foundations, strict=False):
        seen[name] = _foundation(top)
    for name, column in zip(_COLUMNS, position.columns, strict=False):
        seen[name] = _column(column)
    return seen


def changed(before: Position, after: Position) -> dict[str, str]:
    """Returns the piles of `after` that differ from those of `before`, whole.

    Both are positions of one deal. Piles that they share cost one comparison each.
    """
    _, hand, waste, foundations, columns, _ = after
    seen = {}
    if hand is not before.hand and hand != before.hand:
        seen[_HAND] = _hand(hand)
    if waste is not before.waste and waste != before.waste:
        seen[_WASTE] = _waste(waste)
    former = before.foundations
    if foundations is not former:
        for place in range(len(foundations)):
            if foundations[place] != former[place]:
                seen[_FOUNDATIONS[place]] = _FOUNDATION_TEXT[foundations[place]]
    were = before.columns
    if columns is not were:
        for place in range(len(columns)):
            column = columns[place]
            if column is not were[place] and column != were[place]:
                seen[_COLUMNS[place]] = _column(column)
    return seen


def redacted(position: Position) -> str:
    """Returns the line of `Position.text` with every pile as its player sees it."""
    return " ".join(
        [
            position.rules.text(),
            str(position.turn),
            _hand(position.hand),
            _waste(position.waste),
            "/".join([_foundation(top) for top in position.foundations]),
            "/".join([_column(column) for column in position.columns]),
        ]
    )


def _hand(hand: Cards) -> str:
    return f"{len(hand)}:"


def _waste(waste: Cards) -> str:
    hidden = max(0, len(waste) - WASTE_SHOWN)
    return f"{hidden}:{cards_text(waste[hidden:])}"


def _foundation(top: Card) -> str:
    return _FOUNDATION_TEXT[top]


def _column(column: Column) -> str:
    return f"{len(column[0])}:{cards_text(column[1])}"
