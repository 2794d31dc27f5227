"""Cards and piles as the wire writes them, read for showing and for a bot's eye.

Pure. A card is rank and suit in two ASCII characters ("TH" is the ten of hearts); a pile is
the number of cards not shown, a colon, and the shown cards from bottom to top.
"""

from dataclasses import dataclass

RANKS = "A23456789TJQK"
SUITS = "CDHS"
RED = "DH"


@dataclass(frozen=True, slots=True)
class Pile:
    """A pile as this viewer may see it."""

    down: int = 0  # cards not shown
    cards: tuple[str, ...] = ()  # shown, bottom to top

    @property
    def size(self) -> int:
        """All cards of the pile."""
        return self.down + len(self.cards)

    @property
    def top(self) -> str | None:
        """The open card, None if none is shown."""
        return self.cards[-1] if self.cards else None


def parse_pile(text: str) -> Pile:
    """Read a pile; what cannot be read is an empty one, since only the server judges."""
    down, _, shown = text.partition(":")
    cards = tuple(shown[at : at + 2] for at in range(0, len(shown) - 1, 2))
    return Pile(int(down) if down.isdecimal() and len(down) < 4 else 0, cards)


def rank(card: str) -> int:
    """Give 1 for an ace to 13 for a king, 0 for what is no card."""
    return RANKS.find(card[:1]) + 1 if card else 0


def suit(card: str) -> str:
    """Give the letter of the suit."""
    return card[1:2]


def is_red(card: str) -> bool:
    """Whether the card counts as red."""
    return suit(card) in RED and suit(card) != ""


def columns(piles: dict[str, str]) -> dict[str, Pile]:
    """Give the columns of a board in their order, by name."""
    names = sorted((name for name in piles if name.isdecimal()), key=int)
    return {name: parse_pile(piles[name]) for name in names}


def foundations(piles: dict[str, str]) -> dict[str, Pile]:
    """Give the foundations of a board in their order, by name."""
    names = sorted(name for name in piles if name[:1] == "f" and name[1:].isdecimal())
    return {name: parse_pile(piles[name]) for name in names}
