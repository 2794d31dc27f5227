"""The help of `klondike tournament`."""

from click.testing import CliRunner

from client.cli import main
from client.tournament.cli import tournament
from client.tournament.menu import SECTIONS


def test_every_command_stands_in_one_section() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(tournament.commands)


def test_the_help_has_whole_sentences() -> None:
    said = CliRunner().invoke(main, ["tournament", "--help"]).output
    assert "..." not in said.partition("Options:")[2]
    assert "Rulings:" in said
    assert "Put a player out." in said
