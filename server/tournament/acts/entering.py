"""Acts about places: enter, check in, withdraw, come back, substitute, put out."""

from server.refusal import Refusal
from server.tournament import events as ev
from server.tournament.acts.table import check, check_why
from server.tournament.records import Entry
from server.tournament.state import State


def decide_enter(
    state: State,
    by: str,
    *,
    player: str,
    name: str,
    rating: int,
    bot: bool = False,
    elsewhere: str | None = None,
    why: str = "",
) -> list[ev.AnyEvent]:
    """Take a place, oneself or by the owner's hand; nothing if the player has it.

    `elsewhere` is the code of another tournament that is running with this player in it.
    """
    check(state, by, "enter" if by == player else "invite")
    if player in state.people and state.people[player] in state.entries:
        return _again(state, player)
    if by == player and state.settings.entry == "invited":
        raise Refusal("invited", "The organiser enters the players of this tournament.")
    if len(state.entries) >= state.settings.players:
        raise Refusal("full", f"All {state.settings.players} places are taken.")
    if state.is_on and state.stages:
        _check_late(state)
        _check_elsewhere(elsewhere)
    bye: ev.ByeKind = "none"
    if state.is_on and state.round is not None:
        bye = state.format(state.stage.number).late_bye
    return [
        ev.Entered(
            by=by,
            why=why,
            p=player,
            name=name,
            rating=rating,
            bot=bot,
            bye=bye,
            checked=_says_here(state, by, player),
        )
    ]


def _says_here(state: State, by: str, player: str) -> bool:
    # Who comes by themselves once check-in has been opened is there.
    return state.checked_in and not state.is_on and by == player


def _again(state: State, player: str) -> list[ev.AnyEvent]:
    entry = state.entries[state.people[player]]
    if entry.player == player and entry.is_in:
        return []
    if entry.player != player:
        raise Refusal("replaced", "Somebody else plays in your place.")
    raise Refusal("left", "You have left this tournament: rejoin it instead.")


def _check_late(state: State) -> None:
    if not state.settings.late:
        raise Refusal("late", "This tournament has started and takes no late entries.")
    kind = state.format(state.stage.number)
    on = state.stage
    single = len(state.stages) == 1 and len(on.groups) == 1
    if not single or on.ended is not None or not kind.is_open(state.field(on.number, 0)):
        raise Refusal("late", "It is too late to come in.")


def _check_elsewhere(elsewhere: str | None) -> None:
    if elsewhere:
        raise Refusal(
            "elsewhere",
            f"You play in tournament {elsewhere}, which is running: leave that one first.",
        )


def decide_check_in(
    state: State, by: str, *, player: str, elsewhere: str | None = None
) -> list[ev.AnyEvent]:
    """Say that a player is there; nothing if it has been said."""
    check(state, by, "check-in" if by == player else "check-in-for")
    entry = entry_of(state, player)
    _check_elsewhere(elsewhere)
    return [] if entry.checked else [ev.CheckedIn(by=by, p=entry.id)]


def decide_withdraw(state: State, by: str, *, player: str, why: str = "") -> list[ev.AnyEvent]:
    """Leave, or be taken out by the organiser without blame; nothing if out already."""
    check(state, by, "withdraw" if by == player else "remove")
    entry = entry_of(state, player)
    return [ev.Withdrawn(by=by, why=why, p=entry.id)] if entry.is_in else []


def decide_rejoin(
    state: State, by: str, *, player: str, elsewhere: str | None = None, why: str = ""
) -> list[ev.AnyEvent]:
    """Come back after having withdrawn; nothing if in already."""
    check(state, by, "rejoin" if by == player else "readmit")
    entry = entry_of(state, player)
    if entry.status == "disqualified":
        raise Refusal("disqualified", "Who is disqualified comes back by the organiser's word.")
    _check_elsewhere(elsewhere)
    return [] if entry.is_in else [ev.Rejoined(by=by, why=why, p=entry.id)]


def decide_disqualify(state: State, by: str, *, player: str, why: str) -> list[ev.AnyEvent]:
    """Put a player out; nothing if that is done already."""
    check(state, by, "disqualify")
    check_why(why)
    entry = entry_of(state, player)
    if entry.status == "disqualified":
        return []
    return [ev.Disqualified(by=by, why=why, p=entry.id)]


def decide_reinstate(state: State, by: str, *, player: str, why: str) -> list[ev.AnyEvent]:
    """Take a player in again; results that were lost meanwhile stand."""
    check(state, by, "reinstate")
    check_why(why)
    entry = entry_of(state, player)
    return [] if entry.is_in else [ev.Reinstated(by=by, why=why, p=entry.id)]


def decide_substitute(
    state: State,
    by: str,
    *,
    player: str,
    substitute: str,
    name: str,
    why: str,
    elsewhere: str | None = None,
) -> list[ev.AnyEvent]:
    """Let somebody else play on in a player's place, from the next race on."""
    check(state, by, "substitute")
    check_why(why)
    entry = entry_of(state, player)
    if substitute in state.people:
        raise Refusal("taken", "The substitute has or had a place in this tournament already.")
    if elsewhere:
        raise Refusal("elsewhere", f"The substitute plays in tournament {elsewhere}.")
    if not entry.is_in:
        raise Refusal("left", "This player is out: reinstate the place first.")
    return [ev.Substituted(by=by, why=why, p=entry.id, player=substitute, name=name)]


def decide_new_token(state: State, by: str, *, player: str, why: str) -> list[ev.AnyEvent]:
    """Note that a player is given another token."""
    check(state, by, "new-token")
    check_why(why)
    return [ev.TokenRenewed(by=by, why=why, p=entry_of(state, player).id)]


def decide_summon(state: State, by: str, *, player: str, why: str = "") -> list[ev.AnyEvent]:
    """Call a player once more to the race that waits for them."""
    check(state, by, "summon")
    entry = entry_of(state, player)
    for each in state.open:
        match = state.matches[each]
        if entry.id in match.entries and entry.id not in match.lost and match.race is not None:
            return [ev.Summoned(by=by, why=why, p=entry.id)]
    raise Refusal("no-race", "No race waits for this player.")


def entry_of(state: State, player: str) -> Entry:
    """Give the place that a player has, by whatever name.

    Raises:
        Refusal: the player has none.
    """
    entry = state.entries.get(state.people.get(player, player))
    if entry is None:
        raise Refusal("not-entered", "This player has no place in the tournament.")
    return entry
