"""Who goes on to the next stage, and as which seed."""

from collections.abc import Collection

from server.tournament.formats.bracket import depth, seed_pairs
from server.tournament.state import State


def qualified(state: State, stage: int, counting: Collection[str] = ()) -> list[str]:
    """Give those who go on in their new seed order.

    The best of all groups first, then all second ones, and so on. Who has left does not go
    on, and the next does. Each row of equal places is turned so that as few as can be meet
    somebody of their own group at once. Those to be counted count even if they have left.
    """
    wanted = state.spec(stage).qualify or 0
    groups = [
        [rank.entry for rank in ranks if state.entries[rank.entry].is_in or rank.entry in counting][
            :wanted
        ]
        for ranks in state.ranks(stage)
    ]
    home = {entry: number for number, group in enumerate(groups) for entry in group}
    order: list[str] = []
    for place in range(wanted):
        row = [group[place] for group in groups if place < len(group)]
        turns = [row[turn:] + row[:turn] for turn in range(max(1, len(row)))]
        order += min(turns, key=lambda turned: _clashes([*order, *turned], home, len(home)))
    return order


def _clashes(order: list[str], home: dict[str, int], players: int) -> int:
    # First matches of a bracket of so many players in which two of one group would meet.
    pairs = seed_pairs(depth(players))
    return sum(
        home[order[a - 1]] == home[order[b - 1]] for a, b in pairs if max(a, b) <= len(order)
    )
