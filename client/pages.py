"""The screens around the rooms: lobby, form, help, log."""

from typing import Final

from client.canvas import Canvas
from client.desk import Desk, Help
from client.forms import Form, warning
from client.model import State
from client.style import Ink
from client.words import clean
from wire.values import RoomLine

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
    ("Around it", ""),
    ("Tab", "scores or board, where both do not fit"),
    ("t  L", "say something; what was said and done"),
    ("x  l  q  k", "give up; leave; quit; host: put out"),
    ("Marks", ""),
    ("! ? b x *", "card home; away; bot; out; solved"),
    ("[6]  *6*", "takes the lifted card; changed just now"),
    ("~6~", "a move of column 6 waits for an answer"),
)
AROUND: Final = (
    ("In the lobby", ""),
    ("arrows Enter", "choose a room and take a seat"),
    ("w", "watch it without a seat"),
    ("c", "create a room of your own"),
    ("j", "go to a room by its code"),
    ("n  r", "change your name; look for rooms again"),
    ("In a room", ""),
    ("r", "ready, or not ready after all"),
    ("s  k", "host: start now; send somebody out"),
    ("t  L  l", "say something; what was said; leave"),
    ("After a race", ""),
    ("m  Tab", "rematch; the boards"),
    ("Anywhere", ""),
    ("T", "tournaments"),
    ("C  A  Ctrl-L", "colours; cards in ASCII; paint anew"),
    ("B", "bell for a race that is near or over"),
    ("q", "quit; the same command brings you back"),
)


def paint_help(canvas: Canvas, at: Help) -> None:
    """Paint a page of keys."""
    for row, (keys, about) in enumerate(AROUND if at.around else HELP):
        if not about:
            canvas.put(row, 1, keys, "bold")
        else:
            canvas.put(row, 2, keys, "own")
            canvas.put(row, 16, about)
    other = "in a race" if at.around else "around races"
    canvas.put(canvas.rows - 1, 1, f"Tab: keys {other}   any other key goes back", "dim")


def paint_log(canvas: Canvas, state: State) -> None:
    """Paint what was said and what happened, the newest last."""
    paint_talk(canvas, state, 0, canvas.rows - 2, "plain")
    canvas.put(canvas.rows - 1, 1, "any key goes back", "dim")


def paint_talk(canvas: Canvas, state: State, top: int, rows: int, quiet: Ink) -> None:
    """Paint the end of the log into so many rows; what happened, unlike talk, in `quiet`."""
    lines: list[tuple[str, Ink]] = []
    for entry in reversed(state.log):
        if len(lines) >= rows:
            break
        ink: Ink = "own" if entry.tone == "talk" else quiet
        wrapped = canvas.wrapped(clean(entry.text), canvas.cols - 4)
        lines = [(("  " if at else "") + line, ink) for at, line in enumerate(wrapped)] + lines
    for row, (line, ink) in enumerate(lines[max(0, len(lines) - rows) :] if rows > 0 else ()):
        canvas.put(top + row, 1, line, ink)


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
    canvas.put(3, 1, warning(form), "warn")
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
