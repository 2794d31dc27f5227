"""Which screen a state asks for."""

from typing import Literal

from client.model import State

View = Literal["lobby", "room", "race", "watch", "standings"]


def view_of(state: State) -> View:
    """Give the screen that shows what is going on."""
    room = state.room
    if room is None:
        return "lobby"
    if room.phase in ("open", "locked"):
        return "room"
    if room.phase == "over":
        return "standings"
    return "watch" if room.seat is None else "race"
