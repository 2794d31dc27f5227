"""The rows of a page's tables, ready to be written: all that needs thought is done here."""

from collections.abc import Iterable
from dataclasses import dataclass

from server.public import words
from server.public.sheet import Sheet
from wire.lines import LiveRace, MatchLine, RankLine
from wire.reading import column, points, won
from wire.tournaments import Pairings, Ranking


@dataclass(frozen=True, slots=True)
class SideRow:
    """Somebody in a match."""

    name: str
    seed: int
    mark: str  # what it came to: a place, races won, cards
    won: bool


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A match in a round."""

    id: str
    sides: tuple[SideRow, ...]
    state: str  # in words
    is_over: bool
    why: str


@dataclass(frozen=True, slots=True)
class ByeRow:
    """Somebody without a match."""

    name: str
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class RankRow:
    """A line of the standings."""

    place: str
    name: str
    seed: int
    points: str
    values: tuple[str, ...]
    note: str
    is_in: bool


@dataclass(frozen=True, slots=True)
class Table:
    """The standings of one group."""

    title: str
    columns: tuple[tuple[str, str], ...]  # head, meaning
    has_points: bool
    has_notes: bool
    rows: tuple[RankRow, ...]


@dataclass(frozen=True, slots=True)
class LiveRow:
    """Somebody in a race that runs."""

    name: str
    cards: int
    down: int
    moves: int
    outcome: str


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A race that runs."""

    match: str
    room: str
    race: int
    of: int  # cards in the game
    rows: tuple[LiveRow, ...]


def match_rows(sheet: Sheet, on: Pairings) -> list[MatchRow]:
    """Give a round's matches."""
    return [_match_row(sheet, match) for match in on.matches]


def _match_row(sheet: Sheet, match: MatchLine) -> MatchRow:
    places = dict(zip(match.entries, match.places, strict=False))
    several = len(match.entries) > 2
    order = (
        sorted(match.entries, key=lambda each: places.get(each, 0)) if several else match.entries
    )
    return MatchRow(
        id=match.match,
        sides=tuple(
            SideRow(
                name=sheet.name(entry),
                seed=sheet.seeds.get(entry, 0),
                mark=_mark(match, entry, places.get(entry)),
                won=places.get(entry) == 1 and list(places.values()).count(1) == 1,
            )
            for entry in order
        ),
        state=_state(match),
        is_over=match.kind is not None,
        why=match.why,
    )


def _mark(match: MatchLine, entry: str, place: int | None) -> str:
    raced = [race for race in match.races if race.state == "raced"]
    rows = [row for race in raced for row in race.rows if row.entry == entry]
    parts = []
    if len(match.entries) > 2 and place is not None:
        parts.append(f"{place}.")
    if len(match.entries) == 2 and len(raced) > 1:
        parts.append(f"{points(won(match, entry))} won")
    if rows:
        parts.append(f"{sum(row.cards for row in rows)} cards")
    return " ".join(parts)


def _state(match: MatchLine) -> str:
    if match.kind is not None:
        drawn = match.places.count(1) > 1
        told = words.KINDS.get(match.kind, "drawn" if drawn else "over")
        return told if match.reason in ("", match.kind) else f"{told}, {match.reason}"
    last = match.races[-1] if match.races else None
    if last is None or last.state != "called":
        return "waits for its next race" if match.races else "waits"
    return f"race {last.race}" if last.race > 1 else "called"


def bye_rows(sheet: Sheet, on: Pairings) -> list[ByeRow]:
    """Give those who have no match in a round."""
    kinds = {"bye": "bye", "half-bye": "half-point bye", "none": "no match"}
    return [ByeRow(sheet.name(bye.entry), kinds[bye.kind], bye.why) for bye in on.byes]


def tables(sheet: Sheet, ranking: Ranking) -> list[Table]:
    """Give the standings of a stage, group by group."""
    several = len(ranking.groups) > 1
    has_points = any(line.points for group in ranking.groups for line in group)
    return [
        Table(
            title=f"Group {number}" if several else "",
            columns=tuple(column(key) for key in ranking.keys),
            has_points=has_points or bool(ranking.keys),
            has_notes=any(line.note for line in group),
            rows=tuple(_rank_rows(sheet, ranking, group)),
        )
        for number, group in enumerate(ranking.groups, 1)
    ]


def _rank_rows(sheet: Sheet, ranking: Ranking, group: Iterable[RankLine]) -> Iterable[RankRow]:
    for line in group:
        person = sheet.people.get(line.entry)
        status = person.status if person is not None else "in"
        yield RankRow(
            place=str(line.place) if line.place is not None else "–",
            name=sheet.name(line.entry),
            seed=sheet.seeds.get(line.entry, 0),
            points=points(line.points),
            values=tuple(
                words.figure(key, value)
                for key, value in zip(ranking.keys, line.values, strict=False)
            ),
            note=line.note or (status if status != "in" else ""),
            is_in=status == "in",
        )


def live_tables(sheet: Sheet) -> list[LiveTable]:
    """Give the races that run, whoever leads first."""
    races = sheet.progress.races if sheet.progress is not None else []
    return [_live_table(sheet, race) for race in races]


def _live_table(sheet: Sheet, race: LiveRace) -> LiveTable:
    lines = sorted(race.lines, key=lambda line: (-line.cards, line.down, line.moves))
    return LiveTable(
        match=race.match,
        room=race.room,
        race=race.race,
        of=race.of,
        rows=tuple(
            LiveRow(
                name=sheet.name(line.entry),
                cards=line.cards,
                down=line.down,
                moves=line.moves,
                outcome="" if line.outcome == "playing" else line.outcome,
            )
            for line in lines
        ),
    )
