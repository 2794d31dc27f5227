"""The exact test for a position in which nothing can be gained any more (rules 6.3).

A gain is more cards on the foundations than now, a card turned up, or a card taken from
the waste. Drawing and redealing only change which card of the waste is open; as long as
none is taken, the cards that can ever be open are known at once. So it is enough to
search the column moves (and, where cards come back from the foundations, those) for a
position with a gain in reach. In most games a single column move settles it; in the others
the search has a bound.
"""

from collections.abc import Iterator
from itertools import chain

from server.rules.cards import EMPTY, FOLLOWS, Card
from server.rules.piles import Column, Foundations
from server.rules.position import Position
from server.rules.variant import Build, Lift, Opening, Rules

# Positions looked at before the answer is "unknown"; about 50 us each.
BOUND = 1000

_NO_CARDS: frozenset[Card] = frozenset()

_Key = tuple[tuple[Card, ...], tuple[Column, ...]]


def is_stuck(position: Position, bound: int = BOUND) -> bool | None:
    """Whether no play from here ever gains anything; None if more than `bound` positions count.

    Nearly always a gain is in plain reach, and the answer takes a few microseconds.
    """
    return may_be_stuck(position) and _search(position, waste_tops(position), bound)


def may_be_stuck(position: Position) -> bool:
    """Whether no gain is in plain reach, so that only the search can tell; microseconds."""
    if position.is_solved or _feeds_a_column(position):
        return False
    return not _has_gain(position, waste_tops(position), position.cards)


def _feeds_a_column(position: Position) -> bool:
    """Whether a card that is yet to come in this pass goes on a column: the usual answer."""
    rules, hand, waste, _, columns, _ = position
    taken = _taken(rules, columns)
    return not taken.isdisjoint(hand[rules.draw - 1 :: rules.draw]) or (
        bool(waste) and waste[-1] in taken
    )


def waste_tops(position: Position) -> frozenset[Card]:
    """Returns every card that draws and redeals alone can make the open card of the waste."""
    rules, hand, waste, _, _, turn = position
    tops = {*waste[-1:], *hand[rules.draw - 1 :: rules.draw], *hand[-1:]}
    if rules.passes is None or turn < rules.passes:
        # Later passes are cut into packets from their own start; their last card is one
        # that ends this pass, too.
        tops.update((waste + hand)[rules.draw - 1 :: rules.draw])
    return frozenset(tops)


def _search(position: Position, tops: frozenset[Card], bound: int) -> bool | None:
    home = position.cards
    # Without hand and waste, legal_moves lists just the moves to search.
    start = position._replace(hand=(), waste=())
    if any(_has_gain(after, tops, home) for after in _successors(start)):
        return False
    if _does_one_shift_tell(position.rules):
        return True
    seen = {_key(start)}
    waiting = [start]
    while waiting:
        for after in _successors(waiting.pop()):
            key = _key(after)
            if key in seen:
                continue
            if _has_gain(after, tops, home):
                return False
            if len(seen) >= bound:
                return None
            seen.add(key)
            waiting.append(after)
    return True


def _does_one_shift_tell(rules: Rules) -> bool:
    """Whether a gain that no move and no single shift brings in reach is never reached.

    It is so where any card of a rank and colour that lies open takes any part of a run that
    lies on another of the same rank and colour. A shift from one to the other leaves the
    number of open cards of that kind as it was; a whole column laid on one lowers it; nothing
    raises it. So a card that can ever be freed for a foundation can be freed now, a column
    that can ever be emptied for a King can be emptied now, and cards that lack an open card
    to go to will lack it always (docs/rules.md, 6.3).
    """
    return (
        rules.build is Build.ALTERNATE
        and rules.run is Lift.ANY_SUFFIX
        and rules.empty is Opening.KING
        and not rules.foundation_return
    )


def _successors(position: Position) -> Iterator[Position]:
    return (position.play(move) for move in position.legal_moves())


def _key(position: Position) -> _Key:
    """Returns the same for positions that differ only in the places of their piles."""
    return tuple(sorted(position.foundations)), tuple(sorted(position.columns))


def _has_gain(position: Position, tops: frozenset[Card], home: int) -> bool:
    """Whether one move gains, with any card of `tops` open on the waste."""
    rules, columns = position.rules, position.columns
    taken = _taken(rules, columns)
    if not taken.isdisjoint(tops):
        return True
    for down, up, run in columns:
        if down and up[0] in taken and run == len(up):
            return True
    welcome = _welcome(position.foundations)
    if not welcome.isdisjoint(tops):
        return True
    # A card that came back from a foundation and goes home again is no gain.
    open_cards = chain.from_iterable(column.up[-1:] for column in columns)
    return position.cards >= home and not welcome.isdisjoint(open_cards)


def _taken(rules: Rules, columns: tuple[Column, ...]) -> frozenset[Card]:
    takes = rules.takes
    return _NO_CARDS.union(*[takes[up[-1] if up else EMPTY] for _, up, _ in columns])


def _welcome(foundations: Foundations) -> frozenset[Card]:
    return _NO_CARDS.union(*[FOLLOWS[top] for top in foundations])
