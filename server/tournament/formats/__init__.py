"""Every format, by the class of its settings."""

from typing import Final

from server.tournament.formats.arena import ARENA
from server.tournament.formats.double import DOUBLE
from server.tournament.formats.duplicate import DUPLICATE
from server.tournament.formats.format import Format
from server.tournament.formats.heats import HEATS
from server.tournament.formats.nfold import N_FOLD
from server.tournament.formats.round_robin import ROUND_ROBIN
from server.tournament.formats.single import SINGLE
from server.tournament.formats.swiss import SWISS
from server.tournament.settings import (
    AnyPlay,
    Arena,
    Double,
    Duplicate,
    Heats,
    NFold,
    Play,
    RoundRobin,
    Single,
    Swiss,
)

FORMATS: Final[dict[type[Play], Format]] = {
    Single: SINGLE,
    Double: DOUBLE,
    NFold: N_FOLD,
    Swiss: SWISS,
    RoundRobin: ROUND_ROBIN,
    Arena: ARENA,
    Heats: HEATS,
    Duplicate: DUPLICATE,
}


def format_of(play: AnyPlay) -> Format:
    """Give the format that a stage's settings name."""
    return FORMATS[type(play)]


__all__ = ["FORMATS", "Format", "format_of"]
