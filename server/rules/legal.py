"""Which moves are legal, and why the others are not (rules 3).

`refusal` judges one full move, `legal_moves` lists them all; referee, hints and bots
use the same two. `resolve` completes a move that leaves target or count out.
"""

from typing import TYPE_CHECKING

from server.rules.cards import (
    EMPTY,
    IS_RED,
    NAME,
    NEEDS,
    RANK,
    RANK_NAMES,
    SUIT_NAMES,
    Card,
)
from server.rules.move import (
    DRAW,
    FOUNDATION,
    HAND,
    HOME,
    RETURN,
    SHIFT,
    WASTE,
    WASTE_HOME,
    WASTE_TO,
    IllegalMove,
    Move,
)
from server.rules.variant import Build, Lift, Rules

if TYPE_CHECKING:
    from server.rules.position import Position


_NO_CARDS: frozenset[Card] = frozenset()


def legal_moves(position: "Position") -> list[Move]:
    """Returns every full move that may be played now."""
    rules, hand, waste, foundations, columns, turn = position
    takes, lifts = rules.takes, rules.lifts
    tops = [up[-1] if up else EMPTY for _, up, _ in columns]
    taken = _NO_CARDS.union(*[takes[top] for top in tops])
    moves = [DRAW] if hand or (waste and turn != rules.passes) else []
    if waste:
        card = waste[-1]
        if NEEDS[card] in foundations:
            moves.append(WASTE_HOME)
        if card in taken:
            moves += [WASTE_TO[target] for target, top in enumerate(tops) if card in takes[top]]
    for source, (_, up, run) in enumerate(columns):
        if not up:
            continue
        if NEEDS[up[-1]] in foundations:
            moves.append(HOME[source])
        for count in lifts[run == len(up)][run]:
            head = up[-count]
            if head in taken:  # never by its own column, whose open card is lower
                shifts = SHIFT[source]
                moves += [shifts[i][count] for i, top in enumerate(tops) if head in takes[top]]
    if rules.foundation_return:
        for place, card in enumerate(foundations):
            if card != EMPTY:
                moves += [RETURN[place][to] for to, top in enumerate(tops) if card in takes[top]]
    return moves


def is_idle(position: "Position", move: Move) -> bool:
    """Whether a legal move only carries a whole column to an empty one: nothing is gained."""
    source, target = move.source, move.target
    if source >= WASTE or target is None or target >= WASTE:
        return False
    column = position.columns[source]
    return not (column.down or position.columns[target].up) and move.count == len(column.up)


def refusal(position: "Position", move: Move) -> IllegalMove | None:
    """Returns why a full move cannot be played, None if it can."""
    if move.source == HAND:
        return _draw_refusal(position)
    return _lift_refusal(position, move) or _lay_refusal(position, move)


# --- completing a move ----------------------------------------------------------------


def resolve(position: "Position", move: Move) -> Move:
    """Returns the full, legal move that is meant.

    Raises:
        IllegalMove: it cannot be played, or it is not clear which is meant.
    """
    if move.target is None:
        return _suggested(position, move.source)
    if move.count is None:
        move = _counted(position, move.source, move.target)
    problem = refusal(position, move)
    if problem is not None:
        raise problem
    return move


def _counted(position: "Position", source: int, target: int) -> Move:
    """Fills in how many cards go from column to column (rules 4.2)."""
    for pile in (source, target):
        problem = _pile_refusal(position, pile)
        if problem is not None:
            raise problem
    column, top = position.columns[source], position.columns[target].top
    up = column.up
    if not up:
        raise _empty_column(source)
    takes = position.rules.takes[top]
    counts = [count for count in column.liftable(position.rules) if up[-count] in takes]
    if len(counts) > 1:
        raise IllegalMove(
            "ambiguous-count",
            f"Several counts are possible: say how many cards, as in {source + 1}>{target + 1}:1.",
        )
    if counts:
        return SHIFT[source][target][counts[0]]
    # None fits: judge the one count that its rank would allow, for the reason.
    count = RANK[top] - RANK[up[-1]] if top != EMPTY else len(up)
    if not 1 <= count <= len(up):
        raise _none_fits(position.rules, source, target, top)
    return SHIFT[source][target][count]


def _suggested(position: "Position", source: int) -> Move:
    """Finds the target of a move that names its source only (rules 4.3)."""
    if source == WASTE:
        if not position.waste:
            raise _empty_waste()
        return _suggested_for_waste(position)
    problem = _pile_refusal(position, source)
    if problem is not None:
        raise problem
    if not position.columns[source].up:
        raise _empty_column(source)
    return _suggested_for_column(position, source)


def _suggested_for_waste(position: "Position") -> Move:
    card = position.waste[-1]
    if NEEDS[card] in position.foundations:
        return WASTE_HOME
    takers = _takers(position, card)
    move = _only([WASTE_TO[target] for target in takers])
    if move is not None:
        return move
    empty = _first_empty(position)
    if empty is None or card not in position.rules.takes[EMPTY]:
        raise IllegalMove("no-target", f"The {NAME[card]} fits nowhere now.")
    return WASTE_TO[empty]


def _suggested_for_column(position: "Position", source: int) -> Move:
    down, up, _ = column = position.columns[source]
    if NEEDS[up[-1]] in position.foundations:
        return HOME[source]
    counts = column.liftable(position.rules)
    whole = [count for count in counts if count == len(up)]
    for lifted in (whole, counts):
        fitting = [(target, n) for n in lifted for target in _takers(position, up[-n])]
        move = _only([SHIFT[source][target][n] for target, n in fitting])
        if move is not None:
            return move
    empty = _first_empty(position)
    if whole and down and empty is not None and up[0] in position.rules.takes[EMPTY]:
        return SHIFT[source][empty][len(up)]
    raise IllegalMove("no-target", f"No card of column {source + 1} has a place to go.")


def _only(moves: list[Move]) -> Move | None:
    if len(moves) > 1:
        first, *_, last = moves
        raise IllegalMove(
            "ambiguous-target",
            f"There is more than one place for it: say which, {first.text()} or {last.text()}.",
        )
    return moves[0] if moves else None


def _takers(position: "Position", card: Card) -> list[int]:
    takes = position.rules.takes
    return [i for i, (_, up, _) in enumerate(position.columns) if up and card in takes[up[-1]]]


def _first_empty(position: "Position") -> int | None:
    return next((i for i, column in enumerate(position.columns) if not column.up), None)


# --- refusals -------------------------------------------------------------------------


def _draw_refusal(position: "Position") -> IllegalMove | None:
    if position.hand:
        return None
    if not position.waste:
        return IllegalMove("empty-hand", "Hand and waste are both empty.")
    if position.turn == position.rules.passes:
        times = "once" if position.turn == 1 else f"{position.turn} times"
        return IllegalMove("no-redeal", f"The hand may be dealt {times} only, and that is done.")
    return None


def _lift_refusal(position: "Position", move: Move) -> IllegalMove | None:
    """Judges whether the cards may leave their pile."""
    source, count = move.source, move.count
    assert count is not None
    if source == WASTE:
        return None if position.waste else _empty_waste()
    if 0 <= source < len(position.columns):
        _, up, run = position.columns[source]
        if not up:
            return _empty_column(source)
        if move.target == FOUNDATION or count in position.rules.lifts[run == len(up)][run]:
            return None
        return _run_refusal(position.rules, len(up), run, count)
    problem = _pile_refusal(position, source)
    if problem is not None:
        return problem
    if not position.rules.foundation_return:
        return IllegalMove("no-return", "Cards do not come back from the foundations in this game.")
    if position.foundations[source - FOUNDATION] == EMPTY:
        return IllegalMove("empty-foundation", "That foundation is empty.")
    return None


_LIFT_REASONS = {
    Lift.FULL_OR_TOP: "Only the whole face-up run or its last card moves to another column.",
    Lift.FULL_ONLY: "Only the whole face-up run moves to another column.",
}


def _run_refusal(rules: Rules, up: int, run: int, count: int) -> IllegalMove:
    """Says why so many cards do not leave a column with `up` cards face up, `run` in order."""
    if count > up:
        cards = "card is" if up == 1 else "cards are"
        return IllegalMove("face-down", f"Only {up} {cards} face up in that column.")
    if not 1 <= count <= run:
        return IllegalMove("not-a-run", f"Those {count} cards are not one run in order.")
    return IllegalMove("run-rule", _LIFT_REASONS[rules.run])


def _lay_refusal(position: "Position", move: Move) -> IllegalMove | None:
    """Judges whether the target takes cards that may leave their pile."""
    source, target, count = move.source, move.target, move.count
    assert target is not None
    assert count is not None
    if source >= WASTE or target >= WASTE:
        if count != 1:
            return IllegalMove("one-card", "Only one card at a time goes there.")
        if target >= WASTE and (target != FOUNDATION or source >= FOUNDATION):
            return IllegalMove("no-target", "Cards go to columns and foundations only.")
    head = _head(position, source, count)
    if target == FOUNDATION:
        return None if NEEDS[head] in position.foundations else _not_home_yet(head)
    if not 0 <= target < len(position.columns):
        return _no_pile()
    top = position.columns[target].top
    return None if head in position.rules.takes[top] else _misfit(position.rules, head, top)


def _head(position: "Position", source: int, count: int) -> Card:
    if source < WASTE:
        return position.columns[source].up[-count]
    return position.waste[-1] if source == WASTE else position.foundations[source - FOUNDATION]


def _pile_refusal(position: "Position", pile: int) -> IllegalMove | None:
    if 0 <= pile < len(position.columns):
        return None
    if FOUNDATION <= pile < FOUNDATION + len(position.foundations):
        return None
    return _no_pile()


def _no_pile() -> IllegalMove:
    return IllegalMove("no-pile", "This game has no such pile.")


def _empty_waste() -> IllegalMove:
    return IllegalMove("empty-waste", "The waste is empty.")


def _empty_column(column: int) -> IllegalMove:
    return IllegalMove("empty-column", f"Column {column + 1} is empty.")


def _not_home_yet(card: Card) -> IllegalMove:
    if RANK[card] == 1:
        return IllegalMove("not-yet", f"No foundation is free for the {NAME[card]}.")
    return IllegalMove(
        "not-yet", f"The {NAME[card]} goes home after the {NAME[NEEDS[card]]}, which is not there."
    )


def _misfit(rules: Rules, card: Card, top: Card) -> IllegalMove:
    if top == EMPTY:
        return IllegalMove("king-only", "Only a King goes to an empty column.")
    if RANK[card] == 13:
        return IllegalMove("does-not-fit", "A King goes to an empty column only.")
    wanted = _described(rules, card, RANK[card] + 1)
    return IllegalMove(
        "does-not-fit", f"The {NAME[card]} goes on {wanted}, not on the {NAME[top]}."
    )


def _none_fits(rules: Rules, source: int, target: int, top: Card) -> IllegalMove:
    if RANK[top] == 1:
        return IllegalMove("does-not-fit", "Nothing goes on an Ace in a column.")
    wanted = _described(rules, top, RANK[top] - 1)
    return IllegalMove(
        "does-not-fit",
        f"Column {target + 1} takes {wanted}, and column {source + 1} has none to move.",
    )


def _described(rules: Rules, card: Card, rank: int) -> str:
    """Names the cards of a rank that build with a card: "a red Nine", "an Eight not of Clubs"."""
    name = RANK_NAMES[rank - 1]
    if rules.build is Build.ALTERNATE:
        return f"a {'black' if IS_RED[card] else 'red'} {name}"
    article = "an" if name[0] in "AE" else "a"
    return f"{article} {name} not of {SUIT_NAMES[card // 13]}"
