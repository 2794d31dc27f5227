"""Who one is: tokens of mode 0600, and two clients on one machine that are two players."""

import errno
import json
import os
from pathlib import Path

import pytest

from client import identity
from client.identity import Identity, NoTokenFile, TokenInUse, open_identity
from tests.client.stage import TOKEN

URL = "ws://127.0.0.1:8765"


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(identity, "_terminal", lambda: "/dev/pts/1")
    return tmp_path


def test_a_token_is_kept_for_its_server_alone() -> None:
    first = open_identity(URL)
    first.keep(TOKEN, "ann")
    first.close()
    again = open_identity(URL)
    assert (again.token, again.name) == (TOKEN, "ann")
    other = open_identity("ws://other:1")
    assert other.token is None
    again.close()
    other.close()


def test_the_file_is_for_its_owner_alone_whatever_it_was_before(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("")
    file.chmod(0o666)
    who = open_identity(URL, token_file=file)
    who.keep(TOKEN, "ann")
    assert file.stat().st_mode & 0o777 == 0o600
    who.close()


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("buy milk\n")
    file.chmod(0o640)
    with pytest.raises(NoTokenFile, match=r"notes.txt is there already and holds no token"):
        open_identity(URL, token_file=file)
    assert file.read_text() == "buy milk\n"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_disk_that_is_full_makes_a_player_for_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    who = open_identity(URL)
    who.keep(TOKEN, "ann")
    assert who.token == TOKEN
    who.close()


def test_a_second_client_on_the_machine_is_another_player() -> None:
    first = open_identity(URL)
    first.keep(TOKEN, "ann")
    second = open_identity(URL)
    assert second.token is None
    second.keep("u" * 32, "bob")
    first.close()
    second.close()


def test_two_players_whose_clients_were_killed_get_each_their_own_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = open_identity(URL)
    first.keep(TOKEN, "ann")
    monkeypatch.setattr(identity, "_terminal", lambda: "/dev/pts/2")
    second = open_identity(URL)
    second.keep("u" * 32, "bob")
    first.close()
    second.close()
    back = open_identity(URL)
    assert back.name == "bob"
    monkeypatch.setattr(identity, "_terminal", lambda: "/dev/pts/1")
    other = open_identity(URL)
    assert other.name == "ann"
    back.close()
    other.close()


def test_a_named_file_in_use_is_refused_with_what_to_do(tmp_path: Path) -> None:
    first = open_identity(URL, token_file=tmp_path / "token")
    with pytest.raises(TokenInUse, match="--fresh"):
        open_identity(URL, token_file=tmp_path / "token")
    first.close()
    open_identity(URL, token_file=tmp_path / "token").close()


def test_fresh_keeps_nothing(state_home: Path) -> None:
    who = open_identity(URL, fresh=True)
    who.keep(TOKEN, "ann")
    assert who.token == TOKEN
    assert list(state_home.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no json",
        b"[]",
        b'{"token": 5}',
        json.dumps({"token": "short", "name": "x" * 99}).encode(),
        b"\xff\xfe\x00",
    ],
)
def test_a_file_that_makes_no_sense_is_an_unknown_player(state_home: Path, content: bytes) -> None:
    who = open_identity(URL)
    who.keep(TOKEN, "ann")
    who.close()
    file = next(each for each in state_home.rglob("*") if each.is_file())
    file.write_bytes(content)
    who = open_identity(URL)
    assert (who.token, who.name) == (None, None)
    who.keep(TOKEN, "ann")
    who.close()
    again = open_identity(URL)
    assert again.token == TOKEN
    again.close()


def test_a_forgotten_token_is_gone_from_the_file_and_the_name_stays(tmp_path: Path) -> None:
    who = open_identity(URL, token_file=tmp_path / "token")
    who.keep(TOKEN, "ann")
    who.forget()
    who.close()
    again = open_identity(URL, token_file=tmp_path / "token")
    assert (again.token, again.name) == (None, "ann")
    again.close()


def test_without_a_folder_to_write_in_the_player_is_new_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "double-klondike").write_text("a file where a folder should be")
    who = open_identity(URL)
    who.keep(TOKEN, "ann")
    assert who.token == TOKEN


def test_all_slots_taken_make_a_player_for_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "SLOTS", 2)
    held = [open_identity(URL) for _ in range(2)]
    third = open_identity(URL)
    third.keep(TOKEN, "ann")
    assert isinstance(third, Identity)
    for each in held:
        each.close()


def test_the_state_folder_follows_the_desktop_standard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative/is/not/allowed")
    assert identity.state_folder() == Path(os.path.expanduser("~/.local/state/double-klondike"))
