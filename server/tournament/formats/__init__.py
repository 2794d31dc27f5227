"""Every format, by the class of its settings."""

from typing import Final

from server.tournament.formats.format import Format
from server.tournament.formats.round_robin import ROUND_ROBIN
from server.tournament.formats.single import SINGLE
from server.tournament.formats.swiss import SWISS
from server.tournament.settings import AnyPlay, Play, RoundRobin, Single, Swiss

FORMATS: Final[dict[type[Play], Format]] = {
    Single: SINGLE,
    RoundRobin: ROUND_ROBIN,
    Swiss: SWISS,
}


def format_of(play: AnyPlay) -> Format:
    """Give the format that a stage's settings name."""
    return FORMATS[type(play)]


__all__ = ["FORMATS", "Format", "format_of"]
