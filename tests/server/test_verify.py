"""A finished race, re-checked from its file by `python -m server.verify`."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from server import events as ev
from server.rules import Position
from server.rules.deal import commitment
from server.rules.stuck import is_stuck
from server.verify import check, main, read
from tests.server.journal import SECRET, Told
from wire.values import Settings


def finished(settings: Settings | None = None) -> Told:
    told = Told(settings, commitment=commitment("ABCDEF-1", SECRET).hex())
    told.start("anna", "ben")
    told.play_on("anna", 40)
    told.play_on("ben", 20)
    told.tell(ev.Resigned(p="anna"))
    told.tell(ev.Resigned(p="ben"))
    told.tell(ev.Over(why="resigned"), ev.Revealed(secret=SECRET.hex()))
    return told


def text_of(told: Told) -> str:
    header = {"replay": 1, "room": "ABCDEF", "head": told.race.seal.hex()}
    lines = [f"{at} {payload.decode()}" for at, payload in told.lines]
    return "\n".join([json.dumps(header), *lines]) + "\n"


def verify(path: Path, text: str) -> subprocess.CompletedProcess[str]:
    file = path / "race.txt"
    file.write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "server.verify", str(file)], capture_output=True, text=True
    )


def test_a_sound_record_is_said_to_be_sound(tmp_path: Path) -> None:
    done = verify(tmp_path, text_of(finished()))
    assert done.returncode == 0, done.stdout
    assert "the record is sound" in done.stdout
    assert "Anna" in done.stdout


Edit = Callable[[list[tuple[int, ev.AnyEvent]]], None]


def forge(told: Told, edit: Edit) -> Told:
    """Forge the events and make the hash chain fit again, as a cheating host would."""
    entries = [(at, ev.decode(payload)) for at, payload in told.lines]
    before = list(entries)
    edit(entries)
    assert entries != before
    told.lines = [(at, ev.encode(event)) for at, event in entries]
    told.race.seal = ev.chain(b"%d %s" % line for line in told.lines)
    return told


def place(entries: list[tuple[int, ev.AnyEvent]], kind: type) -> int:
    return next(n for n, (_, event) in enumerate(entries) if isinstance(event, kind))


def change(kind: type, **fields: object) -> Edit:
    """Change the first event of a kind."""

    def edit(entries: list[tuple[int, ev.AnyEvent]]) -> None:
        n = place(entries, kind)
        entries[n] = (entries[n][0], replace(entries[n][1], **fields))

    return edit


def insert(kind: type, event: ev.AnyEvent, *, before: bool = False) -> Edit:
    """Put an event behind (or before) the first one of a kind, at the same instant."""

    def edit(entries: list[tuple[int, ev.AnyEvent]]) -> None:
        n = place(entries, kind)
        entries.insert(n if before else n + 1, (entries[n][0], event))

    return edit


def drop(kind: type) -> Edit:
    return lambda entries: entries.pop(place(entries, kind)) and None


def later(kind: type, by_ms: int) -> Edit:
    """Shift the first event of a kind and all after it."""

    def edit(entries: list[tuple[int, ev.AnyEvent]]) -> None:
        n = place(entries, kind)
        entries[n:] = [(at + by_ms, event) for at, event in entries[n:]]

    return edit


def pair() -> Told:
    """Both ready with bytes of their own, which locks the room."""
    told = Told(commitment=commitment("ABCDEF-1", SECRET).hex())
    told.seat("anna", "ben")
    told.tell(ev.Readied(p="anna", salt="61"))
    told.tell(ev.Readied(p="ben", salt="62"), ev.Locked(countdown_ms=5000))
    told.tell(ev.Started(), after_ms=5000)
    told.play("anna", "d")
    told.tell(ev.Resigned(p="anna"))
    told.tell(ev.Resigned(p="ben"))
    told.tell(ev.Over(why="resigned"), ev.Revealed(secret=SECRET.hex()))
    told.tell(ev.Followed(room="GHJKLM"))
    return told


def timed() -> Told:
    """Nobody gives up, and the time runs out."""
    told = Told(Settings(time_limit_s=60), commitment=commitment("ABCDEF-1", SECRET).hex())
    told.start("anna", "ben")
    told.play("anna", "d")
    told.tell(ev.Over(why="time"), ev.Revealed(secret=SECRET.hex()), after_ms=60_000)
    return told


def stuck() -> Told:
    """One pass through the hand, and then nothing can be gained."""
    told = Told(Settings(seed="42", rules="klondike-strict"))
    told.start("anna")
    told.play_on("anna", 500)
    told.tell(ev.Over(why="stuck"))
    return told


def taken_back(policy: str) -> Told:
    settings = Settings(undo=policy, time_limit_s=60)  # type: ignore[arg-type]
    told = Told(settings, commitment=commitment("ABCDEF-1", SECRET).hex())
    told.start("anna")
    told.play("anna", "d")
    told.tell(ev.Undone(p="anna", n=2))
    told.tell(ev.Over(why="time"), ev.Revealed(secret=SECRET.hex()), after_ms=60_000)
    return told


def arranged(*, shared: bool = False) -> Told:
    """A tournament's race that its director calls off."""
    told = Told(host="", commitment=commitment("ABCDEF-1", SECRET).hex())
    opened = ev.decode(told.lines[0][1])
    assert isinstance(opened, ev.Opened)
    told = Told.of(replace(opened, tournament="T", match="m1", shared=shared))
    told.tell(ev.Joined(p="anna", name="Anna"), ev.Joined(p="ben", name="Ben"))
    told.tell(ev.Locked(countdown_ms=3000))
    told.tell(ev.Started(), after_ms=3000)
    told.tell(ev.Disqualified(p="ben", by="", why="late"))
    told.tell(ev.Over(why="aborted"))
    told.tell(ev.Revealed(secret=SECRET.hex()), after_ms=1000 if shared else 0)
    return told


def shared() -> Told:
    return arranged(shared=True)


def left() -> Told:
    """Seats change before the lock: one goes, one is kicked, the host's role passes on."""
    told = Told(Settings(seats=3, time_limit_s=60), commitment=commitment("ABCDEF-1", SECRET).hex())
    told.seat("anna", "ben", "cleo")
    told.tell(ev.Left(p="ben", why="kicked"))
    told.tell(ev.Left(p="anna", why="left"), ev.Hosted(p="cleo"))
    told.tell(ev.Locked(countdown_ms=5000))
    told.tell(ev.Started(), after_ms=5000)
    told.tell(ev.Over(why="time"), ev.Revealed(secret=SECRET.hex()), after_ms=60_000)
    return told


def put_out() -> Told:
    """The host, who has given up, puts the other one out, and nobody races on."""
    told = Told(commitment=commitment("ABCDEF-1", SECRET).hex())
    told.start("anna", "ben")
    told.play_on("ben", 20)
    told.tell(ev.Resigned(p="anna"))
    told.tell(ev.Disqualified(p="ben", by="anna", why="two screens"))
    told.tell(ev.Over(why="resigned"), ev.Revealed(secret=SECRET.hex()))
    return told


def safely() -> Told:
    return taken_back("free")


SOUND = [finished, pair, timed, stuck, safely, arranged, shared, left, put_out]


@pytest.mark.parametrize("made", SOUND)
def test_what_the_race_machine_brings_about_is_sound(made: Callable[[], Told]) -> None:
    verdict = check(*read(text_of(made())))
    assert verdict.faults == []


ABORTED = change(ev.Over, why="aborted")
SAFE = Settings(undo="safe", time_limit_s=60)

FORGERIES: dict[str, tuple[Callable[[], Told], Edit]] = {
    "an illegal move": (finished, change(ev.Played, m="9>f")),
    "a play left out": (finished, change(ev.Played, n=2)),
    "a play of somebody without a seat": (finished, change(ev.Played, p="eve")),
    "another secret": (finished, change(ev.Revealed, secret="00" * 32)),
    "another commitment": (finished, change(ev.Opened, commitment="00" * 32)),
    "called stuck while there is more to gain": (timed, change(ev.Over, why="stuck")),
    "called time before the time is up": (stuck, change(ev.Over, why="time")),
    "called finished while nobody has solved": (finished, change(ev.Over, why="finished")),
    "called resigned while one still plays": (timed, change(ev.Over, why="resigned")),
    "called over for no reason known": (timed, change(ev.Over, why="because")),
    "called off while it runs": (timed, ABORTED),
    "called off while the room is open": (
        timed,
        insert(ev.Locked, ev.Over(why="aborted"), before=True),
    ),
    "called over while it waits for the start": (timed, insert(ev.Locked, ev.Over(why="time"))),
    "new bytes for the deal after the lock": (
        pair,
        insert(ev.Locked, ev.Readied(p="anna", salt="63")),
    ),
    "other bytes for the deal, once all are ready": (
        pair,
        insert(ev.Locked, ev.Readied(p="anna", salt="63"), before=True),
    ),
    "more bytes for the deal than there may be": (pair, change(ev.Readied, salt="61" * 65)),
    "bytes of somebody without a seat": (pair, change(ev.Readied, p="eve")),
    "a seat taken after the lock": (pair, insert(ev.Locked, ev.Joined(p="eve", name="Eve"))),
    "a seat taken twice": (pair, insert(ev.Joined, ev.Joined(p="anna", name="Anne"))),
    "a seat too many": (
        left,
        change(ev.Opened, settings=Settings(seats=2, time_limit_s=60)),
    ),
    "a name twice": (left, insert(ev.Joined, ev.Joined(p="eve", name="Anna"))),
    "a seat given up after the lock": (pair, insert(ev.Locked, ev.Left(p="ben", why="left"))),
    "a seat given up for no reason known": (left, change(ev.Left, why="vanished")),
    "a host who kicks the host": (left, change(ev.Left, p="anna")),
    "a host out of nowhere": (left, insert(ev.Joined, ev.Hosted(p="ben"))),
    "a host's role that goes to another": (left, change(ev.Hosted, p="anna")),
    "a host's role that does not pass on": (left, drop(ev.Hosted)),
    "not ready without having been": (pair, insert(ev.Joined, ev.Unreadied(p="anna"))),
    "ready after all, and no lock": (pair, drop(ev.Locked)),
    "a lock in an empty room": (timed, insert(ev.Opened, ev.Locked(countdown_ms=5000))),
    "a second lock": (timed, insert(ev.Locked, ev.Locked(countdown_ms=5000))),
    "a countdown that is not the room's": (timed, change(ev.Locked, countdown_ms=1)),
    "a start before its time": (pair, later(ev.Started, -1)),
    "a second start": (pair, insert(ev.Started, ev.Started())),
    "a play before the start": (
        pair,
        insert(ev.Started, ev.Played(p="anna", n=1, m="d"), before=True),
    ),
    "a play after the time": (timed, later(ev.Played, 60_000)),
    "a play after the end": (pair, insert(ev.Revealed, ev.Played(p="anna", n=2, m="d"))),
    "a play of one who is done": (pair, insert(ev.Resigned, ev.Played(p="anna", n=2, m="d"))),
    "giving up twice": (pair, insert(ev.Resigned, ev.Resigned(p="anna"))),
    "giving up before the lock": (pair, insert(ev.Joined, ev.Resigned(p="anna"))),
    "a move taken back that showed cards": (safely, change(ev.Opened, settings=SAFE)),
    "a move taken back where none may be": (
        safely,
        change(ev.Opened, settings=Settings(time_limit_s=60)),
    ),
    "no move to take back": (safely, insert(ev.Started, ev.Undone(p="anna", n=1))),
    "put out by nobody's office": (
        pair,
        insert(ev.Played, ev.Disqualified(p="ben", by="", why="")),
    ),
    "put out by somebody who is not the host": (put_out, change(ev.Disqualified, by="ben")),
    "put out by a player of a match": (arranged, change(ev.Disqualified, by="anna")),
    "a host who puts the host out": (
        put_out,
        insert(ev.Started, ev.Disqualified(p="anna", by="anna", why="x")),
    ),
    "put out before the start": (
        put_out,
        insert(ev.Started, ev.Disqualified(p="ben", by="anna", why="x"), before=True),
    ),
    "a play of one who was put out": (
        put_out,
        insert(ev.Disqualified, ev.Played(p="ben", n=21, m="d")),
    ),
    "put out twice": (arranged, insert(ev.Disqualified, ev.Disqualified(p="ben", by="", why=""))),
    "a seat taken late in a tournament": (
        arranged,
        insert(ev.Locked, ev.Joined(p="eve", name="Eve")),
    ),
    "bytes for the deal in a tournament": (
        arranged,
        insert(ev.Joined, ev.Readied(p="anna", salt="61")),
    ),
    "a rematch in a tournament": (arranged, insert(ev.Revealed, ev.Followed(room="GHJKLM"))),
    "an early reveal": (pair, insert(ev.Played, ev.Revealed(secret=SECRET.hex()))),
    "a second reveal": (pair, insert(ev.Revealed, ev.Revealed(secret=SECRET.hex()))),
    "a late reveal": (timed, later(ev.Revealed, 1)),
    "a secret in other letters": (timed, change(ev.Revealed, secret=SECRET.hex().upper())),
    "a reveal of a shared deal before the end": (
        shared,
        insert(ev.Started, ev.Revealed(secret=SECRET.hex())),
    ),
    "a reveal of a public seed": (stuck, insert(ev.Over, ev.Revealed(secret=SECRET.hex()))),
    "a second end": (pair, insert(ev.Revealed, ev.Over(why="resigned"))),
    "followed before the end": (pair, insert(ev.Played, ev.Followed(room="GHJKLM"))),
    "followed twice": (pair, insert(ev.Followed, ev.Followed(room="NPQRST"))),
    "opened twice": (pair, lambda entries: entries.insert(1, entries[0])),
    "time that runs back": (pair, later(ev.Resigned, -5000)),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_record_is_found_out_even_with_a_chain_that_fits(
    tmp_path: Path, forgery: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made, edit = FORGERIES[forgery]
    file = tmp_path / "race.txt"
    file.write_text(text_of(forge(made(), edit)))
    assert main(str(file)) == 1
    assert "WRONG" in capsys.readouterr().out


def test_a_forged_record_ends_the_command_with_1(tmp_path: Path) -> None:
    assert verify(tmp_path, text_of(forge(timed(), ABORTED))).returncode == 1


def test_who_was_stuck_before_a_card_came_back_from_a_foundation_stays_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = "klondike-strict,foundation_return=yes"
    lost = Position.parse(f"{rules} 1 - - 2C/-/-/- 9s3H/-/-/-/-/-/-")
    monkeypatch.setattr("server.race.layout", lambda rules, key: lost)
    told = Told(Settings(seed="42", rules=rules))
    told.start("anna")
    (back,) = (move for move in lost.legal_moves() if move.text().startswith("f"))
    told.play("anna", back.text())
    assert is_stuck(lost)
    assert not is_stuck(lost.play(back))
    told.tell(ev.Over(why="stuck"))
    assert check(*read(text_of(told))).faults == []


def test_what_a_record_says_moves_no_cursor(tmp_path: Path) -> None:
    text = text_of(finished()).replace('"name":"Anna"', '"name":"A\\u001b[2Jnna"')
    wrong = verify(tmp_path, text.replace('"p":"ben","name"', '"p":"b\\u001b[2J","name"'))
    assert wrong.returncode == 1
    unreadable = verify(tmp_path, '{"replay":1,"room":"A","head":"","\x1b[2J":1}\n1 {}\n')
    missing = subprocess.run(
        [sys.executable, "-m", "server.verify", str(tmp_path / "\x1b[2J")],
        capture_output=True,
        text=True,
    )
    for done in (wrong, unreadable, missing):
        assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("secret", ["zz" * 32, "00", "", "00" * 33])
def test_a_secret_that_is_none_is_unreadable(tmp_path: Path, secret: str) -> None:
    done = verify(tmp_path, text_of(forge(finished(), change(ev.Revealed, secret=secret))))
    assert done.returncode == 2
    assert "secret" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_record_that_was_touched_does_not_fit_its_hash_chain(tmp_path: Path) -> None:
    text = text_of(finished()).replace('"name":"Anna"', '"name":"Anne"')
    done = verify(tmp_path, text)
    assert done.returncode == 1
    assert "hash chain" in done.stdout


def test_a_record_cut_short_is_found_out(tmp_path: Path) -> None:
    lines = text_of(finished()).splitlines()
    assert verify(tmp_path, "\n".join(lines[:-2])).returncode == 1
    public = text_of(finished(Settings(seed="42"))).splitlines()
    assert verify(tmp_path, "\n".join(public[:-2])).returncode == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        '{"replay": 99, "room": "A", "head": ""}\n1 x',
        "\0",
        '{"replay": 1, "room": "A", "head": ""}\n' + "9" * 5000 + " {}",
        '{"replay": 1, "room": "A", "head": ""}\n1 {"e":"over","x":' + "[" * 100_000,
        '{"replay": 1, "room": "A", "head": ""}\n1 '
        '{"e":"opened","format":99,"room":"A","deal":"A","settings":{"seed":"1"},'
        '"commitment":"","host":""}',
    ],
    ids=range(7),
)
def test_a_file_that_is_no_replay_is_unreadable_not_wrong(tmp_path: Path, text: str) -> None:
    done = verify(tmp_path, text)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(str(tmp_path))


def test_a_file_that_cannot_be_read_is_named_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "latin").write_bytes(b'{"replay": 1, "room": "\xe4"}')
    for name, why in (("none", "No such file or directory"), ("latin", "it is no text in UTF-8")):
        assert main(str(tmp_path / name)) == 2
        assert capsys.readouterr().err == f"{tmp_path / name}: {why}\n"


def test_its_usage_is_told() -> None:
    program = [sys.executable, "-m", "server.verify"]
    asked = subprocess.run([*program, "-h"], capture_output=True, text=True)
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "python -m server.verify" in asked.stdout
    assert subprocess.run(program, capture_output=True).returncode == 2
