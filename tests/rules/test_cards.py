import pytest

from server.rules import cards


def test_every_card_text_reads_back() -> None:
    texts = [cards.TEXT[card] for card in cards.PACK]
    assert len(set(texts)) == 52
    assert [cards.CARD_OF[text] for text in texts] == list(cards.PACK)


def test_a_card_is_two_ascii_characters() -> None:
    assert all(len(text) == 2 and text.isascii() for text in cards.TEXT)


@pytest.mark.parametrize("text", ["", "T", "10D", "dt", "td", "TD ", "1D", "TX", "♥A", "AH\ufe0f"])
def test_anything_else_is_no_card(text: str) -> None:
    assert text not in cards.CARD_OF


def test_the_canonical_pack_is_suit_by_suit_from_ace_to_king_copy_by_copy() -> None:
    pack = cards.cards_text(tuple(cards.full_pack(2)))
    assert pack[:26] == "AC2C3C4C5C6C7C8C9CTCJCQCKC"
    assert pack[26:28] + pack[52:54] + pack[78:80] == "ADAHAS"
    assert pack[:104] == pack[104:]


def test_a_foundation_takes_the_next_of_its_suit_and_an_empty_one_the_aces() -> None:
    for card in cards.PACK:
        assert card in cards.FOLLOWS[cards.NEEDS[card]]
    assert cards.FOLLOWS[cards.EMPTY] == {cards.CARD_OF["A" + suit] for suit in "CDHS"}
    assert cards.FOLLOWS[cards.CARD_OF["KS"]] == frozenset()
    assert cards.NEEDS[cards.CARD_OF["AD"]] == cards.EMPTY
    assert cards.NEEDS[cards.CARD_OF["TD"]] == cards.CARD_OF["9D"]


def test_names_are_words() -> None:
    assert cards.NAME[cards.CARD_OF["QS"]] == "Queen of Spades"
    assert cards.NAME[cards.CARD_OF["AC"]] == "Ace of Clubs"
