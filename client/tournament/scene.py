"""A tournament as this client knows it: the newest message of each kind.

Pure. What is heard replaces what was known; nothing of a tournament is worked out here.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from wire.lines import Entrant, MatchLine
from wire.messages import ServerMessage
from wire.text import tidied
from wire.tournaments import (
    Bracket,
    Entrants,
    Pairings,
    Progress,
    Ranking,
    Tournament,
)

ROUNDS: Final = 64  # kept; an arena has very many


@dataclass(frozen=True, slots=True)
class Scene:
    """One tournament; parts that were not heard yet are empty."""

    tournament: Tournament | None = None
    entrants: Entrants | None = None
    rankings: dict[int, Ranking] = field(default_factory=dict)  # by stage
    brackets: dict[int, Bracket] = field(default_factory=dict)  # by stage
    pairings: dict[int, Pairings] = field(default_factory=dict)  # by round
    progress: Progress | None = None

    @property
    def people(self) -> dict[str, Entrant]:
        """Give the entrants by their entry."""
        return {each.entry: each for each in (self.entrants.entrants if self.entrants else ())}

    @property
    def matches(self) -> dict[str, MatchLine]:
        """Give the matches that are known, by their id."""
        return {match.match: match for on in self.pairings.values() for match in on.matches}

    def named(self, text: str) -> list[Entrant]:
        """Give the entrants of an id, else of a name as written, else of it in whatever case.

        More than one are of equal names: only an id tells them apart.
        """
        entrants = self.entrants.entrants if self.entrants else []
        name = tidied(text)
        return (
            [each for each in entrants if text in (each.entry, each.player)][:1]
            or [each for each in entrants if each.name == name]
            or [each for each in entrants if each.name.casefold() == name.casefold()]
        )


def heard(scene: Scene, message: ServerMessage) -> Scene:
    """Take in a message of the server; one of another tournament begins a new scene."""
    code = getattr(message, "tournament", None)
    match message:
        case Tournament():
            known = scene.tournament
            if known is not None and known.tournament != code:
                scene = Scene()
            return replace(scene, tournament=message)
        case Entrants():
            return replace(scene, entrants=message)
        case Ranking():
            return replace(scene, rankings=scene.rankings | {message.stage: message})
        case Bracket():
            return replace(scene, brackets=scene.brackets | {message.stage: message})
        case Pairings():
            rounds = sorted((scene.pairings | {message.round: message}).items())
            return replace(scene, pairings=dict(rounds[-ROUNDS:]))
        case Progress():
            return replace(scene, progress=message)
        case _:
            return scene
