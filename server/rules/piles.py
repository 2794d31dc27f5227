"""Columns and foundations: the piles that more than one module looks into."""

from typing import NamedTuple

from server.rules.cards import EMPTY, RANK, Card, Cards
from server.rules.variant import Rules

# A foundation is told by its top card alone, EMPTY where it has none: what lies below follows.
Foundations = tuple[Card, ...]


class Column(NamedTuple):
    """A column, bottom to top: first what is face down, then what is face up.

    `run` is how many cards at the open end are in order, one on the other (rules 3.3). In a
    sound position that is all of `up`; it follows from `up` and is kept because it is asked
    for with every move.
    """

    down: Cards
    up: Cards
    run: int

    @classmethod
    def of(cls, rules: Rules, down: Cards, up: Cards) -> "Column":
        """Returns the column of these cards."""
        return cls(down, up, run_length(rules, up))

    @property
    def top(self) -> Card:
        """The card at the open end, EMPTY without one."""
        return self.up[-1] if self.up else EMPTY

    def liftable(self, rules: Rules) -> tuple[int, ...]:
        """Returns the counts of cards that may leave for another column together."""
        return rules.lifts[self.run == len(self.up)][self.run]


EMPTY_COLUMN = Column((), (), 0)


def run_length(rules: Rules, up: Cards) -> int:
    """Returns how many cards at the end of `up` are in order."""
    takes = rules.takes
    length = min(1, len(up))
    while length < len(up) and up[-length] in takes[up[-length - 1]]:
        length += 1
    return length


def cards_home(foundations: Foundations) -> int:
    """Returns how many cards lie on the foundations."""
    number = 0
    for top in foundations:
        number += RANK[top]
    return number
