"""The rules engine beside python-chess: list the legal moves of a position and play one.

Both sides run in turns in one process, so that a busy machine slows both down. Figures are
medians over positions, each the best of several timings.

    python -m bench.rules
"""

import random
import statistics
import time
from collections.abc import Callable
from functools import partial

import chess

from server.rules import RULES, Move, Position, deal
from server.rules.stuck import is_stuck
from server.rules.view import changed

POSITIONS = 300
REPEATS, ROUNDS = 20, 5


def klondike_positions() -> list[tuple[Position, Move]]:
    """Returns positions of the middle of random games, with a move that is not idle."""
    chance = random.Random(1)
    found: list[tuple[Position, Move]] = []
    while len(found) < POSITIONS:
        position = deal(RULES["double-klondike"], str(len(found)))
        for step in range(120):
            move = chance.choice(position.hints())
            if step >= 40 and step % 8 == 0:
                found.append((position, move))
            position = position.play(move)
    return found[:POSITIONS]


def chess_positions() -> list[tuple[chess.Board, chess.Move]]:
    """Returns positions between ply 16 and 60 of random games, with a legal move."""
    chance = random.Random(1)
    found: list[tuple[chess.Board, chess.Move]] = []
    while len(found) < POSITIONS:
        board = chess.Board()
        for ply in range(60):
            moves = list(board.legal_moves)
            if not moves:
                break
            move = chance.choice(moves)
            if ply >= 16 and ply % 4 == 0:
                found.append((board.copy(), move))
            board.push(move)
    return found[:POSITIONS]


def microseconds(work: Callable[[], object]) -> float:
    """Returns the best of several timings of one call."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(REPEATS):
            work()
        best = min(best, (time.perf_counter() - started) / REPEATS)
    return best * 1e6


def list_and_play(position: Position, move: Move) -> None:
    """Lists the legal moves and plays one."""
    position.legal_moves()
    position.play(move)


def list_and_push(board: chess.Board, move: chess.Move) -> None:
    """Lists the legal moves and pushes one; the pop that follows is timed apart."""
    list(board.legal_moves)
    board.push(move)
    board.pop()


def push_and_pop(board: chess.Board, move: chess.Move) -> None:
    """Does what has to be taken off again: at most this much of it is the pop."""
    board.push(move)
    board.pop()


def referee(position: Position, text: str) -> None:
    """Does all that a move costs the referee: read, check, play, and what changed."""
    changed(position, position.play(position.resolve(Move.parse(text))))


def main() -> None:
    """Prints the medians and the ratio."""
    ours: list[float] = []
    theirs: list[float] = []
    moves: list[float] = []
    stuck: list[float] = []
    for (position, move), (board, push) in zip(
        klondike_positions(), chess_positions(), strict=True
    ):
        ours.append(microseconds(partial(list_and_play, position, move)))
        # Half of push and pop counts as the pop, which is more than it takes: python-chess
        # gets the benefit.
        pop = microseconds(partial(push_and_pop, board, push)) / 2
        theirs.append(microseconds(partial(list_and_push, board, push)) - pop)
        moves.append(microseconds(partial(referee, position, move.text())))
        stuck.append(microseconds(partial(is_stuck, position)))
    our, their = statistics.median(ours), statistics.median(theirs)
    print(f"positions                              {len(ours)} each")
    print(f"list + play, Double Klondike           {our:8.1f} us")
    print(f"list + push, python-chess {chess.__version__:<12} {their:8.1f} us")
    print(f"ratio (1.00 or less is wanted)         {our / their:8.2f}")
    print(f"parse + resolve + play + changed       {statistics.median(moves):8.1f} us")
    print(f"stuck test                             {statistics.median(stuck):8.1f} us")


if __name__ == "__main__":
    main()
