"""Whether the tables in an archive say what follows from its journal."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from server.tournament import Tournament, beginning, views
from server.tournament.records import Match, Race, Result, Round

Row = dict[str, Any]
Entries = Sequence[tuple[int, bytes]]  # official time and event


def player_rows(t: Tournament) -> list[Row]:
    """Give who took part, in the order of the seeds, as an archive has them."""
    entries = (t.entries[entry] for entry in beginning.seeds(t))
    return [
        {
            "seed": number,
            "player": entry.id,
            "name": entry.name,
            "rating": entry.rating,
            "bot": entry.bot,
            "status": entry.status,
            "played_by": entry.player,
        }
        for number, entry in enumerate(entries, 1)
    ]


def pairing_rows(t: Tournament) -> list[Row]:
    """Give who met whom and why, as an archive has it."""
    return [row for on in t.rounds for row in _paired(t, on)]


def _paired(t: Tournament, on: Round) -> Iterator[Row]:
    common = {"stage": on.stage + 1, "round": on.number, "starts": _time(on.starts)}
    for match in (t.matches[each] for each in on.matches):
        for entry in match.entries if not match.discarded else ():
            yield common | {
                "match": match.id,
                "group": match.group + 1,
                "slot": match.slot,
                "player": entry,
                "name": t.entries[entry].name,
                "bye": "",
                "why": match.why,
            }
    for bye in on.byes:
        yield common | {
            "match": "",
            "group": "",
            "slot": "",
            "player": bye.p,
            "name": t.entries[bye.p].name,
            "bye": bye.kind,
            "why": bye.why,
        }


def result_rows(t: Tournament) -> list[Row]:
    """Give what every match came to, as an archive has it."""
    return [
        row
        for match in t.matches.values()
        if match.result is not None and not match.discarded
        for row in _came_to(t, match, match.result)
    ]


def _came_to(t: Tournament, match: Match, result: Result) -> Iterator[Row]:
    for entry in match.entries:
        rows = [row for race in match.raced for row in race.rows if row.p == entry]
        yield {
            "round": match.round,
            "match": match.id,
            "player": entry,
            "name": t.entries[entry].name,
            "place": result.place(entry),
            "kind": result.kind,
            "reason": result.why,
            "races": len(match.raced),
            "races_won": sum(_share(race, entry) for race in match.raced),
            "cards": sum(row.cards for row in rows),
            "time_ms": sum(row.time_ms for row in rows),
            "rooms": " ".join(race.room for race in match.raced),
        }


def _share(race: Race, entry: str) -> float:
    """Give what a race is worth to somebody: one for the first place, half if it is shared."""
    first = [row.p for row in race.rows if row.place == 1]
    return 0 if entry not in first else 1 if len(first) == 1 else 0.5


def standings_rows(t: Tournament) -> list[Row]:
    """Give the lines of all stages' standings, as an archive has them."""
    return [
        {
            "stage": table.stage + 1,
            "group": table.group + 1,
            "place": line.place,
            "player": line.entry,
            "name": line.name,
            "points": line.points / 2,
            **dict(zip(table.columns, line.values, strict=False)),
            "note": line.note,
        }
        for stage in range(len(t.stages))
        for table in views.standings(t, stage)
        for line in table.lines
    ]


def audit_rows(entries: Entries) -> list[Row]:
    """Give the journal as a log, as an archive has it."""
    return [
        {
            "version": line.version,
            "at": line.at,
            "time": _time(line.at),
            "by": line.by,
            "act": line.act,
            "what": line.what,
            "why": line.why,
        }
        for line in views.audit(entries)
    ]


def _time(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, OSError, ValueError):
        return ""


# Of these tables, what is compared; an archive may say more in each row.
TABLES: Final[Mapping[str, Callable[[Tournament, Entries], list[Row]]]] = {
    "players": lambda t, entries: player_rows(t),
    "pairings": lambda t, entries: pairing_rows(t),
    "results": lambda t, entries: result_rows(t),
    "standings": lambda t, entries: standings_rows(t),
    "audit": lambda t, entries: audit_rows(entries),
}
FILES: Final = frozenset(f"{name}.{ending}" for name in TABLES for ending in ("json", "csv"))


def check_tables(
    t: Tournament, entries: Entries, files: Mapping[str, bytes]
) -> tuple[list[str], list[str]]:
    """Compare the tables of an archive; gives what was checked, and what is wrong."""
    checked: list[str] = []
    faults: list[str] = []
    for name, rows_of in TABLES.items():
        for ending, read in (("json", _json), ("csv", _csv)):
            file = f"{name}.{ending}"
            if file in files:
                wanted = rows_of(t, entries)
                fault = _fault_of(read(files[file]), wanted, written=ending == "csv")
                (checked if fault is None else faults).append(
                    file if fault is None else f"{file}: {fault}"
                )
    return checked, faults


def _json(data: bytes) -> list[Row] | str:
    try:
        rows: list[Row] = msgspec.json.decode(data, type=list[Row])
        return rows
    except msgspec.MsgspecError as error:
        return str(error)


def _csv(data: bytes) -> list[Row] | str:
    try:
        return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        return str(error)


def _fault_of(found: list[Row] | str, wanted: Sequence[Row], *, written: bool) -> str | None:
    if isinstance(found, str):
        return found
    if len(found) != len(wanted):
        return f"it has {len(found)} rows, and {len(wanted)} follow from the journal"
    for number, (row, right) in enumerate(zip(found, wanted, strict=True), 1):
        for column, value in right.items():
            said = row.get(column)
            if not _is_same(said, value, written=written):
                return f"row {number} has {column} {said!r}, and {value!r} follows"
    return None


def _is_same(said: Any, value: Any, *, written: bool) -> bool:
    if not written:
        return bool(said == value)
    if value is None:
        return bool(said == "")
    if isinstance(value, bool):
        return bool(said == ("yes" if value else "no"))
    if isinstance(value, int | float):
        try:
            return float(said) == value
        except (TypeError, ValueError):
            return False
    # A text that a spreadsheet would take for a formula has an apostrophe in front.
    return said in (value, f"'{value}")
