"""Tournaments as a client hears of them, without a server."""

from typing import Any

from client.tournament.scene import Scene, heard
from wire.formats import Single, StageSettings, Swiss, TournamentSettings
from wire.lines import (
    Entrant,
    LiveLine,
    LiveRace,
    MatchLine,
    Notice,
    PathLine,
    RaceLine,
    RaceRow,
    RankLine,
    SlotLine,
)
from wire.messages import ServerMessage
from wire.tournaments import (
    Bracket,
    Entrants,
    Pairings,
    Place,
    Progress,
    Ranking,
    Tournament,
)

NOW = 1_800_000_000_000
NAMES = ("ann", "Bob", "cem", "Dun")


def tournament(**changes: Any) -> Tournament:
    fields: dict[str, Any] = {
        "tournament": "CUP",
        "version": 9,
        "settings": TournamentSettings(title="Autumn Cup", stages=[StageSettings(play=Swiss())]),
        "phase": "running",
        "now": NOW,
        "opened": NOW - 60_000,
        "entrants": 4,
        "starts": NOW - 30_000,
        "stage": 0,
        "stages": ["swiss, 2 rounds"],
        "round": 1,
        "rounds": [1],
        "round_starts": NOW,
        "open": 1,
        "notices": [Notice(at=NOW, text="soup is ready")],
    }
    return Tournament(**(fields | changes))


def entrants(*names: str, **changes: Any) -> Entrants:
    people = [
        Entrant(entry=f"p{number}", name=name, rating=1600 - number)
        for number, name in enumerate(names or NAMES, 1)
    ]
    return Entrants(tournament="CUP", version=9, entrants=people, **changes)


def race(
    *rows: tuple[str, int, int], number: int = 1, room: str = "ROOM", state: Any = "raced"
) -> RaceLine:
    lines = [RaceRow(entry, place, "unfinished", cards, 3, 60_000) for entry, place, cards in rows]
    return RaceLine(race=number, room=room, starts=NOW, state=state, rows=lines)


def match(number: str, *entries: str, **changes: Any) -> MatchLine:
    fields: dict[str, Any] = {"match": number, "entries": list(entries), "why": "equal points"}
    return MatchLine(**(fields | changes))


def pairings(**changes: Any) -> Pairings:
    fields: dict[str, Any] = {
        "tournament": "CUP",
        "version": 9,
        "round": 1,
        "stage": 0,
        "starts": NOW,
        "matches": [
            match(
                *("1.1", "p1", "p3"),
                races=[race(("p1", 1, 71), ("p3", 2, 65), room="AAAA")],
                kind="played",
                places=[1, 2],
            ),
            match("1.2", "p2", "p4", races=[race(room="BBBB", state="called")]),
        ],
    }
    return Pairings(**(fields | changes))


def ranking(**changes: Any) -> Ranking:
    lines = [
        RankLine("p1", 1, 1.0, [0.5, 60_000.0], ""),
        RankLine("p2", 2, 0.5, [1.0, 0.0], ""),
        RankLine("p4", 3, 0.0, [0.0, 0.0], ""),
        RankLine("p3", None, 0.0, [0.0, 60_000.0], "disqualified"),
    ]
    fields: dict[str, Any] = {
        "tournament": "CUP",
        "version": 9,
        "stage": 0,
        "keys": ["buchholz", "total-time"],
        "groups": [lines],
    }
    return Ranking(**(fields | changes))


def scene(*more: ServerMessage) -> Scene:
    """A Swiss of four in its first round."""
    made = Scene()
    for message in (tournament(), entrants(), pairings(), ranking(), *more):
        made = heard(made, message)
    return made


def progress() -> Progress:
    lines = [LiveLine("p2", 17, 9, 40, "playing"), LiveLine("p4", 23, 12, 44, "resigned")]
    return Progress(
        tournament="CUP", races=[LiveRace(match="1.2", race=1, room="BBBB", of=104, lines=lines)]
    )


def place() -> Place:
    path = [
        PathLine(round=1, match="1.1", opponents=["p3"], place=1, points=1, result="played"),
        PathLine(round=2, result="bye"),
    ]
    return Place(tournament="CUP", phase="running", entry="p1", seed=1, place=1, path=path)


def slot(box: str, **changes: Any) -> SlotLine:
    side = {"W": "winners", "L": "losers", "F": "final", "P": "third"}[box[0]]
    on, _, number = box[1:].partition(".")
    fields: dict[str, Any] = {
        "slot": box,
        "side": side,
        "round": int(on),
        "number": int(number),
        "name": f"{side} {on}",
        "sides": ["", ""],
        "sources": ["", ""],
    }
    return SlotLine(**(fields | changes))


def semifinals() -> list[SlotLine]:
    """A knock-out of four in which one semi-final is over."""
    return [
        slot(
            "W1.1",
            sides=["p1", "p4"],
            sources=["seed 1", "seed 4"],
            state="over",
            match="1.1",
            winner="p1",
            scores=[71.0, 65.0],
        ),
        slot("W1.2", sides=["p2", "p3"], sources=["seed 2", "seed 3"], state="called"),
        slot("W2.1", sides=["p1", ""], sources=["winner of W1.1", "winner of W1.2"]),
    ]


def bracket(**changes: Any) -> Bracket:
    fields: dict[str, Any] = {"tournament": "CUP", "version": 9, "stage": 0}
    return Bracket(**(fields | {"groups": [semifinals()]} | changes))


def knock_out(*more: ServerMessage) -> Scene:
    """The same four in a knock-out."""
    settings = TournamentSettings(title="Cup", stages=[StageSettings(play=Single())])
    made = Scene()
    for message in (tournament(settings=settings), entrants(), bracket(), *more):
        made = heard(made, message)
    return made
