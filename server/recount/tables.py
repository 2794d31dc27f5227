"""Whether the tables in an archive say what follows from its journal."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from server.tournament import Tournament, views

Row = dict[str, Any]


def standings_rows(t: Tournament) -> list[Row]:
    """Give the lines of all stages' standings, as an archive has them."""
    return [
        {
            "stage": table.stage + 1,
            "group": table.group + 1,
            "place": line.place,
            "player": line.entry,
            "points": line.points / 2,
            **dict(zip(table.columns, line.values, strict=False)),
        }
        for stage in range(len(t.stages))
        for table in views.standings(t, stage)
        for line in table.lines
    ]


def result_rows(t: Tournament) -> list[Row]:
    """Give who came in which place in each match, as an archive has it."""
    return [
        {
            "round": match.round,
            "match": match.id,
            "player": entry,
            "place": match.result.place(entry),
            "kind": match.result.kind,
        }
        for match in t.matches.values()
        if match.result is not None and not match.discarded
        for entry in match.entries
    ]


# Of these tables, what is compared; an archive may say more in each row.
TABLES: Final[Mapping[str, Callable[[Tournament], list[Row]]]] = {
    "standings": standings_rows,
    "results": result_rows,
}


def check_tables(t: Tournament, files: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """Compare the tables of an archive; gives what was checked, and what is wrong."""
    checked: list[str] = []
    faults: list[str] = []
    for name, rows_of in TABLES.items():
        for ending, read in (("json", _json), ("csv", _csv)):
            file = f"{name}.{ending}"
            if file in files:
                fault = _fault_of(read(files[file]), rows_of(t), written=ending == "csv")
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
    if isinstance(value, int | float):
        try:
            return float(said) == value
        except (TypeError, ValueError):
            return False
    return bool(said == value)
