"""A position as one line of text, and back (rules 5).

Six fields between single spaces: rules, turn, hand (next card first), waste (bottom
first), foundations (their top cards), columns (bottom first; face-down cards in lower
case). Piles of one field stand between slashes, "-" is an empty pile.
"""

import re
from typing import TYPE_CHECKING

from server.rules.cards import (
    CARD_OF,
    CARD_OF_DOWN,
    EMPTY,
    TEXT,
    TEXT_DOWN,
    Card,
    Cards,
    cards_text,
)
from server.rules.piles import Column, Foundations
from server.rules.variant import Rules

if TYPE_CHECKING:
    from server.rules.position import Position

Fields = tuple[Rules, Cards, Cards, Foundations, tuple[Column, ...], int]

_NONE = "-"


def text(position: "Position") -> str:
    """Returns the line, hidden cards and all."""
    rules, hand, waste, foundations, columns, turn = position
    return " ".join(
        [
            rules.text(),
            str(turn),
            _down_text(hand) or _NONE,
            cards_text(waste) or _NONE,
            "/".join([_NONE if top == EMPTY else TEXT[top] for top in foundations]),
            "/".join([_down_text(down) + cards_text(up) or _NONE for down, up, _ in columns]),
        ]
    )


def _down_text(cards: Cards) -> str:
    return "".join([TEXT_DOWN[card] for card in cards])


def parse(line: str) -> Fields:
    """Reads a line into the fields of a position.

    Raises:
        ValueError: says which field is wrong.
    """
    fields = line.split(" ")
    if len(fields) != 6:
        raise ValueError(
            f"a position has six fields (rules, turn, hand, waste, foundations, columns), "
            f"not {len(fields)}"
        )
    rules, turn, hand, waste, foundations, columns = fields
    game = Rules.parse(rules)
    return (
        game,
        _downs("hand", _pairs("hand", hand)),
        _ups("waste", _pairs("waste", waste)),
        tuple(_top(top) for top in foundations.split("/")),
        tuple(_column(game, column) for column in columns.split("/")),
        _turn(turn),
    )


def _turn(turn: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,5}", turn):
        raise ValueError(f"turn: {turn[:20]!r} is not the number of a pass")
    return int(turn)


def _pairs(field: str, cards: str) -> list[str]:
    if ":" in cards:
        raise ValueError(f"{field}: {cards[:20]!r} is redacted, its hidden cards cannot be read")
    return [] if cards == _NONE else [cards[at : at + 2] for at in range(0, max(len(cards), 1), 2)]


def _cards(field: str, pairs: list[str], known: dict[str, Card], form: str) -> Cards:
    for pair in pairs:
        if pair not in known:
            raise ValueError(f"{field}: {pair!r} is no card that is {form}")
    return tuple([known[pair] for pair in pairs])


def _downs(field: str, pairs: list[str]) -> Cards:
    return _cards(field, pairs, CARD_OF_DOWN, "face down (such as kh)")


def _ups(field: str, pairs: list[str]) -> Cards:
    return _cards(field, pairs, CARD_OF, "face up (such as KH)")


def _top(top: str) -> Card:
    cards = _ups("foundations", _pairs("foundations", top))
    if len(cards) > 1:
        raise ValueError(f"foundations: {top[:20]!r} names more than a top card")
    return cards[0] if cards else EMPTY


def _column(rules: Rules, column: str) -> Column:
    pairs = _pairs("columns", column)
    hidden = 0
    while hidden < len(pairs) and pairs[hidden] in CARD_OF_DOWN:
        hidden += 1
    down = _downs("columns", pairs[:hidden])
    return Column.of(rules, down, _ups("columns", pairs[hidden:]))
