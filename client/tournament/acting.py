"""The organiser's acts as commands: each is one act of `wire.acts`, with its reason."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

import click

from client.options import Number, at_most
from client.tournament import plan
from client.tournament.errand import Errand, person
from client.tournament.papers import read_roll, read_text
from client.tournament.scene import Scene
from wire import acts as a
from wire.acts import AnyAct
from wire.lines import MatchLine

C = TypeVar("C", bound=Callable[..., Any])

OPEN_CHECK_IN: Final = "Ask the players to say that they are there; only who does will start."
PAUSE: Final = "Let nothing new start; races that run are raced to their end."
CHECK_IN_FOR: Final = "Say for a player that they are there."
REINSTATE: Final = "Take a player in again who was put out or has left."
SUMMON: Final = "Call a player once more to the race that waits, on all their connections."
READMIT: Final = "Take a player in again who has left, as if they had come back by themselves."

WHY_LENGTH: Final = 200

code = click.argument("code")
player = click.argument("player")
match = click.argument("match")
yes = click.option("--yes", is_flag=True, help="Ask nothing; confirm what would be asked.")


def why(*, needed: bool) -> Callable[[C], C]:
    """Let a command take the reason, which goes into the audit log."""
    fits = at_most(WHY_LENGTH)

    def read(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
        return fits(ctx, param, value) or ""

    # No default: with one, even None, click takes a reason that is needed as given.
    return click.option(
        "--why", required=needed, callback=read, help="The reason, for the audit log."
    )


def _whole(name: str, make: Callable[[], AnyAct], text: str, *, needs_why: bool) -> click.Command:
    """Make the command of an act on the tournament as a whole."""

    @click.command(name, help=text)
    @code
    @why(needed=needs_why)
    @click.pass_context
    def command(ctx: click.Context, code: str, why: str) -> None:
        Errand(ctx, code).direct(lambda scene, sure: make(), why)

    return command


def _of_player(
    name: str, make: Callable[..., AnyAct], text: str, *, needs_why: bool
) -> click.Command:
    """Make the command of an act on one player."""

    @click.command(name, help=text)
    @code
    @player
    @why(needed=needs_why)
    @click.pass_context
    def command(ctx: click.Context, code: str, player: str, why: str) -> None:
        Errand(ctx, code).direct(lambda scene, sure: make(player=person(scene, player).entry), why)

    return command


def _of_match(name: str, make: Callable[..., AnyAct], text: str) -> click.Command:
    """Make the command of an act on one match, which may discard others."""

    @click.command(name, help=text)
    @code
    @match
    @why(needed=True)
    @yes
    @click.pass_context
    def command(ctx: click.Context, code: str, match: str, why: str, yes: bool) -> None:
        Errand(ctx, code, yes=yes).direct(lambda scene, sure: make(match=match, confirm=sure), why)

    return command


@click.command("extend")
@code
@click.argument("what", type=click.Choice(["start", "round-start", "round", "arena"]))
@click.argument("minutes", type=Number(1 / 60, 10_080))
@why(needed=False)
@click.pass_context
def extend(ctx: click.Context, code: str, what: str, minutes: float, why: str) -> None:
    """Put off the start, the start or the deadline of the round, or an arena's end."""
    kind = cast(Literal["start", "round-start", "round", "arena"], what)
    act = a.Extend(what=kind, seconds=max(1, round(60 * minutes)))
    Errand(ctx, code).direct(lambda scene, sure: act, why)


@click.command("override")
@code
@match
@click.argument("order", nargs=-1, required=True, metavar="PLAYER...")
@why(needed=True)
@yes
@click.pass_context
def override(
    ctx: click.Context, code: str, match: str, order: tuple[str, ...], why: str, yes: bool
) -> None:
    """Decide a match: its players best first; = joins equal ones, as in ann=bob cem.

    The others of the match may be left out where one is named: they are equal behind.
    """
    Errand(ctx, code, yes=yes).direct(
        lambda scene, sure: a.Override(
            match=match, places=places(scene, match, order), confirm=sure
        ),
        why,
        match=match,
    )


def places(scene: Scene, match: str, order: Sequence[str]) -> list[list[str]]:
    """Give the places that an order of names stands for."""
    named = [[person(scene, name).entry for name in equals(scene, each)] for each in order]
    known: MatchLine | None = scene.matches.get(match)
    if known is None:
        return named
    said = {entry for place in named for entry in place}
    rest = [entry for entry in known.entries if entry not in said]
    return [*named, rest] if rest else named


def equals(scene: Scene, text: str) -> list[str]:
    """Read names with = between them; one may have that sign in it."""
    return [text] if scene.named(text) else text.split("=")


@click.command("substitute")
@code
@player
@click.argument("substitute")
@why(needed=True)
@click.pass_context
def substitute(ctx: click.Context, code: str, player: str, substitute: str, why: str) -> None:
    """Let SUBSTITUTE, a player's id on this server, play on in a player's place."""
    Errand(ctx, code).direct(
        lambda scene, sure: a.Substitute(player=person(scene, player).entry, substitute=substitute),
        why,
    )


@click.command("invite")
@code
@click.argument("players", nargs=-1, required=True, metavar="PLAYER...")
@why(needed=False)
@click.pass_context
def invite(ctx: click.Context, code: str, players: tuple[str, ...], why: str) -> None:
    """Enter players by their ids on this server; after the start, late."""
    for each in players:
        _invite(Errand(ctx, code), each, why)


def _invite(errand: Errand, player: str, why: str) -> None:
    errand.direct(lambda scene, sure: a.Invite(player=player), why)


@click.command("seed")
@code
@click.option("--rating", "method", flag_value="rating", help="By rating.")
@click.option("--draw", help="At random, by this public seed.")
@click.option(
    "--list",
    "listed",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="By the names in a CSV file, best first.",
)
@why(needed=False)
@click.pass_context
def seed(
    ctx: click.Context,
    code: str,
    method: str | None,
    draw: str | None,
    listed: Path | None,
    why: str,
) -> None:
    """Set the order of the seeds."""
    if sum(each is not None for each in (method, draw, listed)) != 1:
        raise click.UsageError("say one of --rating, --draw SEED and --list FILE")
    names = read_roll(listed) if listed is not None else []

    def act(scene: Scene, sure: bool) -> a.Seed:
        if draw is not None:
            return a.Seed(method="random", draw=draw)
        if listed is None:
            return a.Seed(method="rating")
        return a.Seed(method="list", order=[person(scene, name).entry for name in names])

    Errand(ctx, code).direct(act, why)


@click.command("repair")
@code
@click.argument("pairs", nargs=-1, metavar="[A:B...]")
@why(needed=True)
@click.pass_context
def repair(ctx: click.Context, code: str, pairs: tuple[str, ...], why: str) -> None:
    """Pair a round again before it starts: by the rules, or by hand with the pairs given.

    By hand, who is in no pair has a bye.
    """

    def act(scene: Scene, sure: bool) -> a.Repair:
        return a.Repair(pairs=[pair_of(scene, each) for each in pairs] if pairs else None)

    Errand(ctx, code).direct(act, why)


def pair_of(scene: Scene, text: str) -> tuple[str, str]:
    """Read two names with a colon between them; they may have one too."""
    cuts = [(text[:at], text[at + 1 :]) for at, sign in enumerate(text) if sign == ":"]
    if not cuts:
        raise click.ClickException(f"{text!r}: write two players as A:B")
    one, other = next((cut for cut in cuts if all(map(scene.named, cut))), cuts[0])
    return person(scene, one).entry, person(scene, other).entry


@click.command("hold")
@code
@click.argument("on", type=click.Choice(["on", "off"]))
@why(needed=False)
@click.pass_context
def hold(ctx: click.Context, code: str, on: str, why: str) -> None:
    """Keep each round's results back until they are published, or do so no longer."""
    Errand(ctx, code).direct(lambda scene, sure: a.Hold(on=on == "on"), why)


@click.command("announce")
@code
@click.argument("text", callback=at_most(200))
@click.pass_context
def announce(ctx: click.Context, code: str, text: str) -> None:
    """Say something to everybody who looks."""
    Errand(ctx, code).direct(lambda scene, sure: a.Announce(text=text))


@click.command("cancel")
@code
@why(needed=True)
@yes
@click.pass_context
def cancel(ctx: click.Context, code: str, why: str, yes: bool) -> None:
    """Call the tournament off."""
    errand = Errand(ctx, code, yes=yes)
    errand.ask(f"This calls tournament {errand.code} off for everybody.")
    errand.direct(lambda scene, sure: a.Cancel(), why)


@click.command("edit")
@code
@click.argument(
    "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False
)
@click.option("--stage", "stages", multiple=True, metavar="SPEC", help="As in create.")
@click.option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="As in create.")
@why(needed=False)
@click.pass_context
def edit(
    ctx: click.Context,
    code: str,
    file: Path | None,
    stages: tuple[str, ...],
    sets: tuple[str, ...],
    why: str,
) -> None:
    """Change the settings before the start: those of FILE, or single ones of those there are."""

    def act(scene: Scene, sure: bool) -> a.Edit:
        assert scene.tournament is not None
        try:
            if file is not None:
                return a.Edit(settings=plan.read(read_text(file), stages, sets))
            return a.Edit(settings=plan.changed(scene.tournament.settings, stages, sets))
        except plan.BadPlan as error:
            raise click.ClickException(str(error)) from None

    Errand(ctx, code).direct(act, why)


COMMANDS: Final = (
    _whole("open-check-in", a.OpenCheckIn, OPEN_CHECK_IN, needs_why=False),
    _whole(
        "close-check-in", a.CloseCheckIn, "Ask no longer; what was said stays.", needs_why=False
    ),
    _whole("start", a.Begin, "Start now, whatever was scheduled.", needs_why=False),
    _whole("pause", a.Pause, PAUSE, needs_why=True),
    _whole("resume", a.Resume, "Go on after a pause.", needs_why=False),
    _whole("publish", a.Publish, "Publish the results of the round that is over.", needs_why=False),
    _of_player("check-in-for", a.CheckInFor, CHECK_IN_FOR, needs_why=False),
    _of_player("disqualify", a.Disqualify, "Put a player out.", needs_why=True),
    _of_player("reinstate", a.Reinstate, REINSTATE, needs_why=True),
    _of_player("readmit", a.Readmit, READMIT, needs_why=False),
    _of_player("summon", a.Summon, SUMMON, needs_why=False),
    _of_player("remove", a.Remove, "Take a player out without blame.", needs_why=False),
    _of_match("restart", a.Restart, "Let a match begin anew on a new deal."),
    _of_match("void", a.VoidMatch, "Let a match count for nobody."),
    override,
    extend,
    substitute,
    invite,
    seed,
    repair,
    hold,
    announce,
    cancel,
    edit,
)
