"""Duplicate: everybody plays the same deals, and all tables compare.

With `places` a deal is worth two half points for each player left behind and one for each
equal one, over all tables; with `cards` the cards brought home count.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from server.tournament.events import Row
from server.tournament.formats.format import Format
from server.tournament.formats.places import ranked
from server.tournament.records import Draft, End, Field, Match, Meeting, Rank
from server.tournament.series import row_key
from server.tournament.settings import Duplicate


def _play(field: Field) -> Duplicate:
    assert isinstance(field.spec.play, Duplicate)
    return field.spec.play


def tables(players: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Seat players at as few tables as hold them, neighbours together, evenly."""
    count = -(-len(players) // size)
    least, more = divmod(len(players), count)
    cuts = [number * least + min(number, more) for number in range(count + 1)]
    return [tuple(players[a:b]) for a, b in pairwise(cuts)]


def _draft(field: Field) -> Draft | End:
    deal = len(field.rounds) + 1
    if len(field.active) < 2:
        return End("fewer than two players are left")
    if deal > _play(field).deals:
        return End("all deals are played")
    standing = [rank.entry for rank in _ranks(field) if field.is_in(rank.entry)]
    return Draft(
        tuple(
            Meeting(table, f"deal {deal}: neighbours in the standings, table {number}")
            for number, table in enumerate(tables(standing, _play(field).table), 1)
        ),
        group=field.group,
    )


def scores(field: Field) -> dict[str, tuple[int, int]]:
    """Give everybody's points and cards over all deals that every table has done."""
    points = dict.fromkeys(field.order, 0)
    cards = dict.fromkeys(field.order, 0)
    for each in field.rounds:
        matches = [match for match in field.matches if match.round == each.number]
        if not any(match.is_open for match in matches):
            for rows in by_deal(matches).values():
                _add(rows, points, cards)
    return {entry: (points[entry], cards[entry]) for entry in field.order}


def by_deal(matches: Sequence[Match]) -> dict[str, dict[str, Row]]:
    """Give what everybody made of each deal.

    A table that was restarted has a deal of its own and compares only within itself.
    """
    found: dict[str, dict[str, Row]] = {}
    for match in matches:
        if match.result is None or not match.result.places:
            continue
        for race in match.raced:
            rows = {row.p: row for row in race.rows if row.p not in match.lost}
            found.setdefault(race.deal, {}).update(_as_ruled(match, rows))
    return found


def _as_ruled(match: Match, rows: dict[str, Row]) -> dict[str, Row]:
    # A ruling hands the table's own results out anew, in the order that it sets.
    result = match.result
    if result is None or result.kind != "ruled":
        return rows
    best = sorted(rows.values(), key=row_key)
    return {entry: best[place - 1] for entry, place in result.places if place <= len(best)}


def _add(rows: dict[str, Row], points: dict[str, int], cards: dict[str, int]) -> None:
    keys = sorted(row_key(row) for row in rows.values())
    for entry, row in rows.items():
        first, after = bisect_left(keys, row_key(row)), bisect_right(keys, row_key(row))
        points[entry] += 2 * (len(keys) - after) + (after - first - 1)
        cards[entry] += row.cards


def _ranks(field: Field) -> Sequence[Rank]:
    found = scores(field)
    turn = 1 if _play(field).score == "places" else -1
    keys = {entry: tuple(-value for value in found[entry][::turn]) for entry in field.order}
    return [
        Rank(line.entry, line.place, found[line.entry][0], (found[line.entry][1],), line.note)
        for line in ranked(keys, field)
    ]


def _is_open(field: Field) -> bool:
    return 2 * len(field.rounds) <= _play(field).deals


DUPLICATE = Format(
    name="duplicate",
    has_points=True,
    columns=("cards",),
    draft=_draft,
    ranks=_ranks,
    is_open=_is_open,
    alone=True,
    shares=True,
)
