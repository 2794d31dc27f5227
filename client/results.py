"""Final standings as text and as JSON, and the file that keeps a finished race.

Pure. A replay file is lines of text: a JSON object first, then the entries of the room's
journal as the server gave them (`<official ms> <event>`), from which alone the race can be
told and checked again.
"""

import json
from typing import Any, Final

from client.words import span
from wire.messages import Room, Standings
from wire.values import Standing

REPLAY_FORMAT: Final = 1

REASONS: Final = {
    "finished": "all are done",
    "time": "the time is over",
    "stuck": "nobody can gain anything more",
    "resigned": "all are out",
    "aborted": "it was called off",
}


def as_json(room: Room, result: Standings) -> dict[str, Any]:
    """Give the standings as one JSON object; times in milliseconds since the start."""
    reveal = result.reveal
    return {
        "room": result.room,
        "rules": room.settings.rules,
        "seed": room.settings.seed,
        "commitment": room.commitment,
        "secret": reveal.secret if reveal is not None else None,
        "reason": result.reason,
        "head": result.head,
        "standings": [_row(row) for row in result.rows],
    }


def _row(row: Standing) -> dict[str, Any]:
    return {
        "player": row.name,
        "place": row.place,
        "cards": row.cards,
        "score": row.score,
        "moves": row.moves,
        "finished_ms": row.finished_ms,
        "down": row.down,
        "undos": row.undos,
        "outcome": row.outcome,
        "bot": row.bot,
    }


def as_table(room: Room, result: Standings) -> list[str]:
    """Give the standings as lines for people."""
    has_undos = room.settings.undo != "off"
    undos = f"  {'undos':>5}" if has_undos else ""
    lines = [
        f"Room {result.room}, {room.settings.rules}: {REASONS.get(result.reason, result.reason)}.",
        "",
        f"{'place':>5}  {'player':<16}  {'home':>4}  {'down':>4}  {'score':>5}  {'moves':>5}"
        f"{undos}  outcome",
    ]
    for row in result.rows:
        when = f" in {span(row.finished_ms)}" if row.finished_ms is not None else ""
        lines.append(
            f"{row.place:>5}  {row.name:<16}  {row.cards:>4}  {row.down:>4}  {row.score:>5}"
            f"  {row.moves:>5}{f'  {row.undos:>5}' if has_undos else ''}  {row.outcome}{when}"
        )
    return [*lines, "", *_proof(room, result)]


def _proof(room: Room, result: Standings) -> list[str]:
    lines = []
    if room.settings.seed is not None:
        lines.append(f"Public seed: {room.settings.seed}")
    if room.commitment:
        lines.append(f"Commitment: {room.commitment}")
    if result.reveal is not None and result.reveal.secret:
        lines.append(f"Secret:     {result.reveal.secret}")
    return [*lines, f"Journal:    {result.head}"]


def replay_text(room: str, head: str, entries: list[str]) -> bytes:
    """Give a replay file; `head` is the one the standings were published with."""
    header = {"replay": REPLAY_FORMAT, "room": room, "head": head}
    return "".join(f"{line}\n" for line in (json.dumps(header), *entries)).encode()
