"""Arena: until time is up, whoever is free meets whoever is near in the standings.

When time is up pairing stops; races that run are raced to their end and count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from server.tournament.formats import table
from server.tournament.formats.format import Format
from server.tournament.formats.places import ranked
from server.tournament.pairing import Waiting, arena_wait_ms, pair_arena, pause_ms
from server.tournament.records import Draft, End, Entry, Field, Match, Meeting, Rank
from server.tournament.settings import Arena

CROWD = 100  # more than so many waiting are paired at once
FIRE = 2  # wins in a row after which points count double


def _play(field: Field) -> Arena:
    assert isinstance(field.spec.play, Arena)
    return field.spec.play


def race_ms(field: Field) -> int:
    """Give how long a race is expected to take."""
    return 1000 * field.settings.race.time_limit_s


# --- who waits ------------------------------------------------------------------------


def waits_from(field: Field, entry: Entry) -> int:
    """Give the instant from which somebody waits to be paired."""
    if not _play(field).pauses:
        return entry.free_at
    return max(entry.free_at, entry.back_at + pause_ms(entry.pauses, race_ms(field)))


def waiting(field: Field) -> list[Entry]:
    """Give those who wait now."""
    return [
        entry
        for entry in (field.entries[each] for each in field.active)
        if entry.id not in field.taken
        and (field.here is None or entry.id in field.here)
        and waits_from(field, entry) <= field.now
    ]


def _since(field: Field) -> list[int]:
    free = (field.entries[each] for each in field.active if each not in field.taken)
    return sorted(waits_from(field, entry) for entry in free)


def _wait_ms(field: Field) -> int:
    return arena_wait_ms(race_ms(field)) if field.rounds else 0


def _is_due(field: Field) -> bool:
    assert field.ends is not None
    since = [instant for instant in _since(field) if instant <= field.now]
    waited = [instant for instant in since if instant + _wait_ms(field) <= field.now]
    return field.now >= field.ends or len(since) > CROWD or len(waited) >= 2


def _wakes(field: Field) -> int | None:
    # Whoever has waited long enough already was not paired, or has nobody to be paired
    # with: the next one to have waited may change that, or the end.
    assert field.ends is not None
    instants = [instant + _wait_ms(field) for instant in _since(field)] + [field.ends]
    return min((instant for instant in instants if instant > field.now), default=None)


def _draft(field: Field) -> Draft | End:
    assert field.ends is not None
    if field.now >= field.ends:
        return End("time is up")
    sheet = scores(field)
    idle = [_waiting(field, entry, sheet) for entry in waiting(field)]
    here = field.active if field.here is None else set(field.active) & field.here
    pairing = pair_arena(idle, active=len(here), first_pass=not field.rounds)
    return Draft(
        tuple(Meeting((pair.a, pair.b), pair.reason) for pair in pairing.pairs),
        group=field.group,
    )


def _waiting(field: Field, entry: Entry, sheet: "dict[str, Line]") -> Waiting:
    line = sheet[entry.id]
    return Waiting(
        id=entry.id,
        points=line.points,
        rating=entry.rating,
        rank=line.rank,
        last_opponent=line.last,
        waited_ms=field.now - waits_from(field, entry),
        games=line.games,
    )


# --- the score sheet ------------------------------------------------------------------


@dataclass(slots=True)
class Line:
    """What somebody has made of the arena so far."""

    points: int = 0  # half points
    games: int = 0
    wins: int = 0
    streak: int = 0  # wins in a row up to now
    drawn: bool = False  # the last game that was not lost was a draw
    last: str | None = None  # opponent
    against: int = 0  # the opponents' ratings, 500 more for a win, 500 less for a loss
    rank: int = 0

    @property
    def performance(self) -> int:
        """How strong somebody has played."""
        return self.against // self.games if self.games else 0


def scores(field: Field) -> dict[str, Line]:
    """Give everybody's line, ranked."""
    sheet = {entry: Line() for entry in field.order}
    for match in field.matches:
        for entry, other in match.other.items():
            sheet[entry].last = other
            if match.result is not None and match.result.places:
                _score(field, match, sheet[entry], entry, other)
            elif match.result is not None:
                sheet[entry].streak = 0
    order = sorted(field.order, key=lambda e: (-sheet[e].points, -sheet[e].performance))
    for rank, entry in enumerate(order, 1):
        sheet[entry].rank = rank
    return sheet


def _score(field: Field, match: Match, line: Line, entry: str, other: str) -> None:
    play = _play(field)
    points = table.match_points(match, entry, field.settings.points)
    winner = match.result.winner if match.result else None
    line.games += 1
    line.against += field.entries[other].rating
    if winner is None and line.drawn:
        points = 0  # draws in a row bring nothing after the first
    if play.streaks and line.streak >= FIRE and winner in (entry, None):
        points *= 2
    line.points += points
    if winner == entry:
        line.wins += 1
        line.against += 500
    elif winner is not None:
        line.against -= 500
    line.streak = line.streak + 1 if winner == entry else 0
    line.drawn = winner is None or (line.drawn and winner != entry)


def _ranks(field: Field) -> Sequence[Rank]:
    sheet = scores(field)
    keys = {entry: (-line.points, -line.performance) for entry, line in sheet.items()}
    return [
        Rank(
            rank.entry,
            rank.place,
            sheet[rank.entry].points,
            (sheet[rank.entry].performance, sheet[rank.entry].games),
            rank.note,
        )
        for rank in ranked(keys, field)
    ]


def _is_open(field: Field) -> bool:
    return True


ARENA = Format(
    name="arena",
    has_points=True,
    columns=("performance", "games"),
    draft=_draft,
    ranks=_ranks,
    is_open=_is_open,
    is_due=_is_due,
    wakes=_wakes,
    on_clock=True,
)
