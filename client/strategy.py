"""How a bot chooses its next move from those the server offers.

Pure but for the memory of one race, which the `Mind` holds. Nothing here decides what is
legal: it ranks offers by what they bring (a card home, a card turned, a card out of the
waste, an empty column with a king for it) and looks only at cards that are shown.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from client.cards import Pile, columns, foundations, parse_pile, rank, suit

_MOVE = re.compile(r"^(w|f\d|\d)>(f|\d)(?::(\d+))?$")

IDLE_PASSES: Final = 2  # whole passes through the hand without any gain
LOOSENINGS: Final = 40  # moves between columns tried in the hope of something, per gain


@dataclass(frozen=True, slots=True)
class View:
    """What a bot looks at: its own board."""

    piles: dict[str, str]
    cards: int  # home
    down: int  # face down in the columns
    turn: int  # the pass under way
    can: tuple[str, ...] = ()
    stuck: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A legal move, taken apart."""

    text: str
    source: str
    target: str
    count: int


@dataclass(slots=True)
class Mind:
    """One bot's memory of its race."""

    best: tuple[int, int, int] | None = None  # cards home, cards turned, cards out of the hand
    best_turn: int = 1
    loosened: int = 0
    seen: set[tuple[str, ...]] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)

    def choose(self, view: View, moves: list[str]) -> str | None:
        """Pick one of the legal moves; None gives the race up."""
        self._remember(view)
        if view.stuck:
            return None
        if "finish" in view.can:
            return "finish"
        offers = [offer for text in moves if (offer := read_offer(text, view.piles))]
        ranked = [(worth, offer) for offer in offers if (worth := value(view.piles, offer)) > 0]
        ranked = [each for each in ranked if self._is_new(view, each[1])]
        if ranked:
            return max(ranked, key=lambda each: each[0])[1].text
        if view.turn - self.best_turn < 1 and "d" in moves:
            return "d"
        loose = self._loosening(view, offers)
        if loose is not None:
            return loose
        return "d" if "d" in moves and view.turn - self.best_turn < IDLE_PASSES else None

    def guess(self, view: View) -> str | None:
        """Pick a move by its source alone, where the room gives no hints."""
        self._remember(view)
        if view.stuck:
            return None
        if "finish" in view.can:
            return "finish"
        by_depth = sorted(columns(view.piles).items(), key=lambda each: each[1].down or 99)
        sources = [name for name, pile in by_depth if pile.cards]
        for text in (*(f"{name}>" for name in sources), "w>"):
            # The same source on the same board would only move a king about.
            if text not in self.refused and self._is_fresh_source(view, text):
                self.refused.add(text)
                return text
        if {"draw", "redeal"} & set(view.can) and view.turn - self.best_turn < IDLE_PASSES:
            return "d"
        return None

    def _remember(self, view: View) -> None:
        left = (
            parse_pile(view.piles.get("h", "0:")).size + parse_pile(view.piles.get("w", "0:")).size
        )
        now = (view.cards, -view.down, -left)
        board = arrangement(view.piles)
        if self.best is None or now > self.best:
            self.best, self.best_turn, self.loosened = now, view.turn, 0
        if board not in self.seen:
            self.refused = set()
        self.seen.add(board)

    def _is_new(self, view: View, offer: Offer) -> bool:
        return arrangement(after(view.piles, offer)) not in self.seen

    def _is_fresh_source(self, view: View, text: str) -> bool:
        pile = parse_pile(view.piles.get(text[:-1], "0:"))
        return bool(pile.cards) and not (pile.down == 0 and rank(pile.cards[0]) == 13)

    def _loosening(self, view: View, offers: list[Offer]) -> str | None:
        if self.loosened >= LOOSENINGS:
            return None
        for offer in offers:
            if offer.target != "f" and offer.source != "w" and self._is_new(view, offer):
                self.loosened += 1
                return offer.text
        return None


def read_offer(text: str, piles: dict[str, str]) -> Offer | None:
    """Take a move between piles apart; None for a draw and for what is not understood."""
    match = _MOVE.match(text)
    if match is None:
        return None
    source, target, count = match.groups()
    if count is not None:
        return Offer(text, source, target, int(count))
    return Offer(text, source, target, _likely_count(piles, source, target))


def _likely_count(piles: dict[str, str], source: str, target: str) -> int:
    run = parse_pile(piles.get(source, "0:")).cards
    if target == "f" or not source.isdecimal():
        return 1
    onto = parse_pile(piles.get(target, "0:")).top
    if onto is None:
        return len(run)
    fitting = (count for count in range(1, len(run) + 1) if rank(run[-count]) == rank(onto) - 1)
    return next(fitting, 1)


def after(piles: dict[str, str], offer: Offer) -> dict[str, str]:
    """Give the piles as they may look after a move, as far as cards are shown."""
    result = dict(piles)
    source = parse_pile(piles.get(offer.source, "0:"))
    target = parse_pile(piles.get(offer.target, "0:"))
    moved, rest = source.cards[-offer.count :], source.cards[: -offer.count]
    if not rest and source.down:
        rest, source = ("??",), Pile(source.down - 1)
    result[offer.source] = f"{source.down}:{''.join(rest)}"
    if offer.target != "f":
        result[offer.target] = f"{target.down}:{''.join((*target.cards, *moved))}"
    return result


def arrangement(piles: dict[str, str]) -> tuple[str, ...]:
    """Give what makes two boards alike for a bot: columns in any order, waste and hand."""
    hand = str(parse_pile(piles.get("h", "0:")).size)
    waste = str(parse_pile(piles.get("w", "0:")).size)
    return (*sorted(text for name, text in piles.items() if name.isdecimal()), hand, waste)


def value(piles: dict[str, str], offer: Offer) -> int:
    """Rank a move: 0 is not worth making."""
    source = parse_pile(piles.get(offer.source, "0:"))
    turns = offer.source.isdecimal() and source.down > 0 and offer.count == len(source.cards)
    if offer.target == "f":
        return 900 + (50 if turns else 0) + (20 if offer.source != "w" else 0)
    if turns:
        # The shallow column first: an empty one is worth most.
        return 800 - source.down
    if offer.source == "w":
        return 500 + rank(source.top or "")
    if not offer.source.isdecimal():
        return 0
    if offer.count == len(source.cards):
        return 400 if rank(source.cards[0]) != 13 and _has_king_to_place(piles) else 0
    uncovered = source.cards[-offer.count - 1]
    return 600 if _goes_home(piles, uncovered) else 0


def _has_king_to_place(piles: dict[str, str]) -> bool:
    waste = parse_pile(piles.get("w", "0:")).top
    if waste is not None and rank(waste) == 13:
        return True
    return any(
        pile.down and pile.cards and rank(pile.cards[0]) == 13 for pile in columns(piles).values()
    )


def _goes_home(piles: dict[str, str], card: str) -> bool:
    if rank(card) == 1:
        return True
    return any(
        pile.top is not None and suit(pile.top) == suit(card) and rank(pile.top) == rank(card) - 1
        for pile in foundations(piles).values()
    )
