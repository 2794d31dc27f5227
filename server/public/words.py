"""How figures, instants and results are written on a page."""

from datetime import UTC, datetime
from typing import Final

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
_TIMES: Final = frozenset({"total-time", "best-time"})

PHASES: Final = {
    "draft": "not started",
    "check-in": "check-in is open",
    "running": "running",
    "paused": "paused",
    "finished": "finished",
    "cancelled": "cancelled",
}
KINDS: Final = {
    "forfeit": "by forfeit",
    "walkover": "walkover",
    "void": "void",
    "ruled": "ruled",
}


def column(key: str) -> tuple[str, str]:
    """Give the head of a column and what it means."""
    return COLUMNS.get(key, (key, key))


def points(value: float) -> str:
    """Write points, with a half as a half."""
    whole, rest = divmod(round(value * 2), 2)
    half = "½" if rest else ""
    return half if half and not whole else f"{whole}{half}"


def figure(key: str, value: float) -> str:
    """Write the value of a tie-break."""
    if key in _TIMES:
        return span(round(value))
    if value == int(value):
        return str(int(value))
    return f"{value:.2f}".rstrip("0")


def span(milliseconds: int) -> str:
    """Write a length of time."""
    minutes, seconds = divmod(max(0, milliseconds) // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def instant(milliseconds: int) -> str:
    """Write an instant for people, in UTC."""
    return _utc(milliseconds).strftime("%d %b %Y, %H:%M UTC")


def machine_instant(milliseconds: int) -> str:
    """Write an instant for machines."""
    return _utc(milliseconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def _utc(milliseconds: int) -> datetime:
    # An organiser may choose any instant; what no calendar has is shown as its end.
    seconds = min(max(0, milliseconds // 1000), 253_402_300_799)
    return datetime.fromtimestamp(seconds, UTC)
