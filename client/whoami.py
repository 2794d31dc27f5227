"""Who somebody at the command line is: a name for those who gave none, and their player."""

import getpass
from pathlib import Path
from typing import Final

import click

from client.identity import Identity, NoTokenFile, TokenInUse, open_identity
from wire.text import tidied

GUEST: Final = "guest"  # where the system knows no name


def login_name() -> str:
    """Give a name for somebody who chose none."""
    try:
        return tidied(getpass.getuser())[:16].strip() or GUEST
    except (KeyError, OSError):
        return GUEST


def identity_of(url: str, token_file: Path | None, fresh: bool) -> Identity:
    """Give the player to be, or say why it cannot be."""
    try:
        return open_identity(url, token_file=token_file, fresh=fresh)
    except (TokenInUse, NoTokenFile) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot open {token_file}: {error.strerror}") from None
