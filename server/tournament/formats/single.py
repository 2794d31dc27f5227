"""Single elimination: out with the first loss; the semi-finals' losers may play for third."""

from collections.abc import Sequence
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
    made = [
        Box(f"W1.{i}", "winners", 1, i, (seeds(a), seeds(b)), _STEP, last=rounds == 1)
        for i, (a, b) in enumerate(seed_pairs(rounds), 1)
    ]
    for r in range(2, rounds + 1):
        made += [
            Box(
                f"W{r}.{i}",
                "winners",
                r,
                i,
                (winner(f"W{r - 1}.{2 * i - 1}"), winner(f"W{r - 1}.{2 * i}")),
                _STEP * r,
                last=r == rounds,
            )
            for i in range(1, 2 ** (rounds - r) + 1)
        ]
    if third_place and players > 3:
        sides = (loser(f"W{rounds - 1}.1"), loser(f"W{rounds - 1}.2"))
        made.append(Box("P1.1", "third", rounds, 1, sides, _STEP * rounds - 2, last=True))
    return tuple(made)


@lru_cache(maxsize=64)
def names(players: int) -> dict[str, str]:
    """Name the boxes."""
    rounds = depth(players)
    named = {
        f"W{r}.{i}": round_name(2 ** (rounds - r))
        for r in range(1, rounds + 1)
        for i in range(1, 2 ** (rounds - r) + 1)
    }
    return named | {"P1.1": "match for third place"}


def _boxes(field: Field) -> tuple[Box, ...]:
    assert isinstance(field.spec.play, Single)
    return boxes(len(field.order), field.spec.play.third_place)


def _draft(field: Field) -> Draft | End:
    found = slots.draft(_boxes(field), field, names(len(field.order)))
    return found or End("the final is played")


def _stale(field: Field) -> Sequence[Match]:
    return slots.stale(_boxes(field), field)


def _slots(field: Field) -> Sequence[Slot]:
    return slots.filled(_boxes(field), field)


def _ranks(field: Field) -> Sequence[Rank]:
    return slots.ranks(_boxes(field), field, names(len(field.order)))


SINGLE = Format(draft=_draft, ranks=_ranks, stale=_stale, slots=_slots, decisive=True)
