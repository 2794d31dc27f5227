"""Finished races from a server into replay files."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from client import filing
from client.fairness import head_of
from client.identity import Identity
from client.organiser import Organiser, OrganiserFailed
from client.results import replay_text

NAME = "organiser"


class RaceFailed(Exception):
    """The race could not be held or fetched; the text says why."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was written, and what is wrong with it if anything is."""

    room: str
    entries: int
    fault: str = ""


def fetch(url: str, room: str, password: str, file: Path, *, force: bool = False) -> Fetched:
    """Write the record of a finished race to a file.

    Raises:
        RaceFailed: the server does not give it.
        NotWritten: the file cannot be written, or is there and `force` is not said.
    """
    filing.check(file, force=force)  # before the journey, not after it
    try:
        entries, published = asyncio.run(_entries(url, room, password))
    except OrganiserFailed as failure:
        raise RaceFailed(str(failure)) from None
    head = head_of(entries)
    filing.write(file, replay_text(room, published or head, entries), force=force)
    fault = ""
    if published is not None and published != head:
        fault = f"The record ends in {head}, but the standings were published with {published}."
    return Fetched(room, len(entries), fault)


async def _entries(url: str, room: str, password: str) -> tuple[list[str], str | None]:
    async with Organiser(url, Identity(), NAME) as organiser:
        entries = await organiser.record(room)
        published = await organiser.published(room, password)
    return entries, published.head if published is not None else None
