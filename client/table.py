"""A board on the canvas: hand, waste and foundations above, columns below.

Pure. The face-down cards of a column fold into one row with their number, so that the
longest build fits 24 rows; where there are rows to spare they unfold.
"""

from dataclasses import dataclass
from typing import Final

from client.canvas import Canvas
from client.cards import Pile, columns, foundations, parse_pile
from client.style import Ink, Style, ink_of

TALL: Final = 30  # rows of the screen from which on face-down cards unfold
SPACIOUS: Final = 104  # columns from which on cards are drawn wider

TOP: Final = 1  # first of the two rows with hand, waste and foundations


@dataclass(frozen=True, slots=True)
class Marks:
    """What is picked out on a board."""

    lifted: str = ""  # the pile a move starts from
    count: int = 0  # cards lifted; 0: as many as fit, shown on the whole run
    cursor: str = ""
    pending: frozenset[str] = frozenset()  # piles of moves without an answer
    # Where the lifted cards may go, or all piles of the legal moves asked for; as far as is known.
    targets: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()  # what somebody else has just changed


@dataclass(frozen=True, slots=True)
class Place:
    """Where a board goes: the rows of its columns, and whether the screen is large."""

    numbers: int  # the row of the column numbers
    first: int
    last: int
    unfolds: bool = False
    wide: bool = False

    @property
    def pitch(self) -> int:
        """Cells from one column to the next."""
        return 8 if self.wide else 6


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a column: a card, a back, or what is folded away."""

    card: str = ""
    down: int = 0
    hidden: int = 0  # face-up cards that have no row, on a screen that is too low


def fit(pile: Pile, rows: int, *, unfolds: bool) -> list[Row]:
    """Lay a column out in so many rows; its open end is always there."""
    cards = [Row(card=card) for card in pile.cards]
    if unfolds and pile.size <= rows:
        return [Row(down=1) for _ in range(pile.down)] + cards
    head = [Row(down=pile.down)] if pile.down else []
    if len(head) + len(cards) <= rows:
        return head + cards
    kept = max(0, rows - len(head) - 1)
    result = [*head, Row(hidden=len(cards) - kept), *cards[len(cards) - kept :]]
    return result[len(result) - rows :] if rows > 0 else []


def paint_table(
    canvas: Canvas, piles: dict[str, str], place: Place, marks: Marks, style: Style
) -> None:
    """Paint a whole board."""
    _paint_hand(canvas, piles, marks, style)
    _paint_foundations(canvas, piles, marks, style)
    for index, (name, pile) in enumerate(columns(piles).items()):
        col = 1 + place.pitch * index
        _paint_number(canvas, place.numbers, col, name, place, marks)
        _paint_column(canvas, pile, name, col, place, marks, style)


def _paint_hand(canvas: Canvas, piles: dict[str, str], marks: Marks, style: Style) -> None:
    hand, waste = parse_pile(piles.get("h", "0:")), parse_pile(piles.get("w", "0:"))
    shown = waste.cards[-3:]
    under = waste.size - len(shown)
    canvas.put(TOP, 1, "hand", _label("h", marks))
    canvas.put(TOP, 8, f"w waste{f' +{under}' if under else ''}", _label("w", marks))
    if "w" in marks.targets:
        canvas.put(TOP, 7, "[w]", "good")
    canvas.put(TOP + 1, 1, f"[{style.down}{hand.size:>2}]", "dim" if hand.size else "plain")
    col = 9
    for at, card in enumerate(shown):
        is_open = at == len(shown) - 1
        if is_open:
            frame = (">", "<") if marks.lifted == "w" else ("[", "]")
            canvas.put(TOP + 1, col - 1, frame[0], "pick" if marks.lifted == "w" else "plain")
            canvas.put(TOP + 1, col + 3, frame[1], "pick" if marks.lifted == "w" else "plain")
        canvas.put(TOP + 1, col, style.card(card), ink_of(card) if is_open else "dim")
        col += 4
    if not shown:
        canvas.put(TOP + 1, 9, style.nothing, "dim")


def _paint_foundations(canvas: Canvas, piles: dict[str, str], marks: Marks, style: Style) -> None:
    canvas.put(TOP, 24, "f foundations", _label("f", marks))
    if any(name[0] == "f" for name in marks.targets):
        canvas.put(TOP, 23, "[f]", "good")
    for index, (name, pile) in enumerate(foundations(piles).items()):
        col = 23 + 4 * index
        if pile.top is None:
            canvas.put(TOP + 1, col + 1, style.nothing, "dim")
        else:
            ink: Ink = "pick" if marks.lifted == name else ink_of(pile.top)
            canvas.put(TOP + 1, col, style.card(pile.top), ink)
        if marks.lifted.startswith("f"):
            canvas.put(TOP + 2, col + 2, name[1:], "pick")


def _label(pile: str, marks: Marks) -> Ink:
    if pile == marks.cursor or (marks.lifted and pile == marks.lifted[0]):
        return "pick"
    if pile in marks.pending:
        return "warn"
    return "own" if pile in {name[0] for name in marks.touched} else "dim"


def _paint_number(
    canvas: Canvas, row: int, col: int, name: str, place: Place, marks: Marks
) -> None:
    left, right = " ", " "
    ink: Ink = "bold"
    if name in marks.touched:
        left, right, ink = "*", "*", "own"
    if name in marks.pending:
        left, right, ink = "~", "~", "warn"
    if name in marks.targets:
        left, right, ink = "[", "]", "good"
    if name == marks.cursor:
        left, right, ink = "<", ">", "pick"
    middle = col + (3 if place.wide else 2)
    canvas.put(row, middle - 1, f"{left}{name}{right}", ink)


def _paint_column(
    canvas: Canvas, pile: Pile, name: str, col: int, place: Place, marks: Marks, style: Style
) -> None:
    is_lifted = marks.lifted == name
    if pile.size == 0:
        canvas.put(place.first, col + (1 if place.wide else 0), "(   )", "dim")
        return
    layout = fit(pile, place.last - place.first + 1, unfolds=place.unfolds)
    count = marks.count or len(pile.cards)
    for offset, row in enumerate(layout):
        picked = is_lifted and bool(row.card) and offset >= len(layout) - count
        _paint_card(canvas, place.first + offset, col, row, picked, place, style)


def _paint_card(
    canvas: Canvas, at: int, col: int, row: Row, picked: bool, place: Place, style: Style
) -> None:
    if place.wide:
        col += 1
    if row.hidden:
        canvas.put(at, col + 1, f"+{row.hidden}", "dim")
    elif not row.card:
        number = f"{row.down}" if not place.unfolds or row.down > 1 else ""
        canvas.put(at, col + 1, f"{style.down}{number}", "dim")
        if place.wide:
            canvas.put(at, col - 1, "[", "dim")
            canvas.put(at, col + 5, "]", "dim")
    else:
        canvas.put(at, col + 1, style.card(row.card), ink_of(row.card))
        if picked:
            canvas.put(at, col, ">", "pick")
            canvas.put(at, col + 4, "<", "pick")
        elif place.wide:
            canvas.put(at, col - 1, "[", "dim")
            canvas.put(at, col + 5, "]", "dim")
