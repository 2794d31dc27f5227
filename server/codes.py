"""Codes of rooms and tournaments: short enough to be read aloud."""

import secrets
from typing import Final

CODE_LETTERS: Final = "ABCDEFGHJKMNPQRSTVWXYZ"  # none that is read as another letter or a digit
CODE_LENGTH: Final = 6


def new_code() -> str:
    """Give a random code."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))


def new_room_code() -> str:
    """Give a random code for a race's room, longer than those that people type."""
    return new_code() + new_code()[:4]


def read_code(text: str) -> str:
    """Read a code as people type it."""
    return text.strip().upper()
