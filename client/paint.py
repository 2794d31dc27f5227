"""The whole screen as a canvas: what of the state is shown where, at any size.

Pure. `frame` is the only door; it never fails and never paints outside, down to one cell.
"""

from dataclasses import dataclass
from typing import Final

from client import pages, status
from client.antechamber import paint_room
from client.canvas import Canvas
from client.cells import head
from client.desk import Confirm, Desk, Help, Log, Prompt
from client.forms import Form
from client.model import NOTICE_SHOWN, State
from client.podium import paint_standings
from client.putout import PutOut
from client.scoreboard import paint_scoreboard, width_at
from client.status import FULL_ROWS, LEAST_ROWS, foot_rows
from client.style import Ink, Style
from client.table import SPACIOUS, TALL, Marks, Place, paint_table
from client.tournament.hall import Hall
from client.tournament.pages import paint_hall
from client.views import View, view_of
from client.words import clean
from wire.messages import Board, Move

LEAST_COLS: Final = 56
FULL_COLS: Final = 80  # from here on the scores stand beside the board

Caption = tuple[str, Ink]  # what stands over a board


@dataclass(frozen=True, slots=True)
class Screen:
    """What is shown, and on what."""

    state: State
    desk: Desk
    style: Style
    now: float
    server: str = ""


def frame(screen: Screen, rows: int, cols: int) -> Canvas:
    """Paint everything on a canvas of this size."""
    canvas = Canvas(rows, cols, ascii_only=screen.style.ascii)
    if rows < LEAST_ROWS or cols < LEAST_COLS:
        need = f"terminal too small (need {LEAST_COLS}x{LEAST_ROWS})"
        canvas.put(rows // 2, max(0, (cols - len(need)) // 2), need, "warn")
        if isinstance(screen.desk.overlay, Confirm):
            _paint_question(canvas, screen)
        return canvas
    match screen.desk.overlay:
        case Help() as open_at:
            pages.paint_help(canvas, open_at)
            return canvas
        case Log():
            pages.paint_log(canvas, screen.state)
            return canvas
        case Hall() as hall:
            now_ms = screen.state.clock.server_ms(screen.now)
            paint_hall(canvas, hall, screen.state.tour, screen.style, now_ms)
            _paint_answer(canvas, screen)
            return canvas
        case _:
            pass
    view = view_of(screen.state)
    _paint_status(canvas, screen, view)
    if isinstance(screen.desk.overlay, Form):
        pages.paint_form(canvas, screen.desk.overlay)
    else:
        _paint_view(canvas, screen, view)
    _paint_foot(canvas, screen)
    return canvas


def _paint_answer(canvas: Canvas, screen: Screen) -> None:
    """Paint, above the keys of a page, what the server has said to them, or that it is away."""
    state = screen.state
    is_new = bool(state.notice.text) and screen.now - state.notice.at < NOTICE_SHOWN
    if is_new or state.line.status != "online":
        text, ink = status.message(state, Desk(), screen.style, screen.now)
        canvas.fill(canvas.rows - 2, 0, " ", canvas.cols)
        canvas.put(canvas.rows - 2, 1, text, ink, canvas.cols - 2)


def _paint_view(canvas: Canvas, screen: Screen, view: View) -> None:
    state, desk = screen.state, screen.desk
    match view:
        case "lobby":
            pages.paint_lobby(canvas, state, desk, screen.server)
        case "room":
            paint_room(canvas, state, desk, screen.now)
        case "race":
            _paint_race(canvas, screen, state.board, _own_caption(canvas, state.board))
        case "watch":
            _paint_watch(canvas, screen, panel=desk.panel)
        case "standings" if desk.panel and state.boards:
            _paint_watch(canvas, screen, panel=False)
        case "standings":
            paint_standings(canvas, state, desk)


def _paint_status(canvas: Canvas, screen: Screen, view: View) -> None:
    state, is_narrow = screen.state, canvas.cols < FULL_COLS
    words, ink = status.connection(state, screen.now, is_narrow=is_narrow)
    edge = canvas.cols - 2 - canvas.width(words)
    canvas.put_right(0, canvas.cols - 1, words, ink)
    canvas.put(0, 1, clean(state.name) or "klondike", "bold", 10 if is_narrow else 16)
    if view not in ("race", "watch"):
        return
    col = 12 if is_narrow else 19
    col = canvas.put(0, col, status.remaining(state, screen.now), "bold", edge - col) + 2
    board = _shown_board(screen, view)
    if board is not None and not is_narrow:
        col = canvas.put(0, col, _progress(board), "plain", edge - col) + 2
    canvas.put(0, col, status.rank_text(state, with_leader=is_narrow), "plain", edge - col)


def _progress(board: Board) -> str:
    passes = f"/{board.passes}" if board.passes is not None else ""
    return f"moves {board.moves}  pass {board.turn}{passes}"


def _shown_board(screen: Screen, view: View) -> Board | None:
    boards = dict(screen.state.boards)
    if view == "race":
        return screen.state.board
    return boards.get(screen.desk.seat) or next(iter(boards.values()), None)


def _place(canvas: Canvas) -> Place:
    last = canvas.rows - foot_rows(canvas.rows) - 1
    return Place(
        numbers=4,
        first=5,
        last=last,
        unfolds=canvas.rows >= TALL,
        wide=canvas.cols >= SPACIOUS,
    )


def _own_caption(canvas: Canvas, board: Board | None) -> Caption:
    """Give what stands over the own board: how far it is, where the first row has no room."""
    is_narrow = canvas.cols < FULL_COLS
    return _progress(board) if board is not None and is_narrow else "", "dim"


def _paint_race(canvas: Canvas, screen: Screen, board: Board | None, caption: Caption) -> None:
    place = _place(canvas)
    beside = canvas.cols >= FULL_COLS
    edge = canvas.cols - width_at(canvas.cols) - 1
    if beside:
        for row in range(1, place.last + 1):
            canvas.put(row, edge, screen.style.upright, "dim")
        _paint_scores(canvas, screen, edge + 1, place.last)
    elif screen.desk.panel:
        _paint_scores(canvas, screen, 1, place.last)
        return
    if board is None:
        canvas.put(3, 1, "Waiting for the layout ...", "dim")
        return
    paint_table(canvas, board.piles, place, _marks(screen, board), screen.style)
    canvas.put(place.numbers - 1, 1, *caption, 50)


def _paint_scores(canvas: Canvas, screen: Screen, col: int, last: int) -> None:
    paint_scoreboard(canvas, screen.state, screen.style, screen.now, col=col, top=1, bottom=last)


def _marks(screen: Screen, board: Board) -> Marks:
    desk, state, plays = screen.desk, screen.state, screen.state.plays
    if state.room is None or board.seat != state.room.seat:
        return Marks(touched=dict(state.touched).get(board.seat, frozenset()))
    targets = status.legal_targets(state, desk.half) if desk.half else None
    if desk.hinting:
        targets = status.named_piles(state)
    texts = [play.m for play in plays.sent if isinstance(play, Move)]
    texts += [play.text for play in plays.held]
    piles: set[str] = set()
    for text in texts:
        source, _, target = text.partition(">")
        piles |= {"h" if source == "d" else source[:1], target[:1]}
    return Marks(
        desk.half, desk.count, desk.cursor, frozenset(piles), targets=frozenset(targets or ())
    )


def _paint_watch(canvas: Canvas, screen: Screen, *, panel: bool) -> None:
    state = screen.state
    room, board = state.room, _shown_board(screen, "watch")
    if room is None or board is None:
        _paint_scores(canvas, screen, 1, _place(canvas).last)
        return
    name = clean(room.seats[board.seat].name) if board.seat < len(room.seats) else ""
    caption: Caption = (f"{name}   {board.cards} home, {board.down} down" if name else "", "own")
    plain = Screen(state, Desk(panel=panel), screen.style, screen.now)
    _paint_race(canvas, plain, board, caption)


def _paint_foot(canvas: Canvas, screen: Screen) -> None:
    text, ink = status.message(screen.state, screen.desk, screen.style, screen.now)
    keys = status.key_line(screen.state, canvas.cols - 2, is_narrow=canvas.cols < FULL_COLS)
    form = screen.desk.overlay
    if isinstance(form, Form):
        keys = "up/down field  left/right choice  Enter open the room  Esc back"
        text, ink = (form.fault, "bad") if form.fault else (form.fields[form.at].about, "plain")
    lines = _message_lines(canvas, text, is_typed=isinstance(form, Prompt | PutOut))
    last = canvas.rows - 1
    if canvas.rows >= FULL_ROWS:
        if len(lines) == 1:
            canvas.fill(last - 2, 0, screen.style.across, canvas.cols)
        _paint_message(canvas, last - 1, lines, ink)
        canvas.put(last, 1, keys, "dim")
    elif canvas.rows > LEAST_ROWS:
        if len(lines) == 1:
            canvas.put(last, 1, keys, "dim")
        # A long message takes the row of the keys.
        _paint_message(canvas, last + len(lines) - 2, lines, ink)
    elif not text:
        # The longest column leaves one row: the keys give way, but for how to find them.
        canvas.put(last, 1, keys, "dim")
    else:
        _paint_message(canvas, last, lines, ink)
        if form is None and 1 + canvas.width(lines[-1]) + 8 < canvas.cols:
            canvas.put_right(last, canvas.cols - 1, "? help", "dim")


def _message_lines(canvas: Canvas, text: str, *, is_typed: bool) -> list[str]:
    """Give a message in two lines at most: of what is being typed the end, else the beginning."""
    lines = canvas.wrapped(text, canvas.cols - 2)
    if len(lines) <= 2:
        return lines
    if is_typed:
        return lines[-2:]
    return [lines[0], head(lines[1], canvas.cols - 6) + " ..."]


def _paint_message(canvas: Canvas, bottom: int, lines: list[str], ink: Ink) -> None:
    for row, line in enumerate(reversed(lines)):
        canvas.fill(bottom - row, 0, " ", canvas.cols, "plain")
        canvas.put(bottom - row, 1, line, ink)


def _paint_question(canvas: Canvas, screen: Screen) -> None:
    text, ink = status.message(screen.state, screen.desk, screen.style, screen.now)
    lines = canvas.wrapped(text, canvas.cols)
    top = min(canvas.rows // 2 + 1, max(0, canvas.rows - len(lines)))
    for row, line in enumerate(lines, top):
        canvas.fill(row, 0, " ", canvas.cols, "plain")
        canvas.put(row, 0, line, ink)
