"""A tournament's archive is recounted: what is sound passes, whatever was touched does not."""

import json
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from client.tournament import export as exports
from server import bulletin
from server.journaling import chain
from server.recount import archive as archives
from server.recount import tables
from server.recount.__main__ import main, recount
from server.recount.archive import Archive, Unreadable, read
from server.recount.journal import Refolded, refold
from server.recount.races import check_races
from server.store import Store, keys
from server.tournament import acts, calls, views
from server.tournament import events as ev
from server.tournament.settings import (
    Arena,
    Deals,
    Double,
    Play,
    Single,
    StageSettings,
    Swiss,
    TournamentSettings,
)
from tests.client.tournament.scenes import scene
from tests.server.fair import Organiser, bots
from tests.server.fair import settings as quick
from tests.server.floor import Someone, node
from tests.tournament.fuzz import Run
from tests.tournament.told import Told, settings
from wire import acts as a
from wire import tournaments as w

Lines = list[tuple[int, bytes]]
Write = Callable[[list[dict[str, Any]]], bytes]


def played(*plays: Play, players: int = 8, **more: object) -> Told:
    """A tournament that has been played to its end."""
    told = Told(settings(*plays, **more))  # type: ignore[arg-type]
    told.enter(players)
    told.start()
    while told.t.phase == "running":
        told.race_all()
        told.wait()
    return told


def archive(lines: Lines, code: str = "CUP", **more: Any) -> Archive:
    """What an archive of a journal holds."""
    head = chain(b"%d %s" % line for line in lines).hex()
    return Archive(archives.Header(1, code, head), lines, **more)


def wrong(lines: Lines) -> list[str]:
    """What a recount finds wrong in a journal."""
    return recount(archive(lines))[1]


# --- what is sound ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(1, 25))
def test_whatever_a_tournament_can_come_to_is_sound(seed: int) -> None:
    lines = Run(seed * 31, 20).play().told.lines
    found = refold(lines, [ev.decode(payload) for _, payload in lines])
    assert found.faults == []
    assert found.t.version == len(lines)


def test_an_arena_is_sound_whoever_was_there_when_it_was_paired() -> None:
    chance = random.Random(7)
    told = Told(settings(Arena(minutes=20)))
    names = told.enter(12)
    told.start()
    while told.t.phase == "running":
        told.here = set(chance.sample(names, 8))
        for call in calls(told.t):
            told.race(call, [[player] for player, _ in call.players])
        if not told.wait():
            break
    assert wrong(told.lines) == []


def test_who_plays_elsewhere_is_left_out_for_that_reason_and_it_is_sound() -> None:
    told = Told(settings(Single()))
    names = told.enter(4)
    told.busy = {names[1]: "OTHER"}
    told.start()
    while told.t.phase == "running":
        told.race_all()
        told.wait()
    assert wrong(told.lines) == []


def test_what_goes_on_when_the_store_is_back_is_sound_while_other_results_are_still_out() -> None:
    told = Told(settings(Single(), race_break_s=0))
    told.enter(8)
    told.start()
    told.now = told.since = told.now + 1_200_000  # all results should have come long ago
    told.tell(*acts.decide_race_void(told.t, "1.2", 1, "the store was away"))
    told.settle()
    assert ev.decode(told.lines[-1][1]) == ev.RacesCalled(
        seats=[ev.Seat(match="1.2", race=2, room="R00005", deal="CUP.1.2-2")], starts=told.now
    )
    assert wrong(told.lines) == []


def test_a_word_that_the_store_has_lost_entries_is_sound_and_any_other_of_nobody_is_not() -> None:
    told = played(Single(), players=4)
    told.tell(*acts.decide_lapse(told.t, known=told.t.version + 2, version=3, now=told.now))
    assert wrong(told.lines) == []
    told.tell(ev.Announced(text="p001 has won"))
    assert any("nobody has announced that" in text for text in wrong(told.lines))


# --- what was touched -------------------------------------------------------------------


def touch(lines: Lines, kind: type[ev.AnyEvent], change: Callable[[Any], Any]) -> Lines:
    """Change the first event of a kind that the change does change."""
    done = list(lines)
    for index, (at, payload) in enumerate(done):
        event = ev.decode(payload)
        if isinstance(event, kind):
            after = change(event)
            if after != event:
                done[index] = (at, ev.encode(after))
                return done
    raise AssertionError(f"no {kind.__name__} to change")


def swapped(event: ev.RoundCalled) -> ev.RoundCalled:
    first, second, *rest = event.bouts
    return replace(
        event,
        bouts=[
            replace(first, p=[second.p[0], first.p[1]]),
            replace(second, p=[first.p[0], second.p[1]]),
            *rest,
        ],
    )


def better(event: ev.Raced) -> ev.Raced:
    first, second = event.rows
    return replace(event, rows=[replace(first, p=second.p), replace(second, p=first.p)])


TOUCHES: list[tuple[type[ev.AnyEvent], Callable[[Any], Any], str]] = [
    (ev.RoundCalled, swapped, "something else"),
    (ev.RoundCalled, lambda e: replace(e, starts=e.starts + 3_600_000), "something else"),
    (
        ev.RoundCalled,
        lambda e: replace(e, bouts=[replace(e.bouts[0], why="because I say so"), *e.bouts[1:]]),
        "something else",
    ),
    (
        ev.RoundCalled,
        lambda e: replace(e, bouts=[replace(e.bouts[0], deal="CUP.nice"), *e.bouts[1:]]),
        "something else",
    ),
    (ev.RoundCalled, lambda e: replace(e, byes=e.byes[:-1]), "something else"),
    (ev.StageOpened, lambda e: replace(e, groups=[e.groups[0][::-1]]), "something else"),
    (ev.Raced, lambda e: replace(e, match="9.9"), "not called"),
    (ev.Raced, lambda e: replace(e, rows=[replace(e.rows[0], p="x"), e.rows[1]]), "not race"),
    (ev.StageEnded, lambda e: replace(e, why="I am tired"), "something else"),
    (ev.Finished, lambda e: replace(e, why="I am tired"), "something else"),
    (ev.Entered, lambda e: replace(e, by="p002"), "it could not be done"),
    (ev.Begun, lambda e: replace(e, by="referee"), "it could not be done"),
    (ev.Begun, lambda e: replace(e, by="p001"), "it could not be done"),
]


@pytest.mark.parametrize(("kind", "change", "words"), TOUCHES)
def test_an_entry_that_does_not_follow_is_found(
    kind: type[ev.AnyEvent], change: Callable[[Any], Any], words: str
) -> None:
    lines = touch(played(Swiss(rounds=3), players=7).lines, kind, change)
    (fault,) = wrong(lines)
    assert words in fault
    assert kind.__name__.lower() in fault


def test_a_result_that_was_turned_round_shows_in_the_next_round() -> None:
    lines = touch(played(Swiss(rounds=3)).lines, ev.Raced, better)
    assert "roundcalled" in wrong(lines)[0]


def ruled() -> Told:
    told = Told(settings(Double()))
    told.enter(8)
    told.start()
    for _ in range(2):
        told.race_all()
        told.wait()
    told.tell(
        *acts.decide_override(
            told.t, "owner", told.now, "1.1", [["p008"], ["p001"]], "typed wrong", confirm=True
        )
    )
    told.settle()
    while told.t.phase == "running":
        told.race_all()
        told.wait()
    return told


def test_a_ruling_that_discards_other_matches_than_follow_from_it_is_found() -> None:
    lines = ruled().lines
    assert wrong(lines) == []
    kept = touch(lines, ev.Overridden, lambda e: replace(e, discards=e.discards[:-1]))
    assert "overridden" in wrong(kept)[0]
    silent = touch(lines, ev.Overridden, lambda e: replace(e, why=""))
    assert "overridden" in wrong(silent)[0]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda lines: lines[1:], "begins with created"),
        (lambda lines: [lines[0], *lines], "begins with created"),
        (lambda lines: [*lines[:-1], (0, lines[-1][1])], "before the entry in front"),
        (lambda lines: [*lines[:3], *lines[4:]], "entry"),
        (lambda lines: [*lines[:3], lines[3], lines[3], *lines[4:]], "entry 5"),
        (
            lambda lines: [(lines[0][0], lines[0][1].replace(b",", b", ", 1)), *lines[1:]],
            "canonical",
        ),
        (lambda lines: [*lines, lines[-1]], "entry"),
    ],
)
def test_a_journal_with_entries_out_of_place_is_found(
    spoil: Callable[[Lines], Lines], words: str
) -> None:
    faults = wrong(spoil(played(Single()).lines))
    assert faults
    assert words in faults[0]


@pytest.mark.parametrize("end", [-1, 8])
def test_what_is_exported_before_the_end_is_sound_so_far(
    end: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cup.txt"
    lines = played(Single()).lines
    cut = archive(lines[:end])
    file.write_text(journal_text(cut), encoding="utf-8")
    assert main(str(file)) == 3
    said = capsys.readouterr().out
    assert "WRONG" not in said
    assert said.endswith("the record is sound so far; the tournament is not finished in it\n")
    cut.header.head = archive(lines).header.head  # of the whole: the end was cut off
    file.write_text(journal_text(cut), encoding="utf-8")
    assert main(str(file)) == 1


def test_a_head_that_is_not_that_of_the_journal_is_found() -> None:
    lines = played(Single()).lines
    other = archive(lines)
    other.header.head = "00" * 32
    assert "hash chain" in recount(other)[1][0]
    assert "hash chain" in recount(archive(lines, code="ELSE"))[1][0]


def test_the_published_head_says_whether_this_is_the_published_record() -> None:
    made = archive(played(Single()).lines)
    right, faults, t = recount(made, made.header.head)
    assert faults == []
    assert "that is the head that was published" in right
    assert bulletin.tournament(t, 0).head == made.header.head
    # A record that fits together in itself, of a tournament that was played otherwise.
    other = archive(played(Single(), players=7).lines)
    assert recount(other)[1] == []
    assert recount(other, made.header.head)[1] == [
        "the head that was published is not in this journal: it is another one"
    ]


def test_entries_after_the_published_head_are_not_vouched_for() -> None:
    told = played(Single())
    before = archive(told.lines).header.head
    told.tell(*acts.decide_announce(told.t, "owner", "thank you all"))
    faults = recount(archive(told.lines), before)[1]
    assert len(faults) == 1
    assert f"that of entry {len(told.lines) - 1}: the 1 after it" in faults[0]


def test_no_head_is_published_before_the_end_since_what_is_held_could_be_guessed_from_it() -> None:
    told = Told(settings(Single()))
    told.enter(4)
    told.start()
    assert bulletin.tournament(told.t, 0).head == ""
    assert bulletin.tournament(views.public(told.t), 0).head == ""
    told.tell(*acts.decide_cancel(told.t, "owner", "the hall is closed"))
    assert bulletin.tournament(told.t, 0).head == told.t.head.hex()


@pytest.mark.parametrize("name", tables.TABLES)
@pytest.mark.parametrize("write", [exports.as_json, exports.as_csv])
def test_tables_that_say_something_else_are_found(name: str, write: Write) -> None:
    told = played(Swiss(rounds=3), players=7)
    file = f"{name}.{'json' if write is exports.as_json else 'csv'}"
    rows = tables.TABLES[name](told.t, told.lines)
    right, faults, _ = recount(archive(told.lines, tables={file: write(rows)}))
    assert faults == []
    assert any(file in line for line in right)
    for column in rows[2]:
        touched = [*rows[:2], rows[2] | {column: "9"}, *rows[3:]]
        (fault,) = recount(archive(told.lines, tables={file: write(touched)}))[1]
        assert fault.startswith(f"{file}: row 3 has {column} ")
    for bad in (write(rows[1:]), b"\xff"):
        assert recount(archive(told.lines, tables={file: bad}))[1]


def test_every_column_that_is_exported_is_compared() -> None:
    shown = scene()
    separators = set(shown.rankings[0].keys)
    told = played(Swiss(rounds=3), players=7)
    for name, rows in exports.tables(shown, ['1 {"e":"opened"}']).items():
        compared = tables.TABLES[name](told.t, told.lines)[0]
        assert rows, name
        assert set(rows[0]) - separators <= set(compared)


def test_a_table_for_a_spreadsheet_may_have_names_that_look_like_formulas() -> None:
    told = Told(settings(Single()))
    for name in ("=1+2", "-x", "ann"):
        told.tell(*acts.decide_enter(told.t, name, player=name, name=name, rating=1500))
    told.tell(*acts.decide_cancel(told.t, "owner", "=rain"))
    made = {
        f"{name}.csv": exports.as_csv(rows_of(told.t, told.lines))
        for name, rows_of in tables.TABLES.items()
    }
    assert b"'=1+2" in made["players.csv"]
    assert recount(archive(told.lines, tables=made))[1] == []
    made["players.csv"] = made["players.csv"].replace(b"'=1+2", b"''=1+2")
    assert recount(archive(told.lines, tables=made))[1]


def test_files_that_are_no_part_of_an_export_are_named() -> None:
    made = archive(played(Single()).lines, tables={"prizes.csv": b"1,all"})
    assert "NOT checked, being no part of an export: prizes.csv" in recount(made)[0]


# --- files ------------------------------------------------------------------------------


def journal_text(made: Archive) -> str:
    header = {"tournament": 1, "code": made.header.code, "head": made.header.head}
    lines = [f"{at} {payload.decode()}" for at, payload in made.entries]
    return "\n".join([json.dumps(header), *lines]) + "\n"


def test_a_journal_alone_can_be_recounted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cup.txt"
    file.write_text(journal_text(archive(played(Single()).lines)), encoding="utf-8")
    assert main(str(file)) == 0
    said = capsys.readouterr().out
    assert "the record is sound" in said
    assert "NOT checked for want of a replay: R" in said
    assert "   1  p001" in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "line 1 is no header"),
        (b"hello\n", "line 1 is no header"),
        (b'{"tournament":2,"code":"X","head":""}\n', "format 2"),
        (b'{"tournament":1,"code":"X","head":""}\n', "no entries"),
        (b'{"tournament":1,"code":"X","head":""}\n5\n', "line 2"),
        (b'{"tournament":1,"code":"X","head":""}\n5 {"e":"unheard"}\n', "cannot read"),
        (b"\xff\xfe", "no text"),
        (b"PK\x05\x06" + bytes(18), "has no journal.txt"),
    ],
)
def test_a_file_that_is_no_record_is_unreadable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert main(str(file)) == 2
    assert words in capsys.readouterr().err


def test_a_file_that_is_not_there_is_unreadable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(str(tmp_path / "not\x1b[2Jhing")) == 2
    assert "hing: No such file" in (told := capsys.readouterr().err)
    assert "\x1b" not in told


def test_a_folder_is_read_like_the_archive_of_the_same_files(tmp_path: Path) -> None:
    told = played(Single())
    made = archive(told.lines)
    content = {
        "journal.txt": journal_text(made).encode(),
        "players.csv": exports.as_csv(tables.player_rows(told.t)),
        "replays/R.replay": b"no replay",
    }
    exports.archive(content, tmp_path / "cup.zip")
    exports.folder(content, tmp_path / "cup")
    assert read(tmp_path / "cup") == read(tmp_path / "cup.zip")
    with pytest.raises(Unreadable, match=r"the folder has no journal\.txt"):
        read(tmp_path)


def test_an_archive_that_would_fill_the_memory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MAX_FILE", 10_000)
    monkeypatch.setattr(archives, "MAX_FILES", 3)
    file = tmp_path / "big.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("journal.txt", b"0" * 20_000)
    with pytest.raises(Unreadable, match="larger than"):
        read(file)
    with zipfile.ZipFile(file, "w") as packed:
        for number in range(4):
            packed.writestr(f"{number}", b"")
    with pytest.raises(Unreadable, match="more than 3 files"):
        read(file)


def test_a_damaged_archive_is_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "cup.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("journal.txt", journal_text(archive(played(Single()).lines)))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(Unreadable):
        read(file)


# --- races ------------------------------------------------------------------------------


async def raced(store_url: str, chosen: TournamentSettings) -> Archive:
    """A tournament that bots have played on a real node, with all its replays."""
    async with node(store_url) as made, bots([made.port], 4) as players:
        boss = await Someone.arrive(made.port, "boss")
        organiser = await Organiser.open(boss, chosen)
        for each in players:
            await each.line.say(w.Enter(tournament=organiser.code))
            await each.line.hear(w.Place)
        await boss.say(w.Visit(tournament=organiser.code))
        await organiser.direct(a.Begin())
        await organiser.over()
        await boss.go()
    store = await Store.open(store_url)
    try:
        entries = await store.journals.read(keys.tournament(organiser.code))
        found = archive([(entry.at, entry.payload) for entry in entries], organiser.code)
        for room in rooms(found.entries):
            found.replays[room] = replay(room, await store.journals.read(keys.room(room)))
    finally:
        await store.close()
    return found


def rooms(lines: Lines) -> list[str]:
    found = []
    for _, payload in lines:
        event = ev.decode(payload)
        if isinstance(event, ev.RoundCalled):
            found += [bout.room for bout in event.bouts if bout.room]
        elif isinstance(event, ev.RacesCalled):
            found += [seat.room for seat in event.seats]
    return found


def replay(room: str, entries: Sequence[Any]) -> str:
    lines = [entry.line() for entry in entries]
    ends = (b'{"e":"over"', b'{"e":"revealed"')
    last = max(at for at, line in enumerate(lines) if any(end in line for end in ends))
    header = {"replay": 1, "room": room, "head": chain(lines[: last + 1]).hex()}
    return "\n".join([json.dumps(header), *(line.decode() for line in lines)]) + "\n"


FAIR = quick(
    Single(),
    stages=[StageSettings(play=Single(third_place=True))],
    deals=Deals(source="fair"),
)


@pytest.mark.parametrize("chosen", [quick(Single()), FAIR], ids=["public deals", "secret deals"])
async def test_a_tournament_that_was_raced_is_sound_and_its_races_cannot_be_touched(
    store_url: str, chosen: TournamentSettings, tmp_path: Path
) -> None:
    made = await raced(store_url, chosen)
    right, faults, t = recount(made)
    assert faults == []
    count = sum(race.state == "raced" for match in t.matches.values() for race in match.races)
    assert any(line.startswith(f"{count} races replayed") for line in right)
    assert not any("NOT checked" in line for line in right)
    first, second, *_ = made.replays
    exchanged = {**made.replays, first: made.replays[second]}
    assert "it is of room" in recount(replace_replays(made, exchanged))[1][0]
    strange = {**made.replays, "STRANGE": made.replays[first]}
    assert "replays/STRANGE.replay, a race without" in recount(replace_replays(made, strange))[1][0]
    # As if all of them had been discarded before a result came in.
    assert check_races(Refolded(t=t), made.replays).spare == count
    less = {room: text for room, text in made.replays.items() if room != first}
    assert any(
        f"NOT checked for want of a replay: {first}" in line
        for line in recount(replace_replays(made, less))[0]
    )
    broken = {
        **made.replays,
        first: re.sub('"m":"[^"]+"', '"m":"w>9:3"', made.replays[first], count=1),
    }
    assert first in recount(replace_replays(made, broken))[1][0]
    turned = touch(
        made.entries,
        ev.Raced,
        lambda e: replace(e, rows=[replace(row, cards=row.cards + 1) for row in e.rows]),
    )
    forged = archive(turned, made.header.code, replays=made.replays)
    assert any("the journal has other results" in fault for fault in recount(forged)[1])


def replace_replays(made: Archive, replays: dict[str, str]) -> Archive:
    return Archive(made.header, made.entries, replays, made.tables)


def test_it_is_a_program_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "cup.txt"
    file.write_text(journal_text(archive(played(Single()).lines)), encoding="utf-8")
    program = [sys.executable, "-m", "server.recount"]
    assert subprocess.run([*program, str(file)], capture_output=True).returncode == 0
    head = archive(played(Single()).lines).header.head
    for published, code in ((head, 0), ("00" * 32, 1), ("no head", 2)):
        told = subprocess.run([*program, str(file), "--head", published], capture_output=True)
        assert told.returncode == code
    usage = subprocess.run(program, capture_output=True)
    assert usage.returncode == 2
    assert b"usage" in usage.stderr
