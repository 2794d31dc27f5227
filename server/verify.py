"""Re-checks a finished race from its replay file, trusting nothing in it.

`python -m server.verify FILE` prints what was checked and the standings; it exits with 0
for a sound record, 1 for one that breaks a promise, 2 for a file that cannot be read.
"""

import argparse
import hmac
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from server import events as ev
from server.auditor import Auditor
from server.race import Race
from server.rules.deal import SECRET_BYTES, commitment
from server.standings import standings
from wire.text import tidied
from wire.values import Standing

# One form only: the hash chain is over the time as it is written.
_INSTANT = re.compile(r"0|[1-9][0-9]{0,15}")


class Unreadable(Exception):
    """The file is no replay file; the text says what is wrong with it."""


class Header(msgspec.Struct):
    """The first line of a replay file."""

    replay: int
    room: str
    head: str


@dataclass(slots=True)
class Verdict:
    """What a check found."""

    race: Race
    checked: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    rows: list[Standing] = field(default_factory=list)


def read(text: str) -> tuple[Header, list[tuple[int, bytes]]]:
    """Read a replay file into its header and its journal entries (time, payload).

    Raises:
        Unreadable: the text has another form.
    """
    lines = text.removesuffix("\n").split("\n")
    if lines == [""]:
        raise Unreadable("the file is empty")
    try:
        header = msgspec.json.decode(lines[0], type=Header)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unreadable(f"line 1 is no replay header: {error}") from None
    if header.replay != 1:
        raise Unreadable(f"replay format {header.replay} is not known here; this reads format 1")
    entries = []
    for number, line in enumerate(lines[1:], 2):
        at, blank, payload = line.partition(" ")
        if not blank or not _INSTANT.fullmatch(at):
            raise Unreadable(f"line {number} is no journal entry")
        entries.append((int(at), payload.encode()))
    if not entries:
        raise Unreadable("the file has no journal entries")
    return header, entries


def check(header: Header, entries: Sequence[tuple[int, bytes]]) -> Verdict:
    """Replay a record and note everything that is not as it must be.

    Raises:
        Unreadable: an entry is none of this format.
    """
    try:
        events = [ev.decode(payload) for _, payload in entries]
        first = events[0]
        is_fair = not isinstance(first, ev.Opened) or first.settings.seed is None
        secret = next((_secret(event) for event in events if isinstance(event, ev.Revealed)), None)
        verdict = Verdict(Race(secret if is_fair else None))
        if is_fair and secret is None:
            verdict.faults.append("the deal's secret is not revealed: nothing can be replayed")
            return verdict
        verdict.faults.extend(_replay(verdict.race, entries, events))
    except (ev.UnknownEvent, RecursionError) as error:
        raise Unreadable(str(error)) from None
    race = verdict.race
    if not verdict.faults:
        verdict.checked.append(f"{len(entries)} entries in order, every one by the rules")
        verdict.faults.extend(_check_end(race, header))
    if not verdict.faults:
        verdict.checked.append(f"hash chain ends in {header.head}")
        verdict.faults.extend(_check_deal(race, secret))
    if not verdict.faults:
        kind = "public seed" if race.settings.seed is not None else "commitment and secret"
        verdict.checked.append(f"the deal follows from its {kind}")
    verdict.rows = standings(race) if race.phase == "over" else []
    return verdict


def _secret(event: ev.Revealed) -> bytes:
    try:
        secret = bytes.fromhex(event.secret)
    except ValueError:
        raise Unreadable("the revealed secret is not hexadecimal") from None
    if len(secret) != SECRET_BYTES:
        raise Unreadable(f"the revealed secret has {len(secret)} bytes, not {SECRET_BYTES}")
    return secret


def _replay(
    race: Race, entries: Sequence[tuple[int, bytes]], events: Sequence[ev.AnyEvent]
) -> Iterator[str]:
    auditor = Auditor(race)
    for number, ((at, payload), event) in enumerate(zip(entries, events, strict=True), 1):
        fault = auditor.take(at, payload, event)
        if fault is not None:
            yield f"entry {number}: {fault}"
            return
    if auditor.missing is not None:
        yield f"the record breaks off: {auditor.missing} must follow its last entry"


def _check_end(race: Race, header: Header) -> Iterator[str]:
    if race.phase != "over":
        yield "the race has no end"
    elif race.room != header.room:
        yield f"the header names room {header.room}, the journal {race.room}"
    elif race.seal.hex() != header.head:
        yield f"the hash chain ends in {race.seal.hex()}, the standings were published with {header.head}"


def _check_deal(race: Race, secret: bytes | None) -> Iterator[str]:
    if secret is None:
        return
    made = commitment(race.deal, secret).hex()
    if not hmac.compare_digest(made.encode(), race.commitment.encode()):
        yield "the secret does not fit the commitment published before the race"


def _unreadable(path: str, why: str) -> int:
    print(f"{tidied(path)}: {tidied(why)}", file=sys.stderr)
    return 2


def main(path: str) -> int:
    """Check one file and print the findings; gives the exit code."""
    try:
        verdict = check(*read(Path(path).read_text(encoding="utf-8")))
    except UnicodeDecodeError:
        return _unreadable(path, "it is no text in UTF-8")
    except OSError as error:
        return _unreadable(path, error.strerror or type(error).__name__)
    except Unreadable as error:
        return _unreadable(path, str(error))
    for line in verdict.checked:
        print(f"ok    {tidied(line)}")
    for line in verdict.faults:
        print(f"WRONG {tidied(line)}")
    for row in verdict.rows:
        solved = f"  solved in {row.finished_ms / 1000:.1f} s" if row.finished_ms else ""
        name = tidied(row.name)
        print(f"{row.place:3}  {name:16}  {row.cards:3} cards  {row.moves} moves{solved}")
    print(f"{tidied(path)}: {'the record is wrong' if verdict.faults else 'the record is sound'}")
    return 1 if verdict.faults else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m server.verify", description=__doc__)
    parser.add_argument("file", help="what `klondike record` wrote")
    sys.exit(main(parser.parse_args().file))
