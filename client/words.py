"""Small texts: lengths of time, and strangers' text made fit for a terminal."""

import unicodedata
from datetime import datetime

from wire.text import INVISIBLE, MAX_MARKS


def span(milliseconds: float) -> str:
    """Write a length of time as minutes and seconds, with hours where there are any."""
    seconds = max(0, int(milliseconds // 1000))
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def moment(instant_ms: int) -> str:
    """Write an instant of the server as a time of day here."""
    try:
        return datetime.fromtimestamp(instant_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):  # beyond the calendar
        return "a time out of reach"


def room_code(typed: str) -> str:
    """Read a room's code as people type it: small letters, blanks and dashes do no harm."""
    return "".join(sign for sign in typed.upper() if sign.isascii() and sign.isalnum())


def clean(text: str) -> str:
    """Take out of somebody's text what would move the cursor, recolour or reorder a line.

    The server's door lets none of it in; what is shown does not rely on that.
    """
    kept: list[str] = []
    marks = 0
    for sign in unicodedata.normalize("NFC", text):
        marks = marks + 1 if unicodedata.category(sign) in ("Mn", "Me") else 0
        if unicodedata.category(sign) == "Zs":
            kept.append(" ")
        elif sign.isprintable() and sign not in INVISIBLE and marks <= (MAX_MARKS if kept else 0):
            kept.append(sign)
    return "".join(kept)
