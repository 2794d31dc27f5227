"""The commands that show tournaments: `list` and `show`."""

import shutil
import sys
from collections.abc import Sequence
from typing import Final

import click
import msgspec

from client.canvas import Canvas
from client.tournament import export as exports
from client.tournament import ledger, sheets
from client.tournament.acting import code
from client.tournament.bracket import paint_bracket
from client.tournament.errand import Errand
from client.tournament.office import Office
from client.tournament.scene import Scene
from client.words import clean
from wire.reading import PHASES

PARTS: Final = ("players", "pairings", "standings", "bracket", "schedule", "live", "audit")


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def listing(ctx: click.Context, as_json: bool) -> None:
    """List the public tournaments of the server."""
    lines = Errand(ctx).run(lambda office: office.programme())
    if as_json:
        click.echo(msgspec.json.encode(lines))
        return
    rows = [
        [
            sheets.Cell(line.tournament, "own"),
            sheets.Cell(clean(line.title)),
            sheets.Cell(PHASES[line.phase], "dim"),
            sheets.Cell(f"{line.entrants}/{line.places}", right=True),
            sheets.Cell(clean(line.format), "dim"),
        ]
        for line in lines
    ]
    _print(sheets.table(rows) if rows else sheets.table([[sheets.Cell("None is announced.")]]))


@click.command()
@code
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
@click.option("--round", "number", type=click.IntRange(1), help="Pairings of this round.")
@click.option("--stage", type=click.IntRange(1), help="Standings and bracket of this stage.")
@click.option("--ids", is_flag=True, help="Players with their ids.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Letters and signs of ASCII only.")
@click.option("--json", "as_json", is_flag=True, help="All there is to show, as JSON.")
@click.pass_context
def show(
    ctx: click.Context,
    code: str,
    parts: tuple[str, ...],
    number: int | None,
    stage: int | None,
    ids: bool,
    ascii_only: bool,
    as_json: bool,
) -> None:
    """Show a tournament: players, pairings, standings, bracket, schedule, live scores, audit."""
    errand = Errand(ctx, code)

    async def fetch(office: Office) -> tuple[Scene, list[str]]:
        await office.show(errand.code, errand.key)
        if number is not None:
            await office.round(errand.code, number, errand.key)
        if stage is not None:
            await office.stage(errand.code, stage - 1, errand.key)
        if "live" in parts:
            await office.races()
        wants_audit = "audit" in parts
        journal = await office.journal(errand.code, errand.key) if wants_audit else []
        return office.scene, journal

    scene, journal = errand.run(fetch)
    t = scene.tournament
    assert t is not None
    if as_json:
        click.echo(msgspec.json.encode(scene))
        return
    for line in sheets.head(t):
        click.echo(line)
    shown = parts or _usual(scene)
    rounds = [number] if number is not None else open_rounds(scene)
    at_stage = stage - 1 if stage is not None else (t.stage or 0)
    for part in shown:
        click.echo("")
        _show_part(part, scene, journal, rounds, at_stage, ids=ids, ascii_only=ascii_only)


def open_rounds(scene: Scene) -> list[int]:
    """Give the rounds with a match to be decided, one that is played again for instance."""
    t = scene.tournament
    assert t is not None
    return [
        number
        for number, on in scene.pairings.items()
        if number == t.round or any(match.kind is None for match in on.matches)
    ]


def _usual(scene: Scene) -> tuple[str, ...]:
    t = scene.tournament
    assert t is not None
    if t.stage is None:
        return ("players", "schedule")
    if t.phase in ("finished", "cancelled"):
        return ("standings",)
    return ("pairings", "standings", "schedule")


def _show_part(
    part: str,
    scene: Scene,
    journal: list[str],
    rounds: Sequence[int],
    at_stage: int,
    *,
    ids: bool,
    ascii_only: bool,
) -> None:
    t = scene.tournament
    assert t is not None
    match part:
        case "players":
            _print(sheets.players(scene, ids=ids, ascii_only=ascii_only))
        case "pairings" if rounds:
            for index, each in enumerate(rounds):
                if index:
                    click.echo("")
                _print(sheets.pairings(scene, scene.pairings[each], ascii_only=ascii_only))
        case "standings" if at_stage in scene.rankings:
            _print(sheets.standings(scene, scene.rankings[at_stage], ascii_only=ascii_only))
        case "bracket" if at_stage in scene.brackets:
            for slots in scene.brackets[at_stage].groups:
                _print(paint_bracket(scene, slots, ascii_only=ascii_only))
        case "schedule":
            _print(sheets.schedule(t, ascii_only=ascii_only))
        case "live":
            _print(sheets.live(scene, ascii_only=ascii_only))
        case "audit":
            _print(ledger.audit(exports.audit(journal), scene, ascii_only=ascii_only))
        case _:
            click.echo(f"There is no {part} yet.")


def _print(canvas: Canvas) -> None:
    """Print a sheet; a terminal gets what fits its width, a pipe or a file all."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in fitted(canvas, width):
        click.echo(line)


def fitted(canvas: Canvas, width: int | None) -> list[str]:
    """Give a sheet's lines, cut to so many cells; that something was cut is said."""
    lines = "\n".join(canvas.lines()).rstrip("\n").split("\n")
    if width is None or all(canvas.width(line) <= width for line in lines):
        return lines
    shown = Canvas(len(lines), width)
    sheets.blit(shown, canvas, 0, 0)
    return [*shown.lines(), f"(cut at {width} columns; all of it with | less -S)"]
