"""A finished race told from its replay file, entry by entry.

Pure. Nothing is checked or worked out here: who wants the record proved asks `klondike
verify`. Entries of a kind not known here are told by their kind.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from client.results import REPLAY_FORMAT
from client.words import clean


class NoReplay(Exception):
    """The text is no replay file; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that happened."""

    at_ms: int  # since the start of the race; negative before it
    player: str  # "" where it concerns all
    text: str


def tell(text: str) -> list[Told]:
    """Tell all that happened in the race of a replay file.

    Raises:
        NoReplay: it is none.
    """
    # Not splitlines: a player's text may hold other signs that count as line ends.
    lines = [line for line in text.split("\n") if line]
    if not lines:
        raise NoReplay("the file is empty")
    header = _object(lines[0], 1)
    if header.get("replay") != REPLAY_FORMAT:
        raise NoReplay(f"line 1 is no replay header of format {REPLAY_FORMAT}")
    entries = [_entry(line, number) for number, line in enumerate(lines[1:], 2)]
    if not entries:
        raise NoReplay("the file has no entries")
    return list(_told(entries))


def _entry(line: str, number: int) -> tuple[int, dict[str, Any]]:
    at, _, event = line.partition(" ")
    if not (at.isascii() and at.isdecimal()):
        raise NoReplay(f"line {number} does not begin with a time")
    return int(at), _object(event, number)


def _object(text: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise NoReplay(f"line {number} is no JSON object")
    return value


def _told(entries: list[tuple[int, dict[str, Any]]]) -> Iterator[Told]:
    begun = [at for at, event in entries if event.get("e") == "started"]
    start = begun[0] if begun else entries[0][0]
    names: dict[str, str] = {}
    for at, event in entries:
        if event.get("e") == "joined":
            names[str(event.get("p"))] = clean(str(event.get("name", "")))
        player = names.get(str(event.get("p")), "") if "p" in event else ""
        yield Told(at - start, player, _words(event))


_LEFT: Final = {"kicked": "is sent out by the host", "away": "was away and loses the seat"}


def _words(event: dict[str, Any]) -> str:
    match event.get("e"):
        case "opened":
            settings = event.get("settings")
            rules = settings.get("rules", "double-klondike") if isinstance(settings, dict) else ""
            return f"room {event.get('room')} opened, {clean(str(rules))}"
        case "played":
            return clean(str(event.get("m")))
        case "joined":
            return "takes a seat"
        case "left":
            return _LEFT.get(str(event.get("why")), "leaves")
        case "hosted":
            return "is the host"
        case "readied":
            return "is ready"
        case "unreadied":
            return "is not ready"
        case "locked":
            return "seats and salts are fixed"
        case "started":
            return "the race starts"
        case "undone":
            return "takes the move back"
        case "resigned":
            return "gives up"
        case "disqualified":
            why = clean(str(event.get("why", "")))
            return f"is disqualified: {why}" if why else "is disqualified"
        case "over":
            return f"the race is over: {clean(str(event.get('why')))}"
        case "revealed":
            return f"the secret was {clean(str(event.get('secret')))}"
        case "followed":
            return f"the rematch is in room {clean(str(event.get('room')))}"
        case kind:
            return clean(str(kind))
