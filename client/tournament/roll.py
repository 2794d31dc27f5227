"""Lists of players: read from a CSV file, and written with what each of them needs to come in."""

import csv
import io
from collections.abc import Iterable, Sequence

from wire.lines import Claim
from wire.text import tidied

NAME_LENGTH = 16
MESSAGE_BYTES = 3_000  # of names in one message
MESSAGE_NAMES = 64
HEADS = frozenset({"name", "player"})
DELIMITERS = ",;\t"  # the first where none is shown


class BadRoll(Exception):
    """The list cannot be used; the text says which line and why."""


def read(text: str) -> list[str]:
    """Give the names of a CSV text: its column `name` or `player`, or else its only one.

    Cells are parted by commas, semicolons or tabs, whichever the first line shows.

    Raises:
        BadRoll: a name is too long or stands twice, there is none, the columns do not say which
            is theirs, or this is no CSV.
    """
    rows = _rows(text.removeprefix("\ufeff"))
    column, first = _column(rows)
    names: dict[str, int] = {}
    for number, row in rows[first:]:
        name = tidied(row[column]) if column < len(row) else ""
        if not name:
            continue
        if len(name) > NAME_LENGTH:
            raise BadRoll(f"line {number}: {name!r} has more than {NAME_LENGTH} characters")
        if name in names:
            raise BadRoll(f"line {number}: {name!r} stands in line {names[name]} too")
        names[name] = number
    if not names:
        raise BadRoll("there is no name in it")
    return list(names)


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Give the rows that are not empty, each with the line that it begins in."""
    head = next(iter(text.splitlines()), "")
    delimiter = max(DELIMITERS, key=lambda sign: _has_name(head.split(sign)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    begins = 1
    try:
        for row in reader:
            if row:
                rows.append((begins, row))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise BadRoll(f"line {begins}: this is no CSV from here on ({error})") from None
    return rows


def _has_name(cells: Sequence[str]) -> bool:
    return any(cell.strip(' "').casefold() in HEADS for cell in cells)


def _column(rows: Sequence[tuple[int, Sequence[str]]]) -> tuple[int, int]:
    """Find the names' column, and the first row with one."""
    if not rows:
        return 0, 0
    line, cells = rows[0]
    heads = [cell.strip().casefold() for cell in cells]
    found = next((at for at, head in enumerate(heads) if head in HEADS), None)
    if found is not None:
        return found, 1
    if len(cells) > 1 or any(sign in cells[0] for sign in DELIMITERS[1:]):
        raise BadRoll(f"line {line}: of several columns, one has to be called name")
    return 0, 0


def messages(names: Iterable[str]) -> list[list[str]]:
    """Part names into lists that each fit one message."""
    parts: list[list[str]] = [[]]
    size = 0
    for name in names:
        length = len(name.encode()) + 2
        if size + length > MESSAGE_BYTES or len(parts[-1]) == MESSAGE_NAMES:
            parts.append([])
            size = 0
        parts[-1].append(name)
        size += length
    return [part for part in parts if part]


def claims_text(claims: Iterable[Claim], server: str) -> str:
    """Write who was made, and how each one comes in."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(["name", "player", "token", "command"])
    for claim in claims:
        writer.writerow([claim.name, claim.player, claim.token, way_in(claim, server)])
    return made.getvalue()


def way_in(claim: Claim, server: str) -> str:
    """Give the command that makes whoever says it the player of a token."""
    return f"klondike tournament --server {server} claim {claim.token}"


def tokens(text: str) -> list[tuple[str, str]]:
    """Give name and token of everybody in a file as `claims_text` writes it.

    Raises:
        BadRoll: it is another file.
    """
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    if not {"name", "token"} <= set(rows.fieldnames or ()):
        raise BadRoll("it has no columns name and token: name the file that import wrote")
    return [(row["name"], row["token"]) for row in rows if row["name"] and row["token"]]
