"""Rounds and brackets, as data for pages and terminals."""

from collections.abc import Iterable

from msgspec import Struct

from server.tournament.formats.slots import EMPTY, PENDING, Slot, Source
from server.tournament.records import Match, Round
from server.tournament.state import State


class Side(Struct, frozen=True, kw_only=True):
    """Somebody in a match, and what it brought."""

    entry: str
    player: str
    name: str
    seed: int  # in the group, from 1
    place: int | None = None  # in the match, once decided; None in a void one
    races: int = 0  # first places in it, of two who race a series
    cards: int = 0  # in its races
    lost: bool = False  # gave the match up: absent, withdrawn, disqualified


class MatchView(Struct, frozen=True, kw_only=True):
    """A match of a round."""

    id: str
    group: int
    slot: str
    why: str  # why just these meet
    sides: list[Side]
    state: str  # waiting, called, over, discarded
    kind: str = ""  # once decided: played, forfeit, walkover, void, ruled
    because: str = ""  # once decided: what there is to say about it
    room: str = ""  # of the race that is called
    starts: int | None = None  # of that race
    raced: int = 0  # races that count so far


class ByeView(Struct, frozen=True, kw_only=True):
    """Somebody without a match in a round."""

    entry: str
    name: str
    why: str
    kind: str  # bye, half-bye, none


class RoundView(Struct, frozen=True, kw_only=True):
    """A round with its pairings."""

    number: int
    stage: int
    starts: int
    deadline: int | None
    closed: bool
    published: bool
    matches: list[MatchView]
    byes: list[ByeView]


class Place(Struct, frozen=True, kw_only=True):
    """One side of a box in a bracket: who, or where they will come from."""

    entry: str = ""
    name: str = ""
    seed: int | None = None
    source: str = ""  # e.g. "winner of W1.2"; said also when it is known who it is


class BoxView(Struct, frozen=True, kw_only=True):
    """One place of a bracket where two meet."""

    id: str
    side: str  # winners, losers, final, third
    round: int
    number: int  # from the top, in its round
    name: str
    places: list[Place]
    feeds: list[str]  # ids of the boxes whose winner or loser comes here
    state: str  # waiting, ready, called, over, bye, empty
    match: str = ""
    winner: str = ""  # entry


class BracketView(Struct, frozen=True, kw_only=True):
    """The bracket of one group."""

    stage: int
    group: int
    boxes: list[BoxView]


def round_view(state: State, number: int) -> RoundView:
    """Give a round with its pairings and their reasons."""
    on = state.rounds[number - 1]
    return RoundView(
        number=number,
        stage=on.stage,
        starts=state.starts(on),
        deadline=on.deadline,
        closed=on.closed,
        published=on.published,
        matches=[match_view(state, state.matches[each]) for each in on.matches],
        byes=_byes(state, on),
    )


def _byes(state: State, on: Round) -> list[ByeView]:
    return [
        ByeView(entry=bye.p, name=state.entries[bye.p].name, why=bye.why, kind=bye.kind)
        for bye in on.byes
    ]


def match_view(state: State, match: Match) -> MatchView:
    """Give a match."""
    race = match.race if match.is_open else None
    return MatchView(
        id=match.id,
        group=match.group,
        slot=match.slot,
        why=match.why,
        sides=[_side(state, match, entry) for entry in match.entries],
        state=_state(match),
        kind=match.result.kind if match.result else "",
        because=match.result.why if match.result else "",
        room=race.room if race else "",
        starts=race.starts if race else None,
        raced=len(match.raced),
    )


def _state(match: Match) -> str:
    if match.discarded:
        return "discarded"
    if match.result is not None:
        return "over"
    return "called" if match.race is not None else "waiting"


def _side(state: State, match: Match, entry: str) -> Side:
    rows = [row for race in match.raced for row in race.rows if row.p == entry]
    place = state.entries[entry]
    return Side(
        entry=entry,
        player=place.player,
        name=place.name,
        seed=seed_of(state, match.stage, match.group, entry),
        place=match.result.place(entry) if match.result else None,
        races=sum(row.place == 1 for row in rows),
        cards=sum(row.cards for row in rows),
        lost=entry in match.lost,
    )


def seed_of(state: State, stage: int, group: int, entry: str) -> int:
    """Give an entry's seed in its group, from 1; 0 when the stage is played anew without it."""
    groups = state.stages[stage].groups if stage < len(state.stages) else ()
    order = groups[group] if group < len(groups) else ()
    return order.index(entry) + 1 if entry in order else 0


def brackets(state: State, stage: int) -> list[BracketView]:
    """Give the brackets of a stage, group by group; none where the format has no bracket."""
    slots_of = state.format(stage).slots
    found = ((field.group, slots_of(field)) for field in state.fields(stage))
    return [
        BracketView(stage=stage, group=group, boxes=_boxes(state, stage, group, slots))
        for group, slots in found
        if slots
    ]


def _boxes(state: State, stage: int, group: int, slots: Iterable[Slot]) -> list[BoxView]:
    return [
        BoxView(
            id=slot.box.id,
            side=slot.box.side,
            round=slot.box.round,
            number=slot.box.number,
            name=slot.box.name,
            places=[
                _place(state, stage, group, entry, source)
                for entry, source in zip(slot.sides, slot.box.sources, strict=True)
            ],
            feeds=[source.box for source in slot.box.sources if source.box],
            state=slot.state,
            match=slot.match,
            winner="" if slot.winner == PENDING else slot.winner,
        )
        for slot in slots
    ]


def _place(state: State, stage: int, group: int, entry: str, source: Source) -> Place:
    words = _words(source)
    if entry in (PENDING, EMPTY):
        return Place(source=words)
    seed = seed_of(state, stage, group, entry)
    return Place(entry=entry, name=state.entries[entry].name, seed=seed, source=words)


def _words(source: Source) -> str:
    match source.kind:
        case "seed":
            return f"seed {source.seed}"
        case "winner" | "loser":
            return f"{source.kind} of {source.box}"
        case _:
            return f"if challenger wins {source.box}"
