"""What must hold in every tournament, whatever happens to it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

import rustworkx

from server.tournament import Tournament
from server.tournament import events as ev
from server.tournament.records import Match, Result
from server.tournament.settings import (
    Arena,
    Double,
    Heats,
    NFold,
    RoundRobin,
    Single,
    Swiss,
)

RULINGS = (ev.Overridden, ev.MatchVoided, ev.MatchRestarted)


class Broken(AssertionError):
    """A law does not hold."""


def law(holds: bool, text: str) -> None:
    """Say that a law does not hold."""
    if not holds:
        raise Broken(text)


class Watch:
    """Looks at every event as it is folded."""

    def __init__(self) -> None:
        self.rooms: set[str] = set()
        self.deals: dict[str, int] = {}
        self.rounds: set[int] = set()
        self.ever_out: set[str] = set()
        self.results: dict[str, Result] = {}
        self.kinds: Counter[str] = Counter()
        self.seen: dict[str, Match] = {}

    def before(self, t: Tournament, event: ev.AnyEvent) -> None:
        """Look at an event and the state that it was decided on."""
        match event:
            case ev.RoundCalled():
                law(t.phase == "running", "a round is called only in a tournament that runs")
                self._numbered(t, event)
                self._bouts(t, event.round, event.bouts)
                self._byes(t, event.byes)
                self._meetings(t, event.bouts)
            case ev.Repaired(by=""):
                self._bouts(t, event.round, event.bouts)
                self._byes(t, event.byes)
                self._meetings(t, event.bouts)
            case ev.Repaired():
                self._bouts(t, event.round, event.bouts)
            case ev.RacesCalled():
                for seat in event.seats:
                    self._room(seat.room)
                    self._deal(t, seat.deal, t.matches[seat.match].round)
            case ev.Raced():
                law(t.matches[event.match].is_open, f"{event.match}: raced once decided")

    def after(self, t: Tournament, event: ev.AnyEvent) -> None:
        """Look at an event and the state that it has led to."""
        self.kinds[type(event).__name__] += 1
        for match_id, match in t.matches.items():
            if self.seen.get(match_id) is not match:
                self.seen[match_id] = match
                self._once(match, event)
        self.ever_out |= {entry.id for entry in t.entries.values() if not entry.is_in}
        self._one_race_each(t)

    def _numbered(self, t: Tournament, event: ev.RoundCalled) -> None:
        if event.round in self.rounds:
            law(event.round == t.round.number if t.round else False, "an old round is called")
            law(bool(t.redo), "a round is called twice without a ruling")
            self.kinds["(round called on)"] += 1
        else:
            law(event.round == len(t.rounds) + 1, "a round's number is skipped")
        self.rounds.add(event.round)

    def _bouts(self, t: Tournament, number: int, bouts: Sequence[ev.Bout]) -> None:
        named = Counter(entry for bout in bouts for entry in bout.p if bout.room)
        if not any(isinstance(t.settings.stages[s.number].play, RoundRobin) for s in t.stages):
            law(max(named.values(), default=0) <= 1, "somebody is called to two matches")
        for bout in bouts:
            law(bool(bout.why), "a pairing has no reason")
            law(len(set(bout.p)) == len(bout.p), "somebody meets themselves")
            if bout.room:
                self._room(bout.room)
                self._deal(t, bout.deal, number)
                there = [entry for entry in bout.p if entry not in bout.out]
                law(all(t.entries[entry].is_in for entry in there), "somebody out is called")

    def _room(self, room: str) -> None:
        law(room not in self.rooms, "a room is called twice")
        self.rooms.add(room)

    def _deal(self, t: Tournament, deal: str, number: int) -> None:
        may_share = t.shares_deals(t.stage.number) and self.deals.get(deal) == number
        law(deal not in self.deals or may_share, "a deal comes twice")
        self.deals[deal] = number

    def _meetings(self, t: Tournament, bouts: Sequence[ev.Bout]) -> None:
        """No rematch that could be avoided; in an arena none at once unless two are left."""
        play = t.spec(t.stage.number).play
        if isinstance(play, Swiss) and play.engine == "exact":
            for group in range(len(t.stage.groups)):
                pairs = [bout.p for bout in bouts if bout.group == group]
                _check_rematches(pairs, self._met(t, group))
        elif isinstance(play, Arena):
            last = {e: m.other[e] for m in t.stage_matches(t.stage) for e in m.entries}
            for a, b in (bout.p for bout in bouts):
                at_once = last.get(a) == b and last.get(b) == a
                left = [entry for entry in t.stage.groups[0] if t.entries[entry].is_in]
                law(not at_once or len(left) == 2, f"{a} and {b} meet twice in a row")

    def _met(self, t: Tournament, group: int) -> set[frozenset[str]]:
        return {
            frozenset(match.entries)
            for match in t.stage_matches(t.stage)
            if match.group == group
            and not (t.repair and t.round is not None and match.round == t.round.number)
            and match.result is not None
            and match.result.kind in ("played", "ruled")
        }

    def _byes(self, t: Tournament, byes: Iterable[ev.Bye]) -> None:
        """Nobody sits out again while somebody else has sat out less."""
        if not isinstance(t.spec(t.stage.number).play, Swiss):
            return
        had = Counter(
            bye.p
            for number in t.stage.rounds
            for bye in t.rounds[number - 1].byes
            if bye.kind == "bye"
        )
        if t.repair and t.round is not None:
            had.subtract(bye.p for bye in t.round.byes if bye.kind == "bye")
        for bye in byes:
            group = next(group for group in t.stage.groups if bye.p in group)
            least = min(had[entry] for entry in group if t.entries[entry].is_in)
            law(had[bye.p] == least, f"{bye.p} sits out again before others")

    def _once(self, match: Match, event: ev.AnyEvent) -> None:
        former = self.results.get(match.id)
        if former is not None and match.result != former:
            is_ruling = isinstance(event, RULINGS) and event.match == match.id
            law(is_ruling, f"{match.id}: a second result by {type(event).__name__}")
        if match.result is None:
            self.results.pop(match.id, None)
        else:
            self.results[match.id] = match.result

    def _one_race_each(self, t: Tournament) -> None:
        called = Counter(
            entry
            for match in (t.matches[each] for each in t.open)
            if match.race is not None
            for entry in match.entries
            if entry not in match.lost
        )
        law(max(called.values(), default=0) <= 1, "somebody is called to two races at once")


def _check_rematches(pairs: Sequence[Sequence[str]], met: set[frozenset[str]]) -> None:
    if not any(frozenset(pair) in met for pair in pairs):
        return
    players = [player for pair in pairs for player in pair]
    free = rustworkx.PyGraph()
    free.add_nodes_from(players)
    for (i, a), (j, b) in combinations(enumerate(players), 2):
        if frozenset((a, b)) not in met:
            free.add_edge(i, j, None)
    largest = rustworkx.max_weight_matching(free, max_cardinality=True)
    law(len(largest) < len(pairs), "a rematch could be avoided")


def check_end(t: Tournament, watch: Watch) -> None:
    """Check a tournament that is over."""
    law(t.phase in ("finished", "cancelled"), f"it is {t.phase}")
    law(bool(t.over_why), "it ends without a reason")
    law(not t.open, "a match is left open")
    if t.phase == "cancelled":
        return
    for match in t.matches.values():
        law(match.discarded or match.result is not None, f"{match.id} has no result")
    for stage in t.stages:
        law(stage.ended is not None, "a stage has not ended")
        for group, order in enumerate(stage.groups):
            matches = [m for m in t.stage_matches(stage) if m.group == group]
            _check_group(t, watch, stage.number, order, matches)
        for lines in t.ranks(stage.number):
            _check_places([(line.place, line.entry) for line in lines])
    for ranks, order in zip(t.ranks(t.stage.number), t.stage.groups, strict=True):
        law(sorted(line.entry for line in ranks) == sorted(order), "somebody has no place")


def _check_places(lines: Sequence[tuple[int | None, str]]) -> None:
    for index, (place, _) in enumerate(lines):
        if place is not None and place != index + 1:
            law(index > 0 and lines[index - 1][0] == place, "places have a gap")


def _check_group(
    t: Tournament, watch: Watch, stage: int, order: Sequence[str], matches: Sequence[Match]
) -> None:
    play = t.spec(stage).play
    stayed = [entry for entry in order if entry not in watch.ever_out]
    lost = Counter(
        entry
        for match in matches
        if match.result is not None and not match.slot.startswith("P")
        for entry in match.entries
        if match.result.winner != entry
    )
    match play:
        case Single():
            _check_losses(stayed, lost, 1)
            _check_count(t, matches, len(order) - 1 + (play.third_place and len(order) > 3))
        case Double(final="reset"):
            _check_losses(stayed, lost, 2)
            upset = any(match.slot == "F2.1" for match in matches)
            _check_count(t, matches, 2 * len(order) - 2 + upset)
        case Double(final="single"):
            law(sum(lost[entry] < 2 for entry in stayed) <= 2, "too many are left")
        case Double():
            law(sum(lost[entry] < 2 for entry in stayed) <= 2, "too many are left")
            law(sum(lost[entry] < 1 for entry in stayed) <= 1, "too many have no loss")
        case NFold():
            law(sum(lost[entry] < play.losses for entry in stayed) <= 1, "too many are left")
        case RoundRobin():
            _check_meetings(stayed, matches, 2 if play.double else 1)
        case Heats():
            _check_heats(matches)
        case Swiss():
            _check_points(t, stage, order, matches)
        case _:
            pass


def _check_losses(stayed: Sequence[str], lost: Counter[str], limit: int) -> None:
    left = [entry for entry in stayed if lost[entry] < limit]
    law(len(left) <= 1, f"{left} are out with fewer than {limit} losses")
    over = [entry for entry in stayed if lost[entry] > limit]
    law(not over, f"{over} went on after {limit} losses")


def _check_count(t: Tournament, matches: Sequence[Match], wanted: int) -> None:
    # A void match passes emptiness on, and what follows may not take place at all.
    void = any(match.result is not None and not match.result.places for match in matches)
    law(len(matches) == wanted or void, f"{len(matches)} matches, not {wanted}")


def _check_meetings(stayed: Sequence[str], matches: Sequence[Match], times: int) -> None:
    met = Counter(frozenset(match.entries) for match in matches)
    law(max(met.values(), default=0) <= times, "two met too often")
    for a, b in combinations(stayed, 2):
        law(met[frozenset((a, b))] == times, f"{a} and {b}, who stayed, have not met")


def _check_points(
    t: Tournament, stage: int, order: Sequence[str], matches: Sequence[Match]
) -> None:
    """Every match that is not void hands out one point, every bye what it is worth."""
    group = next(n for n, each in enumerate(t.stages[stage].groups) if each == order)
    byes = Counter(
        bye.kind
        for number in t.stages[stage].rounds
        for bye in t.rounds[number - 1].byes
        if bye.p in order
    )
    decided = sum(bool(match.result and match.result.places) for match in matches)
    given = sum(line.points for line in t.ranks(stage)[group])
    law(given == 2 * (decided + byes["bye"]) + byes["half-bye"], "points do not add up")


def _check_heats(matches: Sequence[Match]) -> None:
    last = max((int(match.slot[1:].split(".")[0]) for match in matches), default=0)
    finals = [match for match in matches if match.slot.startswith(f"H{last}.")]
    void = any(match.result is not None and not match.result.places for match in matches)
    law(len(finals) <= 1 or void, "more than one final")
    for match in matches:
        law(len(match.entries) <= 8, "a heat is too large")
