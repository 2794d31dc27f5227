"""A room before its race: how it races, who is there, what is said.

Pure.
"""

from client.canvas import Canvas
from client.desk import Desk
from client.lists import more, visible
from client.model import State
from client.pages import paint_talk
from client.status import foot_rows, remaining
from client.style import Ink
from client.words import clean, moment, span
from wire.messages import Room
from wire.tournaments import Called
from wire.values import Seat, Settings

TALK_ROWS = 3  # kept free of a long list of seats, where something was said


def paint_room(canvas: Canvas, state: State, desk: Desk, now: float) -> None:
    """Paint a room before its race."""
    room = state.room
    if room is None:
        return
    title = clean(room.settings.title)
    canvas.put(2, 1, f"Room {room.room}{f'   {title}' if title else ''}", "bold")
    call = state.tour.call_to(room.room)
    lines: list[tuple[str, Ink]] = [(line, "dim") for line in settings_lines(room.settings, call)]
    lines.append((_fairness(room), "dim"))
    if state.invitation:
        invitation = clean(state.invitation).replace("{room}", room.room)
        lines.append((f"To join: {invitation}", "own"))
    row = 3
    for text, ink in lines:
        for line in canvas.wrapped(text, canvas.cols - 2):
            canvas.put(row, 1, line, ink)
            row += 1
    last = canvas.rows - foot_rows(canvas.rows) - 1
    row = _paint_seats(canvas, state, desk, row + 1, last)
    if room.phase == "locked" or call is not None:
        canvas.put(row + 1, 1, _when(state, call, now), "bold")
        row += 2
    paint_talk(canvas, state, row + 1, last - row, "dim")


def _when(state: State, call: Called | None, now: float) -> str:
    if call is None or (state.room is not None and state.room.phase == "locked"):
        return f"The race starts in {remaining(state, now)}."
    server = state.clock.server_ms(now)
    if state.tour.is_paused(call):
        return "The tournament is paused; the race waits."
    if server is None or state.tour.starts(call) <= server:
        return "The race starts any moment."
    return f"The race starts in {span(state.tour.starts(call) - server + 999)}."


def settings_lines(settings: Settings, call: Called | None = None) -> list[str]:
    """Describe how a room races; in a tournament, for whom it calls."""
    limit = span(settings.time_limit_s * 1000)
    undo = {"off": "no undo", "safe": "undo of what revealed nothing", "free": "free undo"}
    return [
        f"{clean(settings.rules)}, {limit}, {undo[settings.undo]}, "
        f"{'hints' if settings.hints else 'no hints'}, {'' if settings.chat else 'no chat, '}"
        f"score by {settings.score}",
        f"starts {_start(settings, call)}, {settings.countdown_s} s countdown; "
        f"spectators see {_seen(settings)}",
    ]


def _start(settings: Settings, call: Called | None) -> str:
    if call is not None:
        return f"by itself; no play for {call.no_show_s} s loses"
    if settings.start == "time" and settings.start_at is not None:
        return f"at {moment(settings.start_at)}"
    starts = {"ready": "all are ready", "host": "the host says", "time": "its time has come"}
    return f"when {starts[settings.start]}"


def _seen(settings: Settings) -> str:
    shown = {"none": "nothing", "scores": "scores", "boards": "boards"}[settings.spectators]
    return f"{shown}, {settings.delay_s} s late" if settings.delay_s else shown


def _fairness(room: Room) -> str:
    if room.settings.seed is not None:
        return f"public seed {clean(room.settings.seed)!r}: anybody may know this deal"
    return f"fair deal {room.commitment}"


def _paint_seats(canvas: Canvas, state: State, desk: Desk, row: int, last: int) -> int:
    room = state.room
    assert room is not None
    seats, own = room.seats, room.seat
    call = state.tour.call_to(room.room)
    has_start = room.phase == "locked" or call is not None
    below = (2 if has_start else 0) + (1 + TALK_ROWS if state.log else 0)
    selected = min(desk.row, len(seats) - 1)
    shown = visible(len(seats), max(3, last - row - below), selected, own)
    taken = f"Seats {len(seats)}/{room.settings.seats}"
    watching = f"   {room.spectators} watching" if room.spectators else ""
    canvas.put(row, 1, f"{taken}{watching}{more(len(seats), len(shown))}", "bold")
    # A cursor only where it is for something: it is not the mark of oneself.
    has_cursor = state.may("kick") or len(shown) < len(seats)
    for index in shown:
        row += 1
        if row > last:
            break
        seat = seats[index]
        ink: Ink = "own" if index == own else "plain"
        canvas.put(row, 1, ">" if has_cursor and index == selected else " ", "pick")
        canvas.put(row, 3, clean(seat.name), ink, 17)
        words = _seat_words(seat, is_own=index == own, is_called=call is not None)
        is_well = seat.here if call is not None else seat.ready
        canvas.put(row, 21, words, "good" if is_well else "dim")
    return row


def _seat_words(seat: Seat, *, is_own: bool, is_called: bool) -> str:
    words = ["you"] if is_own else []
    if is_called:  # nobody need be ready: the race starts by the clock
        words += ["here"] if seat.here else []
    else:
        words += ["ready" if seat.ready else "not ready"]
    words += ["host"] if seat.host else []
    words += ["bot"] if seat.bot else []
    words += [] if seat.here else ["away"]
    return ", ".join(words)
