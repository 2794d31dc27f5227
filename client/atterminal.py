"""Opens a game on the terminal, and leaves the terminal as it was, whatever happens."""

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from client.game import Aim, Game
from client.identity import Identity, state_folder
from client.line import Line
from client.style import Wishes
from wire.messages import Room, Standings


class NoTerminal(Exception):
    """The game cannot be shown here, or had to stop; the text is one plain line."""


@dataclass(frozen=True, slots=True)
class End:
    """How a game was left."""

    line: Line
    result: tuple[Room, Standings] | None  # of the last race that ended


def open_game(
    url: str,
    identity: Identity,
    *,
    name: str | None,
    aim: Aim,
    wishes: Wishes,
    best_of: Path | None = None,
) -> End:
    """Play on this terminal until the player quits.

    Raises:
        NoTerminal: there is none that will do, or something failed.
    """
    try:
        from client import screen, terminal
    except ImportError:
        raise NoTerminal(
            "Python's curses module is missing; the game cannot be shown. On Windows, use WSL."
        ) from None
    complaint = terminal.complaint()
    if complaint is not None:
        raise NoTerminal(complaint)
    is_utf8 = terminal.settle_locale()
    style = terminal.choose_style(os.environ, is_utf8=is_utf8, wishes=wishes)
    with _faults_to_file():
        game, line = screen.show(
            lambda: Game(url, identity, style, name=name, aim=aim, best_of=best_of)
        )
    return End(line, game.result)


@contextmanager
def _faults_to_file() -> Iterator[None]:
    # A stray line on stderr would spoil the screen.
    logging.captureWarnings(True)
    try:
        yield
    except Exception as error:
        path = state_folder() / "klondike.log"
        text = "".join(traceback.format_exception(error))
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError:
            sys.stderr.write(text)
            raise NoTerminal("This failed on our side; the details stand above.") from None
        raise NoTerminal(f"This failed on our side; the details are in {path}.") from None
