"""Tie-breaks: what separates players of equal points (FIDE handbook C.07, edition of March 2026).

Rounds that were not played follow article 16 of that edition, for every tie-break here:
- My own unplayed round is a game against a dummy, with the result I was given. The dummy ends
  on my points, but on no more than half the rounds; after a forfeit, on no more than the
  opponent I was due to meet.
- For my opponents, the rounds that I missed of my own will at the end, after which I never
  came back, count as draws in my score.
- A cut takes a round that I missed of my own will before any that I played.
docs/decisions/0010-unplayed-rounds.md has the reason for this edition.

Points are half points throughout: a win is 2. The values that come out are in points.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from typing import Literal

from server.tournament.encounter import Meetings, tiers

Kind = Literal["played", "bye", "half-bye", "forfeit-win", "forfeit-loss", "absent"]
Value = int | float

WIN = 2
DRAW = 1

_FORFEITS = ("forfeit-win", "forfeit-loss")
_OWN_WILL = ("half-bye", "absent", "forfeit-loss")
_REQUESTED = ("half-bye", "absent")


@dataclass(frozen=True)
class Game:
    """One round of one player; `opponent` of a forfeit is whom the player was due to meet."""

    round: int
    opponent: str | None
    points: int  # half points
    kind: Kind
    cards: int = 0  # on the foundations at the end
    time_ms: int | None = None


TIEBREAKS = (
    "buchholz",
    "buchholz-cut1",
    "buchholz-cut2",
    "median1",
    "median2",
    "fore-buchholz",
    "sonneborn-berger",
    "direct-encounter",
    "wins",
    "games-won",
    "progressive",
    "koya",
    "cards",
    "total-time",
    "best-race",
    "best-time",
)
LESS_IS_BETTER = frozenset({"total-time", "best-time"})
DIRECT_ENCOUNTER = "direct-encounter"


def tiebreaks(
    games: Mapping[str, Sequence[Game]], order: Sequence[str], *, rounds: int
) -> dict[str, tuple[Value, ...]]:
    """Returns each player's tie-break values in the order asked for.

    `rounds` is how many rounds the standings cover; a round without a game is one missed of
    one's own will. Direct encounter compares those whom points and the tie-breaks before it
    leave equal, so its values compare only among them.
    """
    table = _Table(games, rounds)
    _check_order(order)
    values: dict[str, tuple[Value, ...]] = dict.fromkeys(games, ())
    for name in order:
        found: Mapping[str, Value]
        if name == DIRECT_ENCOUNTER:
            found = _direct_encounter(table, values, order)
        else:
            found = {player: _SCALARS[name](table, player) for player in games}
        values = {player: (*values[player], found[player]) for player in games}
    return values


def rank(
    games: Mapping[str, Sequence[Game]], order: Sequence[str], *, rounds: int
) -> list[tuple[int, str, tuple[Value, ...]]]:
    """Returns the standings as (place, player, tie-break values), by points, then by the order.

    Who is equal in all shares a place, and the next place counts those before it; inside a
    place players are listed by name.
    """
    values = tiebreaks(games, order, rounds=rounds)
    points = {player: sum(game.points for game in played) for player, played in games.items()}

    def key(player: str) -> tuple[Value, ...]:
        return (-points[player], *_sort_key(values[player], order))

    standings = []
    place = 1
    for _, tied in groupby(sorted(games, key=lambda player: (key(player), player)), key=key):
        members = list(tied)
        standings += [(place, player, values[player]) for player in members]
        place += len(members)
    return standings


def _check_order(order: Sequence[str]) -> None:
    for name in order:
        if name not in TIEBREAKS:
            raise ValueError(f"there is no tie-break {name!r}; there are {', '.join(TIEBREAKS)}")
    if len(set(order)) != len(order):
        raise ValueError("a tie-break stands twice in the order")


def _sort_key(values: Sequence[Value], order: Sequence[str]) -> tuple[Value, ...]:
    """Returns values that sort the best player first."""
    named = zip(values, order, strict=False)
    return tuple(value if name in LESS_IS_BETTER else -value for value, name in named)


# --- the table all tie-breaks read -----------------------------------------------------


class _Table:
    """Everybody's rounds without gaps, and the scores that follow from them."""

    def __init__(self, games: Mapping[str, Sequence[Game]], rounds: int) -> None:
        if rounds < 0:
            raise ValueError(f"standings cannot cover {rounds} rounds")
        self.rounds = rounds
        self.games = {player: _without_gaps(games[player], rounds) for player in games}
        for player, played in self.games.items():
            _check_opponents(player, played, games)
        self.points = {
            player: sum(game.points for game in played) for player, played in self.games.items()
        }
        self.adjusted = {player: _adjusted(played) for player, played in self.games.items()}
        self.slowest_ms = [
            max((t for played in self.games.values() if (t := _time(played[at]))), default=0)
            for at in range(rounds)
        ]

    @cached_property
    def fore(self) -> "_Table":
        """The table as it would be had every game of the last round been drawn."""
        return _Table(
            {
                player: [
                    Game(game.round, game.opponent, DRAW, game.kind)
                    if game.kind == "played" and game.round == self.rounds
                    else game
                    for game in played
                ]
                for player, played in self.games.items()
            },
            self.rounds,
        )

    def opponent_points(self, player: str, game: Game) -> int:
        """Returns the score a game counts for: the opponent's, or the dummy's."""
        if game.kind == "played":
            return self.adjusted[str(game.opponent)]
        own = self.points[player]
        if game.kind in _FORFEITS:
            return own if game.opponent is None else min(own, self.adjusted[game.opponent])
        return min(own, DRAW * self.rounds)


def _without_gaps(played: Sequence[Game], rounds: int) -> list[Game]:
    by_round = {game.round: game for game in played}
    if len(by_round) != len(played):
        raise ValueError("a player has two games in one round")
    if strays := sorted(by_round.keys() - set(range(1, rounds + 1))):
        raise ValueError(f"a game of round {strays[0]} is outside standings of {rounds} rounds")
    return [
        by_round.get(number) or Game(number, None, 0, "absent") for number in range(1, rounds + 1)
    ]


def _check_opponents(
    player: str, played: Sequence[Game], players: Mapping[str, Sequence[Game]]
) -> None:
    for game in played:
        known = game.opponent in players and game.opponent != player
        if game.kind == "played" and not known:
            raise ValueError(f"{player} has no known opponent in round {game.round}")
        if game.opponent is not None and not known:
            raise ValueError(f"{player} cannot meet {game.opponent} in round {game.round}")


def _adjusted(played: Sequence[Game]) -> int:
    """Returns the score for opponents' use: rounds requested off at the end count as draws."""
    total = 0
    has_left = True
    for game in reversed(played):
        has_left = has_left and game.kind in (*_REQUESTED, "forfeit-loss")
        total += DRAW if has_left and game.kind in _REQUESTED else game.points
    return total


def _time(game: Game) -> int | None:
    return game.time_ms if game.kind == "played" else None


# --- tie-breaks over one player's rounds -------------------------------------------------


def _contributions(table: _Table, player: str) -> list[tuple[bool, int]]:
    """Returns what each round counts in Buchholz, and whether a cut spares it."""
    return [
        (game.kind not in _OWN_WILL, table.opponent_points(player, game))
        for game in table.games[player]
    ]


def _buchholz(table: _Table, player: str, lowest: int = 0, highest: int = 0) -> float:
    """Returns the sum without some of the lowest and highest, or of all if nothing would be left.

    Cuts take rounds missed of one's own will first, which is how these sort.
    """
    counted = sorted(_contributions(table, player))
    if len(counted) > lowest + highest:
        counted = counted[lowest:]
        counted.sort(key=lambda contribution: contribution[1])
        counted = counted[: len(counted) - highest]
    return sum(points for _, points in counted) / 2


def _fore_buchholz(table: _Table, player: str) -> float:
    return _buchholz(table.fore, player)


def _sonneborn_berger(table: _Table, player: str) -> float:
    won = (table.opponent_points(player, game) * game.points for game in table.games[player])
    return sum(won) / 4


def _wins(table: _Table, player: str) -> int:
    return sum(game.points == WIN for game in table.games[player])


def _games_won(table: _Table, player: str) -> int:
    return sum(game.points == WIN and game.kind == "played" for game in table.games[player])


def _progressive(table: _Table, player: str) -> float:
    return sum(accumulate(game.points for game in table.games[player])) / 2


def _koya(table: _Table, player: str) -> float:
    strong = (
        game.points
        for game in table.games[player]
        if game.kind == "played" and table.points[str(game.opponent)] >= DRAW * table.rounds
    )
    return sum(strong) / 2


# --- keys of races -----------------------------------------------------------------------


def _cards(table: _Table, player: str) -> int:
    """Returns all cards; a round off through no fault counts as the player's average."""
    own = [game.cards for game in table.games[player] if game.kind == "played"]
    average = sum(own) // len(own) if own else 0
    return sum(own) + average * _faultless_rounds_off(table, player)


def _total_time(table: _Table, player: str) -> int:
    """Returns the time of all rounds, the slowest of the round standing in for a missing one.

    A round off through no fault counts as the player's average.
    """
    played = [game for game in table.games[player] if game.kind not in ("bye", "forfeit-win")]
    times = [_time(game) or table.slowest_ms[game.round - 1] for game in played]
    average = sum(times) // len(times) if times else 0
    return sum(times) + average * _faultless_rounds_off(table, player)


def _faultless_rounds_off(table: _Table, player: str) -> int:
    return sum(game.kind in ("bye", "forfeit-win") for game in table.games[player])


def _best_race(table: _Table, player: str) -> int:
    own = (game.cards for game in table.games[player] if game.kind == "played")
    return max(own, default=0)


def _best_time(table: _Table, player: str) -> int:
    best = _best_race(table, player)
    times = (
        _time(game) or table.slowest_ms[game.round - 1]
        for game in table.games[player]
        if game.kind == "played" and game.cards == best
    )
    return min(times, default=max(table.slowest_ms, default=0))


_SCALARS: Mapping[str, Callable[[_Table, str], Value]] = {
    "buchholz": _buchholz,
    "buchholz-cut1": lambda table, player: _buchholz(table, player, lowest=1),
    "buchholz-cut2": lambda table, player: _buchholz(table, player, lowest=2),
    "median1": lambda table, player: _buchholz(table, player, lowest=1, highest=1),
    "median2": lambda table, player: _buchholz(table, player, lowest=2, highest=2),
    "fore-buchholz": _fore_buchholz,
    "sonneborn-berger": _sonneborn_berger,
    "wins": _wins,
    "games-won": _games_won,
    "progressive": _progressive,
    "koya": _koya,
    "cards": _cards,
    "total-time": _total_time,
    "best-race": _best_race,
    "best-time": _best_time,
}


# --- direct encounter --------------------------------------------------------------------


def _direct_encounter(
    table: _Table, values: Mapping[str, Sequence[Value]], order: Sequence[str]
) -> dict[str, int]:
    """Returns for each player how many of those tied so far its games place below it."""

    def key(player: str) -> tuple[Value, ...]:
        return (-table.points[player], *_sort_key(values[player], order))

    meetings = _meetings(table)
    below: dict[str, int] = {}
    for _, tied in groupby(sorted(table.games, key=lambda player: (key(player), player)), key=key):
        group = list(tied)
        left = len(group)
        for tier in tiers(group, meetings):
            left -= len(tier)
            below.update(dict.fromkeys(tier, left))
    return below


def _meetings(table: _Table) -> Meetings:
    """Returns each player's results against each opponent; a forfeit is a meeting without one."""
    meetings: dict[str, dict[str, list[int]]] = {}
    for player, played in table.games.items():
        against = meetings.setdefault(player, {})
        for game in played:
            if game.opponent is not None:
                results = against.setdefault(game.opponent, [])
                results += [game.points] if game.kind == "played" else []
    return meetings
