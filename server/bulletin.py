"""What is shown of a tournament: its state as messages.

All take a state as its viewers may see it (`server.tournament.views.public` for everybody but
the organisers); nothing here hides anything.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, get_args

from server.tournament import Call, Tournament, beginning, views
from server.tournament.acts import actions
from server.tournament.formats import table
from server.tournament.records import Entry, Match, Race
from wire import tournaments as w
from wire.acts import AnyAct
from wire.formats import in_words
from wire.lines import (
    ByeLine,
    Entrant,
    MatchLine,
    MatchStart,
    Notice,
    PathLine,
    RaceLine,
    RaceRow,
    RankLine,
    SlotLine,
)

NOTICES = 20  # the newest announcements

ACTS = frozenset(str(each.__struct_config__.tag) for each in get_args(AnyAct))

OWN_ACTS = {"enter": "enter", "check-in": "checkin", "withdraw": "withdraw", "rejoin": "rejoin"}


def tournament(t: Tournament, now: int) -> w.Tournament:
    """Give the head of a tournament."""
    on = t.round
    stage = t.stage if t.stages else None
    return w.Tournament(
        tournament=t.code,
        version=t.version,
        settings=t.settings,
        phase=t.phase,
        now=now,
        opened=t.opened_at,
        entrants=len(t.active),
        starts=t.begun_at if t.begun_at is not None else t.start_at,
        stage=stage.number if stage else None,
        stages=[in_words(each) for each in t.settings.stages],
        groups=len(stage.groups) if stage else 1,
        round=len(t.rounds) or None,
        rounds=[len(each.rounds) for each in t.stages],
        round_starts=t.starts(on) if on else None,
        late=[MatchStart(match=match, at=at) for match, at in views.late(t, on)] if on else [],
        deadline=on.deadline if on else None,
        ends=stage.ends if stage else None,
        open=len(t.open),
        held=views.is_hidden(t),
        reason=t.over_why,
        notices=[Notice(at=at, text=text) for at, text in t.announced[-NOTICES:]],
        head=t.head.hex() if t.is_over else "",
    )


def entrants(t: Tournament) -> w.Entrants:
    """Give who takes part, in the order of the seeds."""
    order = beginning.seeds(t)
    return w.Entrants(
        tournament=t.code, version=t.version, entrants=[_entrant(t.entries[e]) for e in order]
    )


def _entrant(entry: Entry) -> Entrant:
    return Entrant(
        entry=entry.id,
        name=entry.name,
        rating=entry.rating,
        player=entry.player if entry.player != entry.id else None,
        bot=entry.bot,
        status=entry.status,
        checked=entry.checked,
    )


def ranking(t: Tournament, stage: int) -> w.Ranking:
    """Give the standings of a stage that has begun."""
    groups = views.standings(t, stage)
    return w.Ranking(
        tournament=t.code,
        version=t.version,
        stage=stage,
        keys=groups[0].columns,
        groups=[[_rank(line) for line in group.lines] for group in groups],
    )


def _rank(line: views.StandingsLine) -> RankLine:
    values = [float(value) for value in line.values]
    return RankLine(line.entry, line.place, line.points / 2, values, line.note)


def pairings(t: Tournament, number: int) -> w.Pairings:
    """Give one round."""
    on = t.rounds[number - 1]
    matches = (t.matches[each] for each in on.matches)
    return w.Pairings(
        tournament=t.code,
        version=t.version,
        round=number,
        stage=on.stage,
        starts=on.starts,
        deadline=on.deadline,
        closed=on.closed,
        published=on.published,
        matches=[_match(match) for match in matches if not match.discarded],
        byes=[ByeLine(entry=bye.p, kind=bye.kind, why=bye.why) for bye in on.byes],
    )


def _match(match: Match) -> MatchLine:
    result = match.result
    places = dict(result.places) if result else {}
    return MatchLine(
        match=match.id,
        entries=list(match.entries),
        why=match.why,
        group=match.group,
        slot=match.slot,
        races=[
            RaceLine(
                race=race.number,
                room=race.room,
                starts=race.starts,
                state=race.state,
                rows=[
                    RaceRow(row.p, row.place, row.outcome, row.cards, row.down, row.time_ms)
                    for row in race.rows
                ],
            )
            for race in match.races
            if race.room
        ],
        kind=result.kind if result else None,
        places=[places[entry] for entry in match.entries] if places else [],
        reason=result.why if result else "",
    )


def bracket(t: Tournament, stage: int) -> w.Bracket | None:
    """Give the brackets of a stage; None where its format has none."""
    groups = views.brackets(t, stage)
    if not groups:
        return None
    return w.Bracket(
        tournament=t.code,
        version=t.version,
        stage=stage,
        groups=[[_slot(t, box) for box in group.boxes] for group in groups],
    )


def _slot(t: Tournament, box: views.BoxView) -> SlotLine:
    return SlotLine(
        slot=box.id,
        side=box.side,
        round=box.round,
        number=box.number,
        name=box.name,
        sides=[place.entry for place in box.places],
        sources=[place.source for place in box.places],
        state=box.state,  # type: ignore[arg-type]
        match=box.match,
        winner=box.winner,
        scores=_scores(t.matches[box.match], box) if box.match else [],
    )


def _scores(match: Match, box: views.BoxView) -> list[float]:
    """Give what each side of a box has: cards in a single race, races won in a series."""
    raced = match.raced
    if not raced:
        return []
    if len(raced) == 1:
        cards = {row.p: float(row.cards) for row in raced[0].rows}
        return [cards.get(side.entry, 0.0) for side in box.places]
    return [sum(_won(race, side.entry) for race in raced) for side in box.places]


def _won(race: Race, entry: str) -> float:
    first = [row.p for row in race.rows if row.place == 1]
    return 0.0 if entry not in first else 1.0 if len(first) == 1 else 0.5


def duties(t: Tournament, by: str) -> w.Duties:
    """Give what the holder of a key may do."""
    acts = set(actions(t, by)) & ACTS
    if "invite" in acts:
        acts.add("enrol")
    role: Literal["owner", "referee"] = "owner" if by == "owner" else "referee"
    return w.Duties(tournament=t.code, role=role, acts=sorted(acts))


def called(t: Tournament, call: Call, player: str) -> w.Called:
    """Give the word to a player that a race waits."""
    starts = call.settings.start_at or 0
    return w.Called(
        tournament=t.code,
        title=t.settings.title,
        match=call.match,
        race=call.race,
        room=call.room,
        starts=starts + 1000 * call.settings.countdown_s,
        opponents=[name for other, name in call.players if other != player],
        no_show_s=call.no_show_s,
    )


def place(t: Tournament, player: str, ranks: dict[str, RankLine] | None = None) -> w.Place:
    """Give a tournament as one player sees it; `ranks` are of the stage that is on."""
    entry = t.entries.get(t.people.get(player, ""))
    acts = [OWN_ACTS[act] for act in actions(t, player) if act in OWN_ACTS]
    if entry is None or entry.player != player:
        acts = [act for act in acts if act == "enter"]
        return w.Place(tournament=t.code, phase=t.phase, actions=acts)
    acts = [act for act in acts if act in _fitting(entry)]
    rank = (ranks or {}).get(entry.id)
    race = next(_races(t, entry), None)
    order = beginning.seeds(t)
    return w.Place(
        tournament=t.code,
        phase=t.phase,
        entry=entry.id,
        status=entry.status,
        checked=entry.checked,
        seed=order.index(entry.id) + 1 if entry.id in order else None,
        place=rank.place if rank else None,
        points=rank.points if rank else 0,
        match=race.match if race else "",
        room=race.room if race else None,
        starts=race.starts if race else None,
        actions=acts,
        path=list(_path(t, entry)),
    )


def _fitting(entry: Entry) -> set[str]:
    if entry.status == "withdrawn":
        return {"rejoin"}
    if not entry.is_in:
        return set()
    return {"withdraw"} if entry.checked else {"withdraw", "checkin"}


class _Waiting(NamedTuple):
    match: str
    room: str
    starts: int


def _races(t: Tournament, entry: Entry) -> Iterator[_Waiting]:
    for each in t.open:
        match = t.matches[each]
        if entry.id in match.entries and entry.id not in match.lost and match.race is not None:
            yield _Waiting(match.id, match.race.room, match.race.starts)


def _path(t: Tournament, entry: Entry) -> Iterator[PathLine]:
    for on in t.rounds:
        for bye in on.byes:
            if bye.p == entry.id:
                yield PathLine(round=on.number, result=bye.kind)
        for match in _own(t, on.matches, entry):
            result = match.result
            has_points = t.format(match.stage).has_points
            points = table.match_points(match, entry.id, t.settings.points) if has_points else 0
            yield PathLine(
                round=on.number,
                match=match.id,
                slot=match.slot,
                opponents=[other for other in match.entries if other != entry.id],
                place=result.place(entry.id) if result else None,
                points=points / 2,
                result=result.kind if result else "",
            )


def _own(t: Tournament, ids: Iterable[str], entry: Entry) -> Iterator[Match]:
    for each in ids:
        match = t.matches[each]
        if entry.id in match.entries and not match.discarded:
            yield match


class Shown:
    """Places of players, from standings that are worked out once for each version."""

    def __init__(self) -> None:
        self._version = -1
        self._ranks: dict[str, RankLine] = {}

    def places(self, t: Tournament, players: Iterable[str]) -> dict[str, w.Place]:
        """Give the tournament as each of some players sees it."""
        shown = views.public(t)
        if self._version != t.version:
            self._ranks = rank_lines(ranking(shown, t.stage.number)) if t.stages else {}
            self._version = t.version
        return {player: place(shown, player, self._ranks) for player in players}


def rank_lines(shown: w.Ranking) -> dict[str, RankLine]:
    """Give the lines of standings by entry."""
    return {line.entry: line for group in shown.groups for line in group}
