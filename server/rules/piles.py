"""Columns and foundations: the piles that more than one module looks into."""

from typing import NamedTuple

from server.rules.cards import EMPTY, NEEDS, RANK, Card, Cards
from server.rules.variant import Rules

# A foundation is told by its top card alone, EMPTY where it has none: what lies below follows.
Foundations = tuple[Card, ...]


class Column(NamedTuple):
    """A column, bottom to top: first what is face down, then what is face up."""

    down: Cards
    up: Cards

    @property
    def top(self) -> Card:
        """The card at the open end, EMPTY without one."""
        return self.up[-1] if self.up else EMPTY


EMPTY_COLUMN = Column((), ())


def run_length(rules: Rules, up: Cards) -> int:
    """Returns how many cards at the open end are in order, one on the other (rules 3.3)."""
    takes = rules.takes
    length = min(1, len(up))
    while length < len(up) and up[-length] in takes[up[-length - 1]]:
        length += 1
    return length


def liftable(rules: Rules, up: Cards) -> tuple[int, ...]:
    """Returns the counts of cards that may leave these face-up cards together."""
    run = run_length(rules, up)
    return rules.lifts[run == len(up)][run]


def home_of(foundations: Foundations, card: Card) -> int | None:
    """Returns the first foundation that takes a card."""
    needed = NEEDS[card]
    return foundations.index(needed) if needed in foundations else None


def cards_home(foundations: Foundations) -> int:
    """Returns how many cards lie on the foundations."""
    return sum([RANK[top] for top in foundations])
