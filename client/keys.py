"""Keys to deeds: what is half-typed, and what goes out when it is whole.

Pure. `press` takes the desk (what the player is in the middle of), the state and a key, and
gives the desk after it and the deeds: messages for the server, plays, and what the program
itself is to do. A key is a character, or a name such as "up", "enter" or "ctrl-l".
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from client import putout
from client.cards import columns, foundations, parse_pile
from client.desk import (
    PROMPT_LIMITS,
    Ask,
    Confirm,
    ConfirmKind,
    Deed,
    Desk,
    GetReady,
    Help,
    Local,
    Log,
    Overlay,
    Prompt,
    Rename,
    Say,
)
from client.forms import Form, create_room, edited, new_form
from client.model import State
from client.putout import PutOut
from client.tournament import hall as halls
from client.tournament.hall import Hall
from client.views import View, view_of
from client.words import room_code
from wire.messages import (
    Chat,
    Hint,
    Join,
    Kick,
    Leave,
    Rematch,
    Resign,
    Rooms,
    Spectate,
    Start,
    Unready,
)
from wire.text import tidied

# The unshifted upper row of French keyboards.
_FRENCH: Final = dict(zip("&é\"'(-è_ç", "123456789", strict=True))

_ONLY_THE_HOST: Final = Say("Only the host may do that.")

Pressed = tuple[Desk, Sequence[Deed]]


def press(desk: Desk, state: State, key: str) -> Pressed:
    """Take one key in."""
    match key:
        case "ctrl-c":
            return _ask_quit(desk, state)
        case "ctrl-l":
            return desk, [Local("repaint")]
        case _ if desk.overlay is not None:
            return _press_overlay(desk, desk.overlay, state, key)
        case "?":
            return replace(desk, overlay=Help(), half="", count=0), []
        case "C":
            return desk, [Local("colour")]
        case "A":
            return desk, [Local("ascii")]
        case "T":
            hall, deeds = halls.opened(state.tour)
            return replace(desk, overlay=hall, half="", count=0), deeds
        case "q":
            return _ask_quit(desk, state)
        case "t" if state.room is not None:
            return _ask_chat(desk, state)
        case "L" if state.room is not None:
            return replace(desk, overlay=Log()), []
    view = view_of(state)
    match view:
        case "lobby":
            return _press_lobby(desk, state, key)
        case "room":
            return _press_room(desk, state, key)
        case "race":
            return _press_race(desk, state, key)
        case "watch" | "standings":
            return _press_after(desk, state, view, key)


def _ask_quit(desk: Desk, state: State) -> Pressed:
    if view_of(state) == "lobby" or state.line.status == "ended":
        return desk, [Local("quit")]
    if isinstance(desk.overlay, Confirm) and desk.overlay.kind == "quit":
        return desk, [Local("quit")]  # Ctrl-C twice
    return replace(desk, overlay=Confirm("quit"), half="", count=0), []


def _ask_chat(desk: Desk, state: State) -> Pressed:
    if not state.may("chat"):
        return desk, [Say("This room has no chat for you.")]
    return replace(desk, overlay=Prompt("chat"), half="", count=0), []


# --- what lies over the screen --------------------------------------------------------


def _press_overlay(desk: Desk, overlay: Overlay, state: State, key: str) -> Pressed:
    match overlay:
        case Help() | Log():
            return replace(desk, overlay=None), []
        case Confirm():
            return _press_confirm(desk, overlay, key)
        case Prompt():
            return _press_prompt(desk, overlay, key)
        case Form():
            return _press_form(desk, overlay, key)
        case PutOut():
            over, meant = putout.press(overlay, state, key)
            return replace(desk, overlay=over), meant
        case Hall():
            hall, deeds = halls.press(overlay, state.tour, key)
            return replace(desk, overlay=hall), deeds


def _press_confirm(desk: Desk, confirm: Confirm, key: str) -> Pressed:
    desk = replace(desk, overlay=None)
    if key not in ("y", "Y"):
        return desk, []
    deeds: dict[ConfirmKind, Deed] = {
        "quit": Local("quit"),
        "resign": Resign(),
        "leave": Leave(),
    }
    return desk, [deeds[confirm.kind]]


def _press_prompt(desk: Desk, prompt: Prompt, key: str) -> Pressed:
    match key:
        case "esc":
            return replace(desk, overlay=None), []
        case "backspace":
            return replace(desk, overlay=replace(prompt, text=prompt.text[:-1])), []
        case "enter":
            return _prompted(replace(desk, overlay=None), prompt)
        case _ if len(key) == 1 and key.isprintable():
            text = (prompt.text + key)[: PROMPT_LIMITS[prompt.kind]]
            return replace(desk, overlay=replace(prompt, text=text)), []
        case _:
            return desk, []


def _prompted(desk: Desk, prompt: Prompt) -> Pressed:
    text = prompt.text if prompt.kind == "password" else tidied(prompt.text)
    if not text:
        return desk, []
    match prompt.kind:
        case "chat":
            return desk, [Chat(text=text)]
        case "name":
            return desk, [Rename(text)]
        case "code":
            code = room_code(text)
            return enter(desk, code) if code else (desk, [])
        case "password":
            return enter(desk, prompt.room, password=text, watch=prompt.watch)


def enter(desk: Desk, room: str, *, password: str = "", watch: bool = False) -> Pressed:
    """Ask for a seat in a room, or to watch it."""
    request = (
        Spectate(room=room, password=password) if watch else Join(room=room, password=password)
    )
    return replace(desk, entering=request, row=0, panel=False), [request]


def _press_form(desk: Desk, form: Form, key: str) -> Pressed:
    match key:
        case "esc":
            return replace(desk, overlay=None), []
        case "enter":
            made = create_room(form)
            if isinstance(made, str):
                return replace(desk, overlay=replace(form, fault=made)), []
            return replace(desk, overlay=None, row=0), [made]
        case _:
            return replace(desk, overlay=edited(form, key)), []


# --- the lobby ------------------------------------------------------------------------


def _press_lobby(desk: Desk, state: State, key: str) -> Pressed:
    rooms = state.rooms or ()
    line = rooms[min(desk.row, len(rooms) - 1)] if rooms else None
    match key:
        case "up" | "down" | "home" | "end" | "pgup" | "pgdn":
            return replace(desk, row=_scrolled(desk.row, len(rooms), key)), []
        case "enter" | "w" if line is not None:
            watch = key == "w" or line.phase != "open"
            if line.locked:
                prompt = Prompt("password", room=line.room, watch=watch)
                return replace(desk, overlay=prompt), []
            return enter(desk, line.room, watch=watch)
        case "c":
            return replace(desk, overlay=new_form()), []
        case "j":
            return replace(desk, overlay=Prompt("code")), []
        case "n":
            return replace(desk, overlay=Prompt("name", text=state.name)), []
        case "r":
            return desk, [Rooms()]
        case _:
            return desk, []


def _scrolled(row: int, count: int, key: str) -> int:
    steps = {"up": -1, "down": 1, "pgup": -10, "pgdn": 10, "home": -count, "end": count}
    return max(0, min(count - 1, row + steps[key]))


# --- a room before the race -----------------------------------------------------------


def _press_room(desk: Desk, state: State, key: str) -> Pressed:
    room = state.room
    assert room is not None
    match key:
        case "up" | "down" | "home" | "end" | "pgup" | "pgdn":
            return replace(desk, row=_scrolled(desk.row, len(room.seats), key)), []
        case "r" | " " if state.may("ready"):
            return desk, [GetReady()]
        case "r" | " " if state.may("unready"):
            return desk, [Unready()]
        case "s" if state.may("start"):
            return desk, [Start()]
        case "k" if state.may("kick") and desk.row < len(room.seats):
            return desk, [Kick(player=room.seats[desk.row].player)]
        case "j" if state.may("join"):
            return enter(desk, room.room)
        case "l" if state.may("leave"):
            return _leave(desk, state)
        case "s" | "k":
            return desk, [_ONLY_THE_HOST]
        case _:
            return desk, []


def _leave(desk: Desk, state: State) -> Pressed:
    """Leave at once where nothing is lost; l stands next to L, and a race is given up by it."""
    if state.is_racing:
        return replace(desk, overlay=Confirm("leave")), []
    return desk, [Leave()]


# --- the race -------------------------------------------------------------------------


def _press_race(desk: Desk, state: State, key: str) -> Pressed:
    key = _FRENCH.get(key, key)
    desk = replace(desk, hinting=False)
    match key:
        case "esc":
            return _let_go(replace(desk, cursor="")), []
        case "tab":
            return replace(desk, panel=not desk.panel), []
        case "l":
            return _leave(_let_go(desk), state)
        case "k":
            return _ask_put_out(_let_go(desk), state)
        case "left" | "right" | "up" | "down":
            return replace(desk, cursor=_moved_cursor(desk.cursor, state, key)), []
    if not state.may("move"):
        return desk, ([Say("Your race is done; l leaves the room.")] if len(key) == 1 else [])
    match key:
        case " ":
            return _let_go(desk), [Ask("d")]
        case "w" | "f" | "enter" | "+":
            return _press_pile(desk, state, key)
        case _ if len(key) == 1 and key in "123456789":
            return _press_pile(desk, state, key)
        case "u":
            return _let_go(desk), [Ask("undo")]
        case "a":
            return _let_go(desk), [Ask("finish")]
        case "h":
            return _ask_hint(_let_go(desk), state)
        case "x":
            return replace(_let_go(desk), overlay=Confirm("resign")), []
        case _:
            return desk, []


def _ask_put_out(desk: Desk, state: State) -> Pressed:
    if not state.may("disqualify"):
        return desk, [_ONLY_THE_HOST]
    others = putout.racing(state)
    if not others:
        return desk, [Say("Nobody else is racing any more.")]
    return replace(desk, overlay=PutOut(others[0].player)), []


def _let_go(desk: Desk) -> Desk:
    return replace(desk, half="", count=0)


def _ask_hint(desk: Desk, state: State) -> Pressed:
    return replace(desk, hinting=True), ([] if _knows_moves(state) else [Hint()])


def _knows_moves(state: State) -> bool:
    board = state.board
    return board is not None and state.hints is not None and state.hints.n == board.n


def _press_pile(desk: Desk, state: State, key: str) -> Pressed:
    if key == "enter":
        return _press_enter(desk, state)
    if key == "+":
        return _pick_more(desk, state), []
    if not desk.half:
        return _lift(desk, state, key)
    if desk.half == "f":
        # Which foundation: rank and suit do not tell it, two decks have twins.
        known = state.board is not None and f"f{key}" in foundations(state.board.piles)
        return replace(desk, half=f"f{key}" if known else "f"), []
    if key == "f" or key == desk.half:
        return _let_go(desk), [Ask(f"{desk.half}>f")]
    if key == "w":
        return _lift(_let_go(desk), state, "w")
    count = f":{desk.count}" if desk.count and desk.half.isdecimal() else ""
    return _let_go(desk), [Ask(f"{desk.half}>{key}{count}")]


def _lift(desk: Desk, state: State, pile: str) -> Pressed:
    board = state.board
    if board is None:
        return desk, []
    if pile.isdecimal() and pile not in columns(board.piles):
        return desk, [Say(f"There is no column {pile}.")]
    if pile != "f" and parse_pile(board.piles.get(pile, "0:")).size == 0:
        where = "The waste" if pile == "w" else f"Column {pile}"
        return desk, [Say(f"{where} is empty.")]
    # Fetched ahead, so that the line of what is half-typed can say where it may go.
    wants_hint = state.may("hint") and not _knows_moves(state)
    return replace(desk, half=pile, count=0), ([Hint()] if wants_hint else [])


def _pick_more(desk: Desk, state: State) -> Desk:
    if not desk.half.isdecimal() or state.board is None:
        return desk
    most = len(parse_pile(state.board.piles.get(desk.half, "0:")).cards)
    return replace(desk, count=(desk.count + 1) % (most + 1))


def _press_enter(desk: Desk, state: State) -> Pressed:
    if desk.cursor == "h":
        return _let_go(desk), [Ask("d")]
    if desk.cursor and desk.cursor != desk.half:
        return _press_pile(desk, state, desk.cursor)
    if desk.half and desk.half[0] != "f":
        return _let_go(desk), [Ask(f"{desk.half}>")]
    return desk, []


def _moved_cursor(cursor: str, state: State, key: str) -> str:
    """Move over hand, waste and foundations above, and the columns below."""
    if state.board is None:
        return ""
    below = list(columns(state.board.piles))
    above = ["h", "w", "f"]
    if not cursor or not below:
        return below[0] if below else ""
    row = above if cursor in above else below
    at = row.index(cursor) if cursor in row else 0
    match key:
        case "left" | "right":
            return row[(at + (1 if key == "right" else -1)) % len(row)]
        case "up" if row is below:
            return above[min(2, at * 3 // len(below))]
        case "down" if row is above:
            return below[min(len(below) - 1, (0, 2, 5)[at])]
        case _:
            return cursor


# --- watching, and after the race -----------------------------------------------------


def _is_listed(desk: Desk, state: State, view: View) -> bool:
    return view == "standings" and not (desk.panel and state.boards)


def _press_after(desk: Desk, state: State, view: View, key: str) -> Pressed:
    room = state.room
    assert room is not None
    boards = [seat for seat, _ in state.boards]
    match key:
        case "tab":
            return replace(desk, panel=not desk.panel), []
        case "up" | "down" | "home" | "end" | "pgup" | "pgdn" if _is_listed(desk, state, view):
            count = len(state.standings.rows) if state.standings is not None else 0
            return replace(desk, row=_scrolled(desk.row, count, key)), []
        case "left" | "right" | "up" | "down" if boards:
            at = boards.index(desk.seat) if desk.seat in boards else 0
            step = 1 if key in ("right", "down") else -1
            return replace(desk, seat=boards[(at + step) % len(boards)]), []
        case "k" if view == "watch":
            return _ask_put_out(desk, state)
        case "m" if state.may("rematch"):
            return desk, [Rematch()]
        case "m" if room.next_room is not None:
            return enter(desk, room.next_room)
        case "l" if state.may("leave"):
            return desk, [Leave()]
        case _:
            return desk, []
