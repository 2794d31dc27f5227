"""The game on a terminal, under asyncio: curses takes its modes and keys, `Printer` draws.

Keys are read from a pad, since reading from the screen would have curses paint it. Sizes are
asked of the terminal at SIGWINCH, and at SIGCONT, before which a resize sends no signal. One
painter draws the state as it is, at most thirty times a second, and as fast as the terminal
takes it.
"""

import asyncio
import curses
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from client.game import Game
from client.keynames import KeyNames
from client.line import Line
from client.outlet import Outlet
from client.printer import Printer
from client.terminal import coded, codes

FRAME_GAP: Final = 1 / 30  # seconds; a burst of changes makes one frame
TICK: Final = 0.25  # seconds after which clocks are painted anew
EMPTY_WAKES: Final = 200  # in a row; then the terminal is gone
# More than anything that is shown needs. Terminals of millions of cells are made by accident,
# and each of their frames would take seconds.
MOST_ROWS: Final = 200
MOST_COLS: Final = 400

_KEYS: Final[dict[int, str]] = {
    curses.KEY_UP: "up",
    curses.KEY_DOWN: "down",
    curses.KEY_LEFT: "left",
    curses.KEY_RIGHT: "right",
    curses.KEY_HOME: "home",
    curses.KEY_END: "end",
    curses.KEY_PPAGE: "pgup",
    curses.KEY_NPAGE: "pgdn",
    curses.KEY_BTAB: "backtab",
    curses.KEY_ENTER: "enter",
    curses.KEY_BACKSPACE: "backspace",
    curses.KEY_DC: "backspace",
}


def show(make_game: Callable[[], Game]) -> tuple[Game, Line]:
    """Play a game on this terminal until it ends; the terminal is restored on any way out."""
    # Else a lone Esc holds the whole loop for a second.
    os.environ.setdefault("ESCDELAY", "25")
    rows, cols = size()
    if (rows, cols) != os.get_terminal_size(sys.stdout.fileno())[::-1]:
        # Else curses keeps three copies of every cell.
        os.environ.update(LINES=str(rows), COLUMNS=str(cols))
    ends: list[tuple[Game, Line]] = []
    try:
        curses.wrapper(lambda window: ends.append(asyncio.run(_show(window, make_game))))
    except curses.error:
        if not ends:
            raise
        # The terminal has vanished, and cannot be restored.
    return ends[0]


def size() -> tuple[int, int]:
    """Give the rows and columns that are used of this terminal."""
    told = os.get_terminal_size(sys.stdout.fileno())
    # Some lines have no size that anybody told them: then the one of old.
    return min(told.lines or 24, MOST_ROWS), min(told.columns or 80, MOST_COLS)


async def _show(window: "curses.window", make_game: Callable[[], Game]) -> tuple[Game, Line]:
    game = make_game()
    return game, await Screen(window, game).run()


class Screen:
    """A game's screen and keyboard."""

    def __init__(self, window: "curses.window", game: Game) -> None:
        self._game = game
        self._keyboard = curses.newpad(1, 1)
        self._keyboard.keypad(True)
        self._keyboard.nodelay(True)
        self._names = KeyNames()
        self._empty_wakes = 0
        self._fault: BaseException | None = None
        self._size = size()
        self._in_colour = game.style.colour
        self._printer = Printer(codes(colour=self._in_colour))
        self._outlet = Outlet(sys.stdout.fileno())
        with suppress(curses.error):
            curses.use_default_colors()  # else it clears to white on black
        window.refresh()  # the one time that curses paints: it clears the screen
        with suppress(curses.error):
            curses.curs_set(0)  # so that curses knows to show the cursor at the end

    async def run(self) -> Line:
        """Show the game until it ends."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._failed)
        loop.add_reader(sys.stdin.fileno(), self._read_keys)
        game = self._game
        for number, act in (
            (signal.SIGWINCH, self._resized),
            (signal.SIGCONT, self._continued),
            (signal.SIGINT, lambda: game.press("ctrl-c")),
            (signal.SIGTERM, game.ended.set),
            (signal.SIGHUP, game.ended.set),
            (signal.SIGQUIT, game.ended.set),  # else ctrl-\ would leave the terminal as it is
        ):
            loop.add_signal_handler(number, act)
        painter = asyncio.create_task(self._paint_all(), name="screen-paint")
        painter.add_done_callback(self._painter_done)
        try:
            line = await game.run()
        finally:
            loop.remove_reader(sys.stdin.fileno())
            painter.cancel()
            await asyncio.gather(painter, return_exceptions=True)
            self._outlet.close()
        if self._fault is not None:
            raise self._fault
        return line

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self._fault = self._fault or context.get("exception")
        self._game.ended.set()

    def _painter_done(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and task.exception() is not None:
            self._fault = self._fault or task.exception()
            self._game.ended.set()

    # --- keys and signals -------------------------------------------------------------

    def _read_keys(self) -> None:
        # Many keys can be waiting inside curses, of which the descriptor tells nothing.
        count = 0
        while (key := self._next_key()) is not None:
            count += 1
            name = (
                self._names.name(key, time.monotonic()) if isinstance(key, str) else _KEYS.get(key)
            )
            if name is not None:
                self._game.press(name)
        self._empty_wakes = 0 if count else self._empty_wakes + 1
        if self._empty_wakes > EMPTY_WAKES:
            self._game.ended.set()

    def _next_key(self) -> int | str | None:
        try:
            return self._keyboard.get_wch()
        except curses.error:
            return None

    def _resized(self) -> None:
        with suppress(OSError, curses.error):
            self._size = size()
            curses.resizeterm(*self._size)
        self._repaint()

    def _continued(self) -> None:
        self._resized()
        self._game.link.poke()

    def _repaint(self) -> None:
        self._game.wants_repaint = True
        self._game.changed.set()

    # --- painting ---------------------------------------------------------------------

    async def _paint_all(self) -> None:
        changed = self._game.changed
        while True:
            await self._outlet.write(coded(self._next_frame()))
            await asyncio.sleep(FRAME_GAP)
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK):
                    await changed.wait()
            changed.clear()

    def _next_frame(self) -> str:
        game = self._game
        if game.style.colour != self._in_colour:
            self._in_colour = game.style.colour
            self._printer = Printer(codes(colour=self._in_colour))
        if game.wants_repaint:
            game.wants_repaint = False
            self._printer.forget()
        bell = "\a" if game.wants_bell else ""
        game.wants_bell = False
        return bell + self._printer.printed(game.frame(*self._size))
