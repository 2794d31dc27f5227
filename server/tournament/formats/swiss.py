"""Swiss: a set number of rounds, equals meet, nobody twice as far as that can be."""

from collections import Counter
from collections.abc import Mapping, Sequence

from server.tournament.events import Bye
from server.tournament.formats import table
from server.tournament.formats.bracket import depth
from server.tournament.formats.format import Format
from server.tournament.pairing import Contender, pair_dutch, pair_swiss
from server.tournament.pairing.field import DOWN, LEVEL, UP, Float
from server.tournament.records import Draft, End, Field, Match, Meeting, Rank
from server.tournament.settings import Swiss

_PAIR = {"exact": pair_swiss, "dutch": pair_dutch}


def rounds(field: Field) -> int:
    """Give how many rounds are played: never more than there were opponents at first."""
    play = field.spec.play
    assert isinstance(play, Swiss)
    players = field.size
    return play.rounds or max(1, min(depth(players) + 2, players - 1))


def _draft(field: Field) -> Draft | End:
    if len(field.active) < 2:
        return End("fewer than two players are left")
    number, last = len(field.rounds) + 1, rounds(field)
    if number > last:
        return End("all rounds are played")
    play = field.spec.play
    assert isinstance(play, Swiss)
    pairing = _PAIR[play.engine](
        contenders(field),
        round_number=number,
        rounds=last,
        forbidden={frozenset(pair) for pair in field.settings.forbidden},
    )
    return Draft(
        tuple(Meeting((pair.a, pair.b), pair.reason) for pair in pairing.pairs),
        tuple(Bye(p=player, why=why) for player, why in pairing.byes),
        field.group,
    )


def contenders(field: Field) -> list[Contender]:
    """Give those who take part as the pairing wants to know them."""
    numbers = table.rounds_in_order(field)
    points = table.totals(field, field.matches, _round_of(numbers), len(numbers))
    known = met(field.matches)
    given = Counter(bye.p for each in field.rounds for bye in each.byes if bye.kind == "bye")
    wins = Counter(_unopposed(match) for match in field.matches)
    floats = [_floats(field, numbers, len(numbers) - back) for back in (0, 1)]
    return [
        Contender(
            id=entry,
            points=points[entry],
            rating=field.entries[entry].rating,
            seed=seed,
            met=known.get(entry, {}),
            byes=given[entry],
            late=bool(numbers) and entry not in known,
            forfeit_wins=wins[entry],
            floats=(floats[0].get(entry, LEVEL), floats[1].get(entry, LEVEL)),
        )
        for seed, entry in enumerate(field.order, 1)
        if field.is_in(entry)
    ]


def _round_of(numbers: Mapping[int, int]) -> table.RoundOf:
    return lambda match: numbers[match.round]


def met(matches: Sequence[Match]) -> dict[str, dict[str, int]]:
    """Give how often each has met whom; a walkover is no meeting."""
    known: dict[str, dict[str, int]] = {}
    for match in matches:
        if match.result is not None and match.result.kind in ("played", "ruled"):
            for entry, other in match.other.items():
                against = known.setdefault(entry, {})
                against[other] = against.get(other, 0) + 1
    return known


def _floats(field: Field, numbers: Mapping[int, int], number: int) -> dict[str, Float]:
    # Against whom a round paired each: fewer points is a float down, as is a bye.
    round_of = _round_of(numbers)
    points = table.totals(field, field.matches, round_of, number - 1)
    floats: dict[str, Float] = {}
    for match in field.matches:
        if round_of(match) == number:
            for entry, other in match.other.items():
                gap = points[other] - points[entry]
                floats[entry] = UP if gap > 0 else DOWN if gap < 0 else LEVEL
    for bye in field.rounds[number - 1].byes if number > 0 else ():
        floats[bye.p] = DOWN
    return floats


def _unopposed(match: Match) -> str | None:
    if match.result is not None and match.result.kind in ("forfeit", "walkover"):
        return match.result.winner
    return None


def _ranks(field: Field) -> Sequence[Rank]:
    numbers = table.rounds_in_order(field)
    round_of = _round_of(numbers)
    # Rounds of byes alone, too: a group may have no match while others play.
    covered = table.covered(numbers.values(), field.matches, round_of)
    return table.ranks(field, round_of, covered)


def _is_open(field: Field) -> bool:
    return 2 * len(field.rounds) <= rounds(field)


SWISS = Format(
    name="Swiss",
    has_points=True,
    columns=None,
    draft=_draft,
    ranks=_ranks,
    is_open=_is_open,
    repairs=True,
    late_bye="half-bye",
)
