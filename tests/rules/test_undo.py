import pytest
from hypothesis import given

from server.rules import Move, Position
from server.rules.undo import undo_refusal
from server.rules.view import piles
from tests.rules.walks import positions


def played(position: Position, move: str) -> Position:
    return position.play(position.resolve(Move.parse(move)))


def code(policy: str, line: str, move: str) -> str | None:
    before = Position.parse(line)
    refusal = undo_refusal(policy, before, played(before, move))  # type: ignore[arg-type]
    return refusal.code if refusal else None


FIRST = "klondike-familiar 1 2c3c4c5c 6H -/-/-/- 9h8S/9D/AC/9C"
SECOND = FIRST.replace(" 1 ", " 2 ")
EMPTY_HAND = "klondike-familiar 1 - 2C3C -/-/-/- KH"


@pytest.mark.parametrize(
    ("line", "move", "safe"),
    [
        (FIRST, "d", "undo-revealed"),  # three cards that nobody had seen
        (SECOND, "d", None),  # the first pass showed them all
        (EMPTY_HAND, "d", None),  # a redeal shows nothing
        (FIRST, "1>2", "undo-revealed"),  # turns the 9H up
        (FIRST, "3>f", None),  # the last card of a column
        (FIRST.replace("9h8S/9D/AC", "9H8S/9D/AC"), "1>2", None),
        (FIRST.replace("6H", "6H8D"), "w>4", None),  # what lies below was shown with its packet
    ],
)
def test_safe_takes_back_what_showed_nothing_new(line: str, move: str, safe: str | None) -> None:
    assert code("safe", line, move) == safe
    assert code("free", line, move) is None
    assert code("off", line, move) == "undo-off"


@given(positions())
def test_a_move_that_is_safe_to_take_back_left_no_unseen_card_in_sight(position: Position) -> None:
    for move in position.legal_moves():
        after = position.play(move)
        if undo_refusal("safe", position, after) is None:
            assert shown_columns(after) - shown_columns(position) <= in_hand_or_home(position)
            assert after.down == position.down


def shown_columns(position: Position) -> set[str]:
    """Lists the cards face up in the columns."""
    runs = [pile.split(":")[1] for name, pile in piles(position).items() if name.isdigit()]
    return {run[at : at + 2] for run in runs for at in range(0, len(run), 2)}


def in_hand_or_home(position: Position) -> set[str]:
    """Lists the cards that were in sight outside the columns."""
    tops = [pile.split(":")[1] for name, pile in piles(position).items() if name[0] in "fw"]
    return {top[at : at + 2] for top in tops for at in range(0, len(top), 2)}


def test_a_refusal_is_a_sentence() -> None:
    before = Position.parse(FIRST)
    after = played(before, "d")
    refusals = [undo_refusal("off", before, after), undo_refusal("safe", before, after)]
    assert [refusal and refusal.reason for refusal in refusals] == [
        "Moves are not taken back in this race.",
        "That move showed a new card: it cannot be taken back.",
    ]
