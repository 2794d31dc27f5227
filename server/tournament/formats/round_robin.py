"""Round robin by the circle method: everybody meets everybody once, or twice."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from server.tournament.events import Bye
from server.tournament.formats import table
from server.tournament.formats.format import Format
from server.tournament.records import Draft, End, Field, Match, Meeting, Rank
from server.tournament.settings import RoundRobin


@lru_cache(maxsize=64)
def circle(players: int, double: bool = False) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Give the rounds as pairs of seeds from 1; 0 is the bye of an odd field.

    The last place stands still and the others move on by one place a round.
    """
    places = [*range(1, players + 1), *([0] if players % 2 else [])]
    fixed, moving = places[-1], places[:-1]
    rounds = []
    for turn in range(len(moving)):
        ring = [*moving[turn:], *moving[:turn]]
        pairs = [(ring[0], fixed)]
        pairs += [(ring[i], ring[-i]) for i in range(1, len(places) // 2)]
        rounds.append(tuple(pairs))
    back = [tuple((b, a) for a, b in pairs) for pairs in rounds] if double else []
    return (*rounds, *back)


def _schedule(field: Field) -> tuple[tuple[tuple[int, int], ...], ...]:
    assert isinstance(field.spec.play, RoundRobin)
    return circle(len(field.order), field.spec.play.double)


def _draft(field: Field) -> Draft | End:
    if len(field.active) < 2:
        return End("fewer than two players are left")
    played = {match.slot for match in field.matches}
    meetings: list[Meeting] = []
    byes: list[Bye] = []
    for number, pairs in enumerate(_schedule(field), 1):
        missing = _missing(field, number, pairs, played)
        meetings += missing
        byes += _byes(field, number, pairs) if missing else []
        # A round of walkovers alone is no round to wait for.
        if any(not meeting.out for meeting in missing):
            break
    return Draft(tuple(meetings), tuple(byes), field.group) if meetings else End("all have met")


def _missing(
    field: Field, number: int, pairs: Sequence[tuple[int, int]], played: set[str]
) -> list[Meeting]:
    found = []
    for index, (a, b) in enumerate(pairs, 1):
        slot = f"R{number}.{index}"
        if a and b and slot not in played:
            sides = (field.order[a - 1], field.order[b - 1])
            out = tuple(entry for entry in sides if not field.is_in(entry))
            found.append(Meeting(sides, f"schedule, round {number}", slot, out))
    return found


def _byes(field: Field, number: int, pairs: Sequence[tuple[int, int]]) -> list[Bye]:
    free = [field.order[max(pair) - 1] for pair in pairs if 0 in pair]
    return [
        Bye(p=entry, why=f"schedule, round {number}: the field is odd", kind="none")
        for entry in free
        if field.is_in(entry)
    ]


def _ranks(field: Field) -> Sequence[Rank]:
    rounds = table.covered(map(_round_of, field.matches), field.matches, _round_of)
    return table.ranks(field, _round_of, rounds, ignored=_removed(field))


def _round_of(match: Match) -> int:
    return int(match.slot[1:].split(".")[0])


def _removed(field: Field) -> list[str]:
    play = field.spec.play
    assert isinstance(play, RoundRobin)
    if play.left == "forfeit":
        return []
    due = (len(field.order) - 1) * (2 if play.double else 1)
    played = Counter(entry for match in field.matches if match.is_played for entry in match.entries)
    return [e for e in field.order if not field.is_in(e) and 2 * played[e] < due]


ROUND_ROBIN = Format(name="round robin", has_points=True, columns=None, draft=_draft, ranks=_ranks)
