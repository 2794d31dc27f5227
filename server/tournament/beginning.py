"""Before the first round: check-in, seeds, the start, and the groups of each stage."""

from collections.abc import Iterator, Sequence

from server.tournament import events as ev
from server.tournament import seeding
from server.tournament.around import Around
from server.tournament.events import Bye
from server.tournament.settings import Arena
from server.tournament.state import State

TOO_FEW = "fewer than two players are there at the start"


def instants(state: State) -> Iterator[int]:
    """Give the instants at which something is due before the start."""
    if state.start_at is not None:
        yield state.start_at
        if state.settings.check_in_s is not None and not state.checked_in:
            yield state.start_at - 1000 * state.settings.check_in_s


def due(state: State, now: int, around: Around) -> list[ev.AnyEvent]:
    """Give what has to happen before the start at this instant."""
    if state.start_at is None:
        return []
    if now >= state.start_at:
        return begin(state, around)
    early = state.settings.check_in_s
    if early is not None and not state.checked_in and now >= state.start_at - 1000 * early:
        return [ev.CheckInOpened()]
    return []


def begin(state: State, around: Around, by: str = "", why: str = "") -> list[ev.AnyEvent]:
    """Start with those who are there; with fewer than two of them it is cancelled."""
    dropped = list(_dropped(state, around))
    gone = {bye.p for bye in dropped}
    if len(state.entries) - len(gone) < 2:
        return [ev.Cancelled(by=by, why=TOO_FEW)]
    return [ev.Begun(by=by, why=why, dropped=dropped)]


def _dropped(state: State, around: Around) -> Iterator[Bye]:
    for entry in state.entries.values():
        if state.checked_in and not entry.checked:
            yield Bye(p=entry.id, why="did not check in", kind="none")
        elif entry.player in around.busy:
            where = around.busy[entry.player]
            yield Bye(p=entry.id, why=f"plays in tournament {where}", kind="none")


def seeds(state: State) -> list[str]:
    """Give the seed order as it stands, best first."""
    if state.seeding == "random":
        return list(seeding.random_by(state.entries, state.draw or state.code))
    by_hand = state.listed if state.seeding == "list" else ()
    listed = [entry for entry in by_hand if entry in state.entries]
    rest = {e.id: e.rating for e in state.entries.values() if e.id not in listed}
    return [*listed, *seeding.by_rating(rest)]


def stage_opened(state: State, number: int, order: Sequence[str], now: int) -> ev.StageOpened:
    """Open a stage for those in it, given in seed order, dealt into its groups."""
    spec = state.spec(number)
    ends = None
    if isinstance(spec.play, Arena):
        ends = now + 1000 * state.settings.break_s + 60_000 * spec.play.minutes
    groups = [list(group) for group in dealt(state, number, order)]
    return ev.StageOpened(stage=number, groups=groups, ends=ends)


def dealt(state: State, number: int, order: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Deal a seed order into the groups of a stage, there and back."""
    wanted = state.spec(number).groups
    count = max(1, min(wanted, len(order) // 2))  # nobody is alone in a group
    return seeding.snake(order, -(-len(order) // count))
