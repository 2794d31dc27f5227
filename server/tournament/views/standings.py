"""Standings, with the values that separate equals."""

from msgspec import Struct

from server.tournament.records import Entry, Rank
from server.tournament.state import State


class StandingsLine(Struct, frozen=True, kw_only=True):
    """One place of the standings."""

    place: int | None  # None: disqualified
    entry: str
    player: str  # who plays on this place now
    name: str
    status: str  # in, withdrawn, disqualified
    points: int  # half points; nothing where the format has none
    values: list[int | float]  # by the columns
    note: str


class Standings(Struct, frozen=True, kw_only=True):
    """The standings of one group of a stage."""

    stage: int
    group: int
    format: str
    columns: list[str]  # what the values are: tie-breaks in order, or a format's own keys
    has_points: bool
    lines: list[StandingsLine]


def standings(state: State, stage: int) -> list[Standings]:
    """Give the standings of a stage that has begun, group by group."""
    kind = state.format(stage)
    columns = kind.columns
    return [
        Standings(
            stage=stage,
            group=group,
            format=kind.name,
            columns=list(state.settings.tiebreaks if columns is None else columns),
            has_points=kind.has_points,
            lines=[_line(rank, state.entries[rank.entry]) for rank in ranks],
        )
        for group, ranks in enumerate(state.ranks(stage))
    ]


def _line(rank: Rank, entry: Entry) -> StandingsLine:
    return StandingsLine(
        place=rank.place,
        entry=rank.entry,
        player=entry.player,
        name=entry.name,
        status=entry.status,
        points=rank.points,
        values=list(rank.values),
        note=rank.note,
    )
