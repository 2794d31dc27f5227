"""How a tournament is read out to people, in the terminal and on the public pages alike."""

from collections.abc import Iterable, Sequence
from typing import Final

from wire.lines import MatchLine, SlotLine
from wire.tournaments import Pairings

PHASES: Final = {
    "draft": "not started",
    "check-in": "check-in is open",
    "running": "running",
    "paused": "paused",
    "finished": "finished",
    "cancelled": "cancelled",
}

# Of a round that is played, while nobody has published it.
HELD: Final = "results are held back until they are published"

# A short head for a column, and what it means.
COLUMNS: Final[dict[str, tuple[str, str]]] = {
    "buchholz": ("BH", "sum of the opponents' points"),
    "buchholz-cut1": ("BH-1", "sum of the opponents' points without the lowest"),
    "buchholz-cut2": ("BH-2", "sum of the opponents' points without the two lowest"),
    "median1": ("Med-1", "opponents' points without the lowest and the highest"),
    "median2": ("Med-2", "opponents' points without the two lowest and the two highest"),
    "fore-buchholz": ("Fore", "opponents' points, the last round counted as draws"),
    "sonneborn-berger": ("SB", "points of the opponents beaten, half of those drawn with"),
    "direct-encounter": ("DE", "better among those still tied, by their own matches"),
    "wins": ("Wins", "rounds won, byes and forfeits included"),
    "games-won": ("Won", "rounds won by playing"),
    "progressive": ("Prog", "sum of the score after each round"),
    "koya": ("Koya", "points against opponents with half the points or more"),
    "cards": ("Cards", "cards brought home in all rounds"),
    "total-time": ("Time", "time of all rounds, less is better"),
    "best-race": ("Best", "most cards brought home in one round"),
    "best-time": ("Best time", "least time for that many cards"),
    "performance": ("Perf", "mean rating of the opponents, more for a win, less for a loss"),
    "games": ("Games", "matches played"),
}
TIMES: Final = frozenset({"total-time", "best-time"})  # among the columns, in milliseconds


def column(key: str) -> tuple[str, str]:
    """Give the head of a column and what it means."""
    return COLUMNS.get(key, (key, key))


def points(value: float) -> str:
    """Write points, with a half as a half."""
    whole, rest = divmod(round(value * 2), 2)
    half = "½" if rest else ""
    return half if half and not whole else f"{whole}{half}"


def won(match: MatchLine, entry: str) -> float:
    """Give how many races of a match somebody has won, an equal first place being half."""
    raced = [race.rows for race in match.races if race.state == "raced"]
    first = [[row.entry for row in rows if row.place == 1] for rows in raced]
    return sum(1.0 if len(each) == 1 else 0.5 for each in first if entry in each)


def own_start(match: MatchLine) -> int | None:
    """Give when a match starts, or did: its first race that is not void."""
    return next((race.starts for race in match.races if race.state != "void"), None)


def round_start(on: Pairings) -> int:
    """Give when a round starts, or did: the first of its matches, as they now stand."""
    own = (own_start(match) for match in on.matches)
    return min((starts for starts in own if starts is not None), default=on.starts)


def bracket_columns(slots: Sequence[SlotLine]) -> dict[str, int]:
    """Give the column of each box, from 0: those of a round together, the finals at the right."""
    width = max((slot.round for slot in slots if slot.side in ("winners", "losers")), default=0)
    return {
        slot.slot: width + slot.round - 1 if slot.side == "final" else slot.round - 1
        for slot in slots
    }


def feeds(slot: SlotLine) -> list[str]:
    """Give the boxes of a bracket whose winner comes into this one."""
    return [source.rpartition(" ")[2] for source in slot.sources if source.startswith("winner")]


def bracket_seeds(slots: Iterable[SlotLine]) -> dict[str, str]:
    """Give the numbers under which players came into this bracket, not into the tournament."""
    return {
        entry: source.removeprefix("seed ")
        for slot in slots
        for entry, source in zip(slot.sides, slot.sources, strict=True)
        if entry and source.startswith("seed ")
    }
