"""Rulings on matches: restart, void, override. What follows from the former result goes too.

Matches that have not been played are called anew as it now must be. To discard one that
has, or that is being played, whoever rules has to confirm it.
"""

from collections.abc import Sequence

import msgspec

from server.refusal import Refusal
from server.tournament import beginning, fold_matches
from server.tournament import events as ev
from server.tournament.acts.table import check, check_why
from server.tournament.qualifying import qualified
from server.tournament.records import End, Match
from server.tournament.tournament import Tournament

Ruling = ev.MatchRestarted | ev.MatchVoided | ev.Overridden


class NeedsConfirm(Refusal):
    """A ruling would discard what has been played; `discards` are those matches."""

    def __init__(self, reason: str, discards: Sequence[str]) -> None:
        super().__init__("needs-confirm", reason)
        self.discards = tuple(discards)


def decide_restart(
    t: Tournament, by: str, now: int, match_id: str, why: str, *, confirm: bool = False
) -> list[ev.AnyEvent]:
    """Let a match begin anew on a new deal, once its players are free."""
    check(t, by, "restart")
    check_why(why)
    match = _match(t, match_id)
    out = [entry for entry in match.entries if not t.entries[entry].is_in]
    least = 1 if t.format(match.stage).alone else 2
    if len(match.entries) - len(out) < least:
        raise Refusal("left", "Too few of the match's players are in: reinstate them first.")
    return _ruled(
        t, now, ev.MatchRestarted(by=by, why=why, match=match_id, stage=match.stage), confirm
    )


def decide_void(
    t: Tournament, by: str, now: int, match_id: str, why: str, *, confirm: bool = False
) -> list[ev.AnyEvent]:
    """Let a match count for nobody."""
    check(t, by, "void")
    check_why(why)
    match = _match(t, match_id)
    if t.format(match.stage).knock_out and any(t.entries[e].is_in for e in match.entries):
        raise Refusal(
            "needs-winner",
            "A void match would put its players out: restart or override it instead.",
        )
    return _ruled(
        t, now, ev.MatchVoided(by=by, why=why, match=match_id, stage=match.stage), confirm
    )


def decide_override(
    t: Tournament,
    by: str,
    now: int,
    match_id: str,
    places: Sequence[Sequence[str]],
    why: str,
    *,
    confirm: bool = False,
) -> list[ev.AnyEvent]:
    """Decide a match: its players best first, equals together; each exactly once."""
    check(t, by, "override")
    check_why(why)
    match = _match(t, match_id)
    named = [entry for equals in places for entry in equals]
    if sorted(named) != sorted(match.entries) or not all(places):
        names = ", ".join(t.entries[entry].name for entry in match.entries)
        raise Refusal("bad-places", f"Name each player of the match once, best first: {names}.")
    if t.format(match.stage).decisive and len(places[0]) > 1:
        raise Refusal("needs-winner", "A knock-out match needs one winner.")
    decided = [list(equals) for equals in places]
    return _ruled(
        t,
        now,
        ev.Overridden(by=by, why=why, match=match_id, places=decided, stage=match.stage),
        confirm,
    )


def _match(t: Tournament, match_id: str) -> Match:
    match = t.matches.get(match_id)
    if match is None or match.discarded:
        raise Refusal("no-match", f"There is no match {match_id}.")
    return match


def _sides(t: Tournament, match: Match) -> str:
    return " - ".join(t.entries[entry].name for entry in match.entries)


def _ruled(t: Tournament, now: int, ruling: Ruling, confirm: bool) -> list[ev.AnyEvent]:
    keeps, discards = _consequences(t, now, ruling)
    played = [match for match in discards if _has_begun(match, now)]
    if played and not confirm:
        listed = ", ".join(f"{match.id} ({_sides(t, match)})" for match in played)
        raise NeedsConfirm(
            f"This discards what has been played or has begun: {listed}. Confirm it to do so.",
            [match.id for match in played],
        )
    stage = t.stage.number if keeps else ruling.stage
    ids = [match.id for match in discards]
    return [msgspec.structs.replace(ruling, stage=stage, discards=ids)]


def _has_begun(match: Match, now: int) -> bool:
    return match.is_played or any(race.starts <= now for race in match.races)


def _consequences(t: Tournament, now: int, ruling: Ruling) -> tuple[bool, list[Match]]:
    """Say whether the stage that is on goes on, and which matches a ruling discards."""
    after = t.fork()
    fold_matches.fold(after, now, msgspec.structs.replace(ruling, stage=t.stage.number))
    stale = [
        match
        for field in after.fields(ruling.stage)
        for match in after.format(ruling.stage).stale(field)
    ]
    if ruling.stage == t.stage.number:
        return True, stale + _unstarted(t, now, ruling)
    if not stale and _is_over(after, ruling.stage, now) and _same_field(after, ruling):
        return True, []
    later = [m for stage in t.stages[ruling.stage + 1 :] for m in t.stage_matches(stage)]
    return False, stale + later


def _unstarted(t: Tournament, now: int, ruling: Ruling) -> list[Match]:
    # A round that is paired by standings and has not started is paired again.
    on = t.round
    is_paired = t.format(ruling.stage).repairs and on is not None
    if not is_paired or on is None or now >= on.starts:
        return []
    if t.matches[ruling.match].round >= on.number:
        return []
    return [t.matches[each] for each in on.matches if not t.matches[each].discarded]


def _is_over(after: Tournament, stage: int, now: int) -> bool:
    if any(after.matches[each].stage == stage for each in after.open):
        return False
    draft = after.format(stage).draft
    return all(isinstance(draft(field), End) for field in after.fields(stage, now))


def _same_field(after: Tournament, ruling: Ruling) -> bool:
    following = after.stages[ruling.stage + 1]
    there = {entry for group in following.groups for entry in group}
    order = qualified(after, ruling.stage, counting=there)
    return beginning.dealt(after, following.number, order) == following.groups
