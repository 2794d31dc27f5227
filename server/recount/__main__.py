"""The program: one file in, the findings out."""

import sys
from pathlib import Path

from server.journaling import UnknownEvent
from server.recount.archive import Archive, Unreadable, read
from server.recount.journal import refold
from server.recount.races import check_races
from server.recount.tables import check_tables
from server.tournament import Tournament, views
from server.tournament import events as ev

PLACES = 16  # of the last stage's standings that are printed


def recount(archive: Archive) -> tuple[list[str], list[str], Tournament]:
    """Check an archive; gives what was found right, what wrong, and the tournament.

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
    if t.phase not in ("finished", "cancelled"):
        wrong.append("the tournament has no end")
    if (t.code, t.head.hex()) != (archive.header.code, archive.header.head):
        wrong.append(f"the hash chain of {t.code} ends in {t.head.hex()}, not as the header says")
    else:
        right.append(f"hash chain ends in {archive.header.head}")
    races = check_races(found, archive.replays)
    if races.checked:
        right.append(f"{races.checked} races replayed, every move legal, with the same results")
    checked, faults = check_tables(t, archive.tables)
    if checked:
        right.append(f"{', '.join(checked)} follow from the journal")
    if races.missing:
        right.append(f"NOT checked for want of a replay: {_listed(races.missing)}")
    return right, [*wrong, *races.faults, *faults], t


def _listed(rooms: list[str]) -> str:
    more = f" and {len(rooms) - 5} more" if len(rooms) > 5 else ""
    return f"{', '.join(rooms[:5])}{more}"


def main(path: str) -> int:
    """Check one file and print the findings; gives the exit code."""
    try:
        right, wrong, t = recount(read(Path(path)))
    except (OSError, Unreadable) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    for line in right:
        print(f"ok    {line}")
    for line in wrong:
        print(f"WRONG {line}")
    if t.stages and not wrong:
        for table in views.standings(t, t.stage.number):
            for row in table.lines[:PLACES]:
                print(f"{row.place or '-':>4}  {row.name}")
    print(f"{path}: {'the record is wrong' if wrong else 'the record is sound'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python -m server.recount FILE", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1]))
