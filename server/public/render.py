"""Pages from sheets: pure, the same bytes for the same sheet."""

import hashlib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any, Final

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from server.public import figures, rows, words
from server.public.sheet import Sheet
from wire.lines import TournamentLine
from wire.reading import HELD, PHASES
from wire.tournaments import Pairings, Tournament

ARENA_MATCHES: Final = 60  # shown at most
LINKS: Final = 60  # to earlier rounds, at most

STATIC: Final = {
    "style.css": "text/css; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
}


def static_files() -> dict[str, tuple[str, bytes]]:
    """Give the files beside the pages by their path: media type and bytes.

    A path carries the hash of its content, so that a browser may keep it for ever.
    """
    found = {}
    for name, kind in STATIC.items():
        content = resources.files("server.public").joinpath("static", name).read_bytes()
        stem, _, ending = name.partition(".")
        mark = hashlib.sha256(content).hexdigest()[:12]
        found[f"/t/-/{stem}-{mark}.{ending}"] = (kind, content)
    return found


def _environment() -> Environment:
    # A template is compiled when a page first needs it, in the thread that makes the page: all
    # of them cost each process of a host a fifth of its start, and most never serve a page.
    made = Environment(
        loader=PackageLoader("server.public"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["instant"] = words.instant
    made.filters["machine_instant"] = words.machine_instant
    made.globals["static"] = dict(zip(STATIC, static_files(), strict=True))
    made.globals["box_width"] = figures.BOX_WIDTH
    made.globals["box_height"] = figures.BOX_HEIGHT
    made.globals["phases"] = PHASES
    return made


_pages: Final = _environment()


def tournament(sheet: Sheet, board: str, live: str) -> bytes:
    """Give the page of a tournament around its sections, made by `board` and `live`."""
    return _page(
        "tournament.html", _title(sheet), sheet=sheet, board=Markup(board), live=Markup(live)
    )


def board(sheet: Sheet) -> str:
    """Give the sections of a tournament's page, but for the races that run."""
    return _pages.get_template("board.html").render(**_board(sheet))


def live(sheet: Sheet) -> str:
    """Give the section of the races that run."""
    return _pages.get_template("live.html").render(live=rows.live_tables(sheet))


def one_round(sheet: Sheet, number: int) -> bytes | None:
    """Give the page of a round; None where the sheet has none of that number."""
    on = sheet.pairings.get(number)
    if on is None:
        return None
    title = f"Round {number}: {_title(sheet)}"
    return _page("round.html", title, sheet=sheet, **_round(sheet, on))


def stage(sheet: Sheet, number: int) -> bytes | None:
    """Give the page of a stage's standings and bracket; None where it has not begun."""
    ranking = sheet.rankings.get(number)
    if ranking is None:
        return None
    return _page(
        "stage.html",
        f"Stage {number + 1}: {_title(sheet)}",
        sheet=sheet,
        stage=number,
        standings=rows.tables(sheet, ranking),
        drawings=_drawings(sheet, number),
    )


def listing(lines: Iterable[TournamentLine]) -> bytes:
    """Give the page of all tournaments."""
    return _page("list.html", "Tournaments", lines=list(lines))


def nothing(heading: str, text: str) -> bytes:
    """Give a page that says why there is no other."""
    return _page("nothing.html", heading, heading=heading, text=text)


def _page(template: str, title: str, **parts: Any) -> bytes:
    return _pages.get_template(template).render(title=title, **parts).encode()


def _title(sheet: Sheet) -> str:
    return sheet.tournament.settings.title or sheet.tournament.tournament


def _board(sheet: Sheet) -> Mapping[str, Any]:
    t = sheet.tournament
    current = _current(sheet)
    ranking = sheet.rankings.get(t.stage) if t.stage is not None else None
    return {
        "sheet": sheet,
        "phase": PHASES[t.phase],
        "round_text": _round_text(t),
        "heading": "Matches" if t.ends is not None else f"Round {t.round}",
        "current": current,
        **(_round(sheet, current) if current is not None else {"matches": [], "byes": []}),
        "standings": rows.tables(sheet, ranking) if ranking is not None else [],
        "drawings": _drawings(sheet, t.stage) if t.stage is not None else [],
        "schedule": schedule(t),
        "earlier_rounds": range(max(1, (t.round or 1) - LINKS), t.round or 1),
        "earlier_stages": range(t.stage or 0),
    }


def _current(sheet: Sheet) -> Pairings | None:
    """Give the round that is on; of an arena, the matches that are on and the newest others."""
    t = sheet.tournament
    if t.round is None or t.ends is None:
        return sheet.pairings.get(t.round or 0)
    newest_first = sorted(sheet.pairings.items(), reverse=True)
    found = [match for _, on in newest_first for match in on.matches]
    newest = sorted(found, key=lambda match: match.kind is not None)[:ARENA_MATCHES]
    last = sheet.pairings.get(t.round)
    return msgspec.structs.replace(last, matches=newest) if last is not None else None


def _round(sheet: Sheet, on: Pairings) -> Mapping[str, Any]:
    return {"on": on, "matches": rows.match_rows(sheet, on), "byes": rows.bye_rows(sheet, on)}


def _drawings(sheet: Sheet, number: int) -> list[tuple[str, figures.Drawing]]:
    found = sheet.brackets.get(number)
    groups = found.groups if found is not None else []
    return [
        (f"Bracket of group {index}" if len(groups) > 1 else "Bracket", drawn)
        for index, drawn in enumerate((figures.drawing(sheet, slots) for slots in groups), 1)
    ]


def _round_text(t: Tournament) -> str:
    if t.round is None or t.phase not in ("running", "paused"):
        return ""
    if t.ends is not None:
        return f"pairing {t.round}"
    left = f", {t.open} {'match' if t.open == 1 else 'matches'} to be decided" if t.open else ""
    return f"round {t.round}{f', {HELD}' if t.held and not t.open else left}"


def schedule(t: Tournament) -> list[tuple[int, str]]:
    """Give what has an instant, in order of time."""
    found: list[tuple[int, str]] = []
    if t.starts is not None:
        before = t.phase in ("draft", "check-in")
        found.append((t.starts, "The tournament starts." if before else "The tournament started."))
        if before and t.settings.check_in_s is not None:
            found.append((t.starts - 1000 * t.settings.check_in_s, "Check-in opens."))
    if t.phase in ("running", "paused"):
        if t.round is not None and t.round_starts is not None and t.ends is None:
            found.append((t.round_starts, f"Round {t.round} starts."))
            found += [(late.at, f"Match {late.match} starts.") for late in t.late]
        if t.deadline is not None:
            found.append((t.deadline, f"Round {t.round} has to be over."))
        if t.ends is not None:
            found.append((t.ends, "Pairing stops."))
    return sorted(found)
