"""What every format gives: one record of functions and facts, so that none is special."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from server.tournament.events import ByeKind
from server.tournament.formats.slots import Slot
from server.tournament.records import Draft, End, Field, Match, Rank


def nothing_stale(field: Field) -> tuple[Match, ...]:
    """Give no match: none follows from another's result alone."""
    return ()


def no_slots(field: Field) -> tuple[Slot, ...]:
    """Give no slot: there is no bracket."""
    return ()


def never(field: Field) -> bool:
    """Say no."""
    return False


def when_over(field: Field) -> int | None:
    """Give no instant: the next round comes when all matches are decided."""
    return None


@dataclass(frozen=True, slots=True)
class Format:
    """How a format pairs, ranks and draws; and the facts that set it apart."""

    name: str
    # The next round, once no match is open (or, on a clock, when it is due).
    draft: Callable[[Field], Draft | End]
    # Everybody, best first; equal places are equal.
    ranks: Callable[[Field], Sequence[Rank]]
    # Matches whose players no longer follow from the results.
    stale: Callable[[Field], Sequence[Match]] = nothing_stale
    # The bracket or schedule, as data for drawing.
    slots: Callable[[Field], Sequence[Slot]] = no_slots
    # Whether somebody may still come in.
    is_open: Callable[[Field], bool] = never
    # For formats on a clock, which see a field without its matches here: whether to pair
    # now, and the next instant after now at which that may be so.
    is_due: Callable[[Field], bool] = never
    wakes: Callable[[Field], int | None] = when_over
    on_clock: bool = False
    has_points: bool = False
    # What the values of a rank are; None: the tie-breaks of the settings.
    columns: tuple[str, ...] | None = ()
    knock_out: bool = False  # who does not come through a match may be out
    decisive: bool = False  # a match must have a winner
    alone: bool = False  # a result counts even with nobody else at the table
    repairs: bool = False  # a round that has not started may be paired again
    late_bye: ByeKind = "none"  # what a late entry gets for the round that is on
    shares: bool = False  # all matches of a round play the same deal, whatever is chosen
