"""The command `klondike tournament`: open one, run it, look at it, take its results out."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from client import filing
from client.bot import FULL_PACE
from client.children import SAFE_PATH
from client.filing import NotWritten
from client.options import Number
from client.organiser import OrganiserFailed
from client.tournament import export as exports
from client.tournament import keyring, plan, roll, sheets, troupe
from client.tournament.acting import COMMANDS, code, why
from client.tournament.errand import Chosen, Errand, key_options, person, server_option
from client.tournament.keyring import Keys
from client.tournament.menu import Menu
from client.tournament.office import Office
from client.tournament.papers import read_roll, read_text, read_tokens, written
from client.tournament.scene import Scene
from client.tournament.showing import listing, show
from client.tournament.taking import TAKING_PART
from client.tournament.troupe import Part
from client.words import clean
from wire.acts import Enrol, NewToken
from wire.formats import titled
from wire.lines import Claim
from wire.tournaments import Organise, Webhook


@click.group(cls=Menu, context_settings={"help_option_names": ["-h", "--help"]})
@server_option
@key_options
@click.option("--yes", is_flag=True, help="Ask nothing; confirm what would be asked.")
@click.pass_context
def tournament(
    ctx: click.Context, server: str | None, key: str | None, key_file: Path | None, yes: bool
) -> None:
    """Open a tournament and run it, look at one, or take part.

    A tournament is named by its code. Players are named by name, or by id.
    """
    ctx.obj = Chosen(server, key or "", key_file or keyring.keyring_file(), yes)


for _command in (*COMMANDS, *TAKING_PART, listing, show):
    tournament.add_command(_command)


# --- opening --------------------------------------------------------------------------


@tournament.command()
@click.argument(
    "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False
)
@click.option("--title", help="What it is called, up to 40 characters; else by its code.")
@click.option(
    "--stage",
    "stages",
    multiple=True,
    metavar="SPEC",
    help="A format and its settings, as swiss:rounds=6,qualify=8 or double:final=reset; "
    "repeat it for the stages that follow.",
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting by its name in the file, as race.time_limit_s=600 or start_at=2027-01-15T19:30.",
)
@click.option("--unlisted", is_flag=True, help="Keep it out of the public list.")
@click.option("--json", "as_json", is_flag=True, help="Print code and keys as JSON.")
@click.pass_context
def create(
    ctx: click.Context,
    file: Path | None,
    title: str | None,
    stages: tuple[str, ...],
    sets: tuple[str, ...],
    unlisted: bool,
    as_json: bool,
) -> None:
    """Open a tournament with the settings of FILE (TOML), of the options, or of both.

    Its keys are kept in a file that only you can read, and shown once: give the referee's to
    those who help you.
    """
    errand = Errand(ctx)
    titles = (f"title={title}",) if title is not None else ()
    try:
        settings = plan.read(read_text(file) if file else "", stages, (*sets, *titles))
        plan.check_size(Organise(settings=settings, public=not unlisted))
    except plan.BadPlan as error:
        raise click.ClickException(f"{file or 'the settings'}: {error}") from None
    made = errand.run(lambda office: office.organise(settings, public=not unlisted))
    called = titled(settings, made.tournament).title
    keys = Keys(errand.server, called, made.owner, made.referee)
    try:
        keyring.keep(made.tournament, keys, errand.key_file)
        kept = f"The keys are kept in {errand.key_file}."
    except NotWritten as failure:
        kept = f"The keys could not be kept ({failure}): write them down."
    if as_json:
        click.echo(msgspec.json.encode(made))
        return
    click.echo(f"tournament {made.tournament}   page {_page(errand.server, made.tournament)}")
    click.echo(f"owner's key    {made.owner}")
    click.echo(f"referee's key  {made.referee}")
    click.echo(kept)


def _page(server: str, code: str) -> str:
    return f"{server.replace('ws', 'http', 1)}/t/{code}"


# --- players --------------------------------------------------------------------------


@tournament.command("import")
@code
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write what each player needs to come in; CODE-players.csv by default.",
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@why(needed=False)
@click.pass_context
def import_(
    ctx: click.Context, code: str, file: Path, out: Path | None, force: bool, why: str
) -> None:
    """Make a player of every name in a CSV FILE and enter them.

    The answer is a file that only you can read, with a secret token for each: whoever has it
    is that player. Hand each line to its player. A name that is entered already is left out.
    """
    errand = Errand(ctx, code)
    key = errand.key_or_end()
    names = read_roll(file)
    target = out or Path(f"{errand.code}-players.csv")
    with written():
        filing.check(target, force=force)
    claims: list[Claim] = []
    passed: list[str] = []

    async def enrol(office: Office) -> None:
        for part in roll.messages(names):
            done = await office.enrol(errand.code, key, Enrol(names=part), why)
            is_ours = force or bool(claims)
            claims.extend(done.players)
            passed.extend(done.passed)
            if done.players:  # after each part: a token is given out once
                _keep_claims(target, roll.claims_text(claims, errand.server), force=is_ours)

    errand.run(enrol)
    said = (
        f", {len(passed)} {'was' if len(passed) == 1 else 'were'} entered before" if passed else ""
    )
    click.echo(f"{sheets.counted(len(claims), 'player', 'players')} entered{said}.")
    if claims:
        click.echo(f"{target}: a token for each; hand every line to its player.")


def _keep_claims(target: Path, text: str, *, force: bool) -> None:
    try:
        filing.write(target, text.encode(), force=force, private=True)
    except NotWritten as failure:
        click.echo(text, nl=False)
        raise click.ClickException(f"{failure}; the tokens so far stand above instead") from None


@tournament.command("new-token")
@code
@click.argument("player")
@why(needed=True)
@click.pass_context
def new_token(ctx: click.Context, code: str, player: str, why: str) -> None:
    """Give a player whom `import` has made another token; the former one is dead.

    It is shown once: hand it to the player, who comes in with `claim`.
    """
    errand = Errand(ctx, code)
    key = errand.key_or_end()

    async def renew(office: Office) -> Claim:
        await office.show(errand.code, key)
        act = NewToken(player=person(office.scene, player).entry)
        return (await office.enrol(errand.code, key, act, why)).players[0]

    made = errand.run(renew)
    click.echo(f"{clean(made.name)} comes in with: {roll.way_in(made, errand.server)}")


@tournament.command()
@code
@click.option("--bots", type=click.IntRange(1, 1024), help="So many new ones enter.")
@click.option(
    "--players",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Play those of this file, which import wrote.",
)
@click.option(
    "--moves-per-second",
    type=Number(0.01, FULL_PACE),
    default=1.0,
    show_default=True,
    help="The pace of each.",
)
@click.pass_context
def rehearse(
    ctx: click.Context, code: str, bots: int | None, players: Path | None, moves_per_second: float
) -> None:
    """Have bots play a tournament to its end, all in this one process; Ctrl-C sends them away."""
    errand = Errand(ctx, code)
    if (bots is None) == (players is None):
        raise click.UsageError("say one of --bots and --players")
    parts = troupe.newcomers(bots) if bots is not None else []
    if players is not None:
        parts = [Part(name, token) for name, token in read_tokens(players)]
    click.echo(f"{len(parts)} bots come in; Ctrl-C sends them away.")
    playing = troupe.play(
        errand.server,
        errand.code,
        parts,
        moves_per_second=moves_per_second,
        failed=lambda line: click.echo(line, err=True),
    )
    try:
        places = asyncio.run(playing)
    except KeyboardInterrupt:
        sys.exit(130)
    if not places:
        raise click.ClickException("none of them could play")
    click.echo(f"{troupe.ending(places)}; {len(places)} of {len(parts)} played.")


# --- notices --------------------------------------------------------------------------


@tournament.command()
@code
@click.argument("url", required=False)
@click.option("--rounds/--no-rounds", default=True, show_default=True, help="Tell of rounds.")
@click.option("--results/--no-results", default=True, show_default=True, help="Tell of results.")
@click.option("--end/--no-end", default=True, show_default=True, help="Tell of the end.")
@click.pass_context
def webhook(
    ctx: click.Context, code: str, url: str | None, rounds: bool, results: bool, end: bool
) -> None:
    """Have the server tell URL of rounds and results; without one, nobody any more."""
    errand = Errand(ctx, code)
    message = Webhook(
        tournament=errand.code,
        key=errand.key_or_end(),
        url=url or "",
        rounds=rounds,
        results=results,
        end=end,
    )
    hooked = errand.run(lambda office: office.webhook(message))
    click.echo(f"secret  {hooked.secret}" if hooked.secret else "Nobody is told any more.")


# --- taking it out --------------------------------------------------------------------


@tournament.command()
@code
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--no-replays", is_flag=True, help="Leave the races' replays out.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@click.pass_context
def export(ctx: click.Context, code: str, target: Path, no_replays: bool, force: bool) -> None:
    """Write players, pairings, results, standings, audit, journal and replays.

    TARGET is one archive if it ends in .zip, else a folder of files.
    """
    errand = Errand(ctx, code)
    is_archive = target.suffix == ".zip"
    with written():
        (filing.check if is_archive else filing.check_folder)(target, force=force)

    async def fetch(office: Office) -> dict[str, bytes]:
        scene = await office.browse(errand.code, errand.key)
        journal = await office.journal(errand.code, errand.key)
        replays = {} if no_replays else await _replays(office, scene, journal)
        return exports.files(errand.code, scene, journal, replays)

    content = errand.run(fetch)
    with written():
        if is_archive:
            exports.archive(content, target, force=force)
        else:
            exports.folder(content, target)
    head = json.loads(content["journal.txt"].split(b"\n", 1)[0])["head"]
    count = sum(name.startswith("replays/") for name in content)
    replays = sheets.counted(count, "replay", "replays")
    click.echo(f"{target}: {replays}, journal {head}")


async def _replays(office: Office, scene: Scene, journal: Sequence[str]) -> dict[str, list[str]]:
    """Fetch the races that are over and may be shown; others are left out."""
    found: dict[str, list[str]] = {}
    known = {
        race.room: (match.match, race.state)
        for match in scene.matches.values()
        for race in match.races
    }
    for room in exports.rooms(journal):
        # A room of no match is one of a match that a ruling has discarded. A void race was
        # raced before a restart, or came to nothing: then there may be nothing of it.
        match, state = known.get(room, ("", "raced"))
        if state != "called":
            try:
                found[room] = await office.record(room)
            except OrganiserFailed as failure:
                if match and state == "raced":
                    click.echo(f"no replay of match {match}: {failure}", err=True)
    return found


def _head(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    head = value.strip().lower() if value is not None else None
    if head is not None and not re.fullmatch("[0-9a-f]{64}", head):
        raise click.BadParameter("a head is 64 hexadecimal digits", ctx, param)
    return head


@tournament.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--head",
    metavar="HEX",
    callback=_head,
    help="The journal's head that the tournament's page shows.",
)
def verify(file: Path, head: str | None) -> None:
    """Recount an exported tournament: 0 it is as told, 1 it is not, 2 it cannot be read.

    3 says that it is as told so far, and was exported before the tournament was over.

    With the head from `show`, or from the public page, it is also known to be the record of
    the tournament that was played there.
    """
    # The rules live with the server; this program stays without them.
    compared = [f"--head={head}"] if head is not None else []
    program = [sys.executable, *SAFE_PATH, "-m", "server.recount", *compared, "--", str(file)]
    sys.exit(subprocess.run(program).returncode)


@tournament.command()
@click.pass_context
def keys(ctx: click.Context) -> None:
    """List the tournaments whose keys are kept here."""
    errand = Errand(ctx)
    for number, each in sorted(keyring.load(errand.key_file).items()):
        click.echo(f"{number}  {each.server}  {clean(each.title)}")
