"""What the races of a match come to (docs/tournaments.md, "Matches")."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from server.tournament.events import Row
from server.tournament.records import Match, Race, Result

EXTRA_RACES: Final = 2  # after a tied series that must have a winner
MAX_LOST: Final = 3  # races of one match that may come to nothing

# Who is before whom whatever the cards, as in a race: solved, still racing, gave up, put out.
_CLASS: Final = {"solved": 0, "playing": 1, "unfinished": 1, "resigned": 2, "disqualified": 3}


def row_key(row: Row) -> tuple[int, int, int, int]:
    """Give the key that orders the lines of races on one deal; equal keys are equal places."""
    if row.outcome == "solved":
        return (0, row.time_ms, 0, 0)
    return (_CLASS[row.outcome], -row.cards, row.down, row.time_ms)


def placed(keys: Mapping[str, object]) -> tuple[tuple[str, int], ...]:
    """Give places by ascending keys; equal ones are equal and skip the next."""
    order = sorted(keys, key=lambda entry: keys[entry])  # type: ignore[arg-type, return-value]
    places: list[tuple[str, int]] = []
    for _, group in groupby(order, key=lambda entry: keys[entry]):
        first = len(places) + 1
        places += [(entry, first) for entry in group]
    return tuple(places)


def outcome(
    match: Match, *, best_of: int, decisive: bool, alone: bool, seeds: Sequence[str]
) -> Result | None:
    """Give the result of a match as it stands; None while more has to be raced.

    `decisive`: a tie is raced out, and at last goes to the better seed. `alone`: somebody
    left over by all others races on, because the result counts elsewhere too.
    """
    left = [entry for entry in match.entries if entry not in match.lost]
    if not left:
        return Result((), "void", "nobody played")
    if len(left) == 1 and not alone:
        return _forfeit(match, left[0])
    if match.race is not None:
        return None
    if len(match.entries) == 2 and len(left) == 2:
        return _duel(match, best_of, decisive, seeds)
    if len(match.raced) < best_of and not match.closed:
        return None
    return _field(match, left)


def _forfeit(match: Match, winner: str) -> Result:
    others = [entry for entry in match.entries if entry != winner]
    kind = "forfeit" if match.races else "walkover"
    return Result(
        ((winner, 1), *((entry, 2) for entry in others)),
        "forfeit" if kind == "forfeit" else "walkover",
        "the others did not play",
    )


def _duel(match: Match, best_of: int, decisive: bool, seeds: Sequence[str]) -> Result | None:
    a, b = match.entries
    won = {a: 0, b: 0}  # half points
    for race in match.raced:
        for entry, points in _race_points(race, a, b):
            won[entry] += points
    left = 0 if match.closed else max(0, best_of - len(match.raced))
    if abs(won[a] - won[b]) > 2 * left:
        return _ordered(won, "played")
    if left > 0:
        return None
    if won[a] == won[b] and decisive:
        if not match.closed and len(match.raced) < best_of + EXTRA_RACES:
            return None
        return _broken(match, seeds)
    return _ordered(won, "played")


def _race_points(race: Race, a: str, b: str) -> tuple[tuple[str, int], ...]:
    places = {row.p: row.place for row in race.rows}
    if places[a] == places[b]:
        return ((a, 1), (b, 1))
    return ((a if places[a] < places[b] else b, 2),)


def _ordered(won: Mapping[str, int], why: str) -> Result:
    return Result(placed({entry: -points for entry, points in won.items()}), "played", why)


def _broken(match: Match, seeds: Sequence[str]) -> Result:
    keys = {entry: (*_totals(match, entry), seeds.index(entry)) for entry in match.entries}
    return Result(placed(keys), "played", "tied: by cards, cards face down, time, then seed")


def _totals(match: Match, entry: str) -> tuple[int, int, int]:
    rows = [row for race in match.raced for row in race.rows if row.p == entry]
    return (
        -sum(row.cards for row in rows),
        sum(row.down for row in rows),
        sum(row.time_ms for row in rows),
    )


def _field(match: Match, left: Sequence[str]) -> Result:
    keys: dict[str, tuple[int, ...]] = {}
    for entry in match.entries:
        places = [row.place for race in match.raced for row in race.rows if row.p == entry]
        # Who gave up is last whatever they raced before.
        keys[entry] = (1,) if entry not in left else (0, sum(places), *_cards(match, entry))
    return Result(placed(keys), "played")


def _cards(match: Match, entry: str) -> tuple[int, ...]:
    # In a single race the race's own order says all.
    return _totals(match, entry)[:1] if len(match.raced) > 1 else ()


def is_last(match: Match) -> bool:
    """Whether the race that is on, should it come to nothing, was the last try."""
    return match.failed + 1 >= MAX_LOST
