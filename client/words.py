"""Small texts: lengths of time, and strangers' text made fit for a terminal."""

import unicodedata
from typing import Final

_MARKS: Final = ("Mn", "Me")
_MARKS_KEPT: Final = 2  # on one letter; a pile of them would climb over other lines


def span(milliseconds: float) -> str:
    """Write a length of time as minutes and seconds, with hours where there are any."""
    seconds = max(0, int(milliseconds // 1000))
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def room_code(typed: str) -> str:
    """Read a room's code as people type it: small letters, blanks and dashes do no harm."""
    return "".join(sign for sign in typed.upper() if sign.isascii() and sign.isalnum())


def clean(text: str) -> str:
    """Take out of somebody's text what would move the cursor, recolour or reorder a line."""
    kept: list[str] = []
    marks = 0
    for sign in unicodedata.normalize("NFC", text):
        category = unicodedata.category(sign)
        if category in _MARKS:
            marks += 1
            # Selectors of a glyph's form change its width; they are marks by category.
            is_selector = 0xFE00 <= ord(sign) <= 0xFE0F or 0xE0100 <= ord(sign) <= 0xE01EF
            if kept and marks <= _MARKS_KEPT and not is_selector:
                kept.append(sign)
            continue
        marks = 0
        if category == "Zs":
            kept.append(" ")
        elif category[0] != "C" and category[0] != "Z":
            kept.append(sign)
    return "".join(kept)
