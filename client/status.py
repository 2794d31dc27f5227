"""The lines around a board: clock and connection above, messages and keys below."""

from typing import Final

from client.cards import parse_pile
from client.desk import Confirm, Desk, Prompt
from client.model import NOTICE_SHOWN, State
from client.putout import PutOut, question, racing
from client.scoreboard import ranked
from client.style import Ink, Style
from client.views import View, view_of
from client.words import clean, span
from wire.messages import Room, Undo

LEAST_ROWS: Final = 20
FULL_ROWS: Final = 24  # from here on a rule parts the messages from what is above

QUESTIONS: Final = {
    "quit": "Quit? The same command brings you back to your seat. (y/n)",
    "resign": "Give the race up? (y/n)",
    "leave": "Leave the room? In a running race this gives it up. (y/n)",
    "kick": "Kick {name}? This room does not take them again. (y/n)",
}
LABELS: Final = {
    "chat": "say: ",
    "code": "room code: ",
    "name": "your name: ",
    "password": "password: ",
}


def foot_rows(rows: int) -> int:
    """Give how many rows the foot takes on a screen: rule, message and keys, or fewer."""
    return 3 if rows >= FULL_ROWS else (2 if rows > LEAST_ROWS else 1)


def connection(state: State, now: float, *, is_narrow: bool = False) -> tuple[str, Ink]:
    """Say in words how the line is."""
    line = state.line
    match line.status:
        case "online" if state.store_waits:
            return "~ waiting for the server's store", "warn"
        case "online":
            trip = f" {line.trip_ms:.0f} ms" if line.trip_ms is not None else ""
            return ("*" if is_narrow and trip else "* online") + trip, "good"
        case "connecting":
            return "~ CONNECTING", "warn"
        case "held up":
            return "~ WAITING", "warn"
        case "waiting":
            left = max(0, round((line.retry_at or now) - now))
            return f"~ RECONNECTING {left}s", "warn"
        case "ended":
            return "! offline, q to quit", "bad"


def remaining(state: State, now: float) -> str:
    """Give the time left in the race, or until it starts."""
    room, server = state.room, state.clock.server_ms(now)
    if room is None or server is None:
        return "--:--"
    if room.phase == "running" and room.ends is not None:
        return span(max(0.0, room.ends - server) + 999)
    if room.phase == "locked" and room.starts is not None:
        return span(max(0.0, room.starts - server) + 999)
    return "--:--"


def rank_text(state: State, *, with_leader: bool) -> str:
    """Give the player's own rank, and the leader's cards where the scores are not shown."""
    room = state.room
    if room is None or not room.seats:
        return ""
    lines = ranked(room.seats)
    own = next((line.rank for line in lines if line.index == room.seat), None)
    text = f"rank {own}/{len(lines)}" if own is not None else f"{len(lines)} players"
    return f"{text}, leader {lines[0].seat.cards}" if with_leader else text


def message(state: State, desk: Desk, style: Style, now: float) -> tuple[str, Ink]:
    """Give the line for the player: the most pressing of what there is to say."""
    match desk.overlay:
        case Prompt(kind="password") as prompt:
            return f"{LABELS['password']}{'*' * len(prompt.text)}_", "bold"
        case Prompt() as prompt:
            return f"{LABELS[prompt.kind]}{clean(prompt.text)}_", "bold"
        case Confirm() as confirm:
            return _question(state, confirm), "warn"
        case PutOut() as over:
            return question(over, state), "bold" if over.step == "why" else "warn"
        case _:
            pass
    if desk.half:
        return half_typed(state, desk, style), "bold"
    if state.line.status == "ended" and state.line.why:
        return clean(state.line.why), "bad"
    if state.line.status == "held up":
        return f"The server is there, but held up; {_meanwhile(state)}.", "warn"
    if state.line.status == "waiting" or (state.line.why and state.line.status != "online"):
        return _offline(state), "warn"
    if state.notice.text and now - state.notice.at < NOTICE_SHOWN:
        tones: dict[str, Ink] = {"bad": "bad", "good": "good", "talk": "own"}
        return clean(state.notice.text), tones.get(state.notice.tone, "plain")
    if desk.hinting:
        return _hints(state), "plain"
    return _standing_by(state, now)


def _question(state: State, confirm: Confirm) -> str:
    if confirm.kind == "quit" and state.invitation:
        lost = "room" if state.room is not None and state.room.phase == "over" else "race"
        return f"Quit? This ends the server, and the {lost} for all in it. (y/n)"
    return QUESTIONS[confirm.kind].format(name=clean(state.name_of(confirm.player)))


def _offline(state: State) -> str:
    what = "Not let in" if state.line.is_answered else "No server"
    why = f" ({clean(state.line.why)})" if state.line.why else ""
    if state.plays.waiting:
        return f"{what}{why}: {_kept(state)}."
    return f"{what}{why}; r tries at once."


def _meanwhile(state: State) -> str:
    return _kept(state) if state.plays.waiting else "it may be waiting for its store"


def _kept(state: State) -> str:
    waiting = state.plays.waiting
    kept = "1 move is kept" if waiting == 1 else f"{waiting} moves are kept"
    return f"{kept} and sent again"


def half_typed(state: State, desk: Desk, style: Style) -> str:
    """Say what a half-typed move has, and where it may go as far as the server told."""
    if desk.half == "f":
        return "from a foundation: which one, 1-8?   [Esc cancel]"
    pile = parse_pile(state.board.piles.get(desk.half, "0:")) if state.board else None
    what = ""
    if pile is not None and pile.cards:
        if desk.half.isdecimal():
            number = desk.count or len(pile.cards)
            first = style.card(pile.cards[-number]).strip()
            what = f" ({first})" if number == 1 else f" ({number} cards from {first} on)"
        else:
            what = f" ({style.card(pile.cards[-1]).strip()})"
    name = "waste" if desk.half == "w" else desk.half
    targets = legal_targets(state, desk.half)
    if targets is None:
        return f"from {name}{what}: to?   [Enter lets the rules choose, Esc cancel]"
    goes = ", ".join(targets) if targets else "nothing takes it"
    return f"from {name}{what}: to? {goes}   [Esc cancel]"


def legal_targets(state: State, source: str) -> list[str] | None:
    """Give where a pile's cards may go, None where the server has not said."""
    hints = state.hints
    if hints is None or not state.knows_moves:
        return None
    targets = [
        text.partition(">")[2].partition(":")[0]
        for text in hints.moves
        if text.startswith(f"{source}>")
    ]
    return list(dict.fromkeys(target for target in targets if target))


def named_piles(state: State) -> list[str]:
    """Give the piles that the legal moves lead from and to, as far as the server told."""
    hints = state.hints
    if hints is None or not state.knows_moves:
        return []
    moves = (text.partition(":")[0].partition(">") for text in hints.moves)
    return [pile for source, _, target in moves if target for pile in (source, target)]


def _hints(state: State) -> str:
    hints = state.hints
    if hints is None or not state.knows_moves:
        return "Asking for the legal moves ..."
    # How many cards go follows from the piles in nearly every game.
    moves = dict.fromkeys(text.partition(":")[0] for text in hints.moves)
    return f"Legal: {'  '.join(moves)}" if moves else "No move is left."


def _standing_by(state: State, now: float) -> tuple[str, Ink]:
    if state.plays.waiting and view_of(state) == "race":
        waiting = [_play_text(play) for play in state.plays.sent]
        waiting += [play.text for play in state.plays.held]
        return f"Waiting for the server: {', '.join(waiting)}", "warn"
    board, room = state.board, state.room
    if room is not None and room.phase == "locked":
        return f"The race starts in {remaining(state, now)}.", "bold"
    if room is not None and room.phase == "open":
        return _waiting_for(state, room, now), "plain"
    if board is not None and view_of(state) == "race":
        done = state.finished.outcome if state.finished is not None else board.outcome
        if done != "playing":
            return f"You are done ({done}); the others still race.", "good"
        if board.stuck:
            return "Nothing more can be gained on this board.  x gives up", "warn"
        if "finish" in board.can:
            return "Only going home is left: a plays it all.", "good"
    return "", "plain"


def _waiting_for(state: State, room: Room, now: float) -> str:
    settings, seat = room.settings, state.seat
    server = state.clock.server_ms(now)
    if settings.start == "time" and settings.start_at is not None and server is not None:
        return f"The race starts in {span(max(0.0, settings.start_at - server) + 999)}."
    if seat is None or not seat.ready or settings.start != "ready":
        return ""
    if len(room.seats) < min(2, settings.seats):
        return "You are ready; a race takes two: it starts when another player is ready too."
    others = sum(not each.ready for each in room.seats)
    return f"Waiting for {others} more to be ready." if others else ""


def _play_text(play: object) -> str:
    if isinstance(play, Undo):
        return "undo"
    return str(getattr(play, "m", "finish"))


_TAIL: Final = (("", "? help"), ("", "q quit"))

# What must be allowed for a key to be shown, and the key.
_KEYS: Final[dict[View, tuple[tuple[str, str], ...]]] = {
    "lobby": (
        ("", "Enter join"),
        ("", "w watch"),
        ("", "c create"),
        ("", "j by code"),
        ("", "r refresh"),
        ("", "T events"),
        ("", "n name"),
        ("", "up/down"),
        *_TAIL,
    ),
    "room": (
        ("ready", "r ready"),
        ("unready", "r not ready"),
        ("start", "s start"),
        ("kick", "k kick"),
        ("join", "j take a seat"),
        ("chat", "t chat"),
        ("leave", "l leave"),
        ("", "L log"),
        *_TAIL,
    ),
    "race": (
        ("move", "1-9 move"),
        ("move", "w waste"),
        ("move", "f home"),
        ("move", "SPC deal"),
        ("finish", "a all home"),
        ("undo", "u undo"),
        ("hint", "h hint"),
        ("resign", "x give up"),
        ("others", "k out"),
        ("done", "l leave"),
        ("done", "t chat"),
        ("done", "L log"),
        ("narrow", "TAB scores"),
        *_TAIL,
    ),
    "watch": (
        ("boards", "arrows board"),
        ("narrow", "TAB scores"),
        ("", "L log"),
        ("leave", "l leave"),
        ("others", "k disqualify"),
        *_TAIL,
    ),
    "standings": (
        ("next", "m join the rematch"),
        ("rematch", "m rematch"),
        ("leave", "l lobby"),
        ("", "T events"),
        ("boards", "TAB boards"),
        ("chat", "t chat"),
        ("", "L log"),
        *_TAIL,
    ),
}


def key_line(state: State, cols: int, *, is_narrow: bool) -> str:
    """Give the keys that do something now, the first ones where not all fit; help stays."""
    offered = [
        text for needs, text in _KEYS[view_of(state)] if _is_offered(state, needs, is_narrow)
    ]
    tail = offered[-len(_TAIL) :]
    head = offered[: -len(_TAIL)]
    while head and len("  ".join([*head, *tail])) > cols:
        head.pop()
    return "  ".join([*head, *tail])


def _is_offered(state: State, needs: str, is_narrow: bool) -> bool:
    room, board = state.room, state.board
    match needs:
        case "":
            return True
        case "narrow":
            return is_narrow
        case "finish":
            return board is not None and "finish" in board.can
        case "done":
            return not state.may("move")
        case "others":
            return state.may("disqualify") and bool(racing(state))
        case "boards":
            return bool(state.boards)
        case "next":
            return room is not None and room.next_room is not None
        case "rematch":
            return state.may("rematch") and room is not None and room.next_room is None
        case _:
            return state.may(needs)
