"""What this client knows of tournaments: the list, the one it looks at, its own places, calls.

Pure. It replaces what it knew by what it is told.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from client.tournament import scene as scenes
from client.tournament.scene import Scene
from wire.lines import TournamentLine
from wire.messages import ServerMessage
from wire.tournaments import Called, Place, Programme


@dataclass(frozen=True, slots=True)
class Tour:
    """All of it."""

    programme: tuple[TournamentLine, ...] | None = None
    scene: Scene = field(default_factory=Scene)
    places: dict[str, Place] = field(default_factory=dict)  # by tournament
    called: Called | None = None  # the newest call to a race
    former: Called | None = None  # the newest one that no longer stands

    @property
    def place(self) -> Place | None:
        """Give the player's own place in the tournament that is looked at."""
        t = self.scene.tournament
        return self.places.get(t.tournament) if t is not None else None

    @property
    def own(self) -> str:
        """Give the entry of that place, "" without one."""
        place = self.place
        return (place.entry or "") if place is not None else ""

    @property
    def actions(self) -> list[str]:
        """Give what the player may do in the tournament that is looked at."""
        place, t = self.place, self.scene.tournament
        if place is not None or t is None:
            return place.actions if place is not None else []
        is_open = t.settings.entry == "open" and t.phase not in ("finished", "cancelled")
        return ["enter"] if is_open else []

    def call_to(self, room: str) -> Called | None:
        """Give the call to a room, if the player was called to it."""
        return self.called if self.called is not None and self.called.room == room else None

    def ruled(self, room: str) -> str:
        """Say why a race to which the player was called is not raced to its end, if it is known."""
        calls = (self.called, self.former)
        call = next((each for each in calls if each is not None and each.room == room), None)
        place = self.places.get(call.tournament) if call is not None else None
        if call is None or place is None:
            return ""
        line = next((each for each in place.path if each.match == call.match), None)
        if line is None or not line.result:
            return ""
        if line.result in ("forfeit", "walkover") and line.place != 1:
            why = "you were not there" if place.status == "in" else f"you are {place.status}"
        else:
            why = _DECIDED.get(line.result, "")
        return f"match {line.match} is decided{f': {why}' if why else ''}"

    def starts(self, call: Called) -> int:
        """Give when a called race starts, by the newest that is known, in ms."""
        place = self.places.get(call.tournament)
        if place is None or place.room != call.room or place.starts is None:
            return call.starts
        return place.starts

    def is_paused(self, call: Called) -> bool:
        """Whether the tournament of a call is paused."""
        place = self.places.get(call.tournament)
        return place is not None and place.phase == "paused"


_DECIDED: Final = {
    "forfeit": "nobody else was there",
    "walkover": "nobody else was there",
    "void": "it is void",
    "ruled": "by a ruling",
}


def heard(tour: Tour, message: ServerMessage) -> Tour:
    """Take in a message of the server; others than of tournaments change nothing."""
    match message:
        case Programme():
            return replace(tour, programme=tuple(message.tournaments))
        case Place():
            places = tour.places | {message.tournament: message}
            if message.entry is None:
                places.pop(message.tournament)
            called = _still(tour.called, message)
            former = tour.former if called is tour.called else tour.called
            return replace(tour, places=places, called=called, former=former)
        case Called():
            is_other = tour.called is not None and tour.called.room != message.room
            former = tour.called if is_other else tour.former
            return replace(tour, called=message, former=former)
        case _:
            scene = scenes.heard(tour.scene, message)
            return tour if scene is tour.scene else replace(tour, scene=scene)


def _still(called: Called | None, place: Place) -> Called | None:
    """Give the call, unless the player's place says that another race, or none, is next."""
    if called is None or called.tournament != place.tournament:
        return called
    return called if place.room == called.room else None
