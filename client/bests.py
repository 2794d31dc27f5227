"""A player's own best: kept on this machine, by the game that was raced.

Pure but for `count`, `load` and `keep`.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from client import filing
from client.filing import NotWritten
from client.identity import state_folder
from client.words import span
from wire.values import Settings, Standing

REMEMBERED: Final = 50  # races that are not counted twice


@dataclass(frozen=True, slots=True)
class Best:
    """What a player has come to in one game."""

    races: int = 0
    solved: int = 0
    cards: int = 0  # most on the foundations
    time_ms: int | None = None  # of the quickest race that was solved


@dataclass(frozen=True, slots=True)
class Bests:
    """The best of every game, and the races that were counted last: by room and player."""

    games: Mapping[str, Best]
    races: tuple[str, ...] = ()

    def counted(self, room: str, settings: Settings, row: Standing) -> "Bests":
        """Count a race of one's own that is over; once for each player one has been in it."""
        race = f"{room} {row.player}"
        if race in self.races:
            return self
        best = _after(self.of(settings), row)
        races = (*self.races, race)[-REMEMBERED:]
        return Bests({**self.games, game_of(settings): best}, races)

    def of(self, settings: Settings) -> Best:
        """Give the best of the game that a room plays."""
        return self.games.get(game_of(settings), Best())


def game_of(settings: Settings) -> str:
    """Name the game that a room plays; what may be taken back makes another one of it."""
    return settings.rules if settings.undo == "off" else f"{settings.rules}, undo {settings.undo}"


def _after(best: Best, row: Standing) -> Best:
    best = replace(best, races=best.races + 1, cards=max(best.cards, row.cards))
    if row.finished_ms is None:
        return best
    times = [each for each in (best.time_ms, row.finished_ms) if each is not None]
    return replace(best, solved=best.solved + 1, time_ms=min(times))


def told(before: Best, after: Best) -> str:
    """Say what the best is, and whether it has just become that."""
    what = f"{after.cards} cards home"
    if after.time_ms is not None:
        what = f"solved in {span(after.time_ms)}"
    races = "1 race" if after.races == 1 else f"{after.races} races"
    is_new = before.races > 0 and (before.cards, before.time_ms) != (after.cards, after.time_ms)
    return f"best     {what}{', just now' if is_new else ''}; {races}, {after.solved} solved"


# --- the file -------------------------------------------------------------------------


def bests_file() -> Path:
    """Give where they are kept."""
    return state_folder() / "bests.json"


def count(file: Path, room: str, settings: Settings, row: Standing) -> str:
    """Count a race of one's own in the file, and say what the best is now.

    Raises:
        NotWritten: it cannot be, or the file is something else.
    """
    with filing.alone(file.parent):  # two windows may end their races at once
        before = load(file)
        after = before.counted(room, settings, row)
        keep(after, file)
    return told(before.of(settings), after.of(settings))


def load(file: Path) -> Bests:
    """Read them; none where there is no such file.

    Raises:
        NotWritten: something else is in it, that is not to be written over.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        games = {str(name): _read(each) for name, each in found["games"].items()}
        return Bests(games, tuple(map(str, found["races"])))
    except FileNotFoundError:
        return Bests({})
    except OSError as error:
        raise NotWritten(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotWritten(f"{file} is there already and holds no bests: move it away") from None


def _read(fields: Mapping[str, Any]) -> Best:
    time_ms = fields["time_ms"]
    return Best(
        races=int(fields["races"]),
        solved=int(fields["solved"]),
        cards=int(fields["cards"]),
        time_ms=None if time_ms is None else int(time_ms),
    )


def keep(bests: Bests, file: Path) -> None:
    """Write them.

    Raises:
        NotWritten: they cannot be.
    """
    games = {name: asdict(best) for name, best in bests.games.items()}
    text = json.dumps({"games": games, "races": bests.races}, indent=1)
    filing.write(file, text.encode(), force=True, private=True, folders=True)
