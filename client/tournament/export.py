"""A tournament as files: tables in CSV and JSON, the journal, and every replay.

Pure but for `archive` and `folder`, which write. The journal is the record: the tables follow
from it, and `klondike tournament verify` works them out again.
"""

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from client import filing
from client.fairness import head_of
from client.results import replay_text
from client.tournament.scene import Scene
from wire.lines import MatchLine
from wire.reading import won
from wire.tournaments import Pairings

Row = dict[str, Any]
FORMULA: Final = tuple("=+-@\t\r")  # a spreadsheet would take such a text for a formula
FORMAT: Final = 1


def tables(scene: Scene, journal: Sequence[str]) -> dict[str, list[Row]]:
    """Give all tables by name; the scene has every round and stage."""
    return {
        "players": players(scene),
        "pairings": pairings(scene),
        "results": results(scene),
        "standings": standings(scene),
        "audit": audit(journal),
    }


def players(scene: Scene) -> list[Row]:
    """Give who took part, in the order of the seeds."""
    return [
        {
            "seed": number,
            "player": each.entry,
            "name": each.name,
            "rating": each.rating,
            "bot": each.bot,
            "status": each.status,
            "played_by": each.player or each.entry,
        }
        for number, each in enumerate(scene.entrants.entrants if scene.entrants else (), 1)
    ]


def pairings(scene: Scene) -> list[Row]:
    """Give who met whom and why, a row for each player of each round."""
    return [row for _, on in sorted(scene.pairings.items()) for row in _paired(scene, on)]


def _paired(scene: Scene, on: Pairings) -> Iterable[Row]:
    common = {"stage": on.stage + 1, "round": on.round, "starts": _time(on.starts)}
    for match in on.matches:
        for entry in match.entries:
            yield {
                **common,
                "match": match.match,
                "group": match.group + 1,
                "slot": match.slot,
                "player": entry,
                "name": _name(scene, entry),
                "bye": "",
                "why": match.why,
            }
    for bye in on.byes:
        empty = {"match": "", "group": "", "slot": ""}
        name = _name(scene, bye.entry)
        yield {
            **common,
            **empty,
            "player": bye.entry,
            "name": name,
            "bye": bye.kind,
            "why": bye.why,
        }


def results(scene: Scene) -> list[Row]:
    """Give what every match came to, a row for each player of it."""
    return [
        row
        for _, on in sorted(scene.pairings.items())
        for match in on.matches
        if match.kind is not None
        for row in _came_to(scene, on, match)
    ]


def _came_to(scene: Scene, on: Pairings, match: MatchLine) -> Iterable[Row]:
    places = dict(zip(match.entries, match.places, strict=False))
    raced = [race for race in match.races if race.state == "raced"]
    for entry in match.entries:
        rows = [row for race in raced for row in race.rows if row.entry == entry]
        yield {
            "round": on.round,
            "match": match.match,
            "player": entry,
            "name": _name(scene, entry),
            "place": places.get(entry),
            "kind": match.kind,
            "reason": match.reason,
            "races": len(raced),
            "races_won": won(match, entry),
            "cards": sum(row.cards for row in rows),
            "time_ms": sum(row.time_ms for row in rows),
            "rooms": " ".join(race.room for race in raced),
        }


def standings(scene: Scene) -> list[Row]:
    """Give the standings of all stages, with the values that separate equals."""
    return [
        {
            "stage": number + 1,
            "group": group + 1,
            "place": line.place,
            "player": line.entry,
            "name": _name(scene, line.entry),
            "points": line.points,
            **dict(zip(ranking.keys, line.values, strict=False)),
            "note": line.note,
        }
        for number, ranking in sorted(scene.rankings.items())
        for group, lines in enumerate(ranking.groups)
        for line in lines
    ]


def audit(journal: Iterable[str]) -> list[Row]:
    """Give the journal as a log: when, who, what, why."""
    return [_logged(version, line) for version, line in enumerate(journal, 1)]


def _logged(version: int, line: str) -> Row:
    at, _, payload = line.partition(" ")
    fields = json.loads(payload)
    act, by, why = fields.pop("e", ""), fields.pop("by", ""), fields.pop("why", "")
    return {
        "version": version,
        "at": int(at),
        "time": _time(int(at)),
        "by": by or "rules",
        "act": act,
        "what": json.dumps(fields, ensure_ascii=False, separators=(",", ":")),
        "why": why,
    }


def _name(scene: Scene, entry: str) -> str:
    found = scene.people.get(entry)
    return found.name if found is not None else ""


def _time(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, OSError, ValueError):
        return ""


# --- forms ----------------------------------------------------------------------------


def as_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Write a table for spreadsheets, with the mark by which they know UTF-8.

    A text that would count as a formula gets an apostrophe in front.
    """
    heads = list(dict.fromkeys(name for row in rows for name in row))
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\r\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in heads])
    return made.getvalue().encode("utf-8-sig")


def _cell(value: Any) -> Any:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float() if value == int(value):
            return int(value)
        case str() if value.startswith(FORMULA):
            return f"'{value}"
        case _:
            return value


def as_json(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Write a table for programs."""
    return json.dumps(rows, ensure_ascii=False, indent=1).encode() + b"\n"


def journal_text(code: str, journal: Sequence[str]) -> bytes:
    """Write the journal with its header: code, and head of the hash chain."""
    header = {"tournament": FORMAT, "code": code, "head": chain(journal)}
    return "".join(f"{line}\n" for line in (json.dumps(header), *journal)).encode()


def chain(lines: Iterable[str]) -> str:
    """Give the head of the hash chain over a journal: SHA-256(head || line), from 32 zeros."""
    head = bytes(32)
    for line in lines:
        head = hashlib.sha256(head + line.encode()).digest()
    return head.hex()


def rooms(journal: Iterable[str]) -> list[str]:
    """Give every room that a journal called players to, in its order."""
    payloads = (json.loads(line.partition(" ")[2]) for line in journal)
    return list(dict.fromkeys(room for payload in payloads for room in _rooms(payload)))


def _rooms(value: Any) -> Iterable[str]:
    match value:
        case {"room": str(room)}:
            yield room
        case dict():
            for each in value.values():
                yield from _rooms(each)
        case list():
            for each in value:
                yield from _rooms(each)


def files(
    code: str, scene: Scene, journal: Sequence[str], replays: Mapping[str, list[str]]
) -> dict[str, bytes]:
    """Give everything by file name."""
    made = {"journal.txt": journal_text(code, journal)}
    for name, rows in tables(scene, journal).items():
        made[f"{name}.csv"], made[f"{name}.json"] = as_csv(rows), as_json(rows)
    for room, entries in replays.items():
        made[f"replays/{room}.replay"] = replay_text(room, head_of(entries), entries)
    return made


def archive(content: Mapping[str, bytes], file: Path, *, force: bool = False) -> None:
    """Write files into one zip archive; errors as in `filing.write`."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in content.items():
            packed.writestr(name, data)
    filing.write(file, made.getvalue(), force=force)


def folder(content: Mapping[str, bytes], path: Path) -> None:
    """Write files into a folder; errors as in `filing.write`."""
    for name, data in content.items():
        filing.write(path / name, data, force=True, folders=True)
