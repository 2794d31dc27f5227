"""The files that commands read and write; what is wrong with one ends the command in a line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from client.filing import NotWritten
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


@contextmanager
def written() -> Iterator[None]:
    """End the command in a line where a file is not written in the block."""
    try:
        yield
    except NotWritten as failure:
        raise click.ClickException(str(failure)) from None
