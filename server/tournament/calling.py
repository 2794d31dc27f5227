"""From what a format wants to what is called: rounds, their rooms and their deals."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from server.tournament import events as ev
from server.tournament.around import Around
from server.tournament.events import Bout, Bye, Seat
from server.tournament.records import Draft, End, Field, Match, Meeting
from server.tournament.state import State


def next_round(
    state: State, drafts: Iterable[Draft], now: int, around: Around
) -> ev.RoundCalled | None:
    """Call the round that the groups of a stage want; None if they want nothing now."""
    number = len(state.rounds) + 1
    bouts, byes = _bouts(state, number, drafts, around)
    if not bouts:
        return None
    stage = state.stage
    # An arena has a break before its first pairing; then it pairs as players come free.
    pause = not state.format(stage.number).on_clock or not stage.rounds
    starts = now + (1000 * state.settings.break_s if pause else 0)
    return ev.RoundCalled(
        stage=stage.number,
        round=number,
        starts=starts,
        deadline=_deadline(state, starts),
        bouts=bouts,
        byes=byes,
    )


def again(state: State, drafts: Iterable[Draft], now: int, around: Around) -> ev.RoundCalled | None:
    """Call the matches that stand in the places of those that a ruling has discarded."""
    on = state.round
    assert on is not None
    wanted = [replace(draft, meetings=_redone(state, draft), byes=()) for draft in drafts]
    bouts, _ = _bouts(state, on.number, wanted, around, alone=True)
    if not bouts:
        return None
    starts = max(on.starts, now + 1000 * state.settings.race_break_s)
    return ev.RoundCalled(
        stage=on.stage,
        round=on.number,
        starts=starts,
        deadline=_deadline(state, starts),
        bouts=bouts,
    )


def _redone(state: State, draft: Draft) -> tuple[Meeting, ...]:
    return tuple(each for each in draft.meetings if (draft.group, each.slot) in state.redo)


def repaired(
    state: State, drafts: Iterable[Draft], now: int, around: Around, *, by: str, why: str
) -> ev.Repaired:
    """Pair the round that is called anew."""
    on = state.round
    assert on is not None
    bouts, byes = _bouts(state, on.number, drafts, around)
    starts = max(on.starts, now + 1000 * state.settings.race_break_s)
    return ev.Repaired(by=by, why=why, round=on.number, starts=starts, bouts=bouts, byes=byes)


def unpaired(field: Field) -> Field:
    """Give a field as it was before the round that is called."""
    last = field.rounds[-1].number
    return replace(
        field,
        rounds=field.rounds[:-1],
        matches=tuple(match for match in field.matches if match.round != last),
    )


def drafts_of(results: Iterable[Draft | End]) -> list[Draft]:
    """Leave out the groups that have nothing more to play."""
    return [result for result in results if isinstance(result, Draft)]


def _deadline(state: State, starts: int) -> int | None:
    limit = state.settings.round_limit_s
    return starts + 1000 * limit if limit is not None else None


def _bouts(
    state: State, number: int, drafts: Iterable[Draft], around: Around, *, alone: bool = False
) -> tuple[list[Bout], list[Bye]]:
    stage = state.stage.number
    least = 1 if state.format(stage).alone else 2
    first = len(state.rounds[number - 1].matches) if number <= len(state.rounds) else 0
    # A match that comes later than its round has a deal of its own: the round's has been seen.
    shared = shared_deal(state, number) if state.shares_deals(stage) and not alone else ""
    bouts: list[Bout] = []
    byes: list[Bye] = []
    for draft in drafts:
        byes += draft.byes
        for meeting in draft.meetings:
            match_id = f"{number}.{first + len(bouts) + 1}"
            is_played = len(meeting.entries) - len(meeting.out) >= least
            bouts.append(
                Bout(
                    p=list(meeting.entries),
                    why=meeting.why,
                    slot=meeting.slot,
                    group=draft.group,
                    room=around.new_code() if is_played else "",
                    deal=(shared or own_deal(state, match_id, 1)) if is_played else "",
                    out=list(meeting.out),
                )
            )
    return bouts, byes


def next_races(state: State, now: int, around: Around) -> list[ev.AnyEvent]:
    """Call the next races of the matches that wait for one and whose players are free."""
    is_racing: dict[bool, list[Match]] = {True: [], False: []}
    for each in state.open:
        match = state.matches[each]
        is_racing[match.race is not None].append(match)
    racing, waiting = is_racing[True], is_racing[False]
    if state.shares_deals(state.stage.number):
        # The races of a round go in step: none of them starts before all others are over.
        on = {match.round for match in racing}
        waiting = [match for match in waiting if match.round not in on]
    called = _free(waiting, racing)
    if not called:
        return []
    seats = _seats(state, called, around)
    return [ev.RacesCalled(seats=seats, starts=now + 1000 * state.settings.race_break_s)]


def _seats(state: State, called: Sequence[Match], around: Around) -> list[Seat]:
    together = Counter(match.round for match in called)
    shares = state.shares_deals(state.stage.number)
    return [
        Seat(
            match=match.id,
            race=len(match.races) + 1,
            room=around.new_code(),
            deal=shared_deal(state, match.round)
            if shares and together[match.round] > 1
            else own_deal(state, match.id, len(match.races) + 1),
        )
        for match in called
    ]


def _free(waiting: Sequence[Match], racing: Sequence[Match]) -> list[Match]:
    # Somebody may be in two open matches: one that was restarted, and the round's own.
    taken = {entry for match in racing for entry in match.entries}
    called = []
    for match in waiting:
        if taken.isdisjoint(match.entries):
            taken.update(match.entries)
            called.append(match)
    return called


def own_deal(state: State, match_id: str, race: int) -> str:
    """Name the deal of one race of one match."""
    return f"{state.code}.{match_id}-{race}"


def shared_deal(state: State, number: int) -> str:
    """Name the next deal that a whole round plays."""
    known = state.rounds[number - 1].matches if number <= len(state.rounds) else ()
    deals = {race.deal for each in known for race in state.matches[each].races}
    return f"{state.code}.{number}-{len(deals) + 1}"
