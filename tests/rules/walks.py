"""Random positions for tests: walks through a game, every rule text worth a look."""

import random
from collections.abc import Iterator
from itertools import product

from hypothesis import strategies as st

from server.rules import RULES, Move, Position, Rules, deal

# Every preset, every value of each parameter, and every pairing of the three that decide
# which moves are legal, so that no policy is met in one company only.
RULE_TEXTS: tuple[str, ...] = (
    *RULES,
    *(f"double-klondike,columns={columns}" for columns in range(1, 9)),
    "double-klondike,decks=1",
    "double-klondike,sizes=9-1-1-20-3-3",
    "double-klondike,sizes=12-12-12-12-12-12-12-10-10",
    "klondike-familiar,decks=2",
    "klondike-familiar,draw=2,passes=2",
    "klondike-familiar,passes=99",
    *(
        f"{base},build={build},empty={empty},run={run},foundation_return={back}"
        for base, build, empty, run, back in product(
            ("double-klondike,draw=2", "klondike-easy"),
            ("alternate", "any_other_suit"),
            ("king", "any"),
            ("any_suffix", "full_or_top", "full_only"),
            ("no", "yes"),
        )
    ),
)


def walk(rules: Rules, seed: str, steps: int) -> Iterator[tuple[Position, Move]]:
    """Yields each position of a game played at random, with the move that leaves it.

    The player prefers moves that are neither draws nor idle, so that games go deep.
    """
    chance = random.Random(f"{rules.text()} {seed}")
    position = deal(rules, seed)
    for _ in range(steps):
        moves = position.legal_moves()
        if not moves:
            return
        move = chance.choice(moves)
        if chance.random() < 0.7:
            move = chance.choice(_busy(moves) or moves)
        yield position, move
        position = position.play(move)


def _busy(moves: list[Move]) -> list[Move]:
    home = [move for move in moves if move.text().endswith("f")]
    return home or [move for move in moves if move.text() != "d" and move.text()[0] != "f"]


@st.composite
def positions(draw: st.DrawFn, rule_texts: tuple[str, ...] = RULE_TEXTS) -> Position:
    """Draws a position from a game of any rules."""
    rules = Rules.parse(draw(st.sampled_from(rule_texts)))
    position = deal(rules, str(draw(st.integers(0, 10**6))))
    for choice in draw(st.lists(st.integers(0, 199), max_size=120)):
        moves = position.legal_moves()
        if not moves:
            break
        position = position.play(moves[choice % len(moves)])
    return position
