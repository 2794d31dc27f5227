"""Texts that people write and others read: one rule for all of them.

What one player types is drawn on the screens of the rest, so nothing crosses that moves a
cursor, turns the writing direction, hides, or stacks up over the neighbouring lines.
"""

import unicodedata
from itertools import dropwhile

# How many combining marks one letter may carry: the writing systems in use need three.
MAX_MARKS = 3

# Characters that `str.isprintable` lets pass although nothing is seen of them: fillers,
# joiners and selectors (Unicode's Default_Ignorable_Code_Point), and the empty Braille cell.
INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001d159"
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))


def flaw(text: str) -> str | None:
    """Says what keeps a text from being shown to others as it is; None for a clean one."""
    if text[:1] == " " or text[-1:] == " ":
        return "begins or ends with a blank"
    if "  " in text:
        return "has two blanks in a row"
    if text.isascii() and text.isprintable():
        return None
    marks = MAX_MARKS  # a text that begins with a mark would sit on what stands before it
    for character in text:
        if not _is_visible(character):
            return f"has the character U+{ord(character):04X}, which cannot be shown"
        marks = marks + 1 if _is_mark(character) else 0
        if marks > MAX_MARKS:
            return f"has a letter missing under U+{ord(character):04X}"
    return None


def tidied(text: str) -> str:
    """A text as typed or pasted by a person, without what `flaw` objects to."""
    visible = (c if _is_visible(c) else " " * c.isspace() for c in text)
    # In this order: what is composed or counted must be what is left.
    words = unicodedata.normalize("NFC", "".join(visible)).split()
    kept: list[str] = []
    marks = 0
    for character in dropwhile(lambda c: c == " " or _is_mark(c), " ".join(words)):
        marks = marks + 1 if _is_mark(character) else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def _is_visible(character: str) -> bool:
    return character.isprintable() and character not in INVISIBLE


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me")
