"""What the terminal at hand can do, and how it is told to."""

import codecs
import curses
import locale
import os
import platform
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Final

from client.printer import Codes
from client.style import Ink, Style, Wishes

# Foreground with 8 colours, and with 256 where that is nicer to the eye.
_COLOURS: Final[dict[Ink, tuple[int, int]]] = {
    "heart": (curses.COLOR_RED, 203),
    "diamond": (curses.COLOR_YELLOW, 214),
    "club": (curses.COLOR_CYAN, 80),
    "good": (curses.COLOR_GREEN, 114),
    "bad": (curses.COLOR_RED, 203),
    "warn": (curses.COLOR_YELLOW, 214),
    "own": (curses.COLOR_CYAN, 80),
}
_SHAPES: Final[dict[Ink, str]] = {  # by their names in terminfo
    "dim": "dim",
    "bold": "bold",
    "spade": "bold",
    "bad": "bold",
    "warn": "bold",
    "pick": "rev",
    "own": "bold",
}


def complaint() -> str | None:
    """Say why the game cannot be shown here, None where it can."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return "This is no terminal: the game needs one for its input and its output."
    term = os.environ.get("TERM", "")
    if not term:
        return "The variable TERM is not set, so nothing is known of this terminal."
    try:
        curses.setupterm(term, sys.stdout.fileno())
    except curses.error:
        return f"The terminal {term!r} (TERM) is unknown here; try TERM=xterm or TERM=vt100."
    # A dumb terminal is let in by curses, and then painted full of rubbish.
    if not curses.tigetstr("cup"):
        return f"The terminal {term!r} (TERM) cannot place its cursor; the game needs that."
    return None


def settle_locale() -> bool:
    """Take the user's locale; whether its characters are UTF-8."""
    # One that is named but not installed: go on without, in ASCII.
    with suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "")
    return _codeset().upper().replace("-", "") == "UTF8"


def _codeset() -> str:
    try:
        return locale.nl_langinfo(locale.CODESET)
    except AttributeError:  # not on this system
        return locale.getpreferredencoding()


def choose_style(environment: Mapping[str, str], *, is_utf8: bool, wishes: Wishes) -> Style:
    """Give the style that suits terminal and user."""
    no_colour = bool(environment.get("NO_COLOR"))
    return Style(
        ascii=wishes.ascii or not is_utf8,
        colour=not no_colour and _colours() >= 8,
        bell=wishes.bell,
    )


def _colours() -> int:
    try:
        curses.setupterm(os.environ.get("TERM", ""), sys.stdout.fileno())
        return curses.tigetnum("colors")
    except (curses.error, OSError, ValueError):
        return 0


def codes(*, colour: bool) -> Codes:
    """Give what the terminal is sent to do things; curses must know it already."""
    place = _capability("cup")
    # Some entries leave out that their terminals know DEC's code; those that do not ignore it.
    is_dec = place.startswith((b"\x1b[", b"\x9b"))
    cut, wrap = (
        _text(_capability(name)) or (dec if is_dec else "")
        for name, dec in (("rmam", "\x1b[?7l"), ("smam", "\x1b[?7h"))
    )
    inks = {ink: _text(_capability(name)) for ink, name in _SHAPES.items()}
    if colour:
        for ink, (few, many) in _COLOURS.items():
            number = many if curses.tigetnum("colors") >= 256 else few
            inks[ink] = inks.get(ink, "") + _text(curses.tparm(_capability("setaf"), number))
    return Codes(
        move=lru_cache(maxsize=4096)(lambda row, col: _text(curses.tparm(place, row, col))),
        clear=_text(_capability("clear") + _capability("civis")),
        to_end=_text(_capability("el")),
        plain=_text(_capability("sgr0")),
        inks=inks,
        cut=cut,
        wrap=wrap,
        corner=bool(_capability("rmam")) or curses.tigetflag("xenl") > 0,
    )


def _capability(name: str) -> bytes:
    # Without the pauses that terminals of paper and glass once needed.
    return re.sub(rb"\$<[^>]*>", b"", curses.tigetstr(name) or b"")


def _text(code: bytes) -> str:
    # Some terminals are told with bytes of eight bits, which no encoding may touch.
    return code.decode("ascii", "surrogateescape")


def coded(text: str) -> bytes:
    """Give the bytes that a terminal is sent for a text with codes in it."""
    return text.encode(_encoding(_codeset()), _AS_IT_CAN)


@lru_cache(maxsize=1)
def _encoding(codeset: str) -> str:
    with suppress(LookupError):
        name = codecs.lookup(codeset).name
        # ASCII is what a locale has that nobody has set, and says nothing of the terminal.
        return name if name != "ascii" else "utf-8"
    return "utf-8"


def _spelled(error: UnicodeError) -> tuple[bytes, int]:
    """Spell what an encoding cannot: the bytes of codes as they are, other signs as "?"."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    codes = (ord(sign) - 0xDC00 if "\udc80" <= sign <= "\udcff" else ord("?") for sign in signs)
    return bytes(codes), error.end


_AS_IT_CAN: Final = "klondike-terminal"
codecs.register_error(_AS_IT_CAN, _spelled)


def examination() -> list[str]:
    """Give the lines of --doctor: what this program sees of its surroundings."""
    is_utf8 = settle_locale()
    style = choose_style(os.environ, is_utf8=is_utf8, wishes=Wishes())
    size = os.get_terminal_size(sys.stdout.fileno()) if sys.stdout.isatty() else None
    cards = " ".join(style.card(card) for card in ("AS", "TH", "QD", "KC"))
    return [
        f"program    double-klondike, Python {platform.python_version()}, {platform.system()}",
        f"TERM       {os.environ.get('TERM') or 'not set'}",
        f"COLORTERM  {os.environ.get('COLORTERM') or 'not set'}",
        f"NO_COLOR   {os.environ.get('NO_COLOR') or 'not set'}",
        f"colours    {_colours()}",
        f"characters {_codeset()}",
        f"locale     {locale.setlocale(locale.LC_CTYPE)}",
        f"size       {f'{size.columns}x{size.lines}' if size else 'unknown'}",
        f"cards      {cards}{' (ASCII)' if style.ascii else ''}",
        f"verdict    {complaint() or 'good to play'}",
    ]
