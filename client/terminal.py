"""What the terminal at hand can do, found out before anything is painted on it."""

import curses
import locale
import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress

from client.style import Style


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


def choose_style(environment: Mapping[str, str], *, is_utf8: bool, ascii_wanted: bool) -> Style:
    """Give the style that suits terminal and user."""
    no_colour = bool(environment.get("NO_COLOR"))
    return Style(ascii=ascii_wanted or not is_utf8, colour=not no_colour and _colours() >= 8)


def _colours() -> int:
    try:
        curses.setupterm(os.environ.get("TERM", ""), sys.stdout.fileno())
        return curses.tigetnum("colors")
    except (curses.error, OSError, ValueError):
        return 0


def examination() -> list[str]:
    """Give the lines of --doctor: what this program sees of its surroundings."""
    is_utf8 = settle_locale()
    style = choose_style(os.environ, is_utf8=is_utf8, ascii_wanted=False)
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
