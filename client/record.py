"""Finished races from a server into replay files."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from client.fairness import head_of
from client.identity import Identity
from client.organiser import Organiser, OrganiserFailed
from client.results import replay_lines

NAME = "organiser"


class RaceFailed(Exception):
    """The race could not be held or kept; the text says why."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was written, and what is wrong with it if anything is."""

    room: str
    entries: int
    fault: str = ""


def fetch(url: str, room: str, password: str, file: Path) -> Fetched:
    """Write the record of a finished race to a file.

    Raises:
        RaceFailed: the server does not give it, or the file cannot be written.
    """
    try_writing(file)  # before the journey, not after it
    try:
        entries, published = asyncio.run(_entries(url, room, password))
    except OrganiserFailed as failure:
        raise RaceFailed(str(failure)) from None
    head = head_of(entries)
    write(file, room, published or head, entries)
    fault = ""
    if published is not None and published != head:
        fault = f"The record ends in {head}, but the standings were published with {published}."
    return Fetched(room, len(entries), fault)


async def _entries(url: str, room: str, password: str) -> tuple[list[str], str | None]:
    async with Organiser(url, Identity(), NAME) as organiser:
        entries = await organiser.record(room)
        published = await organiser.published(room, password)
    return entries, published.head if published is not None else None


def try_writing(file: Path) -> None:
    """Find out whether a file can be written, and leave all as it was.

    Raises:
        RaceFailed: it cannot.
    """
    is_new = not file.exists()
    try:
        with file.open("a", encoding="utf-8"):
            pass
        if is_new:
            file.unlink()
    except OSError as error:
        raise RaceFailed(f"cannot write {file}: {error.strerror}") from None


def write(file: Path, room: str, head: str, entries: list[str]) -> None:
    """Write a replay file.

    Raises:
        RaceFailed: it cannot be written.
    """
    try:
        file.write_text("\n".join(replay_lines(room, head, entries)) + "\n", encoding="utf-8")
    except OSError as error:
        raise RaceFailed(f"cannot write {file}: {error.strerror}") from None
