"""The commands of players: be somebody, take a place, say that one is there, go and come back."""

import asyncio
from typing import Final

import click

from client.identity import Identity, adopt
from client.organiser import OrganiserFailed
from client.tournament.acting import code, why
from client.tournament.errand import Errand
from client.tournament.office import Office
from client.whoami import identity_of, login_name
from client.words import clean
from wire.messages import ClientMessage
from wire.tournaments import (
    CheckIn,
    Enter,
    Place,
    Rejoin,
    Withdraw,
)


class _Verbatim(click.Command):
    """A command of one word that is taken as it stands: of 64 tokens one begins with a dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if len(args) == 1 and args[0] not in ctx.help_option_names:
            args = ["--", *args]
        return super().parse_args(ctx, args)


@click.command(cls=_Verbatim)
@click.argument("token")
@click.pass_context
def claim(ctx: click.Context, token: str) -> None:
    """Be the player of a token that an organiser handed out, from now on in this terminal."""
    server = Errand(ctx).server
    identity = Identity()
    identity.token = token

    async def name() -> str:
        async with Office(server, identity, None) as office:
            return office.state.name

    if not 20 <= len(token) <= 100:
        raise click.ClickException("that is no token")
    try:
        found = asyncio.run(name())
        if identity.token != token:
            raise click.ClickException("nobody on this server has that token")
        adopt(server, token, found)
    except OrganiserFailed as failure:
        raise click.ClickException(str(failure)) from None
    except OSError as error:
        raise click.ClickException(f"the token could not be kept: {error.strerror}") from None
    click.echo(f"You are {clean(found)}; come in with: klondike {server}")


def _take_part(ctx: click.Context, code: str, message: ClientMessage) -> None:
    errand = Errand(ctx, code)
    identity = identity_of(errand.server, None, False)

    async def go() -> Place:
        async with Office(errand.server, identity, identity.name or login_name()) as office:
            return await office.take_part(message)  # type: ignore[arg-type]

    try:
        place = asyncio.run(go())
    except OrganiserFailed as failure:
        raise click.ClickException(str(failure)) from None
    finally:
        identity.close()
    seed = f", seed {place.seed}" if place.seed is not None else ""
    mark = " and checked in" if place.checked else ""
    standing = (
        "You have no place." if place.entry is None else f"You are {place.status}{mark}{seed}."
    )
    click.echo(standing)


@click.command()
@code
@click.pass_context
def enter(ctx: click.Context, code: str) -> None:
    """Take a place; then `klondike` brings you to your races."""
    _take_part(ctx, code, Enter(tournament=Errand(ctx, code).code))


@click.command("check-in")
@code
@click.pass_context
def check_in(ctx: click.Context, code: str) -> None:
    """Say that you are there."""
    _take_part(ctx, code, CheckIn(tournament=Errand(ctx, code).code))


@click.command()
@code
@why(needed=False)
@click.pass_context
def withdraw(ctx: click.Context, code: str, why: str) -> None:
    """Give your place up."""
    _take_part(ctx, code, Withdraw(tournament=Errand(ctx, code).code, why=why))


@click.command()
@code
@click.pass_context
def rejoin(ctx: click.Context, code: str) -> None:
    """Come back after having withdrawn."""
    _take_part(ctx, code, Rejoin(tournament=Errand(ctx, code).code))


TAKING_PART: Final = (claim, enter, check_in, withdraw, rejoin)
