"""Standings, pairings, players, schedule, live scores, one's own way and the audit log.

Pure. Each is a canvas as wide and as long as it needs: the command line prints it whole, the
screen shows the part that fits.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from client.canvas import Canvas
from client.style import Ink
from client.tournament.scene import Scene
from client.words import clean, span
from wire.lines import (
    LiveRace,
    MatchLine,
    Notice,
    PathLine,
)
from wire.reading import (
    HELD,
    PHASES,
    TIMES,
    column,
    own_start,
    points,
    round_start,
    won,
)
from wire.tournaments import (
    Pairings,
    Place,
    Ranking,
    Tournament,
)

NAME: Final = 16
BAR: Final = 26


@dataclass(frozen=True, slots=True)
class Cell:
    """A text in its ink, at the left or the right of its column."""

    text: str
    ink: Ink = "plain"
    right: bool = False


Row = Sequence[Cell]
EMPTY: Final = Cell("")


def table(rows: Sequence[Row], *, ascii_only: bool = False) -> Canvas:
    """Paint rows of cells, each column as wide as its widest cell."""
    ruler = Canvas(0, 0, ascii_only=ascii_only)
    count = max((len(row) for row in rows), default=0)
    widths = [
        max((ruler.width(row[at].text) for row in rows if at < len(row)), default=0)
        for at in range(count)
    ]
    canvas = Canvas(len(rows), sum(widths) + 2 * count, ascii_only=ascii_only)
    for number, row in enumerate(rows):
        col = 0
        for cell, width in zip(row, widths, strict=False):
            if cell.right:
                canvas.put_right(number, col + width, cell.text, cell.ink)
            else:
                canvas.put(number, col, cell.text, cell.ink)
            col += width + 2
    return canvas


def stacked(parts: Sequence[Canvas], *, ascii_only: bool = False) -> Canvas:
    """Paint canvases under each other, with a row between them."""
    shown = [part for part in parts if part.rows]
    rows = sum(part.rows + 1 for part in shown)
    canvas = Canvas(rows, max((part.cols for part in shown), default=0), ascii_only=ascii_only)
    top = 0
    for part in shown:
        blit(canvas, part, top, 0)
        top += part.rows + 1
    return canvas


def blit(canvas: Canvas, part: Canvas, top: int, left: int) -> None:
    """Paint one canvas on another, as far as it fits."""
    for row in range(part.rows):
        canvas.lay(top + row, left, part.row(row))


def figure(key: str, value: float) -> str:
    """Write the value of a tie-break."""
    if key in TIMES:
        return span(value)
    return str(int(value)) if value == int(value) else f"{value:.2f}".rstrip("0")


def counted(number: int, one: str, several: str) -> str:
    """Write a number with what it counts."""
    return f"{number} {one if number == 1 else several}"


def instant(milliseconds: int) -> str:
    """Write an instant by this machine's clock and zone."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%d %b %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return "?"


def name_of(scene: Scene, entry: str) -> str:
    """Give the name of whoever has a place, fit for a terminal."""
    found = scene.people.get(entry)
    return clean(found.name) if found is not None else clean(entry)


def head(t: Tournament) -> list[str]:
    """Give what a tournament is and how it stands, as a few lines."""
    lines = [f"{clean(t.settings.title) or t.tournament}   ({t.tournament})"]
    lines.append(", then ".join(map(clean, t.stages)))
    lines.append(f"{t.entrants} players; {PHASES[t.phase]}")
    if t.reason:
        lines.append(clean(t.reason))
    if t.phase in ("running", "paused") and t.round is not None:
        left = f"{counted(t.open, 'match', 'matches')} to be decided"
        lines.append(f"round {t.round}: {HELD if t.held and not t.open else left}")
    lines += [f"! {notice(each)}" for each in t.notices[-3:]]
    if t.head:
        lines.append(f"journal {t.head}")
    return lines


def notice(said: Notice) -> str:
    """Write an announcement with the time of day at which it was made."""
    return f"{instant(said.at)[7:12]} {clean(said.text)}"


# --- standings ------------------------------------------------------------------------


def standings(scene: Scene, ranking: Ranking, *, own: str = "", ascii_only: bool = False) -> Canvas:
    """Paint the standings of a stage, group by group."""
    several = len(ranking.groups) > 1
    parts = []
    for number, group in enumerate(ranking.groups, 1):
        rows = [_standings_head(ranking)]
        rows += [_standings_row(scene, ranking, line, own) for line in group]
        if several:
            parts.append(table([[Cell(f"Group {number}", "bold")]]))
        parts.append(table(rows, ascii_only=ascii_only))
    return stacked(parts, ascii_only=ascii_only)


def _standings_head(ranking: Ranking) -> Row:
    heads = [column(key)[0] for key in ranking.keys]
    points_head = [Cell("Points", "dim", right=True)] if ranking.keys else []
    keys = [Cell(each, "dim", right=True) for each in heads]
    return [Cell("#", "dim", right=True), Cell("Player", "dim"), *points_head, *keys]


def _standings_row(scene: Scene, ranking: Ranking, line: Any, own: str) -> Row:
    person = scene.people.get(line.entry)
    is_in = person is None or person.status == "in"
    ink: Ink = "own" if line.entry == own else ("plain" if is_in else "dim")
    note = line.note or ("" if is_in or person is None else person.status)
    figures = [
        Cell(figure(key, value), ink, right=True)
        for key, value in zip(ranking.keys, line.values, strict=False)
    ]
    return [
        Cell(str(line.place or "-"), ink, right=True),
        Cell(name_of(scene, line.entry), ink),
        *([Cell(points(line.points), ink, right=True)] if ranking.keys else []),
        *figures,
        Cell(clean(note), "dim"),
    ]


# --- pairings -------------------------------------------------------------------------


def pairings(scene: Scene, on: Pairings, *, own: str = "", ascii_only: bool = False) -> Canvas:
    """Paint a round: who meets whom, what it came to, and why they meet."""
    starts = round_start(on)
    rows: list[Row] = [[Cell(f"Round {on.round}", "bold"), Cell(instant(starts), "dim")]]
    rows += [_match_row(scene, match, own, starts) for match in on.matches]
    rows += [
        [
            Cell("-", "dim"),
            Cell(name_of(scene, bye.entry), "own" if bye.entry == own else "plain"),
            Cell({"bye": "bye", "half-bye": "half a point", "none": "no match"}[bye.kind], "dim"),
            Cell(clean(bye.why), "dim"),
        ]
        for bye in on.byes
    ]
    return stacked(
        [table(rows[:1], ascii_only=ascii_only), table(rows[1:], ascii_only=ascii_only)],
        ascii_only=ascii_only,
    )


def _match_row(scene: Scene, match: MatchLine, own: str, starts: int) -> Row:
    ink: Ink = "own" if own in match.entries else "plain"
    later = own_start(match)
    is_open = match.kind is None and all(race.state != "raced" for race in match.races)
    when = f", starts {instant(later)}" if is_open and later and later > starts else ""
    return [
        Cell(match.match, "dim"),
        Cell(sides(scene, match), ink),
        Cell(f"{result(scene, match)}{when}", "good" if match.kind else "dim"),
        Cell(clean(match.why), "dim"),
    ]


def sides(scene: Scene, match: MatchLine) -> str:
    """Name who meets."""
    return " - ".join(name_of(scene, entry) for entry in match.entries)


def result(scene: Scene, match: MatchLine) -> str:
    """Say what a match came to, or how far it is."""
    if match.kind is None:
        raced = sum(race.state == "raced" for race in match.races)
        return f"after {counted(raced, 'race', 'races')}" if raced else "not decided"
    if not match.places:
        return "void"
    how = "" if match.kind == "played" else f", {match.kind}"
    if len(match.entries) == 2:
        return f"{_duel(scene, match)}{how}"
    order = sorted(zip(match.places, match.entries, strict=True), key=lambda pair: pair[0])
    return ", ".join(f"{place}. {name_of(scene, entry)}" for place, entry in order) + how


def score_of(match: MatchLine, entry: str) -> str:
    """Give the races won in a series, or the cards brought home in a single race."""
    raced = [race for race in match.races if race.state == "raced"]
    lines = [row for race in raced for row in race.rows if row.entry == entry]
    if not lines:
        return ""
    if len(raced) > 1:
        return points(won(match, entry))
    return str(lines[0].cards)


def _duel(scene: Scene, match: MatchLine) -> str:
    order = sorted(zip(match.places, match.entries, strict=True), key=lambda pair: pair[0])
    scores = [score_of(match, entry) for _, entry in order]
    score = f" {'-'.join(scores)}" if all(scores) else ""
    if match.places[0] == match.places[1]:
        return f"drawn{score}"
    return f"{name_of(scene, order[0][1])} wins{score}{_edge(match)}"


def _edge(match: MatchLine) -> str:
    """Say what decided a single race in which both brought home as many."""
    raced = [race for race in match.races if race.state == "raced"]
    if match.kind != "played" or len(raced) != 1 or len(raced[0].rows) != 2:
        return ""
    one, other = raced[0].rows
    if one.cards != other.cards:
        return ""
    return ", fewer down" if one.down != other.down else ", sooner"


# --- the rest -------------------------------------------------------------------------


def players(scene: Scene, *, ids: bool = False, ascii_only: bool = False) -> Canvas:
    """Paint who takes part, in the order of the seeds; `ids` for organisers."""
    rows: list[Row] = [
        [Cell("Seed", "dim", right=True), Cell("Player", "dim"), Cell("Rating", "dim", right=True)]
    ]
    for number, each in enumerate(scene.entrants.entrants if scene.entrants else (), 1):
        marks = ["bot"] if each.bot else []
        marks += [each.status] if each.status != "in" else []
        marks += ["is here"] if each.checked else []
        cells = [
            Cell(str(number), "dim", right=True),
            Cell(clean(each.name), "plain" if each.status == "in" else "dim"),
            Cell(str(each.rating), right=True),
            *([Cell(each.entry, "dim")] if ids else []),
            Cell(", ".join(marks), "dim"),
        ]
        rows.append(cells)
    return table(rows, ascii_only=ascii_only)


def schedule(t: Tournament, *, ascii_only: bool = False) -> Canvas:
    """Paint what has an instant, in order of time."""
    found = sorted(_instants(t))
    rows: list[Row] = [[Cell(instant(at), "dim"), Cell(text)] for at, text in found]
    if t.phase == "paused":
        rows.append([Cell("Paused.", "warn"), Cell("What is to come is put off by the pause.")])
    return table(rows or [[Cell("No time is set yet.", "dim")]], ascii_only=ascii_only)


def _instants(t: Tournament) -> Iterable[tuple[int, str]]:
    before = t.phase in ("draft", "check-in")
    if t.starts is not None:
        yield t.starts, "The tournament starts." if before else "The tournament started."
        if before and t.settings.check_in_s is not None:
            yield t.starts - 1000 * t.settings.check_in_s, "Check-in opens."
    if t.phase not in ("running", "paused"):
        return
    if t.phase == "paused":
        return
    if t.round_starts is not None and t.ends is None:
        yield t.round_starts, f"Round {t.round} starts."
        yield from ((late.at, f"Match {late.match} starts.") for late in t.late)
    if t.deadline is not None:
        yield t.deadline, f"Round {t.round} has to be over."
    if t.ends is not None:
        yield t.ends, "Pairing stops."


def live(
    scene: Scene, *, own: str = "", ascii_only: bool = False, picked: LiveRace | None = None
) -> Canvas:
    """Paint the races that run; the picked one is marked."""
    full, empty = ("#", ".") if ascii_only else ("█", "░")
    rows: list[Row] = []
    for race in scene.progress.races if scene.progress else ():
        number = f", race {race.race}" if race.race > 1 else ""
        head = Cell(f"{'>' if race is picked else ' '} {race.match}{number}", "dim")
        for line in sorted(race.lines, key=lambda line: (-line.cards, line.down)):
            bar = full * round(line.cards * BAR / race.of)
            told = f"{line.down} down" if line.outcome == "playing" else line.outcome
            if line.outcome == "playing" and not line.moves:
                told = "no play yet"
            rows.append(
                [
                    replace(head, ink="pick") if race is picked else head,
                    Cell(name_of(scene, line.entry), "own" if line.entry == own else "plain"),
                    Cell(str(line.cards), "bold", right=True),
                    Cell(bar.ljust(BAR, empty), "good"),
                    Cell(told, "dim"),
                ]
            )
            head = EMPTY
    none = "No race is on." if scene.progress else "No race is shown yet."
    return table(rows or [[Cell(none, "dim")]], ascii_only=ascii_only)


def path(scene: Scene, place: Place, *, ascii_only: bool = False) -> Canvas:
    """Paint somebody's way, round by round."""
    rows: list[Row] = [_path_row(scene, line) for line in place.path]
    return table(rows or [[Cell("Nothing played yet.", "dim")]], ascii_only=ascii_only)


def _path_row(scene: Scene, line: PathLine) -> Row:
    others = ", ".join(name_of(scene, entry) for entry in line.opponents)
    outcome = line.result or "not decided"
    if line.place is not None:
        best = _outcome(scene, line, line.place)
        outcome = best if line.result == "played" else f"{best} ({line.result})"
    return [
        Cell(f"Round {line.round}", "dim"),
        Cell(line.match, "dim"),
        Cell(f"against {others}" if others else "no opponent"),
        Cell(outcome, "good" if line.place == 1 else "plain"),
        Cell(f"{points(line.points)} points" if line.points else "", "dim"),
    ]


def _outcome(scene: Scene, line: PathLine, place: int) -> str:
    if len(line.opponents) != 1:
        return "won" if place == 1 else f"place {place}"
    if place > 1:
        return "lost"
    t = scene.tournament
    worth = t.settings.points if t is not None else None
    is_drawn = worth is not None and 2 * line.points == worth.draw != worth.win
    return "drawn" if is_drawn else "won"
