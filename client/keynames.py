"""What a terminal sends for a key, as the names that `keys` knows.

Pure. On a slow line the escape sequence of an arrow can come apart; then its escape arrives
alone, and the rest, which would be read as commands, is put together again here.
"""

from typing import Final

APART: Final = 1.0  # seconds between the parts of one sequence on a slow line

_CONTROLS: Final = {
    "\x1b": "esc",
    "\n": "enter",
    "\r": "enter",
    "\t": "tab",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x03": "ctrl-c",
    "\x0c": "ctrl-l",
}
_ARROWS: Final = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "Z": "backtab",
    "M": "enter",
}


class KeyNames:
    """Gives names to keys, one after the other."""

    def __init__(self) -> None:
        self._begun = ""  # an escape sequence so far
        self._at = 0.0

    def name(self, key: str, at: float) -> str | None:
        """Name a character that came at an instant; None while a sequence is incomplete."""
        begun, self._begun = self._begun, ""
        is_near, self._at = at - self._at <= APART, at
        if begun and is_near:
            rest = self._continue(begun, key)
            if rest is not None:
                return rest or None
        if key == "\x1b":
            self._begun = key
        return _CONTROLS.get(key, key if key.isprintable() else None)

    def _continue(self, begun: str, key: str) -> str | None:
        """Give a name, "" while incomplete, None where the sequence was none."""
        if begun == "\x1b":
            if key in "[O":
                self._begun = begun + key
                return ""
            return None
        if key.isdecimal() or key == ";":
            self._begun = begun + key
            return ""
        if key == "~":
            return ""
        return _ARROWS.get(key)
