import pytest
from hypothesis import given

from server.rules import RULES, Fault, Position, deal
from server.rules.check import check
from tests.rules.walks import positions

SOUND = deal(RULES["klondike-easy"], "1").text()
_, _, HAND, _, _, COLUMNS = SOUND.split()
PILES = COLUMNS.split("/")


def fault(line: str) -> Fault:
    return Position.parse(line).check()


@given(positions())
def test_every_position_of_a_game_is_sound(position: Position) -> None:
    assert check(position) == Fault(0)
    assert not check(position)


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        (SOUND, Fault(0)),
        (SOUND.replace(HAND, HAND[2:]), Fault.CARDS),
        (SOUND.replace(HAND, HAND[2:] + HAND[2:4]), Fault.CARDS),
        (SOUND.replace(HAND, HAND + HAND[:2]), Fault.CARDS | Fault.STOCK),
        (SOUND.replace("-/-/-/-", "-/-/-/-/-"), Fault.PILES),
        (SOUND.replace("-/-/-/-", "-/-/-"), Fault.PILES),
        (SOUND + "/-", Fault.PILES),
        (SOUND.replace(PILES[3], PILES[3].lower()), Fault.FACING | Fault.HIDDEN),
        (SOUND.replace(PILES[1], PILES[1].upper()), Fault.RUN),
        (
            SOUND.replace(PILES[1], "-").replace(PILES[2], PILES[1].lower() + PILES[2]),
            Fault.HIDDEN,
        ),
        (
            SOUND.replace(HAND, HAND[:-2]).replace(" - ", f" {HAND[-2:].upper()} ", 1),
            Fault(0),
        ),
        (SOUND.replace(HAND + " -", f"{HAND}{PILES[0].lower()} -").replace(PILES[0], "-"),
         Fault.STOCK),
        (SOUND.replace("klondike-easy 1", "klondike-strict 2"), Fault.TURN),
        (SOUND.replace("klondike-easy 1", "klondike-easy,passes=3 4"), Fault.TURN),
        (SOUND.replace("klondike-easy 1", "klondike-easy,passes=3 3"), Fault(0)),
    ],
)  # fmt: skip
def test_each_invariant_that_does_not_hold_is_named(line: str, faults: Fault) -> None:
    assert fault(line) == faults


def test_in_the_first_pass_the_hand_is_short_of_whole_packets_only() -> None:
    position = deal(RULES["klondike-familiar"], "1")
    hand = position.hand
    assert position._replace(hand=hand[1:], waste=hand[:1]).check() == Fault.STOCK
    assert position._replace(hand=hand[3:], waste=hand[:3]).check() == Fault(0)
    assert position._replace(hand=(), waste=hand).check() == Fault(0)
    assert position._replace(hand=hand[1:], waste=hand[:1], turn=2).check() == Fault(0)


def test_a_foundation_counts_for_all_the_cards_below_its_top() -> None:
    everything = "klondike-easy 1 - - KC/KD/KH/KS -/-/-/-/-/-/-"
    assert fault(everything) == Fault(0)
    assert Position.parse(everything).is_solved
    assert fault(everything.replace("KS", "QS")) == Fault.CARDS
    assert fault(everything.replace("KS", "KH")) == Fault.CARDS
