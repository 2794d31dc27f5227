"""What eliminations share: the winners' bracket, and to be played box by box."""

from collections.abc import Callable, Iterator, Sequence

from server.tournament.formats import slots
from server.tournament.formats.bracket import seed_pairs
from server.tournament.formats.format import Format
from server.tournament.formats.slots import Box, Slot, Source, seeds, winner
from server.tournament.records import Draft, End, Field, Match, Rank

Sides = tuple[Source, Source]


def winners_round(rounds: int, number: int) -> Iterator[tuple[int, Sides]]:
    """Give the boxes of a round of the winners' bracket: their numbers, and who meets there."""
    if number == 1:
        for i, (a, b) in enumerate(seed_pairs(rounds), 1):
            yield i, (seeds(a), seeds(b))
        return
    before = f"W{number - 1}"
    for i in range(1, 2 ** (rounds - number) + 1):
        yield i, (winner(f"{before}.{2 * i - 1}"), winner(f"{before}.{2 * i}"))


def elimination(name: str, boxes: Callable[[Field], Sequence[Box]], *, end: str) -> Format:
    """Make the format whose bracket has these boxes; `end` says why it is over."""

    def draft(field: Field) -> Draft | End:
        return slots.draft(boxes(field), field) or End(end)

    def stale(field: Field) -> Sequence[Match]:
        return slots.stale(boxes(field), field)

    def filled(field: Field) -> Sequence[Slot]:
        return slots.filled(boxes(field), field)

    def ranks(field: Field) -> Sequence[Rank]:
        return slots.ranks(boxes(field), field)

    return Format(
        name=name,
        draft=draft,
        ranks=ranks,
        stale=stale,
        slots=filled,
        knock_out=True,
        decisive=True,
    )
