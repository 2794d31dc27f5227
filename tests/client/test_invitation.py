"""How others are told to get here."""

import socket
import sys
from pathlib import Path

import pytest

from client import invitation as module
from client.invitation import invitation, program


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program as it was called, in a folder of a project."""
    own = tmp_path / ".venv" / "bin" / "klondike"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(own)])
    monkeypatch.setenv("PATH", "/usr/bin")
    return own


def test_a_program_that_is_not_on_the_path_is_named_as_it_can_be_called(script: Path) -> None:
    assert program() == ".venv/bin/klondike"


def test_a_program_on_the_path_is_called_by_its_name(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(script.parent))
    assert program() == "klondike"


def test_another_program_of_that_name_on_the_path_is_not_meant(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other" / "klondike"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    assert program() == ".venv/bin/klondike"


def test_a_server_for_all_is_named_by_a_number_and_by_a_name(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "own_address", lambda: "10.0.0.5")
    told = invitation("ws://0.0.0.0:8765").format(room="ABCDEF")
    assert told.startswith(".venv/bin/klondike ws://10.0.0.5:8765 --room ABCDEF ")
    assert told.endswith(f"(or ws://{socket.gethostname()}:8765)")


def test_without_a_network_the_name_alone_is_told(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "own_address", lambda: None)
    told = invitation("ws://[::]:8765")
    assert told == f".venv/bin/klondike ws://{socket.gethostname()}:8765 --room {{room}}"


def test_a_server_for_this_machine_says_that_it_is_one(script: Path) -> None:
    told = invitation("ws://127.0.0.1:8765")
    assert told == ".venv/bin/klondike ws://127.0.0.1:8765 --room {room}   (on this machine)"
