"""The command line: what may be left out, what is refused, and the environment."""

import socket
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from client import cli
from client.atterminal import End, NoTerminal
from client.game import Aim
from client.identity import Identity, open_identity
from client.line import Line
from client.race import RaceOptions
from client.results import replay_text
from client.style import Wishes
from tests.faults.processes import HOST, free_port


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """What the game would have been opened with."""
    calls: list[dict[str, Any]] = []

    def open_game(url: str, identity: Identity, **how: Any) -> End:
        calls.append({"url": url, "identity": identity, **how})
        return End(Line("ended"), None)

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(cli, "open_game", open_game)
    monkeypatch.setattr("getpass.getuser", lambda: "somebody-with-a-long-login")
    return calls


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(cli.main, list(arguments), env=environment)


def test_without_a_command_an_address_opens_the_game(opened: list[dict[str, Any]]) -> None:
    assert run("example.org", "--name", "ann", "--room", "abc-def").exit_code == 0
    assert run().exit_code == 0
    assert run("--ascii").exit_code == 0
    assert [call["url"] for call in opened] == ["ws://example.org:8765"] + [
        "ws://127.0.0.1:8765"
    ] * 2
    assert opened[0]["name"] == "ann"
    assert opened[0]["aim"] == Aim(room="ABCDEF")
    assert [call["wishes"].ascii for call in opened] == [False, False, True]


def test_the_list_of_commands_says_of_each_in_full_what_it_does() -> None:
    listed = run("--help").output.split("Commands:")[1]
    assert "Check a finished race" in listed
    assert "..." not in listed


def test_every_option_is_an_environment_variable_too(opened: list[dict[str, Any]]) -> None:
    looks = {"KLONDIKE_ASCII": "1", "KLONDIKE_BELL": "1"}
    run(KLONDIKE_URL="h:1", KLONDIKE_NAME="zoe", KLONDIKE_ROOM="xyz", **looks)
    assert opened[0]["url"] == "ws://h:1"
    assert opened[0]["name"] == "zoe"
    assert opened[0]["aim"] == Aim(room="XYZ")
    assert opened[0]["wishes"] == Wishes(ascii=True, bell=True)


def test_a_name_is_the_given_one_or_the_kept_one_or_the_login(
    opened: list[dict[str, Any]], tmp_path: Path
) -> None:
    file = tmp_path / "token"
    kept = open_identity("ws://h:1", token_file=file)
    kept.keep("t" * 32, "kept")
    kept.close()
    run("h:1", "--token-file", str(file))
    run("h:1", "--token-file", str(file), "--name", " given ")
    run("h:1", "--fresh")
    assert [call["name"] for call in opened] == ["kept", "given", "somebody-with-a-"]


def test_watching_is_done_by_somebody_else_than_the_player(opened: list[dict[str, Any]]) -> None:
    assert run("watch", "h:1", "--room", "abcdef").exit_code == 0
    assert opened[0]["aim"] == Aim(room="ABCDEF", watch=True)
    assert opened[0]["identity"].token is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ftp://h"], "ws:// or wss://"),
        (["--name", "x" * 17], "1 to 16 characters"),
        (["--name", " "], "1 to 16 characters"),
        (["watch", "h:1"], "--room"),
        (["bot", "--moves-per-second", "1000"], "--moves-per-second"),
        (["race", "--undo", "never"], "--undo"),
    ],
)
def test_what_cannot_be_is_refused_in_plain_words(arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_a_token_file_in_use_or_out_of_reach_is_said_so(tmp_path: Path) -> None:
    held = open_identity("ws://h:1", token_file=tmp_path / "token")
    result = run("--token-file", str(tmp_path / "token"))
    assert result.exit_code == 1
    assert "in use by another klondike" in result.output
    held.close()
    (tmp_path / "file").write_text("")
    result = run("--token-file", str(tmp_path / "file" / "token"))
    assert result.exit_code == 1
    assert "cannot open" in result.output


def test_why_a_game_ended_is_told_after_the_terminal_is_back(
    monkeypatch: pytest.MonkeyPatch, opened: list[dict[str, Any]]
) -> None:
    end = End(Line("ended", "You are playing from another window"), None)
    monkeypatch.setattr(cli, "open_game", lambda *_, **__: end)
    result = run("--fresh")
    assert result.exit_code == 1
    assert "another window" in result.output

    def fail(*_: Any, **__: Any) -> End:
        raise NoTerminal("This is no terminal.")

    monkeypatch.setattr(cli, "open_game", fail)
    assert run("--fresh").output == "Error: This is no terminal.\n"


def test_doctor_tells_what_is_known_of_the_terminal() -> None:
    result = run("--doctor", TERM="vt100")
    assert result.exit_code == 0
    assert "TERM       vt100" in result.output
    assert "verdict" in result.output


def test_who_has_no_login_name_is_a_guest(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown() -> str:
        raise KeyError("uid")

    held: list[RaceOptions] = []

    def hold(options: RaceOptions) -> int:
        held.append(options)
        return 0

    monkeypatch.setattr(cli, "hold", hold)
    run("h:1", "--fresh")
    run("race", "--json")
    monkeypatch.setattr("getpass.getuser", unknown)
    run("h:1", "--fresh")
    run("race", "--json")
    run("race", "--json", "--name", "zoe")
    assert [call["name"] for call in opened] == ["somebody-with-a-", "guest"]
    assert [options.name for options in held] == ["somebody-with-a-", "guest", "zoe"]


def test_a_mistyped_command_is_no_host_name(
    monkeypatch: pytest.MonkeyPatch, opened: list[dict[str, Any]]
) -> None:
    def resolve(name: str, port: object) -> list[object]:
        if name == "raspberry":
            return [object()]
        raise socket.gaierror

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    result = run("reply")
    assert result.exit_code == 2
    assert "'reply' is no command and no host; did you mean 'replay'?" in result.output
    result = run("frobnicate")
    assert result.exit_code == 2
    assert "Commands: bot, play, race, record, replay, tournament, verify, watch" in result.output
    assert opened == []
    assert run("raspberry").exit_code == 0
    assert opened[0]["url"] == "ws://raspberry:8765"


def test_it_tells_its_version() -> None:
    assert run("--version").output == f"klondike, version {version('double-klondike')}\n"


def test_a_file_that_cannot_be_read_is_named_once_in_plain_words(tmp_path: Path) -> None:
    missing = tmp_path / "missing.dk"
    assert run("replay", str(missing)).output == f"{missing}: No such file or directory\n"
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert run("replay", str(tmp_path / "binary")).output.endswith("this is no text in UTF-8\n")


def test_a_player_who_is_not_in_the_replay_is_said_not_to_be(tmp_path: Path) -> None:
    file = tmp_path / "race.dk"
    joined = '1 {"e":"joined","p":"p1","name":"ann"}'
    file.write_bytes(replay_text("ABCDEF", "ab" * 32, [joined]))
    assert "takes a seat" in run("replay", "--player", "ann", str(file)).output
    result = run("replay", "--player", "bob", str(file))
    assert result.exit_code == 2
    assert result.output == f"{file}: nobody in it is called bob; there are ann\n"


def test_without_a_server_no_record_is_fetched_and_no_file_is_left(tmp_path: Path) -> None:
    file = tmp_path / "race.dk"
    result = run("record", dead_address(), "--room", "ABCDEF", str(file))
    assert result.exit_code == 1
    assert "nobody answers there" in result.output
    assert not file.exists()
    result = run("record", "h:1", "--room", "ABCDEF", str(tmp_path / "no" / "file"))
    assert result.output.endswith(
        "cannot write {}: there is no folder {}\n".format(tmp_path / "no" / "file", tmp_path / "no")
    )


def test_a_file_that_is_there_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    file = tmp_path / "race.dk"
    file.write_text("mine")
    for command in (
        ("record", dead_address(), "--room", "ABCDEF", str(file)),
        ("race", "--json", "--replay", str(file)),
        ("tournament", "--server", dead_address(), "--key", "k", "export", "CUP", str(file)),
    ):
        result = run(*command)
        assert result.exit_code == 1
        assert f"{file} is there already: name another, or say --force" in result.output
    assert file.read_text() == "mine"
    forced = run("record", dead_address(), "--room", "ABCDEF", "--force", str(file))
    assert "nobody answers there" in forced.output
    assert file.read_text() == "mine"


def dead_address() -> str:
    return f"{HOST}:{free_port()}"


def test_a_bot_that_finds_no_server_says_so_at_once_in_one_line() -> None:
    address = dead_address()
    result = run("bot", address)
    assert result.exit_code == 1
    assert result.output == f"Error: ws://{address}: nobody answers there\n"


def in_a_shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command line in which `klondike` is ours."""
    line = command.replace("klondike", f'"{sys.executable}" -P -m client')
    return subprocess.run(
        ["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("closed", ["<&-", "<&- >&-"])
def test_without_standard_streams_there_is_no_terminal(closed: str) -> None:
    ended = in_a_shell(f"exec klondike ws://127.0.0.1:1 {closed}")
    assert ended.returncode == 1
    assert ended.stderr.startswith("Error: This is no terminal")
    assert ended.stderr.count("\n") == 1


def test_output_that_finds_no_room_ends_with_one_line() -> None:
    for command in ("--help", "tournament --help", "--version"):
        ended = in_a_shell(f"exec klondike {command} >/dev/full")
        assert ended.returncode == 1
        assert ended.stderr == "Error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    "command",
    [
        "race --moves-per-second",
        "replay x --speed",
        "tournament rehearse CUP --bots 2 --moves-per-second",
        "tournament extend CUP round",
    ],
)
def test_what_is_not_a_number_is_refused(command: str) -> None:
    ended = run(*command.split(), "nan")
    assert ended.exit_code == 2
    assert "nan is no number" in ended.output
