"""Ratings: read for people, and changed by the matches of tournaments that are over."""

import logging
from collections.abc import Iterable, Sequence

from msgspec import Struct, json

from server.refusal import Refusal, race_lost, store_away
from server.rules import Rules
from server.store import Store, Unavailable
from server.store.ratings import Rated
from server.tournament import Tournament
from server.tournament.rating import NEWCOMER, Rating, rate
from server.tournament.records import Match
from wire import tournaments as w
from wire.lines import RatingChange, RatingLine

log = logging.getLogger("dk.ladder")

ATTEMPTS = 10  # at a match while others change the ratings of its players
CAREER_LINES = 100


class Line(Struct, frozen=True):
    """One change in a player's history, as it is kept."""

    at: int
    tournament: str
    match: str
    rating: int
    change: int


class Ladder:
    """The ratings of all players, by rules."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def of(self, rules: str, players: Sequence[str]) -> dict[str, Rating]:
        """Read players' ratings; newcomers have the one that everybody begins with.

        Raises:
            Refusal: the store does not answer, or there are no such rules.
        """
        try:
            known = await self._store.ratings.read(full(rules), players)
        except Unavailable:
            raise store_away() from None
        return {
            player: json.decode(known[player], type=Rating) if player in known else NEWCOMER
            for player in players
        }

    async def board(self, rules: str, start: int, count: int) -> w.Leaderboard:
        """Give some lines of the leaderboard; errors as in `of`."""
        try:
            total, players = await self._store.ratings.leaders(full(rules), start, count)
            known = [await self._store.players.get(player) for player in players]
        except Unavailable:
            raise store_away() from None
        ratings = await self.of(rules, players)
        lines = [
            RatingLine(
                place=place,
                player=who.id,
                name=who.name,
                rating=ratings[who.id].shown,
                races=ratings[who.id].races,
                provisional=ratings[who.id].is_provisional,
                bot=who.bot,
            )
            for place, who in enumerate(known, start + 1)
            if who is not None
        ]
        return w.Leaderboard(rules=full(rules), start=start, total=total, lines=lines)

    async def career(self, rules: str, player: str) -> w.History:
        """Give how a player's rating came about; errors as in `of`."""
        rating = (await self.of(rules, [player]))[player]
        try:
            found = await self._store.ratings.history(full(rules), player, CAREER_LINES)
        except Unavailable:
            raise store_away() from None
        lines = [json.decode(line, type=Line) for line in found]
        return w.History(
            player=player,
            rules=full(rules),
            rating=rating.shown if rating.races else None,
            provisional=rating.is_provisional,
            races=rating.races,
            changes=[
                RatingChange(
                    at=line.at,
                    tournament=line.tournament,
                    match=line.match,
                    rating=line.rating,
                    change=line.change,
                )
                for line in lines
            ],
        )

    # --- applying ---------------------------------------------------------------------

    async def apply(self, t: Tournament) -> None:
        """Rate the matches of a tournament that is over, each once however often this is asked.

        Raises:
            Refusal: the store does not answer; what is missing is applied the next time.
        """
        if t.phase != "finished" or not t.settings.rated:
            return
        rules = full(t.settings.race.rules)
        for match in rated_matches(t):
            try:
                await self._apply(t, rules, match)
            except Unavailable:
                raise store_away() from None

    async def _apply(self, t: Tournament, rules: str, match: Match) -> None:
        places = places_of(match)
        for _ in range(ATTEMPTS):
            texts = await self._store.ratings.read(rules, list(places))
            before = {
                player: json.decode(texts[player], type=Rating) if player in texts else NEWCOMER
                for player in places
            }
            after = rate(before, places)
            rated = [
                Rated(
                    player,
                    texts.get(player, ""),
                    json.encode(after[player]).decode(),
                    after[player].shown,
                    json.encode(
                        Line(
                            match.raced[-1].starts,
                            t.code,
                            match.id,
                            after[player].shown,
                            after[player].shown - before[player].shown,
                        )
                    ).decode(),
                )
                for player in places
            ]
            if await self._store.ratings.apply(rules, t.code, match.id, rated):
                return
        raise race_lost()


def full(rules: str) -> str:
    """Give rules as they are kept: the same ones always in the same words.

    Raises:
        Refusal: there are no such rules.
    """
    try:
        return Rules.parse(rules).text()
    except ValueError as error:
        raise Refusal("rules", str(error)) from None


def rated_matches(t: Tournament) -> Iterable[Match]:
    """Give the matches that count for ratings, in the order of their last races.

    Those that were raced by at least two; what was forfeited or given without a race says
    nothing about strength.
    """
    found = [
        match
        for match in t.matches.values()
        if not match.discarded
        and match.result is not None
        and match.result.kind in ("played", "ruled")
        and match.is_played
        and len(places_of(match)) >= 2
    ]
    return sorted(found, key=lambda match: (match.raced[-1].starts, match.round, match.id))


def places_of(match: Match) -> dict[str, int]:
    """Give the places of those who raced, by who they were."""
    assert match.result is not None
    racers = dict(zip(match.entries, match.raced[-1].players, strict=True)) if match.raced else {}
    there = {row.p for race in match.raced for row in race.rows}
    return {
        racers[entry]: place
        for entry, place in match.result.places
        if entry in there and entry not in match.lost
    }
