"""Re-checks a finished race from its replay file, trusting nothing in it.

`python -m server.verify FILE` prints what was checked and the standings; it exits with 0
for a sound record, 1 for one that breaks a promise, 2 for a file that cannot be read.
"""

import hmac
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from server import events as ev
from server.race import Race
from server.rules import Move
from server.rules.deal import commitment
from server.standings import standings
from wire.messages import Standing


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
    except msgspec.MsgspecError as error:
        raise Unreadable(f"line 1 is no replay header: {error}") from None
    if header.replay != 1:
        raise Unreadable(f"replay format {header.replay} is not known here; this reads format 1")
    entries = []
    for number, line in enumerate(lines[1:], 2):
        at, blank, payload = line.partition(" ")
        if not blank or not at.isdecimal():
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
    except ev.UnknownEvent as error:
        raise Unreadable(str(error)) from None
    revealed = next((event for event in events if isinstance(event, ev.Revealed)), None)
    race = Race(bytes.fromhex(revealed.secret) if revealed else None)
    verdict = Verdict(race)
    first = events[0]
    if isinstance(first, ev.Opened) and first.settings.seed is None and revealed is None:
        verdict.faults.append("the deal's secret is not revealed: nothing can be replayed")
        return verdict
    verdict.faults.extend(_replay(race, entries, events))
    if not verdict.faults:
        verdict.checked.append(f"{len(entries)} entries in order, every move legal")
        verdict.faults.extend(_check_end(race, header))
    if not verdict.faults:
        verdict.checked.append(f"hash chain ends in {header.head}")
        verdict.faults.extend(_check_deal(race, revealed))
    if not verdict.faults:
        kind = "public seed" if race.settings.seed is not None else "commitment and secret"
        verdict.checked.append(f"the deal follows from its {kind}")
    verdict.rows = standings(race) if race.phase == "over" else []
    return verdict


def _replay(
    race: Race, entries: Sequence[tuple[int, bytes]], events: Sequence[ev.AnyEvent]
) -> Iterator[str]:
    for number, ((at, payload), event) in enumerate(zip(entries, events, strict=True), 1):
        fault = _fault_of(race, number, at, payload, event)
        if fault is not None:
            yield f"entry {number}: {fault}"
            return
        try:
            race.apply(at, payload)
        except (KeyError, ValueError, IndexError, AttributeError) as error:
            yield f"entry {number} does not fit what came before: {error!r}"
            return


def _fault_of(race: Race, number: int, at: int, payload: bytes, event: ev.AnyEvent) -> str | None:
    if (number == 1) != isinstance(event, ev.Opened):
        return "a journal begins with opened, and has it once"
    if at < race.at:
        return "its time is before the entry in front of it"
    if ev.encode(event) != payload:
        return "its bytes are not the canonical ones"
    match event:
        case ev.Played() | ev.Undone() | ev.Resigned():
            return _fault_of_play(race, at, event)
        case ev.Started():
            if race.phase != "locked" or at < (race.starts or 0):
                return "the race started before its time"
        case ev.Over(why="time"):
            if race.ends is None or at < race.ends:
                return "the time was not up"
    return None


def _fault_of_play(race: Race, at: int, event: ev.Played | ev.Undone | ev.Resigned) -> str | None:
    racer = race.racers.get(event.p)
    if racer is None:
        return f"{event.p} has no seat"
    if racer.is_done:
        return f"{racer.name} was done already"
    if isinstance(event, ev.Resigned):
        return None
    if race.phase != "running" or (race.ends is not None and at >= race.ends):
        return "a move outside the race's time"
    if event.n != racer.n + 1:
        return f"play {event.n} of {racer.name} follows play {racer.n}"
    if isinstance(event, ev.Undone):
        return None if racer.former else f"{racer.name} had no move to take back"
    assert racer.board is not None
    try:
        legal = racer.board.is_legal(Move.parse(event.m))
    except ValueError as error:
        return str(error)
    return None if legal else f"{event.m} is no legal move of {racer.name}"


def _check_end(race: Race, header: Header) -> Iterator[str]:
    if race.phase != "over":
        yield "the race has no end"
    elif race.room != header.room:
        yield f"the header names room {header.room}, the journal {race.room}"
    elif race.seal.hex() != header.head:
        yield f"the hash chain ends in {race.seal.hex()}, the standings were published with {header.head}"


def _check_deal(race: Race, revealed: ev.Revealed | None) -> Iterator[str]:
    if race.settings.seed is not None:
        return
    assert revealed is not None
    made = commitment(race.deal, bytes.fromhex(revealed.secret)).hex()
    if not hmac.compare_digest(made, race.commitment):
        yield "the secret does not fit the commitment published before the race"


def main(path: str) -> int:
    """Check one file and print the findings; gives the exit code."""
    try:
        verdict = check(*read(Path(path).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, Unreadable) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    for line in verdict.checked:
        print(f"ok    {line}")
    for line in verdict.faults:
        print(f"WRONG {line}")
    for row in verdict.rows:
        solved = f"  solved in {row.finished_ms / 1000:.1f} s" if row.finished_ms else ""
        print(f"{row.place:3}  {row.name:16}  {row.cards:3} cards  {row.moves} moves{solved}")
    print(f"{path}: {'the record is wrong' if verdict.faults else 'the record is sound'}")
    return 1 if verdict.faults else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python -m server.verify FILE", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1]))
