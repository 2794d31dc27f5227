"""What an organiser chooses, as `wire.formats` declares it, and what must fit together in it."""

from server.tournament.pairing import is_dutch_available
from server.tournament.tiebreak import TIEBREAKS
from wire.formats import (
    MAX_PLAYERS,
    MAX_STAGES,
    TIEBREAK_ORDER,
    AnyPlay,
    Arena,
    Deals,
    Double,
    Duplicate,
    Heats,
    NFold,
    Play,
    Points,
    RoundRobin,
    Single,
    StageSettings,
    Swiss,
    TournamentSettings,
)

__all__ = [
    "MAX_PLAYERS",
    "MAX_STAGES",
    "TIEBREAK_ORDER",
    "AnyPlay",
    "Arena",
    "Deals",
    "Double",
    "Duplicate",
    "Heats",
    "NFold",
    "Play",
    "Points",
    "RoundRobin",
    "Single",
    "StageSettings",
    "Swiss",
    "TournamentSettings",
    "flaws",
]


def flaws(settings: TournamentSettings) -> list[str]:
    """Say what does not fit together, for the organiser; nothing if all is well."""
    found = []
    for number, stage in enumerate(settings.stages, 1):
        found += [f"Stage {number}: {flaw}" for flaw in _stage_flaws(stage)]
        if (stage.qualify is None) != (number == len(settings.stages)):
            found.append(
                f"Stage {number}: say how many qualify for the next stage, in all but the last."
            )
    if unknown := [name for name in settings.tiebreaks if name not in TIEBREAKS]:
        found.append(f"There is no tie-break {unknown[0]}; there are {', '.join(TIEBREAKS)}.")
    if len(set(settings.tiebreaks)) != len(settings.tiebreaks):
        found.append("A tie-break stands twice in the order.")
    if settings.race.seed is not None:
        found.append("The deals come from the tournament: leave the race without a seed.")
    if settings.deals.source == "public" and not settings.deals.seed:
        found.append("Public deals need a seed.")
    if settings.check_in_s is not None and settings.start_at is None:
        found.append("Check-in before the start needs a start time.")
    return found


def _stage_flaws(stage: StageSettings) -> list[str]:
    found = []
    if stage.best_of % 2 == 0:
        found.append("a match is the best of an odd number of races.")
    if stage.qualify is not None and stage.qualify * stage.groups < 2:
        found.append("at least two have to go on.")
    if stage.groups > 1 and isinstance(stage.play, Arena):
        found.append("an arena has no groups.")
    if stage.best_of > 1 and isinstance(stage.play, Duplicate):
        found.append("in duplicate each deal is one race.")
    if isinstance(stage.play, Swiss) and stage.play.engine == "dutch" and not is_dutch_available():
        found.append("this server has no Dutch pairing: choose the exact one.")
    return found
