"""Who one is: tokens of mode 0600, and two clients on one machine that are two players."""

import json
import os
from pathlib import Path

import pytest

from client import identity
from client.identity import Identity, TokenInUse, open_identity
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
    "text", ["", "no json", "[]", '{"token": 5}', json.dumps({"token": "short", "name": "x" * 99})]
)
def test_a_file_that_makes_no_sense_is_an_unknown_player(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    who = open_identity(URL, token_file=file)
    assert (who.token, who.name) == (None, None)
    who.close()


def test_bytes_that_are_no_text_are_an_unknown_player(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(b"\xff\xfe\x00")
    who = open_identity(URL, token_file=file)
    assert who.token is None
    who.keep(TOKEN, "ann")
    who.close()
    again = open_identity(URL, token_file=file)
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
