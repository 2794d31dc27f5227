"""How figures, instants and results are written on a page."""

from datetime import UTC, datetime
from typing import Final

from wire.reading import TIMES

KINDS: Final = {
    "forfeit": "by forfeit",
    "walkover": "walkover",
    "void": "void",
    "ruled": "ruled",
}


def figure(key: str, value: float) -> str:
    """Write the value of a tie-break."""
    if key in TIMES:
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
