"""How things look: glyphs for the terminal at hand, and the names of inks.

Colour is never needed: without it the red suits are outlines and the black ones filled, and
in ASCII the red suits are small letters, so that what alternates can be told at a glance.
With colours, two warm hues are red and two cold or neutral ones black.
"""

from dataclasses import dataclass
from typing import Final, Literal

from client.cards import is_red, suit

Ink = Literal[
    "plain",
    "dim",
    "bold",
    "spade",
    "heart",
    "diamond",
    "club",
    "good",
    "bad",
    "warn",
    "pick",
    "own",
]

_FILLED: Final = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
_OUTLINED: Final = {"S": "♠", "H": "♡", "D": "♢", "C": "♣"}
# All that is painted of our own and is not ASCII, suits and what boxes are drawn with: one cell
# each, or two by the taste of East Asia.
GLYPHS: Final = frozenset(
    (*_FILLED.values(), *_OUTLINED.values(), *map(chr, range(0x2500, 0x25A0)))
)
_INKS: Final[dict[str, Ink]] = {"S": "spade", "H": "heart", "D": "diamond", "C": "club"}


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a player asks for on the command line."""

    ascii: bool = False
    bell: bool = False


@dataclass(frozen=True, slots=True)
class Style:
    """What the terminal can show, and what its user wants."""

    ascii: bool = False
    colour: bool = True
    bell: bool = False

    @property
    def down(self) -> str:
        """The back of cards, two cells."""
        return "##" if self.ascii else "▒▒"

    @property
    def bar(self) -> tuple[str, str]:
        """The full and the empty cell of a bar."""
        return ("#", ".") if self.ascii else ("█", "░")

    @property
    def across(self) -> str:
        """One cell of a level rule."""
        return "-" if self.ascii else "─"

    @property
    def upright(self) -> str:
        """One cell of an upright rule."""
        return "|" if self.ascii else "│"

    @property
    def nothing(self) -> str:
        """An empty foundation, two cells."""
        return "--" if self.ascii else "──"

    def card(self, card: str) -> str:
        """Write a card in three cells, "10♦" or " K♠"."""
        rank, letter = card[:1], suit(card)
        sign = self._suit(letter)
        return f"{'10' if rank == 'T' else rank:>2}{sign}"

    def _suit(self, letter: str) -> str:
        if self.ascii:
            return letter.lower() if is_red(f"?{letter}") else letter
        return (_FILLED if self.colour else _OUTLINED).get(letter, letter or "?")


def ink_of(card: str) -> Ink:
    """Give the ink of a card's suit."""
    return _INKS.get(suit(card), "plain")
