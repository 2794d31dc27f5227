"""What every command needs: which server, which key, and a line on which to ask."""

import asyncio
import shutil
import sys
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from client.address import DEFAULT_URL
from client.identity import open_identity
from client.options import option, read_address
from client.organiser import OrganiserFailed
from client.tournament import keyring
from client.tournament.keyring import Keys
from client.tournament.office import Office
from client.tournament.scene import Scene
from client.words import room_code
from wire.acts import AnyAct
from wire.lines import Entrant

T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., object])

NAME = "organiser"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was said in front of the command."""

    server: str | None
    key: str
    key_file: Path
    yes: bool


def server_option(command: C) -> C:
    """Let a command take the server's address."""

    def read(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        return read_address(ctx, param, value) if value is not None else None

    return click.option(
        "--server",
        envvar="KLONDIKE_URL",
        show_envvar=True,
        callback=read,
        metavar="URL",
        help="The server; without it the one that the tournament was opened on from here.",
    )(command)


def key_options(command: C) -> C:
    """Let a command take the organiser's key."""
    command = option(
        "--key-file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Where the keys of your tournaments are kept.",
    )(command)
    return click.option(
        "--key",
        envvar="KLONDIKE_TOURNAMENT_KEY",
        show_envvar=True,
        help="The owner's or the referee's key; better in the variable, which others do not see.",
    )(command)


def chosen(ctx: click.Context) -> Chosen:
    """Give what was said in front of the command."""
    found = ctx.find_object(Chosen)
    assert found is not None
    return found


class Errand:
    """One tournament, as a command goes about it."""

    def __init__(self, ctx: click.Context, code: str = "", *, yes: bool = False) -> None:
        said = chosen(ctx)
        self.code = room_code(code)
        self.key_file = said.key_file
        kept = keyring.load(said.key_file).get(self.code, Keys(""))
        self.server = said.server or kept.server or DEFAULT_URL
        self.key = said.key or kept.best
        self.yes = yes or said.yes

    def key_or_end(self) -> str:
        """Give the key; without one the command ends."""
        if not self.key:
            raise click.ClickException(
                f"there is no key of tournament {self.code} here: give it in "
                "KLONDIKE_TOURNAMENT_KEY or with --key"
            )
        return self.key

    def run(self, work: Callable[[Office], Awaitable[T]]) -> T:
        """Ask the server; what it will not do ends the command in one line."""
        try:
            return self.tried(work)
        except OrganiserFailed as failure:
            raise click.ClickException(str(failure)) from None

    def tried(self, work: Callable[[Office], Awaitable[T]]) -> T:
        """Ask the server.

        Raises:
            OrganiserFailed: it will not do it, or does not answer.
        """

        async def go() -> T:
            # Somebody of its own: an organiser's line is no player's.
            identity = open_identity(f"{self.server}#organiser")
            try:
                async with Office(self.server, identity, NAME) as office:
                    return await work(office)
            finally:
                identity.close()

        try:
            return asyncio.run(go())
        except KeyboardInterrupt:
            sys.exit(130)

    def direct(
        self, act: Callable[[Scene, bool], AnyAct], why: str = "", *, match: str = ""
    ) -> None:
        """Have an act done; what would discard something is asked about first.

        `act` is made of the tournament as it stands, with the round of `match` if one is named,
        and of whether that is confirmed.
        """
        key = self.key_or_end()

        async def once(office: Office, confirm: bool) -> None:
            scene = await office.show(self.code, key)
            number, _, _ = match.partition(".")
            if match not in scene.matches and number.isdecimal() and int(number) > 0:
                await office.round(self.code, int(number), key)
                scene = office.scene
            await office.direct(self.code, key, act(scene, confirm), why)

        try:
            self.tried(lambda office: once(office, self.yes))
        except OrganiserFailed as failure:
            if failure.code != "needs-confirm":
                raise click.ClickException(str(failure)) from None
            self.ask(str(failure))
            self.run(lambda office: once(office, True))
        click.echo("done")

    def ask(self, question: str) -> None:
        """Have somebody at the terminal confirm; nobody there, or a no, ends the command."""
        if self.yes:
            return
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise click.ClickException(f"{question} Say it again with --yes.")
        if not click.confirm(f"{asked(question)}\nDo it?", default=False):
            raise click.ClickException("nothing was done")


def asked(question: str) -> str:
    """Break a question between words, where the terminal would do so within a number."""
    columns = shutil.get_terminal_size().columns
    return textwrap.fill(question, columns, break_long_words=False, break_on_hyphens=False)


def person(scene: Scene, named: str) -> Entrant:
    """Find an entrant by name or id.

    Raises:
        click.ClickException: there is none, or more than one.
    """
    found = scene.named(named)
    if not found:
        raise click.ClickException(f"{named!r} is no player of this tournament")
    if len(found) > 1:
        seeds = list(scene.people)
        each = ", ".join(f"{one.entry} (seed {seeds.index(one.entry) + 1})" for one in found)
        raise click.ClickException(f"{named!r} may be several players; say which by id: {each}")
    return found[0]
