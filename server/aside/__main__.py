"""The process aside: pieces of work in, answers out, until nobody is at the other end."""

import os
import pickle
import sys
from typing import Any, BinaryIO

from server.aside import LENGTH


def answer(data: bytes) -> bytes:
    """Do a piece of work; gives whether it was done, and what came of it."""
    try:
        work, args, named = pickle.loads(data)
        found: tuple[bool, Any] = (True, work(*args, **named))
    except Exception as error:
        found = (False, error)
    try:
        return pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # what came of it cannot be sent: that is a fault in the work
        return pickle.dumps((False, RuntimeError(f"{found[1]!r}: {error!r}")))


def serve(pieces: BinaryIO, answers: BinaryIO) -> None:
    """Do one piece after the other."""
    while len(length := pieces.read(LENGTH)) == LENGTH:
        found = answer(pieces.read(int.from_bytes(length)))
        answers.write(len(found).to_bytes(LENGTH) + found)
        answers.flush()


def main() -> None:
    """Serve whoever started this process."""
    # Whatever a library prints is none of the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, answers)
    except BrokenPipeError:
        os._exit(0)  # the node has died: nobody is there to be told, and nothing to put away


if __name__ == "__main__":
    main()
