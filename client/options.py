"""How the command line is read: what may be left out, and options that are variables too."""

import difflib
import errno
import math
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import click

from client.address import DEFAULT_URL, BadAddress, server_url
from wire.text import tidied

C = TypeVar("C", bound=Callable[..., Any])

_OF_THE_GROUP = ("-h", "--help", "--version")
# What a full disk, a quota, a limit or a broken device says; a reader that is gone is nobody's fault.
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class PlayFirst(click.Group):
    """A group whose command may be left out: what is no command is an address to play at."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command, whatever the standard streams are."""
        _hold_streams()
        try:
            try:
                return super().main(*args, **extra)
            finally:
                sys.stdout.flush()
        except OSError as error:
            if error.filename is not None or error.errno not in (errno.EPIPE, *_NO_ROOM):
                raise
            # What is still buffered would fail once more when the interpreter ends.
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if error.errno in _NO_ROOM:
                click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
            sys.exit(1)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `play` in front of arguments that name no command."""
        if not args or (args[0] not in self.commands and args[0] not in _OF_THE_GROUP):
            if args and _is_bare_word(args[0]) and not _is_host(args[0]):
                raise click.UsageError(self._unknown(args[0]), ctx)
            args = ["play", *args]
        return super().parse_args(ctx, args)

    def _unknown(self, word: str) -> str:
        near = difflib.get_close_matches(word, self.commands, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        commands = ", ".join(sorted(self.commands))
        return f"{word!r} is no command and no host; {meant}Commands: {commands}."


class Number(click.FloatRange):
    """A range in which there is no place for what is not a number."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read a number."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is no number", param, ctx)
        return number


def _hold_streams() -> None:
    """Put the null device where a standard stream was closed, in the order of their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - to the end of the process


def _is_bare_word(text: str) -> bool:
    """Whether a text may be a command mistyped, having nothing of an address or an option."""
    return not text.startswith("-") and not any(sign in text for sign in ".:/[")


def _is_host(name: str) -> bool:
    try:
        return bool(socket.getaddrinfo(name, None))
    except (OSError, UnicodeError):
        return False


def read_address(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Read a server's address as people type it."""
    try:
        return server_url(value)
    except BadAddress as error:
        raise click.BadParameter(str(error), ctx, param) from None


def at_most(length: int) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Make the reading of a text that fits the wire."""

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        if value is None:
            return None
        text = tidied(value)
        if not 1 <= len(text) <= length:
            raise click.BadParameter(f"it takes 1 to {length} characters", ctx, param)
        return text

    return check


def option(*names: str, **settings: Any) -> Callable[[C], C]:
    """Declare an option that is also an environment variable."""
    long = next(name for name in names if name.startswith("--")).split("/")[0]
    variable = "KLONDIKE_" + long.removeprefix("--").replace("-", "_").upper()
    return click.option(*names, envvar=variable, show_envvar=True, **settings)


def group(*options: Callable[[C], C]) -> Callable[[C], C]:
    """Bundle options that several commands share."""

    def decorate(command: C) -> C:
        for each in reversed(options):
            command = each(command)
        return command

    return decorate


address = click.argument(
    "url", callback=read_address, default=DEFAULT_URL, envvar="KLONDIKE_URL", required=False
)
force_option = option("--force", is_flag=True, help="Write over a file that is there.")
