"""Acts that conduct a tournament: create, edit, seed, start, pause, extend, publish, cancel."""

from collections.abc import Sequence
from typing import Literal

from server.refusal import Refusal
from server.tournament import beginning, calling, clockwork, seeding
from server.tournament import events as ev
from server.tournament.acts.table import check, check_why
from server.tournament.around import Around
from server.tournament.events import Bye
from server.tournament.records import Draft, Field, Meeting, Seeding
from server.tournament.settings import TournamentSettings, flaws
from server.tournament.state import State

MAX_EXTENSION_MS = 7 * 24 * 3_600_000


def decide_create(code: str, settings: TournamentSettings, by: str = "owner") -> ev.Created:
    """Make a tournament."""
    _check_settings(settings)
    return ev.Created(by=by, format=ev.FORMAT, code=code, settings=settings)


def decide_edit(
    state: State, by: str, settings: TournamentSettings, why: str = ""
) -> list[ev.AnyEvent]:
    """Change the settings before the start."""
    check(state, by, "edit")
    _check_settings(settings)
    if len(state.entries) > settings.players:
        raise Refusal("bad-settings", f"{len(state.entries)} players have entered already.")
    return [ev.Edited(by=by, why=why, settings=settings)]


def _check_settings(settings: TournamentSettings) -> None:
    found = flaws(settings)
    if found:
        raise Refusal("bad-settings", " ".join(found))


def decide_open_check_in(state: State, by: str, why: str = "") -> list[ev.AnyEvent]:
    """Ask the players to say that they are there; only who does will start."""
    check(state, by, "open-check-in")
    return [ev.CheckInOpened(by=by, why=why)]


def decide_close_check_in(state: State, by: str, why: str = "") -> list[ev.AnyEvent]:
    """Ask no longer; what was said stays."""
    check(state, by, "close-check-in")
    return [ev.CheckInClosed(by=by, why=why)]


def decide_seed(
    state: State,
    by: str,
    method: Seeding,
    *,
    order: Sequence[str] = (),
    draw: str = "",
    why: str = "",
) -> list[ev.AnyEvent]:
    """Say how to seed: by rating, by a list of players, or at random by a public seed."""
    check(state, by, "seed")
    if method == "random" and not draw:
        raise Refusal("no-seed", "A random order needs a public seed that all may know.")
    if method == "list":
        _check_order(state, order)
    listed = list(order) if method == "list" else []
    return [ev.Seeded(by=by, why=why, method=method, order=listed, draw=draw)]


def _check_order(state: State, order: Sequence[str]) -> None:
    try:
        seeding.by_list(state.entries, order)
    except ValueError as error:
        raise Refusal("bad-order", f"This order does not do: {error}.") from None


def decide_start(state: State, by: str, around: Around, why: str = "") -> list[ev.AnyEvent]:
    """Start now, whatever was scheduled."""
    check(state, by, "start")
    if len(state.entries) < 2:
        raise Refusal("too-few", "A tournament needs at least two players.")
    found = beginning.begin(state, around, by, why)
    if isinstance(found[0], ev.Cancelled):
        raise Refusal("too-few", f"It cannot start: {beginning.TOO_FEW}.")
    return found


def decide_pause(state: State, by: str, why: str) -> list[ev.AnyEvent]:
    """Let nothing new start."""
    check(state, by, "pause")
    check_why(why)
    return [ev.Paused(by=by, why=why)]


def decide_resume(state: State, by: str, why: str = "") -> list[ev.AnyEvent]:
    """Go on; what was still to come is later by the length of the pause."""
    check(state, by, "resume")
    return [ev.Resumed(by=by, why=why)]


def decide_extend(
    state: State,
    by: str,
    now: int,
    what: Literal["start", "round-start", "round", "arena"],
    ms: int,
    why: str = "",
) -> list[ev.AnyEvent]:
    """Put off the start, the start or the deadline of the round, or an arena's end."""
    check(state, by, "extend")
    if not 0 < ms <= MAX_EXTENSION_MS:
        raise Refusal("bad-extension", "An extension is more than nothing and at most a week.")
    if not _can_extend(state, now, what):
        raise Refusal("nothing-there", "There is nothing of that kind to put off now.")
    return [ev.Extended(by=by, why=why, what=what, ms=ms)]


def _can_extend(state: State, now: int, what: str) -> bool:
    on = state.round
    if what == "start":
        return not state.is_on and state.start_at is not None
    if not state.is_on or not state.stages or state.stage.ended is not None:
        return False
    if what == "arena":
        return state.stage.ends is not None and now < state.stage.ends
    if on is None:
        return False
    if what == "round-start":
        return now < on.starts or bool(state.unstarted(now))
    return on.deadline is not None and not on.closed


def decide_repair(
    state: State,
    by: str,
    now: int,
    around: Around,
    why: str,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> list[ev.AnyEvent]:
    """Pair the round that is called again before it starts, by the rules or by hand.

    By hand, who is in no pair has a bye.
    """
    check(state, by, "repair")
    check_why(why)
    on = state.round
    if on is None or state.stage.ended is not None or now >= on.starts:
        raise Refusal("no-round", "There is no round that is called and has not started.")
    if not state.format(on.stage).repairs:
        raise Refusal("not-paired", "In this format the pairings follow from the draw.")
    if pairs is None:
        return [clockwork.pair_again(state, now, around, by=by, why=why)]
    drafts = [_by_hand(field, pairs) for field in state.fields(state.stage.number)]
    _check_pairs(state, drafts, pairs)
    return [calling.repaired(state, drafts, now, around, by=by, why=why)]


def _by_hand(field: Field, pairs: Sequence[tuple[str, str]]) -> Draft:
    here = set(field.active)
    own = [pair for pair in pairs if here.issuperset(pair)]
    paired = [entry for pair in own for entry in pair]
    if len(set(paired)) != len(paired):
        raise Refusal("bad-pairs", "Somebody stands in these pairs twice.")
    byes = [entry for entry in field.active if entry not in paired]
    return Draft(
        tuple(Meeting(pair, "paired by the organiser") for pair in own),
        tuple(Bye(p=entry, why="by the organiser") for entry in byes),
        field.group,
    )


def _check_pairs(state: State, drafts: Sequence[Draft], pairs: Sequence[tuple[str, str]]) -> None:
    known = {meeting.entries for draft in drafts for meeting in draft.meetings}
    for pair in pairs:
        if tuple(pair) not in known:
            one, other = (
                state.entries[entry].name if entry in state.entries else entry for entry in pair
            )
            raise Refusal(
                "bad-pairs", f"{one} and {other} are not two players of one group who are in."
            )


def decide_hold(state: State, by: str, hold: bool, why: str = "") -> list[ev.AnyEvent]:
    """Keep each round's results back until they are published, or do so no longer."""
    check(state, by, "hold")
    return [] if state.hold == hold else [ev.Held(by=by, why=why, hold=hold)]


def decide_publish(state: State, by: str, why: str = "") -> list[ev.AnyEvent]:
    """Publish the results of the round that is over; nothing if they are out."""
    check(state, by, "publish")
    on = state.round
    if on is None or on.published:
        return []
    if state.open:
        raise Refusal("not-over", "The round is not over.")
    return [ev.Published(by=by, why=why, round=on.number)]


def decide_announce(state: State, by: str, text: str) -> list[ev.AnyEvent]:
    """Say something to everybody."""
    check(state, by, "announce")
    return [ev.Announced(by=by, text=text)]


def decide_cancel(state: State, by: str, why: str) -> list[ev.AnyEvent]:
    """Call the tournament off."""
    check(state, by, "cancel")
    check_why(why)
    return [ev.Cancelled(by=by, why=why)]
