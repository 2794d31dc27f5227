"""The screens without a board: lobby, form, room, standings, help, log."""

from collections.abc import Sequence
from typing import Final

from client.canvas import Canvas
from client.desk import Desk
from client.forms import Form
from client.model import State
from client.results import REASONS
from client.status import remaining
from client.style import Ink
from client.words import clean, span
from wire.messages import Room, RoomLine, Seat, Settings

HELP: Final = (
    ("Moves", ""),
    ("6 8", "from column 6 to column 8"),
    ("w 3", "from the waste to column 3"),
    ("6 f   w f", "home; 6 6 and w w do the same"),
    ("6 Enter", "from column 6 to where the rules say"),
    ("6 + + 8", "two cards of 6, if another number may go"),
    ("f 2 5", "from foundation 2 to 5, if rules let it"),
    ("Space", "deal from the hand, turn the waste over"),
    ("a  u  h", "all home at the end; undo; legal moves"),
    ("arrows Enter", "the same with a cursor"),
    ("Esc", "let go of a half-typed move"),
    ("In the room", ""),
    ("Tab", "scores or board, where both do not fit"),
    ("t  L", "say something; what was said and done"),
    ("x  l  q", "give up; leave the room; quit"),
    ("C  A  Ctrl-L", "colours; ASCII; paint anew"),
    ("Marks", ""),
    ("! ? b x *", "card home; away; bot; gave up; solved"),
    ("~6~", "a move of column 6 waits for an answer"),
)


def paint_help(canvas: Canvas) -> None:
    """Paint the page of keys."""
    for row, (keys, about) in enumerate(HELP):
        if not about:
            canvas.put(row, 1, keys, "bold")
        else:
            canvas.put(row, 2, keys, "own")
            canvas.put(row, 16, about)
    canvas.put(canvas.rows - 1, 1, "any key goes back", "dim")


def paint_log(canvas: Canvas, state: State) -> None:
    """Paint what was said and what happened, the newest last."""
    room_for = max(0, canvas.rows - 2)
    for row, entry in enumerate(state.log[-room_for:] if room_for else ()):
        canvas.put(row, 1, clean(entry.text), "own" if entry.tone == "talk" else "plain")
    canvas.put(canvas.rows - 1, 1, "any key goes back", "dim")


# --- lobby ----------------------------------------------------------------------------


def paint_lobby(canvas: Canvas, state: State, desk: Desk, server: str) -> None:
    """Paint the list of rooms."""
    canvas.put(2, 1, f"Rooms at {server}", "bold")
    if state.rooms is None:
        canvas.put(4, 1, "...", "dim")
        return
    if not state.rooms:
        canvas.put(4, 1, "No room is open. c creates one; j joins a private one by its code.")
        return
    canvas.put(3, 1, f"  {'room':<7} {'seats':<6}{'phase':<9}{'host':<13}{'title / rules'}", "dim")
    top, shown = 4, max(1, canvas.rows - 4 - 3)
    selected = min(desk.row, len(state.rooms) - 1)
    first = max(0, selected - shown + 1)
    for number, line in enumerate(state.rooms[first : first + shown]):
        is_selected = first + number == selected
        _paint_room_line(canvas, top + number, line, is_selected)


def _paint_room_line(canvas: Canvas, row: int, line: RoomLine, is_selected: bool) -> None:
    ink: Ink = "pick" if is_selected else ("plain" if line.phase == "open" else "dim")
    canvas.put(row, 1, ">" if is_selected else " ", ink)
    canvas.put(row, 3, line.room, ink, 7)
    canvas.put(row, 11, f"{line.taken}/{line.seats}", ink, 5)
    canvas.put(row, 17, line.phase, ink, 8)
    canvas.put(row, 26, clean(line.host), ink, 12)
    title = clean(line.title) or clean(line.rules)
    canvas.put(row, 39, f"{title}{'  (password)' if line.locked else ''}", ink)


def paint_form(canvas: Canvas, form: Form) -> None:
    """Paint the form that opens a room."""
    canvas.put(2, 1, "A new room", "bold")
    room_for = max(1, canvas.rows - 6)
    first = max(0, form.at - room_for + 1)
    for number, field in enumerate(form.fields[first : first + room_for]):
        is_at = first + number == form.at
        ink: Ink = "pick" if is_at else "plain"
        value = "*" * len(field.value) if field.label == "password" else clean(field.value)
        canvas.put(4 + number, 1, f"{'>' if is_at else ' '} {field.label:<11}", ink)
        cursor = "_" if is_at and field.typed else ""
        end = canvas.put(4 + number, 15, f"{value}{cursor}", ink)
        if is_at and field.choices:
            canvas.put(4 + number, end + 1, "<>", "dim")


# --- room -----------------------------------------------------------------------------


def paint_room(canvas: Canvas, state: State, desk: Desk, now: float) -> None:
    """Paint a room before its race."""
    room = state.room
    if room is None:
        return
    title = clean(room.settings.title)
    canvas.put(2, 1, f"Room {room.room}{f'   {title}' if title else ''}", "bold")
    row = 3
    for line in settings_lines(room.settings):
        canvas.put(row, 1, line, "dim")
        row += 1
    canvas.put(row, 1, _fairness(room), "dim")
    row += 1
    if state.invitation:
        canvas.put(row, 1, f"To join: {clean(state.invitation)} --room {room.room}", "own")
        row += 1
    row = _paint_seats(canvas, state, desk, row + 1)
    if room.phase == "locked":
        canvas.put(row + 1, 1, f"The race starts in {remaining(state, now)}.", "bold")
        row += 2
    _paint_talk(canvas, state, row + 1)


def settings_lines(settings: Settings) -> list[str]:
    """Describe how a room races."""
    limit = span(settings.time_limit_s * 1000)
    undo = {"off": "no undo", "safe": "undo of what revealed nothing", "free": "free undo"}
    starts = {"ready": "all are ready", "host": "the host says", "time": "its time has come"}
    return [
        f"{clean(settings.rules)}, {limit}, {undo[settings.undo]}, "
        f"{'hints' if settings.hints else 'no hints'}, score by {settings.score}",
        f"starts when {starts[settings.start]}, {settings.countdown_s} s countdown; "
        f"spectators see {_seen(settings)}",
    ]


def _seen(settings: Settings) -> str:
    shown = {"none": "nothing", "scores": "scores", "boards": "boards"}[settings.spectators]
    return f"{shown}, {settings.delay_s} s late" if settings.delay_s else shown


def _fairness(room: Room) -> str:
    if room.settings.seed is not None:
        return f"public seed {clean(room.settings.seed)!r}: anybody may know this deal"
    return f"fair deal {room.commitment}"


def _paint_seats(canvas: Canvas, state: State, desk: Desk, row: int) -> int:
    room = state.room
    assert room is not None
    taken = f"Seats {len(room.seats)}/{room.settings.seats}"
    watching = f"   {room.spectators} watching" if room.spectators else ""
    canvas.put(row, 1, f"{taken}{watching}", "bold")
    row += 1
    selected = min(desk.row, len(room.seats) - 1)
    for index, seat in enumerate(room.seats):
        ink: Ink = "own" if index == room.seat else "plain"
        canvas.put(row, 1, ">" if index == selected else " ", "pick")
        canvas.put(row, 3, clean(seat.name), ink, 17)
        canvas.put(row, 21, _seat_words(seat), "good" if seat.ready else "dim")
        row += 1
        if row >= canvas.rows - 3:
            break
    return row


def _seat_words(seat: Seat) -> str:
    words = ["ready" if seat.ready else "not ready"]
    words += ["host"] if seat.host else []
    words += ["bot"] if seat.bot else []
    words += [] if seat.here else ["away"]
    return ", ".join(words)


def _paint_talk(canvas: Canvas, state: State, row: int) -> None:
    rows = canvas.rows - 3 - row
    if rows <= 0:
        return
    for offset, entry in enumerate(state.log[-rows:]):
        canvas.put(row + offset, 1, clean(entry.text), "own" if entry.tone == "talk" else "dim")


# --- standings ------------------------------------------------------------------------


def paint_standings(canvas: Canvas, state: State) -> None:
    """Paint the end of a race."""
    room, result = state.room, state.standings
    if room is None:
        return
    reason = REASONS.get(result.reason, result.reason) if result is not None else ""
    canvas.put(2, 1, f"Room {room.room}: the race is over{f', {reason}' if reason else ''}", "bold")
    if result is None:
        canvas.put(4, 1, "Waiting for the standings ...", "dim")
        return
    head = f"{'place':>5}  {'player':<16}  {'home':>4} {'down':>5} {'score':>6} {'moves':>6}"
    canvas.put(4, 1, f"{head}  outcome", "dim")
    rows = max(0, canvas.rows - 5 - 7)
    for number, line in enumerate(result.rows[:rows]):
        own = line.player == state.player
        ink: Ink = "own" if own else "plain"
        when = f" in {span(line.finished_ms)}" if line.finished_ms is not None else ""
        canvas.put(5 + number, 1, f"{line.place:>5}", ink)
        canvas.put(5 + number, 8, clean(line.name), ink, 16)
        figures = f"{line.cards:>4} {line.down:>5} {line.score:>6} {line.moves:>6}"
        canvas.put(5 + number, 26, f"{figures}  {line.outcome}{when}", ink)
    _paint_proof(canvas, state, 6 + min(rows, len(result.rows)))


def _paint_proof(canvas: Canvas, state: State, row: int) -> None:
    room, result = state.room, state.standings
    assert room is not None
    assert result is not None
    lines: Sequence[str] = ()
    if room.settings.seed is not None:
        lines = (f"seed     {clean(room.settings.seed)} (public)",)
    elif result.reveal is not None:
        lines = (f"promised {room.commitment}", f"secret   {result.reveal.secret}")
    for offset, line in enumerate((*lines, f"journal  {result.head}")):
        canvas.put(row + offset, 1, line, "dim")
    if room.next_room is not None:
        text = f"A rematch is open: room {room.next_room}. m joins it."
        canvas.put(row + len(lines) + 2, 1, text, "own")
