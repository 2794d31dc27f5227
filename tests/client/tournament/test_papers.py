"""Files that commands read."""

from pathlib import Path

import click
import pytest

from client.tournament.papers import read_roll


def test_a_list_in_another_encoding_says_which_line(tmp_path: Path) -> None:
    file = tmp_path / "players.csv"
    file.write_bytes("name\nAnn\nJörg\n".encode("latin-1"))
    with pytest.raises(click.ClickException, match="line 3: this is no text in UTF-8"):
        read_roll(file)
