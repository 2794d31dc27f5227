"""A position: one immutable value, from which every move makes another (rules 3)."""

from typing import NamedTuple

from server.rules import finish, legal, notation
from server.rules.cards import NEEDS, Card, Cards
from server.rules.check import Fault, check
from server.rules.move import FOUNDATION, HAND, WASTE, Move
from server.rules.piles import EMPTY_COLUMN, Column, Foundations, cards_home, run_length
from server.rules.variant import Rules

_new = tuple.__new__  # half the time of calling the class, on the way of every move


class Position(NamedTuple):
    """Where every card lies.

    Positions share the piles that a move leaves alone: to take a move back, keep the
    position before it. `turn` is the pass through the hand that is under way, from 1.
    """

    rules: Rules
    hand: Cards  # the next card to be drawn first
    waste: Cards  # bottom to top
    foundations: Foundations
    columns: tuple[Column, ...]  # left to right
    turn: int

    # --- moves ---

    def legal_moves(self) -> list[Move]:
        """Returns every full move that may be played now."""
        return legal.legal_moves(self)

    def hints(self) -> list[Move]:
        """Returns the legal moves without those that only shift a column to an empty place."""
        return [move for move in legal.legal_moves(self) if not legal.is_idle(self, move)]

    def is_legal(self, move: Move) -> bool:
        """Whether a full move may be played now; one that leaves something out is not full."""
        return move.is_full and legal.refusal(self, move) is None

    def resolve(self, move: Move) -> Move:
        """Returns the full, legal move that is meant: the door for moves from outside.

        Raises:
            IllegalMove: with the reason.
        """
        return legal.resolve(self, move)

    def play(self, move: Move) -> "Position":
        """Returns the position after a full, legal move, which is not checked again."""
        rules, hand, waste, foundations, columns, turn = self
        source, target = move.source, move.target
        if source == HAND:
            return self._draw()
        changing = list(columns)
        if source < WASTE:
            column = columns[source]
            count = move.count or 0
            moved = column.up[-count:]
            changing[source] = _without(rules, column, count)
        elif source == WASTE:
            moved, waste = waste[-1:], waste[:-1]
        else:
            place = source - FOUNDATION
            moved = foundations[place : place + 1]
            foundations = _with_top(foundations, place, NEEDS[moved[0]])
        if target == FOUNDATION:
            card = moved[0]
            foundations = _with_top(foundations, foundations.index(NEEDS[card]), card)
        elif target is not None:
            down, up, run = columns[target]
            changing[target] = _new(Column, (down, up + moved, run + len(moved)))
        return _new(Position, (rules, hand, waste, foundations, tuple(changing), turn))

    def _draw(self) -> "Position":
        rules, hand, waste, foundations, columns, turn = self
        if not hand:
            # The waste is turned over: its bottom card is the first of the next pass (rules 3.6).
            return Position(rules, waste, (), foundations, columns, turn + 1)
        packet = rules.draw
        waste = waste + hand[:packet]
        return _new(Position, (rules, hand[packet:], waste, foundations, columns, turn))

    # --- what it is worth, and how it ends ---

    @property
    def cards(self) -> int:
        """The number of cards on the foundations."""
        return cards_home(self.foundations)

    @property
    def down(self) -> int:
        """The number of cards still face down in the columns."""
        number = 0
        for column in self.columns:
            number += len(column[0])
        return number

    @property
    def is_solved(self) -> bool:
        """Whether every card is on the foundations."""
        return self.cards == self.rules.cards

    @property
    def can_finish(self) -> bool:
        """Whether only going home is left: nothing hidden, hand and waste empty, not solved."""
        return finish.can_finish(self)

    def finish_moves(self) -> list[Move]:
        """Returns the moves that take every card home; none unless `can_finish`."""
        return finish.finish_moves(self)

    # --- text ---

    def text(self) -> str:
        """Returns one line with every card, face-down ones in lower case; `parse` reads it."""
        return notation.text(self)

    @classmethod
    def parse(cls, text: str) -> "Position":
        """Reads a line of `text`; whether it is sound is for `check` to say.

        Raises:
            ValueError: says which field is wrong (RulesError for the rules).
        """
        return cls(*notation.parse(text))

    def check(self) -> Fault:
        """Returns the invariants that do not hold; none in a sound position."""
        return check(self)


def _without(rules: Rules, column: Column, count: int) -> Column:
    """Returns what a column is after its last cards have left and the next is turned up."""
    down, up, run = column
    if len(up) > count:
        left = up[:-count]
        return _new(Column, (down, left, run - count or run_length(rules, left)))
    return _new(Column, (down[:-1], down[-1:], 1)) if down else EMPTY_COLUMN


def _with_top(foundations: Foundations, place: int, top: Card) -> Foundations:
    return (*foundations[:place], top, *foundations[place + 1 :])
