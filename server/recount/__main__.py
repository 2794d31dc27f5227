"""The program: one file in, the findings out."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from server.journaling import UnknownEvent, chain
from server.recount.archive import Archive, Unreadable, read
from server.recount.journal import refold
from server.recount.races import check_races
from server.recount.tables import FILES, check_tables
from server.tournament import Tournament, views
from server.tournament import events as ev
from wire.text import tidied

UNCHECKED: Final = "NOT checked"
UNFINISHED: Final = 3  # the exit code for what is sound and goes on
PLACES: Final = 16  # of the last stage's standings that are printed


def recount(archive: Archive, published: str = "") -> tuple[list[str], list[str], Tournament]:
    """Check an archive; gives what was found right, what wrong, and the tournament.

    `published` is the head of the hash chain, in hex, as the server shows it.

    Raises:
        Unreadable: an entry is none of this format.
    """
    try:
        events = [ev.decode(payload) for _, payload in archive.entries]
    except UnknownEvent as error:
        raise Unreadable(str(error)) from None
    found = refold(archive.entries, events)
    t = found.t
    if found.faults:
        return [], found.faults, t
    right = [
        f"{len(events)} entries in order: {found.paired} rounds paired again with the same "
        f"outcome, {found.acts} acts of people allowed"
    ]
    wrong = []
    if (t.code, t.head.hex()) != (archive.header.code, archive.header.head):
        wrong.append(f"the hash chain of {t.code} ends in {t.head.hex()}, not as the header says")
    else:
        right.append(f"hash chain ends in {archive.header.head}")
    if published:
        (right if published == t.head.hex() else wrong).append(_compared(archive, published))
    races = check_races(found, archive.replays)
    if races.checked:
        right.append(f"{races.checked} races replayed, every move legal, with the same results")
    if races.spare:
        right.append(f"{races.spare} more replayed, of what was discarded before a result")
    checked, faults = check_tables(t, archive.entries, archive.tables)
    if checked:
        right.append(f"{_listed(checked, len(checked))} follow from the journal")
    if races.missing:
        right.append(f"{UNCHECKED} for want of a replay: {_listed(races.missing)}")
    if strange := sorted(archive.tables.keys() - FILES):
        right.append(f"{UNCHECKED}, being no part of an export: {_listed(strange)}")
    return right, [*wrong, *races.faults, *faults], t


def _compared(archive: Archive, published: str) -> str:
    """Say where in the journal the head is that was published."""
    head = bytes(32)
    for number, (at, payload) in enumerate(archive.entries, 1):
        head = chain((b"%d %s" % (at, payload),), head)
        if head.hex() == published:
            after = len(archive.entries) - number
            if not after:
                return "that is the head that was published"
            return (
                f"the head that was published is that of entry {number}: the {after} after it "
                "are newer, or made up; compare with the head that is published now"
            )
    return "the head that was published is not in this journal: it is another one"


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def main(path: str, published: str = "") -> int:
    """Check one file and print the findings; gives the exit code.

    It is 0 for a sound record, 3 for one that is sound and ends before its tournament does,
    1 for a wrong one, and 2 for a file that cannot be read.
    """
    shown = tidied(path)
    try:
        right, wrong, t = recount(read(Path(path)), published)
    except (OSError, Unreadable) as error:
        said = error.strerror if isinstance(error, OSError) else error
        print(f"{shown}: {tidied(str(said))}", file=sys.stderr)
        return 2
    for line in right:
        text = tidied(line)
        print(text if line.startswith(UNCHECKED) else f"ok    {text}")
    for line in wrong:
        print(f"WRONG {tidied(line)}")
    if t.stages and not wrong:
        for table in views.standings(t, t.stage.number):
            for row in table.lines[:PLACES]:
                print(f"{row.place or '-':>4}  {tidied(row.name)}")
    if not published and not wrong:
        print(f"To know that it is the published record, compare its head: {t.head.hex()}")
    if wrong:
        print(f"{shown}: the record is wrong")
        return 1
    if not t.is_over:
        print(f"{shown}: the record is sound so far; the tournament is not finished in it")
        return UNFINISHED
    print(f"{shown}: the record is sound")
    return 0


def _head(text: str) -> str:
    head = text.strip().lower()
    if not re.fullmatch("[0-9a-f]{64}", head):
        raise argparse.ArgumentTypeError("a head is 64 hexadecimal digits")
    return head


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m server.recount", description=__doc__)
    parser.add_argument("file", help="what `klondike tournament export` wrote")
    parser.add_argument("--head", type=_head, help="the journal's head as the server shows it")
    return parser.parse_args()


if __name__ == "__main__":
    options = _options()
    sys.exit(main(options.file, options.head or ""))
