"""The real program in a real terminal, against a real server: what a player goes through."""

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from client import screen
from tests.client.terminal import LIMIT, Terminal, real_server

Open = Callable[..., Terminal]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_server(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def start(*arguments: str, **how: object) -> Terminal:
        environment = {"XDG_STATE_HOME": str(tmp_path), **how.pop("env", {})}  # type: ignore[dict-item]
        terminal = Terminal(list(arguments), environment, **how)  # type: ignore[arg-type]
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.close()


def create(terminal: Terminal, seats: int = 2, seed: str = "7") -> str:
    """Open a room with the form and give its code."""
    terminal.until("online")
    terminal.press("c")
    terminal.until("A new room")
    terminal.press("down", "down", *seed, "down", "down", "\x7f", str(seats))
    terminal.press("down", "down", "\x7f", "1", "enter")
    return terminal.until("Seats 1/").split("Room ")[1][:6]


def practise(terminal: Terminal) -> None:
    """Open a room of one seat and start its race."""
    create(terminal, seats=1)
    terminal.press("r")
    terminal.until("moves 0")
    terminal.until("[▒▒59]")


def seconds_left(terminal: Terminal) -> int:
    """Read the clock of a race."""
    found = re.search(r"\b(\d\d):(\d\d)\b", terminal.text)
    assert found is not None, terminal.text
    return 60 * int(found[1]) + int(found[2])


@pytest.mark.parametrize(
    ("told", "used"), [((80, 24), (24, 80)), ((3000, 2000), (200, 400)), ((0, 0), (24, 80))]
)
def test_of_a_huge_terminal_no_more_is_used_than_can_be_filled(
    monkeypatch: pytest.MonkeyPatch, told: tuple[int, int], used: tuple[int, int]
) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size(told))
    assert screen.size() == used


def test_two_people_race_chat_resign_and_see_the_standings(url: str, open_terminal: Open) -> None:
    ann = open_terminal(url, "--name", "ann", "--bell")
    code = create(ann)
    bob = open_terminal(url, "--name", "bob", "--room", code.lower())
    bob.until("not ready, host")
    ann.until("bob took a seat")
    bob.press("t", *"hello", "enter")
    ann.until("bob: hello")
    ann.press("r")
    bob.until("ann               ready, host")
    bob.press("r")
    ann.until("The race starts in")
    ann.until("[▒▒59]")
    bob.until("[▒▒59]")

    ann.press(" ")
    ann.until("[▒▒56]")
    for number in range(2, 20):
        ann.press(" ")
        ann.until(f"moves {number} ")
    ann.press("9", "9")
    ann.until("moves 20 ")
    ann.until("A♣  ──  ──")
    bob.until("ann            1")
    assert ann.lines[4].split()[:9] == list("123456789")
    assert ann.lines[0].endswith(" ms")

    bob.press("x")
    bob.until("Give the race up? (y/n)")
    bob.press("y")
    ann.until("x bob")
    ann.press("x", "y")
    for terminal in (ann, bob):
        terminal.until("the race is over, all are out")
        terminal.until("seed     7 (public)")
    ann.press("q", "y")
    assert ann.exit_code() == 0
    assert b"Traceback" not in ann.raw
    assert b"\a" in ann.raw
    assert b"\a" not in bob.raw


def test_a_fair_deal_is_checked_at_the_end_and_its_record_can_be_fetched(
    url: str, open_terminal: Open, tmp_path: Path
) -> None:
    ann = open_terminal(url, "--name", "ann")
    code = create(ann, seats=1, seed="")
    ann.press("r")
    ann.until("moves 0")
    ann.press("l")
    ann.until("In a running race this gives it up. (y/n)")
    ann.press("n", "x", "y")
    ann.until("Deal checked: secret and bytes are those promised, your own among them.")
    ann.until("best     0 cards home; 1 race, 0 solved")
    ann.press("q", "y")
    file = tmp_path / "race.dk"
    for command in (["record", url, "--room", code, str(file)], ["verify", str(file)]):
        done = subprocess.run(
            [sys.executable, "-m", "client", *command], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr + done.stdout


def test_who_comes_back_to_another_room_than_the_last_is_in_it(
    url: str, open_terminal: Open
) -> None:
    ann = open_terminal(url, "--name", "ann")
    practise(ann)
    ann.press("x", "y")
    ann.until("the race is over")
    ann.press("q", "y")
    assert ann.exit_code() == 0
    bob = open_terminal(url, "--name", "bob", "--fresh")
    code = create(bob)
    again = open_terminal(url, "--name", "ann", "--room", code)
    again.until(f"Room {code}")
    again.until("you, not ready")


def test_a_killed_client_comes_back_to_its_board(url: str, open_terminal: Open) -> None:
    first = open_terminal(url, "--name", "ann")
    practise(first)
    first.press(" ", " ")
    first.until("[▒▒53]")
    first.settle()
    board = first.lines[2:21]
    first.process.kill(signal.SIGKILL)
    again = open_terminal(url)
    again.until(lambda _: again.lines[2:21] == board)
    assert "moves 2 " in again.lines[0]
    again.press(" ")
    again.until("moves 3 ")


def test_an_illegal_move_is_explained_and_costs_nothing(url: str, open_terminal: Open) -> None:
    ann = open_terminal(url, "--name", "ann")
    practise(ann)
    ann.press("1")
    ann.until("from 1 (J♣): to?")
    ann.press("1")
    ann.until("Jack of Clubs")
    assert "moves 0 " in ann.lines[0]


def test_it_lives_through_any_size(url: str, open_terminal: Open) -> None:
    ann = open_terminal(url, "--name", "ann")
    practise(ann)
    for rows, cols in ((5, 20), (1, 1), (20, 56), (30, 104), (19, 80), (50, 200)):
        ann.resize(rows, cols)
        ann.read(0.3)
    ann.resize(24, 80)
    ann.until(lambda text: "[▒▒59]" in text and text.split("\n")[23].startswith(" 1-9 move"))
    ann.press(" ")
    ann.until("[▒▒56]")


def test_a_window_that_is_closed_ends_the_game_in_good_order(url: str, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "client", url, "--name", "ann"],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm", "XDG_STATE_HOME": str(tmp_path)},
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    while b"online" not in shown:
        assert select.select([ours], [], [], LIMIT)[0], shown
        shown += os.read(ours, 65_536)
    os.close(ours)
    _, said = process.communicate(timeout=LIMIT)
    assert (process.returncode, said) == (0, b"")
    assert not list(tmp_path.rglob("klondike.log"))


def test_a_terminal_that_its_user_has_stopped_holds_up_neither_line_nor_moves(
    url: str, open_terminal: Open
) -> None:
    ann = open_terminal(url, "--name", "ann")
    code = create(ann, seats=1)
    zoe = open_terminal("watch", url, "--room", code, "--name", "zoe")
    ann.press("r")
    ann.until("[▒▒59]")
    zoe.until("1   ann")
    ann.press("\x13")  # Ctrl-S
    at = seconds_left(zoe)
    zoe.until(lambda _: seconds_left(zoe) <= at - 2)  # there have been frames to be written
    ann.press(" ", "t", *"still here", "enter")
    zoe.until("ann: still here")
    assert "[▒▒59]" in ann.text
    ann.press("\x11")  # Ctrl-Q
    ann.until("[▒▒56]")


def test_keys_work_while_the_window_is_too_small_and_the_line_is_kept(
    url: str, open_terminal: Open
) -> None:
    ann = open_terminal(url, "--name", "ann")
    practise(ann)
    ann.resize(10, 40)
    ann.until("terminal too small (need 56x20)")
    ann.press(" ")
    ann.resize(24, 80)
    ann.until("[▒▒56]")
    ann.until("online")


def test_a_dumb_unknown_or_missing_terminal_is_told_in_one_line(tmp_path: Path) -> None:
    for term in ("dumb", "no-such-terminal", ""):
        terminal = Terminal([], {"XDG_STATE_HOME": str(tmp_path)}, term=term)
        assert terminal.exit_code() == 1
        assert terminal.text.strip().startswith("Error: ")
        assert "\x1b" not in terminal.raw.decode()
        terminal.close()
    done = subprocess.run(
        [sys.executable, "-m", "client"], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Error: This is no terminal: the game needs one for its input and its output."
    ]


@pytest.mark.parametrize("term", ["vt100", "xterm-256color"])
def test_it_paints_on_the_terminals_there_are(url: str, open_terminal: Open, term: str) -> None:
    ann = open_terminal(url, "--name", "ann", term=term)
    ann.until("Rooms at ws://")
    ann.until("q quit")


def test_without_utf8_it_paints_in_ascii(url: str, open_terminal: Open) -> None:
    ann = open_terminal(url, "--name", "ann", env={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"})
    create(ann, seats=1)
    ann.press("r")
    ann.until("[##59]")
    assert ann.text.isascii()


def test_no_color_is_honoured(url: str, open_terminal: Open) -> None:
    plain = open_terminal(url, "--name", "ann", env={"NO_COLOR": "1"})
    plain.until("q quit")
    assert plain.colours == {"default"}
    coloured = open_terminal(url, "--name", "bob")
    coloured.until("online")
    coloured.until("q quit")
    assert "green" in coloured.colours


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_it_in_order(url: str, open_terminal: Open, number: int) -> None:
    ann = open_terminal(url, "--name", "ann")
    ann.until("online")
    ann.process.kill(number)
    assert ann.exit_code() == 0


def test_ctrl_c_asks_in_a_room_and_a_second_one_quits(url: str, open_terminal: Open) -> None:
    ann = open_terminal(url, "--name", "ann")
    practise(ann)
    ann.press("\x03")
    ann.until("Quit? The same command brings you back")
    ann.press("\x03")
    assert ann.exit_code() == 0


def test_a_fault_of_ours_leaves_the_terminal_whole_and_the_details_in_a_file(
    url: str, tmp_path: Path, open_terminal: Open
) -> None:
    fault = "import client.paint, client.game\nclient.game.frame = lambda *_: 1 / 0\n"
    (tmp_path / "sitecustomize.py").write_text(fault)
    ann = open_terminal(url, env={"PYTHONPATH": str(tmp_path)})
    assert ann.exit_code() == 1
    lines = [line for line in ann.lines if line]
    assert "This failed on our side; the details are in" in " ".join(lines)
    assert "Traceback" not in ann.text
    log = tmp_path / "double-klondike" / "klondike.log"
    assert "ZeroDivisionError" in log.read_text()


def test_no_server_is_told_and_waited_for(open_terminal: Open) -> None:
    ann = open_terminal("127.0.0.1:1", "--name", "ann")
    ann.until("RECONNECTING")
    ann.press("q")
    assert ann.exit_code() == 0


def test_a_spectator_sees_the_scores_and_no_board(url: str, open_terminal: Open) -> None:
    ann = open_terminal(url, "--name", "ann")
    code = create(ann, seats=1)
    zoe = open_terminal("watch", url, "--room", code, "--name", "zoe")
    zoe.until(f"Room {code}")
    ann.press("r")
    ann.until("[▒▒59]")
    zoe.until("1   ann")
    assert "▒▒1" not in zoe.text
    zoe.press(" ", "1", "2")
    ann.press(" ")
    ann.until("[▒▒56]")
    assert "moves 1 " in ann.lines[0]
    zoe.press("l")
    zoe.until("Rooms at")
