"""`klondike tournament` against a real server: a whole tournament from a terminal."""

import json
import os
import re
import stat
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from client.children import Child, Children
from client.cli import main
from client.identity import open_identity
from client.tournament import office

WAIT_S = 60.0
PLAN = """
title = "Cup"
break_s = 0
race_break_s = 0
[race]
time_limit_s = 5
countdown_s = 0
[[stages]]
play = { kind = "swiss", rounds = 1 }
qualify = 2
[[stages]]
play = { kind = "single" }
"""


class Terminal:
    """Somebody at a command line, and the server that they talk to."""

    def __init__(self, children: Children, url: str, folder: Path) -> None:
        self.children = children
        self.url = url
        self.folder = folder

    def run(self, *arguments: str, typed: str | None = None) -> Result:
        return CliRunner().invoke(main, ["tournament", *arguments], input=typed)

    def say(self, *arguments: str) -> str:
        """Run a command that has to work."""
        result = self.run(*arguments)
        assert result.exit_code == 0, result.output
        return result.output

    def refused(self, *arguments: str) -> str:
        """Run a command that must not work, for a reason in one line."""
        result = self.run(*arguments)
        assert result.exit_code == 1, result.output
        assert result.output.startswith("Error: ")
        return result.output

    def until(self, words: str, *arguments: str) -> str:
        """Run a command until it says something."""
        return self.until_matches(re.escape(words), *arguments)

    def until_matches(self, pattern: str, *arguments: str) -> str:
        """Run a command until a line of what it says matches."""
        deadline = time.monotonic() + WAIT_S
        while not re.search(pattern, said := self.say(*arguments)):
            assert time.monotonic() < deadline, said
            time.sleep(0.3)
        return said

    def create(self, *arguments: str) -> str:
        return str(json.loads(self.say("create", "--json", *arguments))["tournament"])

    def rehearse(self, code: str, *arguments: str) -> Child:
        return self.children.start(
            "rehearsal", ["-m", "client", "tournament", "rehearse", code, *arguments]
        )

    def bot(self, code: str, name: str) -> None:
        self.children.start(
            name, ["-m", "client", "bot", self.url, "--tournament", code, "--name", name]
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Children, str]]:
    folder = tmp_path_factory.mktemp("server")
    with Children(folder) as children:
        data = folder / "data"
        options = ("--port", "0", "--data", str(data), "--drain-seconds", "0")
        child = children.start("server", ["-m", "server", *options, "--private-webhooks"])
        said = child.wait_for(bool, WAIT_S)
        yield children, said.removeprefix("listening on ").strip()


@pytest.fixture
def terminal(
    server: tuple[Children, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    for name in list(os.environ):
        if name.startswith("KLONDIKE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KLONDIKE_URL", server[1])
    monkeypatch.chdir(tmp_path)
    return Terminal(server[0], server[1], tmp_path)


def test_an_organiser_runs_a_tournament_with_nothing_but_commands(terminal: Terminal) -> None:
    say = terminal.say
    (terminal.folder / "cup.toml").write_text(PLAN)
    said = say("create", "cup.toml")
    code = said.split()[1]
    assert f"/t/{code}" in said
    kept = terminal.folder / "state" / "double-klondike" / "tournaments.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert f"{code}  {terminal.url}  Cup" in say("keys")
    for name in ("ann", "bob", "cem", "dun"):
        terminal.bot(code, name)
    terminal.until("4 players", "show", code)
    assert "ann" in say("show", code, "players")
    say("seed", code, "--draw", "42")
    say("start", code)
    say("pause", code, "--why", "coffee")
    say("announce", code, "coffee is ready")
    said = terminal.until("wins", "show", code, "pairings")
    assert "paused" in said
    assert "coffee is ready" in said
    decided = re.search(r"^(\d+\.\d+)  (\w+) - (\w+) +(\w+) wins", said, re.M)
    assert decided is not None
    match, one, other, winner = decided.groups()
    loser = other if winner == one else one
    assert "no player of this tournament" in terminal.refused(
        "override", code, match, "nobody", "--why", "x"
    )
    say("override", code, match, loser, "--why", "typed wrong", "--yes")
    assert f"{loser} wins" in say("show", code, "pairings")
    out = next(name for name in ("ann", "bob", "cem", "dun") if name not in (one, other))
    say("disqualify", code, out, "--why", "rude")
    say("resume", code)
    terminal.until("finished", "show", code)
    assert loser in say("show", code, "standings", "bracket")
    # Of a round that is long over too: there is no other round with this match.
    say("override", code, match, loser, "--why", "as it was", "--yes")
    audit = say("show", code, "audit")
    for line in ("paused", "coffee", "overridden", "typed wrong", "disqualified", "rude"):
        assert line in audit
    assert "replays" in say("export", code, "cup.zip")
    verified = terminal.run("verify", "cup.zip")
    assert verified.exit_code == 0
    head = re.search(r"^journal ([0-9a-f]{64})$", say("show", code), re.M)
    assert head is not None
    assert terminal.run("verify", "cup.zip", "--head", head[1]).exit_code == 0
    assert terminal.run("verify", "cup.zip", "--head", "0" * 64).exit_code == 1
    with zipfile.ZipFile("cup.zip") as packed:
        names = packed.namelist()
        results = json.loads(packed.read("results.json"))
        with zipfile.ZipFile("touched.zip", "w") as touched:
            for name in names:
                data = packed.read(name)
                is_it = name == "results.json"
                touched.writestr(
                    name, data.replace(b'"place": 1', b'"place": 3') if is_it else data
                )
    assert any(row["match"] == match and row["kind"] == "ruled" for row in results)
    assert sum(name.startswith("replays/") for name in names) >= 2
    assert terminal.run("verify", "touched.zip").exit_code == 1
    assert terminal.run("verify", "cup.toml").exit_code == 2
    say("export", code, "folder", "--no-replays")
    assert (terminal.folder / "folder" / "standings.csv").exists()
    for target in ("folder", "cup.zip"):
        assert f"{target} is there already" in terminal.refused("export", code, target)
        assert target in say("export", code, target, "--no-replays", "--force")


def test_players_from_a_list_get_tokens_that_make_them_who_they_are(terminal: Terminal) -> None:
    code = terminal.create("--title", "Club night", "--set", "entry=invited")
    (terminal.folder / "club.csv").write_text("name,club\nÉmile,A\nFatima,B\n")
    said = terminal.say("import", code, "club.csv")
    assert "2 players entered." in said
    file = terminal.folder / f"{code}-players.csv"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "Émile" in terminal.say("show", code, "players")
    assert "say --force" in terminal.refused("import", code, "club.csv")
    again = terminal.say("import", code, "club.csv", "--out", "more.csv")
    assert again == "0 players entered, 2 were entered before.\n"
    assert not (terminal.folder / "more.csv").exists()
    token = file.read_text(encoding="utf-8").splitlines()[1].split(",")[2]
    assert "You are Émile" in terminal.say("claim", token)
    identity = open_identity(terminal.url)
    assert (identity.token, identity.name) == (token, "Émile")
    identity.close()
    terminal.say("open-check-in", code)
    assert "You are in and checked in" in terminal.say("check-in", code)
    assert "is here" in terminal.say("show", code, "players")
    for nobodys in ("x" * 40, "-E" + "x" * 38, "-h" + "x" * 38, "--" + "x" * 38):
        assert "nobody on this server" in terminal.refused("claim", nobodys)
    assert "Usage" in terminal.say("claim", "-h")
    said = terminal.say("new-token", code, "Émile", "--why", "lost it")
    renewed = said.split()[-1]
    assert "nobody on this server" in terminal.refused("claim", token)
    assert "You are Émile" in terminal.say("claim", renewed)
    assert "lost it" in terminal.say("show", code, "audit")
    assert "about to start" in terminal.refused("summon", code, "Émile")


def test_bots_rehearse_a_tournament_as_the_players_of_a_list(terminal: Terminal) -> None:
    plan = "--stage=swiss:rounds=1", "--set=race.time_limit_s=5", "--set=break_s=0"
    code = terminal.create("--title", "Rehearsal", "--set=entry=invited", *plan)
    (terminal.folder / "club.csv").write_text("name\nann\nbob\ncem\ndun\n")
    terminal.say("import", code, "club.csv")
    terminal.say("open-check-in", code)
    assert "name the file that import wrote" in terminal.refused(
        "rehearse", code, "--players", "club.csv"
    )
    bots = terminal.rehearse(code, "--players", f"{code}-players.csv", "--moves-per-second", "10")
    for name in ("ann", "bob", "cem", "dun"):
        terminal.until_matches(rf" {name} .* is here", "show", code, "players")
    terminal.say("start", code)
    terminal.until("finished", "show", code)
    said = bots.wait_for(lambda text: "The tournament" in text, WAIT_S)
    assert "The tournament is finished; 4 of 4 played." in said


def test_bots_that_may_not_enter_say_why(terminal: Terminal) -> None:
    code = terminal.create("--title", "Closed", "--set=entry=invited")
    result = terminal.run("rehearse", code, "--bots", "1")
    assert result.exit_code == 1
    assert "bot-1: The organiser enters the players" in result.stderr
    assert "none of them could play" in result.output


def test_everything_before_the_start_can_be_arranged(terminal: Terminal) -> None:
    code = terminal.create("--title", "Before", "--unlisted")
    assert code not in terminal.say("list")
    terminal.say("edit", code, "--set", "title=After", "--stage", "single")
    assert "After" in terminal.say("show", code)
    assert "You are in, seed 1" in terminal.say("enter", code)
    assert "You have no place" in terminal.say("withdraw", code)
    assert "at least two players" in terminal.refused("start", code)
    (terminal.folder / "names.csv").write_text("name\nann\nbob\ncem\n")
    terminal.say("import", code, "names.csv")
    (terminal.folder / "seeds.csv").write_text("cem\nann\n")
    terminal.say("seed", code, "--list", "seeds.csv")
    said = terminal.say("show", code, "players")
    assert said.index("cem") < said.index("ann") < said.index("bob")
    terminal.say("remove", code, "bob")
    assert "bob" not in terminal.say("show", code, "players")
    assert "Say it again with --yes" in terminal.refused("cancel", code, "--why", "rain")
    terminal.say("cancel", code, "--why", "rain", "--yes")
    assert "cancelled" in terminal.say("show", code)


def test_keys_come_from_the_variable_before_the_file(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = terminal.create("--title", "Keys")
    monkeypatch.setenv("KLONDIKE_TOURNAMENT_KEY", "nonsense")
    assert "no key of this tournament" in terminal.refused("announce", code, "hello")
    monkeypatch.delenv("KLONDIKE_TOURNAMENT_KEY")
    monkeypatch.setenv("XDG_STATE_HOME", str(terminal.folder / "elsewhere"))
    assert "there is no key of tournament" in terminal.refused("announce", code, "hello")


def test_who_may_not_see_the_races_yet_is_shown_the_rest(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(office, "RACES_LIMIT", 0.2)
    code = terminal.create("--title", "Late", "--set", "race.delay_s=60")
    assert "No race is on." in terminal.until("No race is on.", "show", code, "live")
    monkeypatch.setenv("XDG_STATE_HOME", str(terminal.folder / "elsewhere"))
    assert "No race is shown yet." in terminal.say("show", code, "live")


def test_a_tournament_without_a_title_is_called_by_its_code(terminal: Terminal) -> None:
    code = terminal.create("--title", " ")
    assert f"Tournament {code}" in terminal.say("show", code)
    assert f"Tournament {code}" in terminal.say("keys")
    terminal.say("edit", code, "--set", "title=Named")
    assert "Named" in terminal.say("show", code)
    terminal.say("edit", code, "--set", "title=")
    assert f"Tournament {code}" in terminal.say("show", code)


def test_a_webhook_is_chosen_and_given_up(terminal: Terminal) -> None:
    code = terminal.create("--title", "Hook")
    assert terminal.say("webhook", code, "http://127.0.0.1:9/x").startswith("secret  ")
    assert "begin with https" in terminal.refused("webhook", code, "ftp://x")
    assert terminal.say("webhook", code) == "Nobody is told any more.\n"


def test_what_cannot_be_is_said_in_one_line(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "there is no format" in terminal.refused("create", "--stage", "chess")
    assert "There is no tournament NOSUCH" in terminal.refused("show", "nosuch")
    assert "how many qualify" in terminal.refused("create", "--stage", "swiss:qualify=4")
    monkeypatch.setenv("KLONDIKE_URL", "ws://127.0.0.1:1")
    assert "127.0.0.1:1" in terminal.refused("list")
