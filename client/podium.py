"""The end of a race: the standings, the proof of the deal, and where it goes on.

Pure.
"""

from collections.abc import Sequence

from client.canvas import Canvas
from client.desk import Desk
from client.lists import more, visible
from client.model import State
from client.results import REASONS
from client.status import foot_rows
from client.style import Ink
from client.words import clean, span
from wire.messages import Standings
from wire.values import Standing

WIDE = 78  # columns from which on score and moves are shown too
TOP = 5  # the first line of the list

Column = tuple[str, int]


def paint_standings(canvas: Canvas, state: State, desk: Desk) -> None:
    """Paint the end of a race."""
    room, result = state.room, state.standings
    if room is None:
        return
    reason = _reason(state, result) if result is not None else ""
    canvas.put(2, 1, f"Room {room.room}: the race is over{f', {reason}' if reason else ''}", "bold")
    if result is None:
        canvas.put(4, 1, "Waiting for the standings ...", "dim")
        return
    proof = _proof(canvas, state, result)
    last = canvas.rows - foot_rows(canvas.rows) - 1
    shown = _paint_list(canvas, state, result, desk, last - len(proof) - TOP)
    canvas.put(3, 1, more(len(result.rows), shown).strip(), "bold")
    for offset, (line, ink) in enumerate(proof):
        canvas.put(TOP + shown + 1 + offset, 1, line, ink)


def _reason(state: State, result: Standings) -> str:
    ruled = state.tour.ruled(result.room) if result.reason == "aborted" else ""
    return ruled or REASONS.get(result.reason, result.reason)


def _paint_list(canvas: Canvas, state: State, result: Standings, desk: Desk, rows: int) -> int:
    columns = _columns(canvas, state)
    head = "".join(f"{name:>{width}}" for name, width in columns)
    canvas.put(TOP - 1, 1, f"{'place':>5}  {'player':<16}    {head}  outcome", "dim")
    own = next((at for at, row in enumerate(result.rows) if row.player == state.player), None)
    selected = min(desk.row, len(result.rows) - 1)
    shown = visible(len(result.rows), max(1, rows), selected, own)
    for number, index in enumerate(shown):
        row, line = TOP + number, result.rows[index]
        ink: Ink = "own" if index == own else "plain"
        if len(shown) < len(result.rows) and index == selected:
            canvas.put(row, 0, ">", "pick")
        canvas.put(row, 1, f"{line.place:>5}", ink)
        canvas.put(row, 8, clean(line.name), ink, 16)
        canvas.put(row, 25, "you" if index == own else "", ink)
        figures = "".join(f"{_figure(line, name):>{width}}" for name, width in columns)
        when = f" in {span(line.finished_ms)}" if line.finished_ms is not None else ""
        canvas.put(row, 28, f"{figures}  {line.outcome}{when}", ink)
    return len(shown)


def _columns(canvas: Canvas, state: State) -> Sequence[Column]:
    columns: list[Column] = [("home", 5), ("down", 5)]
    if canvas.cols >= WIDE:
        columns += [("score", 6), ("moves", 6)]
        if state.room is not None and state.room.settings.undo != "off":
            columns.append(("undos", 6))
    return columns


def _figure(line: Standing, name: str) -> int:
    figures = {
        "home": line.cards,
        "down": line.down,
        "score": line.score,
        "moves": line.moves,
        "undos": line.undos,
    }
    return figures[name]


def _proof(canvas: Canvas, state: State, result: Standings) -> list[tuple[str, Ink]]:
    room, found = state.room, state.deal_check
    assert room is not None
    lines: list[tuple[str, Ink]] = [(state.best, "own")] if state.best else []
    if room.settings.seed is not None:
        lines.append((f"seed     {clean(room.settings.seed)} (public)", "dim"))
    elif result.reveal is not None:
        lines.append((f"promised {room.commitment}", "dim"))
        lines.append((f"secret   {result.reveal.secret}", "dim"))
    lines.append((f"journal  {result.head}", "dim"))
    if found is not None:
        ink: Ink = "bad" if found.is_bad else "good"
        lines += [(line, ink) for line in canvas.wrapped(found.text, canvas.cols - 2)]
    if room.next_room is not None:
        lines.append((f"A rematch is open: room {room.next_room}. m joins it.", "own"))
    return lines
