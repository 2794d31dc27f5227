"""Texts as cells of a terminal: what stands together, and how many cells it gets.

Pure. A cluster is what a reader takes for one sign: a letter with its marks, two letters that
join, a flag. How wide a terminal draws it is the terminal's own affair, and they disagree; here
joined letters get the cells that they need on terminals that join none, and anything else what
the newest of them give it. `Printer` keeps to that.
"""

import unicodedata
from functools import lru_cache
from typing import Final

from wcwidth import iter_graphemes, wcswidth, wcwidth

Cluster = tuple[str, int]  # its text, and its cells: one or more

UNKNOWN: Final[Cluster] = ("?", 1)
_MARKS: Final = ("Mn", "Me", "Cf")  # over or in a letter, or nothing to be seen
_JOINERS: Final = "\u200c\u200d"


def clusters(text: str) -> tuple[Cluster, ...]:
    """Take a text apart; marks that have no letter before them are left out."""
    if text.isascii() and text.isprintable():
        return tuple((sign, 1) for sign in text)
    return tuple(each for each in map(_cluster, iter_graphemes(text)) if each[0])


@lru_cache(maxsize=4096)
def _cluster(text: str) -> Cluster:
    if all(unicodedata.category(sign) in _MARKS for sign in text):
        return "", 0
    count = max(wcswidth(text), _written_out(text))
    is_shown = count > 0 and all(sign.isprintable() or sign in _JOINERS for sign in text)
    return (text, count) if is_shown else UNKNOWN


def _written_out(text: str) -> int:
    """Give the cells of joined letters on a terminal that joins none; 0 for what is no letter."""
    kinds = [unicodedata.category(sign) for sign in text]
    if kinds[0][0] != "L" or not all(kind[0] in "LM" for kind in kinds):
        return 0
    return sum(max(0, wcwidth(sign)) for sign in text) + kinds.count("Mc")


def cells(text: str) -> int:
    """Give the cells that a text takes."""
    return sum(count for _, count in clusters(text))


def head(text: str, room_for: int) -> str:
    """Give as much of a text's beginning as fits."""
    kept: list[str] = []
    for sign, count in clusters(text):
        room_for -= count
        if room_for < 0:
            break
        kept.append(sign)
    return "".join(kept)


def tail(text: str, room_for: int) -> str:
    """Give as much of a text's end as fits."""
    kept: list[str] = []
    for sign, count in reversed(clusters(text)):
        room_for -= count
        if room_for < 0:
            break
        kept.append(sign)
    return "".join(reversed(kept))
