"""The pages of tournaments on the screen: the list, and one tournament by its parts."""

from typing import Final

from client.canvas import Canvas
from client.style import Style
from client.tournament import sheets
from client.tournament.bracket import paint_bracket
from client.tournament.hall import TABS, Hall, Tab, lines_of, selected_race
from client.tournament.tour import Tour
from client.words import clean, span
from wire.reading import PHASES, points
from wire.tournaments import Place, Tournament

TOP: Final = 4  # rows above what is scrolled
NAMES: Final[dict[Tab, str]] = {
    "you": "You",
    "live": "Live",
    "round": "Round",
    "standings": "Standings",
    "bracket": "Bracket",
    "players": "Players",
    "schedule": "Schedule",
}


def paint_hall(canvas: Canvas, hall: Hall, tour: Tour, style: Style, now_ms: float | None) -> None:
    """Paint the list or the tournament; `now_ms` is the server's time, None while unknown."""
    if not hall.code:
        _paint_list(canvas, hall, tour)
        return
    t = tour.scene.tournament
    if t is None or t.tournament != hall.code:
        canvas.put(0, 1, f"Tournament {hall.code}", "bold")
        canvas.put(2, 1, "...", "dim")
        canvas.put(canvas.rows - 1, 1, "Esc back", "dim")
        return
    _paint_head(canvas, hall, t)
    _scroll(canvas, _part(hall, tour, style, now_ms), hall, tour)
    _paint_foot(canvas, hall, tour)


# --- the list -------------------------------------------------------------------------


def _paint_list(canvas: Canvas, hall: Hall, tour: Tour) -> None:
    canvas.put(0, 1, "Tournaments", "bold")
    lines = lines_of(tour)
    if tour.programme is None:
        canvas.put(2, 1, "...", "dim")
    elif not lines:
        canvas.put(2, 1, "None is announced.")
    at = min(hall.row, max(0, len(lines) - 1))
    room_for = max(1, (canvas.rows - 4) // 2)
    first = max(0, at - room_for + 1)
    for number, line in enumerate(lines[first : first + room_for]):
        row, is_at = 2 + 2 * number, first + number == at
        mark = "*" if line.tournament in tour.places else " "
        canvas.put(row, 1, ">" if is_at else " ", "pick")
        end = canvas.put(
            row,
            3,
            f"{mark} {clean(line.title) or line.tournament}",
            "pick" if is_at else "plain",
            42,
        )
        canvas.put(row, max(end + 2, 46), PHASES[line.phase], "own")
        starts = f", {sheets.instant(line.starts)}" if line.starts is not None else ""
        about = f"{line.tournament}  {line.entrants}/{line.places} players{starts}  {clean(line.format)}"
        canvas.put(row + 1, 5, about, "dim")
    keys = "up/down  Enter open  r refresh  Esc back   * you take part"
    canvas.put(canvas.rows - 1, 1, keys, "dim")


# --- one tournament -------------------------------------------------------------------


def _paint_head(canvas: Canvas, hall: Hall, t: Tournament) -> None:
    phase = PHASES[t.phase]
    canvas.put_right(0, canvas.cols - 1, phase, "own")
    canvas.put(0, 1, clean(t.settings.title) or t.tournament, "bold", canvas.cols - len(phase) - 4)
    notice = f"! {sheets.notice(t.notices[-1])}" if t.notices else clean(t.reason)
    about = f"{', then '.join(map(clean, t.stages))}; {t.entrants} players"
    canvas.put(1, 1, notice or about, "warn" if t.notices else "dim", canvas.cols - 2)
    names = [f"{number} {NAMES[tab]}" for number, tab in enumerate(TABS, 1)]
    is_narrow = sum(len(name) + 2 for name in names) > canvas.cols
    col = 1
    for number, (tab, name) in enumerate(zip(TABS, names, strict=True), 1):
        is_at = tab == hall.tab
        text = name if is_at or not is_narrow else str(number)
        col = canvas.put(2, col, text, "pick" if is_at else "dim") + 2


def _part(hall: Hall, tour: Tour, style: Style, now_ms: float | None) -> Canvas:
    scene, own, plain = tour.scene, tour.own, style.ascii
    t = scene.tournament
    assert t is not None
    match hall.tab:
        case "you":
            return _you(tour, now_ms, ascii_only=plain)
        case "live":
            race = selected_race(hall, tour)
            return sheets.live(scene, own=own, ascii_only=plain, picked=race)
        case "round" if (on := scene.pairings.get(t.round or 0)) is not None:
            return sheets.pairings(scene, on, own=own, ascii_only=plain)
        case "standings" if (ranking := scene.rankings.get(t.stage or 0)) is not None:
            return sheets.standings(scene, ranking, own=own, ascii_only=plain)
        case "bracket" if (bracket := scene.brackets.get(t.stage or 0)) is not None:
            parts = [
                paint_bracket(scene, slots, own=own, ascii_only=plain) for slots in bracket.groups
            ]
            return sheets.stacked(parts, ascii_only=plain)
        case "players":
            return sheets.players(scene, ascii_only=plain)
        case "schedule":
            return sheets.schedule(t, ascii_only=plain)
        case _:
            return sheets.table([[sheets.Cell("There is none yet.", "dim")]])


def _you(tour: Tour, now_ms: float | None, *, ascii_only: bool) -> Canvas:
    place = tour.place
    if place is None or place.entry is None:
        return sheets.table([[sheets.Cell("You take no part.", "dim")]], ascii_only=ascii_only)
    rows = [
        [sheets.Cell(text, "own" if first else "plain")] for first, text in _words(place, now_ms)
    ]
    parts = [
        sheets.table(rows, ascii_only=ascii_only),
        sheets.path(tour.scene, place, ascii_only=ascii_only),
    ]
    return sheets.stacked(parts, ascii_only=ascii_only)


def _words(place: Place, now_ms: float | None) -> list[tuple[bool, str]]:
    found = [(True, _next(place, now_ms))]
    if place.seed is not None:
        rank = f", place {place.place}" if place.place is not None else ""
        score = f", {points(place.points)} points" if place.points else ""
        found.append((False, f"Seed {place.seed}{rank}{score}."))
    return found


def _next(place: Place, now_ms: float | None) -> str:
    if place.status != "in":
        return f"You are {place.status}."
    if place.phase in ("finished", "cancelled"):
        return f"The tournament is {place.phase}."
    if place.phase == "check-in" and not place.checked:
        return "Check in now: press i."
    if place.room is not None:
        left = (place.starts - now_ms) if place.starts is not None and now_ms is not None else 0.0
        when = f"starts in {span(left)}" if left > 0 else "has started"
        return f"Your match {place.match} {when}: j goes to it."
    if place.phase in ("draft", "check-in"):
        return "You are in; the tournament has not started."
    return "You wait for your next match."


def _scroll(canvas: Canvas, part: Canvas, hall: Hall, tour: Tour) -> None:
    """Show what fits of a part; who scrolls beyond its end sees its end."""
    room_for = max(1, canvas.rows - TOP - 2)
    row = hall.row if hall.tab != "live" else _row_of_race(tour, hall.row, room_for)
    top = max(0, min(row, part.rows - room_for))
    left = max(0, min(hall.col, part.cols - canvas.cols + 2))
    for number in range(min(room_for, part.rows - top)):
        canvas.lay(TOP + number, 1 - left, part.row(top + number))
    # What has slid under the edge.
    for number in range(room_for):
        canvas.put(TOP + number, 0, " ")
    more = " more below" if top + room_for < part.rows else ""
    side = "  left/right for the rest" if part.cols > canvas.cols - 2 else ""
    canvas.put_right(canvas.rows - 2, canvas.cols - 1, f"{more}{side}", "dim")


def _row_of_race(tour: Tour, number: int, room_for: int) -> int:
    races = tour.scene.progress.races if tour.scene.progress is not None else []
    above = sum(len(race.lines) for race in races[:number])
    return max(0, above - room_for // 2)


def _paint_foot(canvas: Canvas, hall: Hall, tour: Tour) -> None:
    if hall.asks:
        canvas.put(canvas.rows - 1, 1, "Give your place up? (y/n)", "warn")
        return
    place = tour.place
    words = {
        "enter": "e enter",
        "rejoin": "e rejoin",
        "checkin": "i check in",
        "withdraw": "x leave",
    }
    keys = [words[act] for act in tour.actions if act in words]
    keys += ["j join"] if place is not None and place.room is not None else []
    keys += ["Enter watch"] if selected_race(hall, tour) is not None else []
    canvas.put(
        canvas.rows - 1, 1, "  ".join([*keys, "Tab next", "arrows", "Esc list", "T close"]), "dim"
    )
