"""The commands about the file of a finished race: fetch it, check it, tell what happened in it."""

import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import click

from client.children import SAFE_PATH
from client.filing import NotWritten
from client.options import Number, address, at_most, force_option, option
from client.record import RaceFailed, fetch
from client.replay import NoReplay, tell
from client.words import room_code


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def verify(file: Path) -> None:
    """Check a finished race from its file.

    The exit code is 0 where all is as told, 1 where it is not, 2 where the file cannot be read.
    """
    # The rules live with the server; this program stays without them.
    sys.exit(
        subprocess.run([sys.executable, *SAFE_PATH, "-m", "server.verify", str(file)]).returncode
    )


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@option("--player", help="Tell of this player only.")
@option(
    "--speed",
    type=Number(0.1, 1000),
    help="Tell it as it happened, so many times as fast; without it, all at once.",
)
def replay(file: Path, player: str | None, speed: float | None) -> None:
    """Tell a finished race from its file.

    The exit code is 2 where the file cannot be read.
    """
    try:
        told = tell(file.read_text(encoding="utf-8"))
    except OSError as error:
        _unreadable(file, error.strerror or type(error).__name__)
    except UnicodeDecodeError:
        _unreadable(file, "this is no text in UTF-8")
    except NoReplay as error:
        _unreadable(file, str(error))
    names = list(dict.fromkeys(each.player for each in told if each.player))
    if player is not None and player not in names:
        _unreadable(file, f"nobody in it is called {player}; there are {', '.join(names)}")
    shown = [each for each in told if player is None or each.player in ("", player)]
    try:
        for before, each in zip([None, *shown], shown, strict=False):
            if speed is not None and before is not None:
                time.sleep(max(0, each.at_ms - before.at_ms) / 1000 / speed)
            click.echo(f"{each.at_ms / 1000:9.3f}  {each.player:<16}  {each.text}")
    except KeyboardInterrupt:
        sys.exit(130)


def _unreadable(file: Path, why: str) -> NoReturn:
    click.echo(f"{file}: {why}", err=True)
    sys.exit(2)


@click.command()
@address
@option("--room", required=True, callback=at_most(12), help="The room whose race is over.")
@option("--password", default="", help="The room's password.")
@force_option
@click.argument("file", type=click.Path(path_type=Path))
def record(url: str, room: str, password: str, force: bool, file: Path) -> None:
    """Fetch a finished race from a server into FILE.

    `klondike verify` checks such a file, `klondike replay` tells what happened.
    """
    try:
        fetched = fetch(url, room_code(room), password, file, force=force)
    except (RaceFailed, NotWritten) as failure:
        raise click.ClickException(str(failure)) from None
    click.echo(f"{file}: {fetched.entries} entries of room {fetched.room}.")
    if fetched.fault:
        raise click.ClickException(fetched.fault)
