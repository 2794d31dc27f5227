"""Generators of states and desks: whatever a server might say and a player might type."""

from hypothesis import strategies as st

from client.cards import RANKS, SUITS
from client.clock import Clock
from client.desk import Confirm, Desk, Help, Log, Prompt
from client.forms import new_form
from client.line import Line
from client.model import Notice, State
from client.plays import Play, Plays
from client.putout import PutOut
from client.style import Style
from wire.messages import Board, Finished, Hints, Move, Room, Standings, Undo
from wire.values import Reveal, RoomLine, Seat, Settings, Standing

# Any text at all, with what is hard on terminals often in it.
texts = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("漢字한글👍🏽\u200d\ufe0f\u0301\u0e33\x1b\x07\n\t\u202e\u2028éß"),
    ),
    max_size=40,
)
names = texts.map(lambda text: text[:16] or "x")
numbers = st.integers(0, 10_000)
cards = st.builds(lambda rank, suit: rank + suit, st.sampled_from(RANKS), st.sampled_from(SUITS))
outcomes = st.sampled_from(["playing", "solved", "resigned", "disqualified", "unfinished"])
phases = st.sampled_from(["open", "locked", "running", "over"])
instants = st.integers(1_700_000_000_000, 1_700_000_900_000)


def pile(most_down: int, most_up: int) -> st.SearchStrategy[str]:
    return st.builds(
        lambda down, up: f"{down}:{''.join(up)}",
        st.integers(0, most_down),
        st.lists(cards, max_size=most_up),
    )


# What a Double Klondike column can hold at most: eight backs and a run from King to Ace.
columns = pile(8, 13)
piles = st.fixed_dictionaries(
    {
        "h": pile(59, 0),
        "w": pile(0, 59),
        **{f"f{number}": pile(12, 1) for number in range(1, 9)},
        **{str(number): columns for number in range(1, 10)},
    }
) | st.dictionaries(
    st.sampled_from(["h", "w", "f1", "f2", "1", "2", "7"]), pile(30, 30) | texts, max_size=7
)

seats = st.builds(
    Seat,
    player=st.sampled_from(["p1", "p2", "p3"]),
    name=names,
    bot=st.booleans(),
    host=st.booleans(),
    ready=st.booleans(),
    here=st.booleans(),
    cards=st.integers(0, 104),
    down=st.integers(0, 36),
    moves=numbers,
    outcome=outcomes,
    done_ms=st.none() | numbers,
)
settings = st.builds(
    Settings,
    title=texts,
    rules=texts,
    seed=st.none() | texts.map(lambda text: text or "s"),
    time_limit_s=st.integers(30, 14_400),
    seats=st.integers(1, 16),
    undo=st.sampled_from(["off", "safe", "free"]),
    hints=st.booleans(),
    spectators=st.sampled_from(["none", "scores", "boards"]),
    delay_s=st.integers(0, 600),
    start=st.sampled_from(["ready", "host", "time"]),
)
ACTIONS = (
    *("ready", "unready", "start", "kick", "leave", "chat", "join", "move", "undo"),
    *("finish", "hint", "resign", "rematch", "disqualify"),
)
rooms = st.builds(
    Room,
    room=st.sampled_from(["ABCDEF", "ZYXWVU"]),
    version=numbers,
    settings=settings,
    phase=phases,
    commitment=st.sampled_from(["", "ab" * 32]),
    seats=st.lists(seats, max_size=16),
    seat=st.none() | st.integers(0, 15),
    actions=st.lists(st.sampled_from(ACTIONS), max_size=13),
    now=instants,
    opened=instants,
    spectators=st.integers(0, 500),
    starts=st.none() | instants,
    ends=st.none() | instants,
    next_room=st.none() | st.just("QQQQQQ"),
)
boards = st.builds(
    Board,
    seat=st.integers(0, 15),
    n=st.integers(0, 3),
    piles=piles,
    cards=st.integers(0, 104),
    down=st.integers(0, 36),
    score=st.integers(-104, 416),
    moves=numbers,
    undos=numbers,
    turn=st.integers(1, 99),
    passes=st.none() | st.integers(1, 9),
    can=st.lists(st.sampled_from(["draw", "redeal", "undo", "finish"]), max_size=4),
    stuck=st.booleans(),
    outcome=outcomes,
)
moves = st.sampled_from(["d", "w>f", "w>3", "5>f", "5>2:4", "f1>3", "7>1:1"])
standings = st.builds(
    Standings,
    room=st.just("ABCDEF"),
    reason=st.sampled_from(["finished", "time", "stuck", "other"]),
    rows=st.lists(
        st.builds(
            Standing,
            player=st.sampled_from(["p1", "p2"]),
            name=names,
            bot=st.booleans(),
            place=st.integers(1, 16),
            outcome=outcomes,
            cards=st.integers(0, 104),
            down=st.integers(0, 36),
            score=st.integers(-104, 416),
            moves=numbers,
            undos=numbers,
            finished_ms=st.none() | st.integers(0, 90_000_000),
            reached_ms=numbers,
        ),
        max_size=16,
    ),
    head=st.just("cd" * 32),
    reveal=st.none()
    | st.builds(
        Reveal,
        deal=texts,
        commitment=st.just("ab" * 32),
        secret=st.just("ef" * 32),
        seed=st.none() | texts,
        salts=st.just([]),
        position=texts,
    ),
)
lines = st.builds(
    Line,
    status=st.sampled_from(["connecting", "held up", "online", "waiting", "ended"]),
    why=texts,
    retry_at=st.none() | st.floats(0, 100),
    trip_ms=st.none() | st.floats(0, 99_999),
)
notices = st.builds(
    Notice,
    text=texts,
    tone=st.sampled_from(["plain", "good", "bad", "talk"]),
    at=st.floats(0, 100),
)
plays = st.builds(
    Plays,
    counted=numbers,
    sent=st.lists(
        st.builds(Move, n=st.integers(1, 99), m=moves) | st.builds(Undo, n=st.integers(1, 99)),
        max_size=30,
    ).map(tuple),
    held=st.lists(st.builds(Play, moves), max_size=5).map(tuple),
)
states = st.builds(
    State,
    line=lines,
    clock=st.just(Clock()) | st.builds(lambda now: Clock().stamped(now, 50.0), instants),
    plays=plays,
    player=st.sampled_from(["p1", "p9"]),
    name=names,
    rooms=st.none()
    | st.lists(
        st.builds(
            RoomLine,
            room=st.just("ABCDEF"),
            title=texts,
            rules=texts,
            phase=phases,
            taken=st.integers(0, 16),
            seats=st.integers(1, 16),
            host=names,
            locked=st.booleans(),
            spectators=st.just("scores"),
            opened=instants,
        ),
        max_size=40,
    ).map(tuple),
    room=st.none() | rooms,
    boards=st.lists(boards, max_size=3).map(lambda all_: tuple((b.seat, b) for b in all_)),
    hints=st.none() | st.builds(Hints, n=st.integers(0, 3), moves=st.lists(moves, max_size=30)),
    standings=st.none() | standings,
    finished=st.none() | st.builds(Finished, outcome=outcomes, done_ms=numbers),
    log=st.lists(notices, max_size=40).map(tuple),
    notice=notices,
    store_waits=st.booleans(),
    gains=st.lists(st.tuples(st.integers(0, 15), st.floats(0, 100)), max_size=4).map(tuple),
    invitation=st.just("") | texts,
)
overlays = (
    st.none()
    | st.sampled_from([Help(), Help(around=True), Log()])
    | st.builds(Confirm, st.sampled_from(["quit", "resign", "leave"]))
    | st.builds(
        Prompt,
        st.sampled_from(["chat", "code", "name", "password"]),
        texts,
        st.just("ABCDEF"),
        st.booleans(),
    )
    | st.builds(new_form)
    | st.builds(
        PutOut,
        st.sampled_from(["p1", "p2", "gone"]),
        st.sampled_from(["", "two screens"]),
        st.sampled_from(["who", "why"]),
    )
)
desks = st.builds(
    Desk,
    half=st.sampled_from(["", "1", "9", "w", "f", "f1", "f8"]),
    count=st.just(0),
    cursor=st.sampled_from(["", "h", "w", "f", "1", "9"]),
    panel=st.booleans(),
    hinting=st.booleans(),
    row=st.integers(0, 60),
    seat=st.integers(0, 15),
    overlay=overlays,
)
styles = st.builds(Style, ascii=st.booleans(), colour=st.booleans())
KEYS = (
    *"123456789wf ahuxltqLCA?jcnrskmy+&é\"'(-è_ç[Z",
    *("up", "down", "left", "right", "enter", "esc", "tab", "backtab", "backspace"),
    *("home", "end", "pgup", "pgdn", "ctrl-l", "ctrl-c"),
)
keys = st.sampled_from(KEYS) | st.characters(codec="utf-8")
