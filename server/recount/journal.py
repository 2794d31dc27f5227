"""Whether each entry of a tournament's journal had to, or might, be there.

What a tournament does by itself is worked out again from the entries before it and has to be
the same, byte for byte: pairings, byes, reasons, next races, ends. What people do has to be
allowed to whoever did it, at that moment; what a ruling discards is worked out again too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final, assert_never

from server.refusal import Refusal
from server.tournament import Around, Tournament, acts, due
from server.tournament import events as ev

# The clocks of the nodes follow the store's, which gives an entry its time, within this.
SLACK_MS: Final = 2_000
# What is decided waits for a store that does not answer for at most so long.
WAIT_MS: Final = 60_000

# What a tournament does by itself.
BY_ITSELF: Final = (
    ev.StageOpened,
    ev.RoundCalled,
    ev.RacesCalled,
    ev.RoundClosed,
    ev.StageEnded,
    ev.Finished,
)
LOST: Final = "no result came in"  # of a race that is given up by the clock


@dataclass
class Refolded:
    """A journal folded anew."""

    t: Tournament = field(default_factory=Tournament)
    faults: list[str] = field(default_factory=list)
    paired: int = 0  # rounds whose pairings were worked out again
    acts: int = 0  # of people
    races: list[tuple[str, ev.Raced, Tournament]] = field(default_factory=list)  # room, state


def refold(entries: Sequence[tuple[int, bytes]], events: Sequence[ev.AnyEvent]) -> Refolded:
    """Fold a journal and note the first thing in it that is not as it must be."""
    found = Refolded()
    for number, ((at, payload), event) in enumerate(zip(entries, events, strict=True), 1):
        try:
            fault = _fault_of(found, number, at, payload, event)
            if fault is None:
                found.t.apply(at, payload, event)
        except (Refusal, KeyError, ValueError, IndexError, AttributeError, AssertionError) as error:
            fault = f"it does not fit what came before: {error!r}"
        if fault is not None:
            found.faults.append(f"entry {number} ({_name(event)}): {fault}")
            break
    return found


def _name(event: ev.AnyEvent) -> str:
    return str(event.__struct_config__.tag)


def _fault_of(
    found: Refolded, number: int, at: int, payload: bytes, event: ev.AnyEvent
) -> str | None:
    t = found.t
    if (number == 1) != isinstance(event, ev.Created):
        return "a journal begins with created, and has it once"
    if at < t.at:
        return "its time is before the entry in front of it"
    if ev.encode(event) != payload:
        return "its bytes are not the canonical ones"
    match event:
        case ev.Created():
            acts.decide_create(event.code, event.settings)
            return None
        case ev.Raced():
            return _fault_of_raced(found, event)
        case ev.Absent():
            return None if _is_called(t, event.match, event.race) else "that race is not called"
        case ev.RaceVoided() if event.why != LOST:
            return None if _is_called(t, event.match, event.race) else "that race is not called"
        case ev.Announced(by=""):
            return None if acts.is_lapse(event.text) else "nobody has announced that"
        case ev.Withdrawn(by=""):
            return None if t.is_on else "nobody is absent before the start"
    if isinstance(event, BY_ITSELF) or not getattr(event, "by", ""):
        found.paired += isinstance(event, ev.RoundCalled | ev.Repaired)
        return _fault_of_step(t, at, event)
    found.acts += 1
    return _fault_of_act(t, at, event)


def _is_called(t: Tournament, match_id: str, race: int) -> bool:
    match = t.matches.get(match_id)
    return match is not None and match.race is not None and match.race.number == race


def _fault_of_raced(found: Refolded, event: ev.Raced) -> str | None:
    t = found.t
    if not _is_called(t, event.match, event.race):
        return "that race is not called"
    match = t.matches[event.match]
    assert match.race is not None
    found.races.append((match.race.room, event, t.fork()))
    if not {row.p for row in event.rows} <= set(match.entries) - set(match.lost):
        return "its rows name who does not race in it"
    return None


# --- what the tournament does by itself -----------------------------------------------


def _fault_of_step(t: Tournament, at: int, event: ev.AnyEvent) -> str | None:
    for now in _instants(t, event, at):
        if not at - WAIT_MS <= now <= at + SLACK_MS:
            continue
        for around in _arounds(t, event, at):
            steps = due(t, now, around)
            if steps and steps[0] == event:
                return None
    if isinstance(event, ev.RoundCalled) and t.format(event.stage).on_clock:
        return _fault_of_pass(t, event)
    return "the rules say something else at this point"


def _instants(t: Tournament, event: ev.AnyEvent, at: int) -> Iterator[int]:
    """Give the instants at which it may have been decided, the likeliest first."""
    match event:
        case ev.RoundCalled():
            # An arena has a break before its first pairing only.
            yield event.starts - 1000 * t.settings.break_s
            yield event.starts - 1000 * t.settings.race_break_s
            yield event.starts
        case ev.RacesCalled() | ev.Repaired():
            yield event.starts - 1000 * t.settings.race_break_s
        case ev.StageOpened(ends=int() as ends):
            yield _opened(t, event, ends)
        case _:
            pass
    yield from (at, at - SLACK_MS, at + SLACK_MS)


def _opened(t: Tournament, event: ev.StageOpened, ends: int) -> int:
    minutes = getattr(t.spec(event.stage).play, "minutes", 0)
    return ends - 60_000 * int(minutes) - 1000 * t.settings.break_s


def _arounds(t: Tournament, event: ev.AnyEvent, at: int) -> Iterator[Around]:
    """Give what the tournament may have been told from outside."""
    for since in (0, at):  # in no journal: whether the store had been away, or is just back
        yield replace(_around(event), since=since)
        if isinstance(event, ev.RoundCalled) and t.format(event.stage).on_clock:
            # Nor who was connected; who was paired, certainly.
            paired = {t.entries[entry].player for bout in event.bouts for entry in bout.p}
            yield Around(_around(event).new_code, paired, since=since)


def _around(event: ev.AnyEvent) -> Around:
    codes = iter(_rooms(event))
    return Around(lambda: next(codes, ""), busy=_busy(event))


def _rooms(event: ev.AnyEvent) -> Iterable[str]:
    match event:
        case ev.RoundCalled() | ev.Repaired():
            return [bout.room for bout in event.bouts if bout.room]
        case ev.RacesCalled():
            return [seat.room for seat in event.seats]
        case _:
            return []


def _busy(event: ev.AnyEvent) -> dict[str, str]:
    if not isinstance(event, ev.Begun):
        return {}
    words = "plays in tournament "
    return {
        gone.p: gone.why.removeprefix(words) for gone in event.dropped if gone.why.startswith(words)
    }


def _fault_of_pass(t: Tournament, event: ev.RoundCalled) -> str | None:
    """Check a pairing of an arena whose surroundings cannot be known: who waited was paired."""
    taken = {entry for each in t.open for entry in t.matches[each].entries}
    paired = [entry for bout in event.bouts for entry in bout.p]
    if len(set(paired)) != len(paired) or not taken.isdisjoint(paired):
        return "it pairs somebody who is in a match"
    if not all(t.entries[entry].is_in for entry in paired):
        return "it pairs somebody who is out"
    ends = t.stage.ends
    return "its time is up" if ends is not None and event.starts >= ends else None


# --- what people do -------------------------------------------------------------------


def _fault_of_act(t: Tournament, at: int, event: ev.AnyEvent) -> str | None:
    """Do the act again: whoever did it had to be allowed to, and it has to come to the same."""
    refused = ""
    for now in (at, at - SLACK_MS, at + SLACK_MS):
        try:
            if event in again(t, now, event):
                return None
        except Refusal as refusal:
            refused = refusal.reason
    return f"it could not be done: {refused}" if refused else "something else follows from it"


def again(t: Tournament, now: int, event: ev.AnyEvent) -> list[ev.AnyEvent]:
    """Give what comes of the act that an event stands for, as things are.

    Raises:
        Refusal: it cannot be done.
    """
    match event:
        case ev.Entered() | ev.CheckedIn() | ev.Withdrawn() | ev.Rejoined():
            return _own(t, event)
        case (
            ev.Disqualified()
            | ev.Reinstated()
            | ev.Substituted()
            | ev.TokenRenewed()
            | ev.Summoned()
        ):
            return _place(t, event)
        case ev.MatchRestarted() | ev.MatchVoided() | ev.Overridden():
            return _ruling(t, now, event)
        case _:
            return _conduct(t, now, event)


def _own(
    t: Tournament, event: ev.Entered | ev.CheckedIn | ev.Withdrawn | ev.Rejoined
) -> list[ev.AnyEvent]:
    # Who plays on in another's place acts for it under the own id.
    by, why = event.by, event.why
    player = by if t.people.get(by) == event.p else event.p
    match event:
        case ev.Entered():
            return acts.decide_enter(
                t,
                by,
                player=event.p,
                name=event.name,
                rating=event.rating,
                bot=event.bot,
                why=why,
            )
        case ev.CheckedIn():
            return acts.decide_check_in(t, by, player=player)
        case ev.Withdrawn():
            return acts.decide_withdraw(t, by, player=player, why=why)
        case ev.Rejoined():
            return acts.decide_rejoin(t, by, player=player, why=why)
        case _:
            assert_never(event)


def _place(
    t: Tournament,
    event: ev.Disqualified | ev.Reinstated | ev.Substituted | ev.TokenRenewed | ev.Summoned,
) -> list[ev.AnyEvent]:
    by, why = event.by, event.why
    match event:
        case ev.Disqualified():
            return acts.decide_disqualify(t, by, player=event.p, why=why)
        case ev.Reinstated():
            return acts.decide_reinstate(t, by, player=event.p, why=why)
        case ev.Substituted():
            return acts.decide_substitute(
                t, by, player=event.p, substitute=event.player, name=event.name, why=why
            )
        case ev.TokenRenewed():
            return acts.decide_new_token(t, by, player=event.p, why=why)
        case ev.Summoned():
            return acts.decide_summon(t, by, player=event.p, why=why)
        case _:
            assert_never(event)


def _ruling(
    t: Tournament, now: int, event: ev.MatchRestarted | ev.MatchVoided | ev.Overridden
) -> list[ev.AnyEvent]:
    by, why = event.by, event.why
    match event:
        case ev.MatchRestarted():
            return acts.decide_restart(t, by, now, event.match, why, confirm=True)
        case ev.MatchVoided():
            return acts.decide_void(t, by, now, event.match, why, confirm=True)
        case ev.Overridden():
            return acts.decide_override(t, by, now, event.match, event.places, why, confirm=True)
        case _:
            assert_never(event)


def _conduct(t: Tournament, now: int, event: ev.AnyEvent) -> list[ev.AnyEvent]:
    match event:
        case ev.Edited(by=by, why=why, settings=settings):
            return acts.decide_edit(t, by, settings, why)
        case ev.CheckInOpened(by=by, why=why):
            return acts.decide_open_check_in(t, by, why)
        case ev.CheckInClosed(by=by, why=why):
            return acts.decide_close_check_in(t, by, why)
        case ev.Seeded(by=by, why=why, method=method, order=order, draw=draw):
            listed = order if method == "list" else ()
            return acts.decide_seed(t, by, method, order=listed, draw=draw, why=why)
        case ev.Begun(by=by, why=why):
            return acts.decide_start(t, by, _around(event), why)
        case ev.Paused(by=by, why=why):
            return acts.decide_pause(t, by, why)
        case ev.Resumed(by=by, why=why):
            return acts.decide_resume(t, by, why)
        case ev.Extended(by=by, why=why, what=what, ms=ms):
            return acts.decide_extend(t, by, now, what, ms, why)
        case ev.Held(by=by, why=why, hold=hold):
            return acts.decide_hold(t, by, hold, why)
        case ev.Published(by=by, why=why):
            return acts.decide_publish(t, by, why)
        case ev.Repaired():
            return _repaired(t, now, event)
        case ev.Announced(by=by, text=text):
            return acts.decide_announce(t, by, text)
        case ev.Cancelled(by=by, why=why):
            return acts.decide_cancel(t, by, why)
        case _:
            raise Refusal("no-act", "Nobody does that.")


def _repaired(t: Tournament, now: int, event: ev.Repaired) -> list[ev.AnyEvent]:
    """Pair a round again in both ways: by the rules, and by hand."""
    decided = event.starts - 1000 * t.settings.race_break_s
    pairs = [(bout.p[0], bout.p[1]) for bout in event.bouts]
    found: list[ev.AnyEvent] = []
    refused: Refusal | None = None
    for at, each in product((decided, now), (None, pairs)):
        try:
            found += acts.decide_repair(t, event.by, at, _around(event), event.why, pairs=each)
        except Refusal as refusal:
            refused = refusal
    if not found and refused is not None:
        raise refused
    return found
