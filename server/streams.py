"""The standard streams: there from the start, and the one line on standard output."""

import os
import sys

from server.config import BadSetting


def hold() -> None:
    """Put the null device where a standard stream was closed.

    Else the next socket would take its number, and what is printed would go to whoever is
    at the other end.
    """
    # In the order of their numbers: each opening takes the lowest that is free.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - to the end of the process


def announce(url: str) -> None:
    """Say where the server is reached; whoever started the process waits for this line.

    Raises:
        BadSetting: standard output does not take it.
    """
    try:
        print(f"listening on {url}", flush=True)
    except OSError as error:
        # What is still buffered would fail once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise BadSetting(
            f"standard output takes no line: {error.strerror}; "
            "send it to a file, or to a program that reads on"
        ) from None
