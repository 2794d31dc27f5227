"""Cards as small integers, and the tables that answer every question about one.

A card is `13 * suit + rank - 1`, suits in the order C, D, H, S and ranks from 1 (Ace) to
13 (King). Twins of a second deck are the same number: nothing in the game tells them apart.
"""

Card = int
Cards = tuple[Card, ...]

RANKS = "A23456789TJQK"
SUITS = "CDHS"
RANK_NAMES = (
    *("Ace", "Two", "Three", "Four", "Five", "Six", "Seven"),
    *("Eight", "Nine", "Ten", "Jack", "Queen", "King"),
)
SUIT_NAMES = ("Clubs", "Diamonds", "Hearts", "Spades")

PACK: Cards = tuple(range(52))
EMPTY = -1  # stands for the top card of a pile that has none

TEXT = tuple(rank + suit for suit in SUITS for rank in RANKS)
TEXT_DOWN = tuple(text.lower() for text in TEXT)
CARD_OF = {text: card for card, text in enumerate(TEXT)}
CARD_OF_DOWN = {text: card for card, text in enumerate(TEXT_DOWN)}
NAME = tuple(f"{rank} of {suit}" for suit in SUIT_NAMES for rank in RANK_NAMES)

RANK = (*(card % 13 + 1 for card in PACK), 0)  # RANK[EMPTY] is 0
SUIT = tuple(card // 13 for card in PACK)
IS_RED = tuple(SUITS[suit] in "DH" for suit in SUIT)
KINGS = frozenset(card for card in PACK if RANK[card] == 13)

# The top card that a foundation must show to take a card (rules 3.1).
NEEDS = tuple(card - 1 if RANK[card] > 1 else EMPTY for card in PACK)


# The cards that a foundation with this top takes; the last entry is found by the index EMPTY.
FOLLOWS = tuple(frozenset(card for card in PACK if NEEDS[card] == top) for top in (*PACK, EMPTY))


def cards_text(cards: Cards) -> str:
    """Returns the cards' texts one after the other."""
    return "".join([TEXT[card] for card in cards])


def full_pack(decks: int) -> list[Card]:
    """Returns the canonical pack: copy after copy, suits C, D, H, S, ranks Ace to King."""
    return [*PACK] * decks
