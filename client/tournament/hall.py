"""The pages of tournaments, as they lie over the screen: which one, which part, how far down.

Pure. `press` takes a key and gives what is open afterwards, and what to say to the server.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from client.tournament.tour import Tour
from wire.lines import LiveRace, TournamentLine
from wire.messages import ClientMessage, Join, Spectate
from wire.tournaments import (
    CheckIn,
    Enter,
    Rejoin,
    Tournaments,
    Visit,
    Withdraw,
)

Tab = Literal["you", "live", "round", "standings", "bracket", "players", "schedule"]
TABS: Final[tuple[Tab, ...]] = (
    "you",
    "live",
    "round",
    "standings",
    "bracket",
    "players",
    "schedule",
)
PAGE: Final = 15  # rows of a long step
SIDE: Final = 12  # columns of a step to the side


@dataclass(frozen=True, slots=True)
class Hall:
    """The list of tournaments, or one of them."""

    code: str = ""  # empty: the list
    tab: Tab = "you"
    row: int = 0  # of the list or of the running races: the selected one; else rows scrolled
    col: int = 0  # columns scrolled
    asks: bool = False  # whether to give the place up


Pressed = tuple[Hall | None, Sequence[ClientMessage]]


def opened(tour: Tour) -> Pressed:
    """Open the tournament that is on for the player, or was looked at last, or else the list."""
    called = tour.called.tournament if tour.called is not None else ""
    own = (code for code, place in tour.places.items() if place.phase in ("running", "paused"))
    looked_at = tour.scene.tournament.tournament if tour.scene.tournament is not None else ""
    code = called or next(own, "") or looked_at
    if code:
        return Hall(code), [Visit(tournament=code)]
    return Hall(), [Tournaments()]


def press(hall: Hall, tour: Tour, key: str) -> Pressed:
    """Take one key in."""
    if hall.asks:
        said = [Withdraw(tournament=hall.code)] if key in ("y", "Y") else []
        return replace(hall, asks=False), said
    if key in ("up", "down", "pgup", "pgdn", "home"):
        steps = {"up": -1, "down": 1, "pgup": -PAGE, "pgdn": PAGE, "home": -hall.row}
        return replace(hall, row=_within(hall, tour, hall.row + steps[key])), []
    return _press_one(hall, tour, key) if hall.code else _press_list(hall, tour, key)


def _press_list(hall: Hall, tour: Tour, key: str) -> Pressed:
    match key:
        case "esc" | "q" | "T":
            return None, []
        case "r":
            return hall, [Tournaments()]
        case "enter" if (line := selected_line(hall, tour)) is not None:
            return Hall(line.tournament), [Visit(tournament=line.tournament)]
        case _:
            return hall, []


def _press_one(hall: Hall, tour: Tour, key: str) -> Pressed:
    match key:
        case "esc":
            return Hall(), [Visit(), Tournaments()]
        case "q" | "T":
            return None, [Visit()]
        case "tab" | "backtab":
            step = 1 if key == "tab" else -1
            return _turned(hall, TABS[(TABS.index(hall.tab) + step) % len(TABS)]), []
        case "left" | "right":
            return replace(hall, col=max(0, hall.col + (SIDE if key == "right" else -SIDE))), []
        case _ if key.isdecimal() and 1 <= int(key) <= len(TABS):
            return _turned(hall, TABS[int(key) - 1]), []
        case _:
            return _act(hall, tour, key)


def _turned(hall: Hall, tab: Tab) -> Hall:
    return replace(hall, tab=tab, row=0, col=0)


def _act(hall: Hall, tour: Tour, key: str) -> Pressed:
    place, code, may = tour.place, hall.code, tour.actions
    race = selected_race(hall, tour)
    match key:
        case "e" if "enter" in may:
            return hall, [Enter(tournament=code)]
        case "e" if "rejoin" in may:
            return hall, [Rejoin(tournament=code)]
        case "i" if "checkin" in may:
            return hall, [CheckIn(tournament=code)]
        case "x" if "withdraw" in may:
            return replace(hall, asks=True), []
        case "j" if place is not None and place.room is not None:
            return None, [Visit(), Join(room=place.room)]
        case "w" | "enter" if race is not None:
            return None, [Visit(), Spectate(room=race.room)]
        case _:
            return hall, []


def lines_of(tour: Tour) -> list[TournamentLine]:
    """Give the list: the player's own tournaments first."""
    lines = tour.programme or ()
    return sorted(lines, key=lambda line: line.tournament not in tour.places)


def selected_line(hall: Hall, tour: Tour) -> TournamentLine | None:
    """Give the selected tournament of the list."""
    lines = lines_of(tour)
    return lines[min(hall.row, len(lines) - 1)] if lines else None


def selected_race(hall: Hall, tour: Tour) -> LiveRace | None:
    """Give the selected one of the races that run."""
    progress = tour.scene.progress
    if hall.tab != "live" or progress is None or not progress.races:
        return None
    return progress.races[min(hall.row, len(progress.races) - 1)]


def _within(hall: Hall, tour: Tour, row: int) -> int:
    """Keep a selection inside its list; how far a page goes, only its painting knows."""
    if not hall.code:
        return max(0, min(row, len(lines_of(tour)) - 1))
    progress = tour.scene.progress
    if hall.tab == "live" and progress is not None:
        return max(0, min(row, len(progress.races) - 1))
    return max(0, row)
