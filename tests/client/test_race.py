"""`klondike race`: a server, bots and standings in one process tree, and nothing left of it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from client.cli import main
from tests.client.terminal import Terminal
from tests.processes import children, is_alive

QUICK = ["--rules", "klondike-strict", "--seed", "1"]  # one pass: over in a few seconds
LIMIT = 60.0


def klondike(*arguments: str, **how: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "client", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        **how,
    )


def told_by(*arguments: str) -> Result:
    """What a command says that needs no process of its own."""
    return CliRunner().invoke(main, arguments)


def test_without_a_terminal_bots_play_it_out_and_the_race_can_be_kept_and_verified(
    tmp_path: Path,
) -> None:
    file = tmp_path / "race.txt"
    done = klondike("race", "--bots", "2", *QUICK, "--json", "--replay", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["seed"] == "1"
    assert told["rules"].startswith("klondike-strict")
    assert {row["player"] for row in told["standings"]} == {"bot-1", "bot-2"}
    for row in told["standings"]:
        assert row.keys() >= {"player", "place", "cards", "score", "moves", "finished_ms"}
        assert row["moves"] > 5
        assert row["cards"] > 0

    verified = told_by("verify", str(file))
    assert verified.exit_code == 0, verified.output
    lines = file.read_text().split("\n")
    at = next(number for number, line in enumerate(lines) if '"e":"played"' in line)
    (tmp_path / "forged.txt").write_text("\n".join(lines[:at] + lines[at + 1 :]))
    assert told_by("verify", str(tmp_path / "forged.txt")).exit_code == 1
    assert told_by("verify", str(tmp_path / "missing.txt")).exit_code == 2

    replayed = told_by("replay", str(file), "--player", "bot-1")
    assert replayed.exit_code == 0
    assert "the race is over" in replayed.stdout
    assert "bot-2" not in replayed.stdout
    assert told_by("replay", str(tmp_path / "missing.txt")).exit_code == 2


def test_without_json_the_standings_are_a_table() -> None:
    done = klondike("race", "--bots", "1", *QUICK, env={**os.environ, "KLONDIKE_PORT": "0"})
    assert done.returncode == 0, done.stderr
    assert "Public seed: 1" in done.stdout
    assert "bot-1" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--bots", "0"], "at least one bot"),
        (["--rules", "bridge"], "bridge"),
        (["--seed", ""], "1 to 64"),
        (["--replay", "/no/such/folder/file"], "/no/such/folder/file"),
    ],
)
def test_what_makes_no_race_is_refused_in_plain_words_and_leaves_no_file(
    arguments: list[str], words: str, tmp_path: Path
) -> None:
    file = tmp_path / "race.dk"
    done = klondike("race", "--json", "--replay", str(file), *arguments)
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not file.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_race_that_is_cut_short_leaves_no_process_and_no_file(
    number: int, tmp_path: Path
) -> None:
    race = subprocess.Popen(
        [sys.executable, "-m", "client", "race", "--json", "--moves-per-second", "1"],
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    deadline = time.monotonic() + LIMIT
    started: set[int] = set()
    while len(started) < 4:  # server, store, two bots
        assert time.monotonic() < deadline
        time.sleep(0.1)
        started = children(race.pid, all_below=True)
    race.send_signal(number)
    assert race.wait(LIMIT) == 128 + number
    assert not any(is_alive(child) for child in started)
    assert list(tmp_path.iterdir()) == []


def test_a_person_races_a_bot_and_sees_the_table_after_quitting(tmp_path: Path) -> None:
    file = tmp_path / "race.txt"
    you = Terminal(
        ["race", "--name", "ann", *QUICK, "--moves-per-second", "40", "--replay", str(file)],
        {"XDG_STATE_HOME": str(tmp_path)},
    )
    try:
        you.until("To join: ")
        you.until("ws://127.0.0.1:")
        you.until("bot-1             ready, bot")
        you.until("you, not ready, host")
        you.press("r")
        you.until("moves 0")
        you.press("x", "y")
        you.until("the race is over")
        you.press("m")
        you.until("Seats 2/8")  # the bot comes along
        assert you.process.pid is not None
        started = children(you.process.pid, all_below=True)
        you.press("q")
        you.until("Quit? This ends the server")
        you.press("y")
        assert you.exit_code() == 0
        assert "place  player" in you.text
        assert not any(is_alive(child) for child in started)
        assert file.read_text().startswith('{"replay": 1')
    finally:
        you.close()
