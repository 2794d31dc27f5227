"""The command `klondike`: every option is also an environment variable `KLONDIKE_…`."""

import asyncio
import json
import logging
import random
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal, cast

import click

from client.archive import record, replay, verify
from client.atterminal import NoTerminal, open_game
from client.bests import bests_file
from client.bot import FULL_PACE, HUMAN_PACE, Bot, BotFailed, Plan
from client.filing import NotWritten
from client.forms import RULES
from client.game import Aim
from client.options import Number, PlayFirst, address, at_most, force_option, group, option
from client.race import RaceOptions, hold
from client.record import RaceFailed
from client.results import as_json as standings_json
from client.results import as_table
from client.style import Wishes
from client.tournament.cli import tournament as tournaments
from client.tournament.entrant import Entrant
from client.whoami import identity_of, login_name
from client.words import room_code
from wire.values import Settings, UndoPolicy

HELP: Final = {"help_option_names": ["-h", "--help"]}


identity_options = group(
    option("--name", callback=at_most(16), help="Your name, up to 16 characters."),
    option(
        "--token-file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Where the secret that makes you the same player again is kept.",
    ),
    option("--fresh", is_flag=True, help="Be a new player, and keep nothing."),
)
race_options = group(
    option(
        "--rules",
        default="double-klondike",
        callback=at_most(200),
        show_default=True,
        help=f"The game ({', '.join(RULES)}), and changes to it, as double-klondike,foundation_return=yes.",
    ),
    option(
        "--seed",
        callback=at_most(64),
        help="A public seed; without one the deal is fair and secret.",
    ),
    option(
        "--time-limit",
        type=click.IntRange(5, 14_400),
        default=900,
        show_default=True,
        help="Seconds that the race lasts at most.",
    ),
    option(
        "--undo",
        type=click.Choice(["off", "safe", "free"]),
        default="off",
        show_default=True,
        help="Which moves may be taken back.",
    ),
    option("--hints/--no-hints", default=True, show_default=True, help="Whether hints are given."),
)


look_options = group(
    option("--ascii", "ascii_cards", is_flag=True, help="Cards in letters only."),
    option("--bell", is_flag=True, help="Ring the terminal's bell when a race is near or over."),
)


@click.group(cls=PlayFirst, context_settings=HELP)
@click.version_option(version("double-klondike"), prog_name="klondike")
def main() -> None:
    """Races of Double Klondike in the terminal.

    Without a command, `klondike [URL]` opens the game at a server.
    """
    logging.getLogger().addHandler(logging.NullHandler())


for command in (tournaments, verify, replay, record):
    main.add_command(command)


@main.command()
@address
@identity_options
@option("--room", callback=at_most(12), help="Go to this room at once.")
@option("--password", default="", help="The room's password.")
@look_options
@option("--doctor", is_flag=True, help="Print what is known of this terminal, and end.")
def play(
    url: str,
    name: str | None,
    token_file: Path | None,
    fresh: bool,
    room: str | None,
    password: str,
    ascii_cards: bool,
    bell: bool,
    doctor: bool,
) -> None:
    """Open the game at a server.

    Without a URL it is the one on this machine, at the usual port.
    """
    if doctor:
        from client.terminal import examination

        click.echo("\n".join(examination()))
        return
    aim = Aim(room=room_code(room) if room else None, password=password)
    _open_game(url, name, token_file, fresh, aim, Wishes(ascii_cards, bell))


@main.command()
@address
@identity_options
@option("--room", required=True, callback=at_most(12), help="The room to watch.")
@option("--password", default="", help="The room's password.")
@look_options
def watch(
    url: str,
    name: str | None,
    token_file: Path | None,
    fresh: bool,
    room: str,
    password: str,
    ascii_cards: bool,
    bell: bool,
) -> None:
    """Watch a room without a seat in it."""
    aim = Aim(room=room_code(room), password=password, watch=True)
    # Somebody who watches is not the player who may be racing in another window.
    _open_game(url, name, token_file, fresh or token_file is None, aim, Wishes(ascii_cards, bell))


def _open_game(
    url: str,
    name: str | None,
    token_file: Path | None,
    fresh: bool,
    aim: Aim,
    wishes: Wishes,
) -> None:
    identity = identity_of(url, token_file, fresh)
    try:
        who = name or identity.name or login_name()
        best_of = None if fresh else bests_file()
        end = open_game(url, identity, name=who, aim=aim, wishes=wishes, best_of=best_of)
    except NoTerminal as error:
        raise click.ClickException(str(error)) from None
    finally:
        identity.close()
    if end.line.status == "ended" and end.line.why:
        raise click.ClickException(end.line.why)


@main.command()
@race_options
@option("--bots", type=click.IntRange(0, 15), help="How many bots; 1, or 2 without you.")
@option("--json", "as_json", is_flag=True, help="Bots only; print the standings as JSON.")
@option(
    "--replay",
    type=click.Path(path_type=Path),
    help="Keep the finished race in this file.",
)
@force_option
@option("--name", callback=at_most(16), help="Your name; without it the one you log in by.")
@option("--host", default="127.0.0.1", show_default=True, help="Where the server listens.")
@option("--port", type=click.IntRange(0, 65_535), default=0, help="Its port; 0 for a free one.")
@option(
    "--moves-per-second",
    type=Number(0.01, FULL_PACE),
    help="How fast the bots play.",
)
@look_options
def race(
    rules: str,
    seed: str | None,
    time_limit: int,
    undo: str,
    hints: bool,
    bots: int | None,
    as_json: bool,
    replay: Path | None,
    force: bool,
    name: str | None,
    host: str,
    port: int,
    moves_per_second: float | None,
    ascii_cards: bool,
    bell: bool,
) -> None:
    """Hold a race on this machine: a server, bots, and you.

    Without a terminal, or with --json, the bots play it out.
    """
    plays = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    opponents = bots if bots is not None else (1 if plays else 2)
    if not plays and opponents < 1:
        raise click.UsageError("a race without you needs at least one bot (--bots)")
    settings = Settings(
        rules=rules,
        seed=seed,
        time_limit_s=time_limit,
        seats=min(16, max(8, opponents + 2)) if plays else opponents,
        undo=cast(UndoPolicy, undo),
        hints=hints,
        start="ready" if plays else "host",
        countdown_s=3 if plays else 1,
        public=plays,
    )
    options = RaceOptions(
        settings=settings,
        bots=opponents,
        name=name or login_name(),
        plays=plays,
        as_json=as_json,
        replay=replay,
        force=force,
        host=host,
        port=port,
        moves_per_second=moves_per_second,
        wishes=Wishes(ascii_cards, bell),
    )
    try:
        sys.exit(hold(options))
    except (RaceFailed, NotWritten) as failure:
        raise click.ClickException(str(failure)) from None
    except KeyboardInterrupt:
        sys.exit(130)


@main.command()
@address
@identity_options
@race_options
@option("--room", help="The room to join; without it the first open one.")
@option("--create", is_flag=True, help="Open a room with these rules instead of joining one.")
@option("--tournament", callback=at_most(12), help="Enter this tournament and play it to its end.")
@option("--password", default="", help="The room's password.")
@option(
    "--pace",
    type=click.Choice(["full", "human"]),
    default="full",
    show_default=True,
    help="How fast it plays.",
)
@option("--moves-per-second", type=Number(0.01, FULL_PACE), help="Its exact pace.")
@option("--rematches", is_flag=True, help="Play every rematch too, until the server ends.")
@option("--json", "as_json", is_flag=True, help="Print the standings as JSON.")
@option("--quiet", is_flag=True, help="Print no standings.")
def bot(
    url: str,
    name: str | None,
    token_file: Path | None,
    fresh: bool,
    room: str | None,
    create: bool,
    tournament: str | None,
    password: str,
    pace: Literal["full", "human"],
    moves_per_second: float | None,
    rematches: bool,
    as_json: bool,
    quiet: bool,
    **rules: Any,
) -> None:
    """Let a program play one race, or a tournament."""
    speed = moves_per_second or (HUMAN_PACE if pace == "human" else FULL_PACE)
    if tournament is not None:
        _bot_in_tournament(url, name, token_file, fresh, tournament, speed, quiet)
        return
    settings = _bot_settings(**rules) if create else None
    plan = Plan(
        room=room_code(room) if room else None,
        settings=settings,
        password=password,
        moves_per_second=speed,
        rematches=rematches,
    )
    # A bot is somebody new each time, unless it is told to be somebody.
    identity = identity_of(url, token_file, fresh or token_file is None)
    player = Bot(url, identity, name or identity.name or "bot", plan, random.Random())
    try:
        result = asyncio.run(player.run())
    except BotFailed as failure:
        raise click.ClickException(str(failure)) from None
    except KeyboardInterrupt:
        sys.exit(130)
    played = player.state.room
    if played is None or quiet:
        return
    if as_json:
        click.echo(json.dumps(standings_json(played, result)))
    else:
        click.echo("\n".join(as_table(played, result)))


def _bot_in_tournament(
    url: str,
    name: str | None,
    token_file: Path | None,
    fresh: bool,
    code: str,
    speed: float,
    quiet: bool,
) -> None:
    identity = identity_of(url, token_file, fresh or token_file is None)
    who = name or identity.name or "bot"
    player = Entrant(url, identity, who, room_code(code), speed, random.Random())
    try:
        place = asyncio.run(player.take_part())
    except BotFailed as failure:
        raise click.ClickException(str(failure)) from None
    except KeyboardInterrupt:
        sys.exit(130)
    if not quiet:
        rank = f"place {place.place}" if place.place is not None else "no place"
        click.echo(f"{who}: {place.phase}, {place.status}, {rank}")


def _bot_settings(
    rules: str, seed: str | None, time_limit: int, undo: UndoPolicy, hints: bool
) -> Settings:
    return Settings(rules=rules, seed=seed, time_limit_s=time_limit, undo=undo, hints=hints)
