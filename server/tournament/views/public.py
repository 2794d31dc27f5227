"""What may be shown while an organiser holds the results of a round."""

from msgspec.structs import replace

from server.tournament.state import State
from server.tournament.tournament import Tournament


def is_hidden(state: State) -> bool:
    """Whether the results of the round that is on are held back."""
    on = state.round
    return (
        state.hold
        and on is not None
        and not on.published
        and not state.format(on.stage).on_clock
        and not state.is_over
    )


def public(t: Tournament) -> Tournament:
    """Give the tournament as everybody may see it: without results that are held back.

    What is held shows as not yet decided, whoever has won it or was absent. An arena's
    results cannot be held but at its end: who is paired with whom would tell them.
    """
    on = t.round
    if on is None or not is_hidden(t):
        return t
    shown = t.fork()
    for each in on.matches:
        match = shown.matches[each]
        if not match.discarded and match.races:
            races = tuple(replace(race, rows=()) for race in match.races)
            shown.matches[each] = replace(match, result=None, lost=(), races=races)
    return shown
