"""What is typed for a player, a place or a pair, and what is missing."""

import click
import pytest
from click.testing import CliRunner

from client.cli import main
from client.tournament.acting import equals, pair_of
from client.tournament.errand import asked, person
from client.tournament.scene import heard
from tests.client.tournament.scenes import entrants, scene

PEOPLE = heard(scene(), entrants("a=b", "Bob", "c:d", "Ann", "ann"))


def test_equal_players_are_joined_and_a_name_may_have_that_sign() -> None:
    assert equals(PEOPLE, "Ann=Bob") == ["Ann", "Bob"]
    assert equals(PEOPLE, "a=b") == ["a=b"]


def test_a_pair_is_parted_where_there_are_two_players() -> None:
    assert pair_of(PEOPLE, "Bob:Ann") == ("p2", "p4")
    assert pair_of(PEOPLE, "Bob:c:d") == ("p2", "p3")
    assert pair_of(PEOPLE, "c:d:Bob") == ("p3", "p2")
    with pytest.raises(click.ClickException, match="as A:B"):
        pair_of(PEOPLE, "Bob")
    with pytest.raises(click.ClickException, match="'x' is no player"):
        pair_of(PEOPLE, "x:Bob")


def test_players_of_equal_names_are_told_apart_by_id() -> None:
    assert person(PEOPLE, "ann").entry == "p5"
    with pytest.raises(click.ClickException, match=r"by id: p4 \(seed 4\), p5 \(seed 5\)"):
        person(PEOPLE, "ANN")


@pytest.mark.parametrize(
    "words",
    [
        ("pause", "CODE"),
        ("cancel", "CODE"),
        ("disqualify", "CODE", "ann"),
        ("override", "CODE", "1.1", "ann"),
        ("restart", "CODE", "1.1"),
        ("repair", "CODE"),
        ("new-token", "CODE", "ann"),
    ],
)
def test_a_reason_that_is_needed_is_asked_for_before_the_server_is(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, ["tournament", *words])
    assert result.exit_code == 2
    assert "Missing option '--why'" in result.output


@pytest.mark.parametrize("command", [("remove", "CODE", "ann"), ("pause", "CODE")])
def test_a_reason_is_no_longer_than_the_log_takes(command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, ["tournament", *command, "--why", "x" * 201])
    assert result.exit_code == 2
    assert "1 to 200 characters" in result.output


def test_a_head_is_looked_at_before_the_file_is() -> None:
    result = CliRunner().invoke(main, ["tournament", "verify", "nothing.zip", "--head", "12"])
    assert result.exit_code == 2
    assert "a head is 64 hexadecimal digits" in result.output


def test_a_question_is_broken_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    question = "This discards what has begun: 7.1 (Guest 9 - Ștefan), 7.3 (Björn - Guest 6)."
    lines = asked(question).splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(lines) == question
