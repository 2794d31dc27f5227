"""The whole main job in one process tree: a server, bots, and you or nobody at the terminal."""

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from client import filing
from client.atterminal import NoTerminal, open_game
from client.bests import bests_file
from client.children import ChildFailed, Children
from client.game import Aim
from client.identity import Identity
from client.invitation import invitation
from client.organiser import Organiser, OrganiserFailed
from client.record import NAME, RaceFailed
from client.results import as_json, as_table, replay_text
from client.style import Wishes
from wire.messages import Room, Standings
from wire.values import Settings

READY_LIMIT: Final = 30.0  # seconds for a server to listen, and for bots to sit down
_LISTENING: Final = "listening on "


@dataclass(frozen=True, slots=True)
class RaceOptions:
    """What kind of race, and what to do with it."""

    settings: Settings
    bots: int
    name: str
    plays: bool  # a person at this terminal
    as_json: bool = False
    replay: Path | None = None
    force: bool = False  # write over what is there
    host: str = "127.0.0.1"
    port: int = 0
    moves_per_second: float | None = None  # of the bots; None: as suits the race
    wishes: Wishes = field(default_factory=Wishes)


def hold(options: RaceOptions) -> int:
    """Hold a race and give the exit code; every child has ended when this returns.

    Raises:
        RaceFailed: it could not be held.
        NotWritten: it could not be kept.
    """
    if options.replay is not None:
        filing.check(options.replay, force=options.force)  # before the race, not after it
    with (
        _ends_orderly(),
        tempfile.TemporaryDirectory(prefix="klondike-") as folder,
        Children(Path(folder)) as children,
    ):
        try:
            url = _start_server(children, options)
            if options.plays:
                return _play(children, url, options)
            return asyncio.run(_play_out(children, _own(url), options))
        except (ChildFailed, OrganiserFailed, NoTerminal) as failure:
            raise RaceFailed(str(failure)) from None


@contextmanager
def _ends_orderly() -> Iterator[None]:
    """Let SIGTERM and SIGHUP leave by the door that ends the children."""

    def leave(number: int, _: FrameType | None) -> NoReturn:
        sys.exit(128 + number)

    kept = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _start_server(children: Children, options: RaceOptions) -> str:
    data = children.folder / "data"
    data.mkdir(mode=0o700)
    address = ("--host", options.host, "--port", str(options.port))
    kept = ("--data", str(data), "--drain-seconds", "0")
    server = children.start("server", ["-m", "server", *address, *kept])
    printed = server.wait_for(lambda text: _listening(text) is not None, READY_LIMIT)
    return _listening(printed) or ""


def _listening(printed: str) -> str | None:
    found = (line for line in printed.splitlines() if line.startswith(_LISTENING))
    return next((line.removeprefix(_LISTENING).strip() for line in found), None)


def _start_bots(children: Children, url: str, room: str, options: RaceOptions) -> None:
    pace = (
        ("--moves-per-second", str(options.moves_per_second))
        if options.moves_per_second is not None
        else ("--pace", "human" if options.plays else "full")
    )
    rematches = ("--rematches",) if options.plays else ()
    for number in range(1, options.bots + 1):
        arguments = ["-m", "client", "bot", url, "--room", room, "--name", f"bot-{number}"]
        children.start(f"bot-{number}", [*arguments, *pace, *rematches, "--quiet"])


async def _play_out(children: Children, url: str, options: RaceOptions) -> int:
    async with Organiser(url, Identity(), NAME) as organiser:
        opened = await organiser.open_room(options.settings, play=False)
        _start_bots(children, url, opened.room, options)
        await _all_ready(children, organiser, options.bots)
        await organiser.start()
        settings = options.settings
        limit = settings.time_limit_s + settings.countdown_s + READY_LIMIT
        result = await organiser.standings(limit)
        entries = await organiser.record(opened.room) if options.replay is not None else []
    _report(opened, result, entries, options)
    return 0


async def _all_ready(children: Children, organiser: Organiser, bots: int) -> None:
    def are_ready(room: Room | None) -> bool:
        return room is not None and len(room.seats) == bots and all(s.ready for s in room.seats)

    waiting = asyncio.create_task(
        organiser.until(lambda state: are_ready(state.room), READY_LIMIT), name="race-ready"
    )
    while not waiting.done():
        await asyncio.wait({waiting}, timeout=0.2)
        failed = children.failed()
        if failed is not None:
            waiting.cancel()
            raise ChildFailed(f"{failed.name} failed: {failed.last_words}")
    await waiting


def _report(room: Room, result: Standings, entries: list[str], options: RaceOptions) -> None:
    if options.as_json:
        print(json.dumps(as_json(room, result)))
    else:
        print("\n".join(as_table(room, result)))
    # Last: a disk that is full takes nothing but the file away.
    if options.replay is not None:
        text = replay_text(result.room, result.head, entries)
        filing.write(options.replay, text, force=options.force)


def _play(children: Children, url: str, options: RaceOptions) -> int:
    identity = Identity()
    invited, url = invitation(url), _own(url)
    opened = asyncio.run(_take_seat(url, identity, options))
    _start_bots(children, url, opened.room, options)
    aim = Aim(room=opened.room, invitation=invited)
    end = open_game(
        url, identity, name=options.name, aim=aim, wishes=options.wishes, best_of=bests_file()
    )
    if end.result is None:
        print(f"Room {opened.room} was left before its race was over.")
        return 0
    room, result = end.result
    entries = asyncio.run(_record(url, result.room)) if options.replay is not None else []
    _report(room, result, entries, options)
    return 0


async def _take_seat(url: str, identity: Identity, options: RaceOptions) -> Room:
    async with Organiser(url, identity, options.name) as organiser:
        return await organiser.open_room(options.settings, play=True)


async def _record(url: str, room: str) -> list[str]:
    async with Organiser(url, Identity(), NAME) as organiser:
        return await organiser.record(room)


def _own(url: str) -> str:
    """Give the address by which this machine reaches a server that listens everywhere."""
    return url.replace("//0.0.0.0", "//127.0.0.1").replace("//[::]", "//[::1]")
