"""A finished race, re-checked from its file by `python -m server.verify`."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from server import events as ev
from server.rules.deal import commitment
from tests.server.journal import SECRET, Told
from wire.messages import Settings


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


def swap(told: Told, find: Callable[[ev.AnyEvent], ev.AnyEvent | None]) -> Told:
    """Forge one event and make the hash chain fit again, as a cheating host would."""
    forged = Told.__new__(Told)
    forged.lines, done = [], False
    for at, payload in told.lines:
        event = None if done else find(ev.decode(payload))
        done = done or event is not None
        forged.lines.append((at, ev.encode(event) if event is not None else payload))
    assert done
    forged.race = told.race
    sealed = [b"%d %s" % line for line in forged.lines]
    told.race.seal = ev.chain(sealed)
    return forged


FORGERIES: dict[str, Callable[[ev.AnyEvent], ev.AnyEvent | None]] = {
    "an illegal move": lambda event: (
        replace(event, m="9>f") if isinstance(event, ev.Played) else None
    ),
    "a play left out": lambda event: (
        replace(event, n=event.n + 1) if isinstance(event, ev.Played) else None
    ),
    "a play of somebody without a seat": lambda event: (
        replace(event, p="eve") if isinstance(event, ev.Played) else None
    ),
    "another secret": lambda event: (
        replace(event, secret="00" * 32) if isinstance(event, ev.Revealed) else None
    ),
    "another commitment": lambda event: (
        replace(event, commitment="00" * 32) if isinstance(event, ev.Opened) else None
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_record_is_found_out_even_with_a_chain_that_fits(
    tmp_path: Path, forgery: str
) -> None:
    done = verify(tmp_path, text_of(swap(finished(), FORGERIES[forgery])))
    assert done.returncode == 1, done.stdout
    assert "WRONG" in done.stdout


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
    "text", ["", "hello", '{"replay": 99, "room": "A", "head": ""}\n1 x', "\0"]
)
def test_a_file_that_is_no_replay_is_unreadable_not_wrong(tmp_path: Path, text: str) -> None:
    done = verify(tmp_path, text)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(str(tmp_path))
