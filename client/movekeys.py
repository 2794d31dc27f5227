"""Keys over a board: a move is two of them, its half lies on the desk; and the cursor."""

from dataclasses import replace
from typing import Final

from client.cards import columns, foundations, parse_pile
from client.desk import Ask, Desk, Pressed, Say
from client.model import State
from wire.messages import Hint

# The unshifted upper row of French keyboards.
_FRENCH: Final = dict(zip("&é\"'(-è_ç", "123456789", strict=True))


def press(desk: Desk, state: State, key: str) -> Pressed:
    """Take one key of somebody who races in."""
    key = _FRENCH.get(key, key)
    match key:
        case " ":
            return let_go(desk), [Ask("d")]
        case "w" | "f" | "enter" | "+":
            return _press_pile(desk, state, key)
        case _ if len(key) == 1 and key in "123456789":
            return _press_pile(desk, state, key)
        case "u":
            return let_go(desk), [Ask("undo")]
        case "a":
            return let_go(desk), [Ask("finish")]
        case "h":
            return _want_hint(let_go(desk), state)
        case _:
            return desk, []


def let_go(desk: Desk) -> Desk:
    """Drop what is half-typed."""
    return replace(desk, half="", count=0)


def _want_hint(desk: Desk, state: State) -> Pressed:
    if not state.may("hint"):
        return desk, [Hint()]  # the server says why not
    return replace(desk, hinting=True), [Say("")]  # what was said before makes room


def _press_pile(desk: Desk, state: State, key: str) -> Pressed:
    if key == "enter":
        return _press_enter(desk, state)
    if key == "+":
        return _pick_more(desk, state), []
    if not desk.half:
        return _lift(desk, state, key)
    if desk.half == "f":
        # Which foundation: rank and suit do not tell it, two decks have twins.
        known = state.board is not None and f"f{key}" in foundations(state.board.piles)
        return replace(desk, half=f"f{key}" if known else "f"), []
    if key == "f" or key == desk.half:
        return let_go(desk), [Ask(f"{desk.half}>f")]
    if key == "w":
        return _lift(let_go(desk), state, "w")
    count = f":{desk.count}" if desk.count and desk.half.isdecimal() else ""
    return let_go(desk), [Ask(f"{desk.half}>{key}{count}")]


def _lift(desk: Desk, state: State, pile: str) -> Pressed:
    board = state.board
    if board is None:
        return desk, []
    if pile.isdecimal() and pile not in columns(board.piles):
        return desk, [Say(f"There is no column {pile}.")]
    if pile != "f" and parse_pile(board.piles.get(pile, "0:")).size == 0:
        where = "The waste" if pile == "w" else f"Column {pile}"
        return desk, [Say(f"{where} is empty.")]
    return replace(desk, half=pile, count=0), []


def _pick_more(desk: Desk, state: State) -> Desk:
    if not desk.half.isdecimal() or state.board is None:
        return desk
    most = len(parse_pile(state.board.piles.get(desk.half, "0:")).cards)
    return replace(desk, count=(desk.count + 1) % (most + 1))


def _press_enter(desk: Desk, state: State) -> Pressed:
    if desk.cursor == "h":
        return let_go(desk), [Ask("d")]
    if desk.cursor and desk.cursor != desk.half:
        return _press_pile(desk, state, desk.cursor)
    if desk.half and desk.half[0] != "f":
        return let_go(desk), [Ask(f"{desk.half}>")]
    return desk, []


def moved_cursor(cursor: str, state: State, key: str) -> str:
    """Move over hand, waste and foundations above, and the columns below."""
    if state.board is None:
        return ""
    below = list(columns(state.board.piles))
    above = ["h", "w", "f"]
    if not cursor or not below:
        return below[0] if below else ""
    row = above if cursor in above else below
    at = row.index(cursor) if cursor in row else 0
    match key:
        case "left" | "right":
            return row[(at + (1 if key == "right" else -1)) % len(row)]
        case "up" if row is below:
            return above[min(2, at * 3 // len(below))]
        case "down" if row is above:
            return below[min(len(below) - 1, (0, 2, 5)[at])]
        case _:
            return cursor
