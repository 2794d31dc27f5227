"""Single elimination: out with the first loss; the semi-finals' losers may play for third."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from server.tournament.formats import slots
from server.tournament.formats.bracket import depth, round_name, seed_pairs
from server.tournament.formats.format import Format
from server.tournament.formats.slots import Box, Slot, loser, seeds, winner
from server.tournament.records import Draft, End, Field, Match, Rank
from server.tournament.settings import Single

_STEP = 4  # tiers between rounds: room for the match for third place


@lru_cache(maxsize=64)
def boxes(players: int, third_place: bool) -> tuple[Box, ...]:
    """Give the bracket for a number of players."""
    rounds = depth(players)
    made = [box for number in range(1, rounds + 1) for box in _round(rounds, number)]
    if third_place and players > 3:
        sides = (loser(f"W{rounds - 1}.1"), loser(f"W{rounds - 1}.2"))
        tier = _STEP * rounds - 2
        made.append(
            Box("P1.1", "third", rounds, 1, sides, tier, last=True, name="match for third place")
        )
    return tuple(made)


def _round(rounds: int, number: int) -> Iterator[Box]:
    name, last = round_name(2 ** (rounds - number)), number == rounds
    pairs = seed_pairs(rounds)
    for i in range(1, 2 ** (rounds - number) + 1):
        sides = (winner(f"W{number - 1}.{2 * i - 1}"), winner(f"W{number - 1}.{2 * i}"))
        if number == 1:
            a, b = pairs[i - 1]
            sides = (seeds(a), seeds(b))
        yield Box(f"W{number}.{i}", "winners", number, i, sides, _STEP * number, last, name)


def _boxes(field: Field) -> tuple[Box, ...]:
    assert isinstance(field.spec.play, Single)
    return boxes(len(field.order), field.spec.play.third_place)


def _draft(field: Field) -> Draft | End:
    found = slots.draft(_boxes(field), field)
    return found or End("the final is played")


def _stale(field: Field) -> Sequence[Match]:
    return slots.stale(_boxes(field), field)


def _slots(field: Field) -> Sequence[Slot]:
    return slots.filled(_boxes(field), field)


def _ranks(field: Field) -> Sequence[Rank]:
    return slots.ranks(_boxes(field), field)


SINGLE = Format(
    name="single elimination",
    draft=_draft,
    ranks=_ranks,
    stale=_stale,
    slots=_slots,
    knock_out=True,
    decisive=True,
)
