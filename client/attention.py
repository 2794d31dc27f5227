"""When a player who looks elsewhere is wanted: the terminal's bell rings for it.

Pure.
"""

from client.model import State


def is_wanted(before: State, after: State) -> bool:
    """Whether a race of one's own has come nearer, begun or ended, or a tournament calls."""
    if after.tour.called is not None and after.tour.called != before.tour.called:
        return True
    was, room = before.room, after.room
    if room is None or room.seat is None or room.phase == "open":
        return False
    # Who has just come back is there already.
    return was is not None and was.room == room.room and was.phase != room.phase
