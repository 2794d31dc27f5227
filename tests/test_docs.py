"""The documents say what the program does, as far as a program can tell."""

import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from client.cli import main as client_command
from server.cli import main as server_command
from tests.test_compose import FILE as COMPOSE_FILE

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
HOSTING = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
OPTIONS = [param for param in server_command.params if isinstance(param, click.Option)]
OPTIONS = [option for option in OPTIONS if option.name not in ("help", "version")]


def anchors(text: str) -> set[str]:
    """The names under which the headings of a document can be linked to."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_inside_the_documents_leads_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{link} leads nowhere"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{link}: no such heading"


def option_rows() -> dict[str, list[str]]:
    """The table of options in the hosting guide: the cells after each option's name."""
    rows = re.findall(r"^\| `(--[\w-]+)` \| `(\w+)` \| (.*?) \|", HOSTING, re.M)
    return {name: [variable, default] for name, variable, default in rows}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.opts[0])
def test_the_hosting_guide_has_every_option_with_its_variable(option: click.Option) -> None:
    variable, default = option_rows()[option.opts[0]]
    assert variable == (option.envvar or f"KLONDIKE_{(option.name or '').upper()}")
    if isinstance(option.default, int | float | str) and not option.is_flag:
        assert default == str(option.default).removesuffix(".0")


def test_the_hosting_guide_has_no_option_that_does_not_exist() -> None:
    assert option_rows().keys() == {option.opts[0] for option in OPTIONS}


def test_the_hosting_guide_has_every_variable_of_the_compose_file() -> None:
    text = COMPOSE_FILE.read_text(encoding="utf-8")
    yaml.safe_load(text)
    for name, default in re.findall(r"\$\{(\w+):-([^}]*)\}", text):
        assert re.search(rf"^\| `{name}` \| `?{re.escape(default) or '[^|]*'}`? \|", HOSTING, re.M)


def commands() -> list[str]:
    """Every command line of ours in a block of code of the documents."""
    found = []
    for document in DOCUMENTS:
        blocks = re.findall(r"^```\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S)
        lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
        found += [line for line in lines if re.match(r"klondike(-server)? ", line)]
    return sorted(set(found))


@pytest.mark.parametrize("line", commands())
def test_every_command_in_the_documents_can_be_given(line: str) -> None:
    program, *words = shlex.split(line)
    if program == "klondike-server":
        server_command.make_context(program, words)
        return
    name = words.pop(0) if words[0] in client_command.commands else "play"
    client_command.commands[name].make_context(name, words)


def test_the_architecture_has_a_place_for_every_part_of_the_server() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `server/.*? \|", architecture, re.M)
    named = re.findall(r"`(?:server/)?([\w.]+)/?`", "".join(rows))
    server = ROOT / "server"
    found = [path.name for path in server.glob("[a-z]*.py")]
    found += [path.parent.name for path in server.glob("*/__init__.py")]
    assert sorted(named) == sorted(found)


def test_the_readme_has_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"^(\w+): ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert {"race", "test"} <= set(targets)
    assert set(re.findall(r"^make (\w+)", readme, re.M)) == {"race", "test"}
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`make (\w+)", contributing)) <= set(targets)
