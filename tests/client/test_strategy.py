"""The bot's choice: only what is offered, the better first, and no turning in circles."""

import pytest

from client.strategy import LOOSENINGS, Mind, View, after, arrangement, read_offer, value
from tests.client.stage import PILES


def view(piles: dict[str, str], **changes: object) -> View:
    fields: dict[str, object] = {"piles": piles, "cards": 0, "down": 36, "turn": 1}
    return View(**(fields | changes))  # type: ignore[arg-type]


def choose(
    piles: dict[str, str], *moves: str, mind: Mind | None = None, **changes: object
) -> object:
    return (mind or Mind()).choose(view(piles, **changes), list(moves))


def test_a_card_goes_home_before_anything_else() -> None:
    piles = {"1": "3:5H", "2": "0:6S", "3": "0:AS", "w": "0:4C", "h": "9:"}
    assert choose(piles, "d", "1>2:1", "w>1", "3>f") == "3>f"


def test_turning_a_card_comes_before_the_waste_and_shallow_columns_first() -> None:
    piles = {"1": "3:5H", "2": "0:6S", "3": "1:5D", "w": "0:5H", "h": "9:"}
    assert choose(piles, "d", "w>2", "1>2:1", "3>2:1") == "3>2:1"


def test_a_king_is_not_moved_between_empty_columns() -> None:
    piles = {"1": "0:KH", "2": "0:", "3": "1:KC", "w": "0:", "h": "3:"}
    assert choose(piles, "d", "1>2:1") == "d"
    offer = read_offer("1>2:1", piles)
    assert offer is not None
    assert value(piles, offer) == 0


def test_a_column_is_emptied_only_for_a_king_that_waits() -> None:
    piles = {"1": "0:5H", "2": "0:6S", "3": "2:KS", "w": "0:", "h": "3:"}
    assert choose(piles, "d", "1>2:1") == "1>2:1"
    assert choose(piles | {"3": "2:QS"}, "d", "1>2:1") == "d"


def test_part_of_a_build_moves_only_to_free_a_card_that_goes_home() -> None:
    piles = {"1": "0:6S5H", "2": "0:6C", "f1": "4:5S", "w": "0:", "h": "3:"}
    assert choose(piles, "d", "1>2:1") == "1>2:1"
    assert choose(piles | {"f1": "4:5C"}, "d", "1>2:1") == "d"


def test_all_is_played_home_when_the_server_offers_it() -> None:
    assert choose({"1": "0:KH"}, "1>f", can=("finish",)) == "finish"


def test_a_board_proved_stuck_is_given_up() -> None:
    assert choose(PILES, "d", stuck=True) is None


def test_a_whole_pass_without_gain_leads_to_loose_moves_and_then_to_the_end() -> None:
    mind = Mind()
    piles = {"1": "0:6S5H", "2": "0:6C", "h": "3:", "w": "0:"}
    assert choose(piles, "d", "1>2:1", mind=mind) == "d"
    assert choose(piles, "d", "1>2:1", mind=mind, turn=2) == "1>2:1"
    moved = {"1": "0:6S", "2": "0:6C5H", "h": "3:", "w": "0:"}
    assert choose(moved, "d", "2>1:1", mind=mind, turn=2) == "d"
    assert choose(moved, "d", "2>1:1", mind=mind, turn=3) is None


def test_loose_moves_have_an_end() -> None:
    mind = Mind(loosened=LOOSENINGS, best=(99, 0, 0), best_turn=1)
    assert choose({"1": "0:6S5H", "2": "0:6C"}, "1>2:1", mind=mind, turn=9) is None


def test_gain_starts_the_patience_anew() -> None:
    mind = Mind()
    piles = {"1": "0:6S", "h": "3:", "w": "0:"}
    assert choose(piles, "d", mind=mind) == "d"
    assert choose(piles, "d", mind=mind, turn=3) is None
    assert choose(piles, "d", mind=mind, turn=3, cards=1) == "d"


def test_no_move_at_all_ends_it() -> None:
    assert choose(PILES) is None


def test_without_hints_each_source_is_tried_once_a_board_then_the_hand() -> None:
    mind = Mind()
    piles = {"1": "0:5H", "2": "3:6S", "w": "0:4C", "h": "9:"}
    look = view(piles, can=("draw",))
    assert [mind.guess(look) for _ in range(4)] == ["2>", "1>", "w>", "d"]
    assert mind.guess(view(piles | {"1": "0:4H"}, can=("draw",))) == "2>"


def test_without_hints_a_king_on_the_ground_stays_and_idle_passes_end_it() -> None:
    mind = Mind()
    look = view({"1": "0:KH", "w": "0:"}, can=("redeal",))
    assert mind.guess(look) == "d"
    assert mind.guess(view({"1": "0:KH", "w": "0:"}, can=("redeal",), turn=3)) is None
    assert mind.guess(view(PILES, stuck=True)) is None
    assert mind.guess(view(PILES, can=("finish",))) == "finish"


@pytest.mark.parametrize(
    ("text", "count"), [("1>2", 2), ("1>2:1", 1), ("1>3", 3), ("w>f", 1), ("1>f", 1), ("f1>2", 1)]
)
def test_a_count_that_is_left_out_follows_from_the_cards(text: str, count: int) -> None:
    piles = {"1": "2:KH7S6D", "2": "0:8H", "3": "0:", "w": "0:4C", "f1": "0:AS"}
    offer = read_offer(text, piles)
    assert offer is not None
    assert offer.count == count


@pytest.mark.parametrize("text", ["d", "", "1>", "x>y", "10>2", "undo"])
def test_what_is_no_move_between_piles_is_passed_over(text: str) -> None:
    assert read_offer(text, PILES) is None


def test_an_arrangement_does_not_depend_on_which_column_is_which() -> None:
    assert arrangement({"1": "0:KH", "2": "0:"}) == arrangement({"1": "0:", "2": "0:KH"})


def test_after_a_move_an_uncovered_card_is_still_unknown() -> None:
    offer = read_offer("1>2:1", {"1": "2:5H", "2": "0:6S"})
    assert offer is not None
    assert after({"1": "2:5H", "2": "0:6S"}, offer) == {"1": "1:??", "2": "0:6S5H"}


def test_a_card_from_a_foundation_is_never_worth_it() -> None:
    piles = {"f1": "3:4S", "2": "0:5H"}
    offer = read_offer("f1>2", piles)
    assert offer is not None
    assert value(piles, offer) == 0
