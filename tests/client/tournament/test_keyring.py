"""Keys of tournaments, kept for their owner alone."""

import stat
from pathlib import Path

import pytest

from client.filing import NotWritten
from client.tournament.keyring import Keys, keep, load


def test_keys_are_found_again_by_the_tournaments_code(tmp_path: Path) -> None:
    file = tmp_path / "state" / "keys.json"
    keep("CUP", Keys("ws://h:1", "Cup", "owner-key", "referee-key"), file)
    keep("TWO", Keys("ws://h:2", "Two", "", "other"), file)
    found = load(file)
    assert found["CUP"] == Keys("ws://h:1", "Cup", "owner-key", "referee-key")
    assert (found["CUP"].best, found["TWO"].best) == ("owner-key", "other")


def test_nobody_else_may_read_them(tmp_path: Path) -> None:
    file = tmp_path / "state" / "keys.json"
    keep("CUP", Keys("ws://h:1"), file)
    file.chmod(0o644)
    keep("TWO", Keys("ws://h:1"), file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == ["keys.json"]


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("buy milk\n")
    with pytest.raises(NotWritten, match="holds no keys"):
        keep("CUP", Keys("ws://h:1"), file)
    assert file.read_text() == "buy milk\n"


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"CUP": 5}', b"\xff"])
def test_a_file_that_is_none_holds_no_keys(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "keys.json"
    file.write_bytes(content)
    assert load(file) == {}
    assert load(tmp_path / "nothing") == {}
