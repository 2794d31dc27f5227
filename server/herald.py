"""What a club wants to hear of a tournament: rounds, results and the end, out of its journal.

Pure. A herald folds the journal of one tournament and gives the notices that each entry makes,
of what everybody may see: results that the organiser holds back are told when they are out.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from server.tournament import Tournament, views
from server.tournament import events as ev
from server.tournament.records import Match

Kind = Literal["round", "result", "end"]


class Player(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody in a notice."""

    player: str
    name: str
    place: int | None = None
    points: float | None = None


class Meeting(Struct, frozen=True, kw_only=True):
    """A match that is called."""

    match: str
    players: list[Player]
    why: str


class Notice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing to tell, as it goes out."""

    id: str  # CODE.VERSION.PART: the same for the same thing, however often it is told
    kind: Kind
    tournament: str
    title: str
    at: int
    round: int | None = None
    starts: int | None = None  # of a round
    matches: list[Meeting] = []  # of a round
    byes: list[Player] = []  # of a round
    match: str = ""  # of a result
    outcome: str = ""  # of a result: played, forfeit, walkover, void, ruled, restarted
    players: list[Player] = []  # of a result or of the end: best first
    reason: str = ""


class Herald:
    """One tournament's journal, and what has been told of it."""

    def __init__(self) -> None:
        self.t = Tournament()
        self._held: dict[str, None] = {}  # matches whose results wait to be told

    def hear(self, at: int, payload: bytes) -> list[Notice]:
        """Fold the next entry in and give the notices it makes.

        Raises:
            UnknownEvent: the entry is of a newer version.
        """
        t = self.t
        event = ev.decode(payload)
        before = list(t.open)
        overruled = [each for each in _ruled(event) if t.matches[each].result is not None]
        t.apply(at, payload, event)
        decided = [each for each in before if _is_decided(t.matches[each])]
        self._held.update(dict.fromkeys([*overruled, *decided]))
        parts = [*self._round(event), *self._results(), *self._end(event)]
        return [
            Notice(
                id=f"{t.code}.{t.version}.{number}",
                tournament=t.code,
                title=t.settings.title,
                at=at,
                **part,  # type: ignore[arg-type]
            )
            for number, part in enumerate(parts, 1)
        ]

    def _round(self, event: ev.AnyEvent) -> Iterable[dict[str, object]]:
        if not isinstance(event, ev.RoundCalled | ev.Repaired):
            return
        t = self.t
        on = t.rounds[event.round - 1]
        called = [t.matches[each] for each in on.matches[-len(event.bouts) :]]
        yield {
            "kind": "round",
            "round": event.round,
            "starts": event.starts,
            "matches": [
                Meeting(match=each.id, players=self._players(each.entries), why=each.why)
                for each in called
            ],
            "byes": self._players(bye.p for bye in event.byes),
            "reason": "paired again" if isinstance(event, ev.Repaired) else "",
        }

    def _results(self) -> Iterable[dict[str, object]]:
        t = self.t
        if views.is_hidden(t):
            return
        held, self._held = self._held, {}
        for each in held:
            if each in t.matches:
                yield self._result(t.matches[each])

    def _result(self, match: Match) -> dict[str, object]:
        result = match.result
        is_off = result is None or match.discarded
        places = dict(result.places) if result is not None and not is_off else {}
        best_first = sorted(match.entries, key=lambda entry: places.get(entry, 0))
        return {
            "kind": "result",
            "round": match.round,
            "match": match.id,
            "outcome": "restarted" if result is None or is_off else result.kind,
            "players": [self._player(entry, place=places.get(entry)) for entry in best_first],
            "reason": result.why if result is not None and result.why != result.kind else "",
        }

    def _end(self, event: ev.AnyEvent) -> Iterable[dict[str, object]]:
        if not isinstance(event, ev.Finished | ev.Cancelled):
            return
        yield {"kind": "end", "reason": self.t.over_why, "players": self._standings()}

    def _standings(self) -> list[Player]:
        t = self.t
        if not t.stages:
            return []
        has_points = t.format(t.stage.number).has_points
        return [
            self._player(
                line.entry, place=line.place, points=line.points / 2 if has_points else None
            )
            for table in views.standings(t, t.stage.number)
            for line in table.lines
        ]

    def _players(self, entries: Iterable[str]) -> list[Player]:
        return [self._player(entry) for entry in entries]

    def _player(
        self, entry: str, *, place: int | None = None, points: float | None = None
    ) -> Player:
        name = self.t.entries[entry].name if entry in self.t.entries else entry
        return Player(player=entry, name=name, place=place, points=points)


def _is_decided(match: Match) -> bool:
    return match.result is not None and not match.discarded


def _ruled(event: ev.AnyEvent) -> list[str]:
    """Give the matches on which an event rules, and those that it discards."""
    if isinstance(event, ev.MatchRestarted | ev.MatchVoided | ev.Overridden):
        return [event.match, *event.discards]
    return []
