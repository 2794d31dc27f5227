"""What there is to show of one tournament: the newest message of each kind, as visitors get it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from wire.lines import Entrant
from wire.messages import ServerMessage
from wire.tournaments import (
    Bracket,
    Entrants,
    Pairings,
    Progress,
    Ranking,
    Tournament,
)


@dataclass(frozen=True)
class Sheet:
    """One tournament as everybody may see it."""

    tournament: Tournament
    entrants: Entrants
    rankings: dict[int, Ranking] = field(default_factory=dict)  # by stage
    brackets: dict[int, Bracket] = field(default_factory=dict)  # by stage
    pairings: dict[int, Pairings] = field(default_factory=dict)  # by round
    progress: Progress | None = None

    @cached_property
    def people(self) -> dict[str, Entrant]:
        """Give the entrants by their entry."""
        return {each.entry: each for each in self.entrants.entrants}

    @cached_property
    def seeds(self) -> dict[str, int]:
        """Give everybody's number in the order of the seeds, from 1."""
        return {each.entry: number for number, each in enumerate(self.entrants.entrants, 1)}

    def name(self, entry: str) -> str:
        """Give the name of whoever has a place; its id where the list does not have it."""
        found = self.people.get(entry)
        return found.name if found is not None else entry


def collect(messages: Iterable[ServerMessage]) -> Sheet | None:
    """Make a sheet of what a visitor is sent, the later message of a kind counting.

    None without the two that everything hangs on.
    """
    tournament: Tournament | None = None
    entrants: Entrants | None = None
    rankings: dict[int, Ranking] = {}
    brackets: dict[int, Bracket] = {}
    pairings: dict[int, Pairings] = {}
    progress: Progress | None = None
    for message in messages:
        match message:
            case Tournament():
                tournament = message
            case Entrants():
                entrants = message
            case Ranking():
                rankings[message.stage] = message
            case Bracket():
                brackets[message.stage] = message
            case Pairings():
                pairings[message.round] = message
            case Progress():
                progress = message
            case _:
                pass
    if tournament is None or entrants is None:
        return None
    return Sheet(tournament, entrants, rankings, brackets, pairings, progress)
