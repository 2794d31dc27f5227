"""The files that commands read and write; what is wrong with one ends the command in a line."""

import os
from pathlib import Path

import click

from client.tournament import roll


def read_text(file: Path) -> str:
    """Read a text file."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise click.ClickException(
            f"{file}: line {line}: this is no text in UTF-8; save it as such"
        ) from None
    except OSError as error:
        raise click.ClickException(f"cannot read {file}: {error.strerror}") from None


def read_roll(file: Path) -> list[str]:
    """Read a list of names."""
    try:
        return roll.read(read_text(file))
    except roll.BadRoll as error:
        raise click.ClickException(f"{file}: {error}") from None


def read_tokens(file: Path) -> list[tuple[str, str]]:
    """Read names and tokens from what `import` wrote."""
    try:
        return roll.tokens(read_text(file))
    except roll.BadRoll as error:
        raise click.ClickException(f"{file}: {error}") from None


def free(path: Path) -> None:
    """Find out that nothing would be written over: there is no such file, or an empty folder.

    Raises:
        click.ClickException: there is something, or it cannot be looked at.
    """
    try:
        is_free = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    if not is_free:
        raise click.ClickException(
            f"{path} is there already: name another, or say --force to write over it"
        )


def fresh_file(path: Path) -> None:
    """Make an empty file that nobody else may read, in place of none.

    Raises:
        click.ClickException: there is one, or it cannot be made.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise click.ClickException(f"{path} is there already: name another file") from None
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
