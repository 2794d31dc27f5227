"""Keys to deeds: what each asks for, by what the screen shows.

Pure. `press` takes the desk (what the player is in the middle of), the state and a key, and
gives the desk after it and the deeds: messages for the server, plays, and what the program
itself is to do. A key is a character, or a name such as "up", "enter" or "ctrl-l".
"""

from dataclasses import replace
from typing import Final

from client import movekeys, putout
from client.desk import (
    PROMPT_LIMITS,
    Confirm,
    ConfirmKind,
    Deed,
    Desk,
    GetReady,
    Help,
    Local,
    Log,
    Overlay,
    Pressed,
    Prompt,
    Rename,
    Say,
)
from client.forms import Form, create_room, edited, new_form
from client.model import State
from client.movekeys import let_go
from client.putout import PutOut
from client.tournament import hall as halls
from client.tournament.hall import Hall
from client.views import View, view_of
from client.words import room_code
from wire.messages import (
    Chat,
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

_ONLY_THE_HOST: Final = Say("Only the host may do that.")


def press(desk: Desk, state: State, key: str) -> Pressed:
    """Take one key in."""
    match key:
        case "ctrl-c":
            return _ask_quit(desk, state)
        case "ctrl-l":
            return desk, [Local("repaint")]
        case "r" if state.line.status == "waiting" and isinstance(desk.overlay, Hall | None):
            return desk, [Local("retry")]
        case _ if desk.overlay is not None:
            return _press_overlay(desk, desk.overlay, state, key)
        case "?":
            around = view_of(state) not in ("race", "watch")
            return replace(desk, overlay=Help(around), half="", count=0), []
        case "C":
            return desk, [Local("colour")]
        case "A":
            return desk, [Local("ascii")]
        case "B":
            return desk, [Local("bell")]
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
        case Help() if key == "tab":
            return replace(desk, overlay=Help(not overlay.around)), []
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
        "kick": Kick(player=confirm.player),
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
            return replace(desk, overlay=Confirm("kick", room.seats[desk.row].player)), []
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
    desk = replace(desk, hinting=False)
    match key:
        case "esc":
            return let_go(replace(desk, cursor="")), []
        case "tab":
            return replace(desk, panel=not desk.panel), []
        case "l":
            return _leave(let_go(desk), state)
        case "k":
            return _ask_put_out(let_go(desk), state)
        case "left" | "right" | "up" | "down":
            return replace(desk, cursor=movekeys.moved_cursor(desk.cursor, state, key)), []
    if not state.may("move"):
        return desk, ([Say("Your race is done; l leaves the room.")] if len(key) == 1 else [])
    if key == "x":
        return replace(let_go(desk), overlay=Confirm("resign")), []
    return movekeys.press(desk, state, key)


def _ask_put_out(desk: Desk, state: State) -> Pressed:
    if not state.may("disqualify"):
        return desk, [_ONLY_THE_HOST]
    others = putout.racing(state)
    if not others:
        return desk, [Say("Nobody else is racing any more.")]
    return replace(desk, overlay=PutOut(others[0].player)), []


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
