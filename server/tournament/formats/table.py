"""Standings by points and tie-breaks, for the formats in which a match is worth points."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from server.tournament.formats.places import ranked
from server.tournament.records import Field, Match, Rank
from server.tournament.settings import Points
from server.tournament.tiebreak import DRAW, LESS_IS_BETTER, WIN, Game, Kind, tiebreaks

RoundOf = Callable[[Match], int]


def ranks(
    field: Field, round_of: RoundOf, rounds: int, *, ignored: Iterable[str] = ()
) -> list[Rank]:
    """Rank by points, then by the tie-breaks of the settings.

    Tie-breaks count a win as one and a draw as half whatever the points say. Matches of
    those `ignored` count for nobody.
    """
    gone = set(ignored)
    matches = [match for match in field.matches if gone.isdisjoint(match.entries)]
    games = played(field, matches, round_of, rounds)
    points = totals(field, matches, round_of, rounds)
    values = tiebreaks(games, field.settings.tiebreaks, rounds=rounds)
    signs = [1 if name in LESS_IS_BETTER else -1 for name in field.settings.tiebreaks]
    keys = {
        entry: (-points[entry], *(s * v for s, v in zip(signs, values[entry], strict=True)))
        for entry in field.order
    }
    return [
        Rank(line.entry, line.place, points[line.entry], values[line.entry], line.note)
        for line in ranked(keys, field)
    ]


def covered(rounds: Iterable[int], matches: Iterable[Match], round_of: RoundOf) -> int:
    """Give the last of some rounds in which no match is open: what standings cover."""
    under_way = {round_of(match) for match in matches if match.is_open}
    return max(set(rounds) - under_way, default=0)


def totals(
    field: Field, matches: Sequence[Match], round_of: RoundOf, rounds: int
) -> dict[str, int]:
    """Give everybody's half points by the settings."""
    worth = field.settings.points
    total = dict.fromkeys(field.order, 0)
    for match in matches:
        if match.result is not None and round_of(match) <= rounds:
            for entry in match.entries:
                total[entry] += match_points(match, entry, worth)
    for entry, _, kind in _byes(field, rounds):
        total[entry] += {"bye": worth.bye, "half-bye": worth.draw}.get(kind, 0)
    return total


def match_points(match: Match, entry: str, worth: Points) -> int:
    """Give what a decided match of two brings one of them, in half points."""
    result = match.result
    if result is None or not result.places:
        return 0
    if result.winner is None:
        return worth.draw
    return worth.win if result.winner == entry else worth.loss


def played(
    field: Field, matches: Sequence[Match], round_of: RoundOf, rounds: int
) -> dict[str, list[Game]]:
    """Give everybody's games as the tie-breaks count them."""
    games: dict[str, list[Game]] = {entry: [] for entry in field.order}
    for match in matches:
        number = round_of(match)
        if match.result is not None and number <= rounds:
            for entry in match.entries:
                games[entry].append(game(match, entry, number))
    for entry, number, kind in _byes(field, rounds):
        if kind == "bye":
            games[entry].append(Game(number, None, _bye_points(field.settings.points), "bye"))
        elif kind == "half-bye":
            games[entry].append(Game(number, None, DRAW, "half-bye"))
    return games


def _bye_points(worth: Points) -> int:
    if worth.bye >= worth.win:
        return WIN
    return DRAW if worth.bye > worth.loss else 0


def _byes(field: Field, rounds: int) -> Iterable[tuple[str, int, str]]:
    known = set(field.order)
    for number, each in enumerate(field.rounds[:rounds], 1):
        for bye in each.byes:
            if bye.p in known:
                yield bye.p, number, bye.kind


def game(match: Match, entry: str, number: int) -> Game:
    """Give a decided match of two as one side's game."""
    rows = [row for race in match.raced for row in race.rows if row.p == entry]
    cards, time_ms = sum(row.cards for row in rows), sum(row.time_ms for row in rows)
    points = match_points(match, entry, Points())
    kind = _kind(match, entry, points)
    opponent = match.other[entry] if kind != "absent" else None
    return Game(number, opponent, points, kind, cards, time_ms if rows else None)


def _kind(match: Match, entry: str, points: int) -> Kind:
    assert match.result is not None
    if match.result.kind in ("played", "ruled"):
        return "played"
    if entry in match.lost:
        return "forfeit-loss"
    return "forfeit-win" if points else "absent"


def rounds_in_order(field: Field) -> Mapping[int, int]:
    """Give the stage's own numbers of the rounds, from 1."""
    return {each.number: index for index, each in enumerate(field.rounds, 1)}
