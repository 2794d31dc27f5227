"""Painting: any state, at any size, stays within its cells and says what matters."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import wcswidth, wcwidth

from client.clock import Clock
from client.desk import Confirm, Desk, Help, Prompt
from client.forms import new_form
from client.line import Line
from client.model import Notice, State
from client.paint import Screen, frame
from client.plays import Play, Plays
from client.style import Style
from tests.client import states
from tests.client.stage import NOW, PILES, board, room, seat
from wire.messages import Hints, Move, RoomLine, Settings, Standing, Standings

RACE = State(
    line=Line("online", trip_ms=38.0),
    clock=Clock().stamped(NOW, 100.0),
    name="ann",
    player="p-ann",
    room=room(),
    boards=((0, board()),),
)


def lines(
    state: State,
    desk: Desk | None = None,
    rows: int = 24,
    cols: int = 80,
    *,
    style: Style | None = None,
) -> list[str]:
    screen = Screen(state, desk or Desk(), style or Style(), 100.0, "ws://h:1")
    return frame(screen, rows, cols).lines()


@given(states.states, states.desks, states.styles, st.integers(1, 60), st.integers(1, 160))
@settings(max_examples=120)
def test_any_state_fits_any_size(
    state: State, desk: Desk, style: Style, rows: int, cols: int
) -> None:
    canvas = frame(Screen(state, desk, style, 100.0, "ws://h:1"), rows, cols)
    assert len(canvas.lines()) == rows
    for row, line in enumerate(canvas.lines()):
        assert wcswidth(line) <= cols
        assert sum(max(0, wcwidth(sign)) for sign in line) <= cols
        assert all(sign.isprintable() for sign in line if wcwidth(sign) > 0)
        assert not style.ascii or line.isascii()
        for run in canvas.runs(row):
            assert 0 <= run.col < cols


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (2, 80), (24, 1), (19, 56), (20, 55)])
def test_a_terminal_that_is_too_small_says_so_as_far_as_it_can(rows: int, cols: int) -> None:
    text = " ".join(lines(RACE, rows=rows, cols=cols)).strip()
    assert text
    assert text in "terminal too small (need 56x20)"


@pytest.mark.parametrize(("rows", "cols"), [(20, 56), (24, 80), (30, 104), (60, 200)])
def test_the_longest_column_is_whole_at_every_size_that_plays(rows: int, cols: int) -> None:
    run = "KHQSJHTS9H8S7H6S5H4S3H2SAH"
    state = replace(RACE, boards=((0, board(piles=PILES | {"9": f"8:{run}"})),))
    text = "\n".join(lines(state, rows=rows, cols=cols))
    for card in ("K♥", "Q♠", "10♠", "2♠", "A♥"):
        assert card in text


def test_the_race_screen_has_clock_scores_connection_and_board() -> None:
    shown = lines(replace(RACE, room=room(seats=[seat("ann"), seat("bob", cards=31, down=14)])))
    words = " ".join(shown[0].split())
    assert words == "ann 14:55 moves 0 pass 1 rank 2/2 * online 38 ms"
    assert "bob" in shown[2]
    assert shown[2].endswith("31   14")
    assert "30%" in shown[3]
    assert shown[4][:56].split() == [*"123456789", "│"]
    assert shown[5].startswith("   K♥   ▒▒1   ▒▒2")
    assert shown[23].startswith(" 1-9 move")


def test_without_colour_the_red_suits_are_outlines() -> None:
    shown = "\n".join(lines(RACE, style=Style(colour=False)))
    assert "K♡" in shown
    assert "K♠" in shown
    assert "♥" not in shown


def test_in_ascii_the_red_suits_are_small_letters() -> None:
    shown = "\n".join(lines(RACE, style=Style(ascii=True)))
    assert "Kh" in shown
    assert "KS" in shown
    assert shown.isascii()


def test_a_half_typed_move_shows_where_it_may_go() -> None:
    state = replace(RACE, hints=Hints(n=0, moves=["6>8:1", "6>f", "d", "w>3"]))
    shown = lines(state, Desk(half="6"))
    assert "from 6 (J♠): to? 8, f" in shown[22]
    assert "> J♠<" in "\n".join(shown)


def test_a_half_typed_move_without_hints_names_no_target() -> None:
    assert "to?   [Enter lets the rules choose" in lines(RACE, Desk(half="6"))[22]


def test_moves_without_an_answer_are_marked_on_the_board_and_told() -> None:
    waiting = Plays(sent=(Move(n=1, m="6>8"),), held=(Play("d"),), paused=False)
    shown = lines(replace(RACE, plays=waiting))
    assert "~6~" in shown[4]
    assert "~8~" in shown[4]
    assert "Waiting for the server: 6>8, d" in shown[22]


def test_a_refusal_shows_its_reason_and_goes_after_a_while() -> None:
    said = replace(RACE, notice=Notice("only a King goes there", "bad", 98.0))
    assert "only a King goes there" in lines(said)[22]
    old = replace(RACE, notice=Notice("only a King goes there", "bad", 80.0))
    assert lines(old)[22] == ""


def test_a_reason_that_is_longer_than_the_screen_takes_a_second_row() -> None:
    said = replace(RACE, notice=Notice("reason " * 18 + "end", "bad", 99.0))
    shown = lines(said)
    assert f"{shown[21]} {shown[22].strip()}".strip() == "reason " * 18 + "end"


@pytest.mark.parametrize("cols", [56, 80])
def test_the_page_of_keys_is_whole_on_every_screen(cols: int) -> None:
    shown = lines(RACE, Desk(overlay=Help()), rows=20, cols=cols)
    assert shown == lines(RACE, Desk(overlay=Help()), rows=20, cols=200)


@pytest.mark.parametrize(
    ("line", "store_waits", "words"),
    [
        (Line("online", trip_ms=38.2), False, "* online 38 ms"),
        (Line("online"), True, "~ waiting for the server's store"),
        (Line("connecting"), False, "~ CONNECTING"),
        (Line("waiting", retry_at=103.0), False, "~ RECONNECTING 3s"),
        (Line("ended", "update the client"), False, "! offline, q to quit"),
    ],
)
def test_the_connection_is_told_in_words(line: Line, store_waits: bool, words: str) -> None:
    assert lines(replace(RACE, line=line, store_waits=store_waits))[0].endswith(words)


def test_without_a_server_it_says_that_moves_are_kept() -> None:
    waiting = Plays(held=(Play("d"), Play("w>f")))
    shown = lines(replace(RACE, line=Line("waiting", "the line dropped"), plays=waiting))
    assert shown[22] == " No server (the line dropped): 2 moves are kept and sent again."


def test_why_the_line_ended_is_shown() -> None:
    shown = lines(replace(RACE, line=Line("ended", "You are playing from another window")))
    assert "another window" in shown[22]


def test_the_countdown_follows_the_servers_clock() -> None:
    state = replace(RACE, room=room(phase="locked", starts=NOW + 4_200), boards=())
    shown = "\n".join(lines(state))
    assert "The race starts in 00:05." in shown


@pytest.mark.parametrize("cols", [56, 79])
def test_a_narrow_screen_tells_rank_and_leader_and_tab_shows_the_scores(cols: int) -> None:
    state = replace(RACE, room=room(seats=[seat("ann"), seat("bob", cards=31)]))
    shown = lines(state, cols=cols)
    assert "rank 2/2, leader 31" in shown[0]
    assert "* 38 ms" in shown[0]
    assert "bob" not in "\n".join(shown)
    panel = "\n".join(lines(state, Desk(panel=True), cols=cols))
    assert "bob" in panel
    assert "K♥" not in panel


def test_on_a_low_screen_the_message_takes_the_place_of_the_keys() -> None:
    said = replace(RACE, notice=Notice("no", "bad", 99.0))
    assert lines(said, rows=20)[19] == " no"
    assert "1-9 move" in lines(RACE, rows=20)[19]


def test_where_there_are_rows_to_spare_face_down_cards_unfold() -> None:
    assert sum("▒▒" in line for line in lines(RACE, rows=40)[5:]) == 8
    assert sum("▒▒" in line for line in lines(RACE)[5:]) == 1


def test_the_marks_beside_names_tell_who_is_what() -> None:
    seats = [
        seat("ann"),
        seat("gone", here=False),
        seat("robot", bot=True),
        seat("quit", outcome="resigned"),
        seat("done", outcome="solved", done_ms=9),
        seat("fast"),
    ]
    shown = "\n".join(lines(replace(RACE, room=room(seats=seats), gains=((5, 99.0),))))
    for mark in ("?gone", "brobot", "xquit", "*done", "!fast", " ann"):
        assert mark in shown


def test_sixteen_players_all_stand_in_the_scores() -> None:
    seats = [seat(f"player-{number}") for number in range(16)]
    shown = "\n".join(lines(replace(RACE, room=room(seats=seats))))
    assert all(f"player-{number}" in shown for number in range(16))


def test_a_strangers_name_cannot_reach_the_terminal_raw() -> None:
    seats = [seat("ann"), seat("\x1b[2Jx\u202ey")]
    shown = "\n".join(lines(replace(RACE, room=room(seats=seats))))
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_the_lobby_lists_rooms_and_keeps_the_selected_one_in_sight() -> None:
    rooms = tuple(
        RoomLine(
            room=f"ROOM{number:02}",
            title="",
            rules="gargantua",
            phase="open",
            taken=1,
            seats=8,
            host="bob",
            locked=number == 39,
            spectators="scores",
            opened=NOW,
        )
        for number in range(40)
    )
    shown = "\n".join(lines(State(line=Line("online"), rooms=rooms), Desk(row=39)))
    assert "> ROOM39" in shown
    assert "(password)" in shown
    assert "ROOM00" not in shown


def test_the_room_shows_settings_commitment_seats_and_how_to_join() -> None:
    state = replace(
        RACE,
        room=room(phase="open", settings=Settings(title="Friday"), seats=[seat("ann", host=True)]),
        invitation="klondike ws://10.0.0.1:1",
    )
    shown = "\n".join(lines(state))
    for text in ("ABCDEF", "Friday", "15:00", "c0" * 32, "not ready, host", "--room ABCDEF"):
        assert text in shown


def test_only_keys_that_do_something_are_offered() -> None:
    state = replace(RACE, room=room(phase="open", actions=["unready", "leave", "chat"]))
    keys = lines(state)[23]
    assert "r not ready" in keys
    assert "s start" not in keys
    assert "k kick" not in keys


@pytest.mark.parametrize("cols", [56, 80])
@pytest.mark.parametrize("phase", ["open", "running", "over"])
def test_the_line_of_keys_always_ends_with_help_and_quit(cols: int, phase: str) -> None:
    state = replace(RACE, room=room(phase=phase, actions=list(states.ACTIONS)))
    assert lines(state, cols=cols)[23].endswith("? help  q quit")


def test_the_standings_show_places_and_the_reveal() -> None:
    row = Standing(
        player="p-ann",
        name="ann",
        bot=False,
        place=1,
        outcome="solved",
        cards=104,
        down=0,
        score=104,
        moves=300,
        undos=0,
        finished_ms=272_000,
        reached_ms=272_000,
    )
    result = Standings(room="ABCDEF", reason="finished", rows=[row], head="ab" * 32)
    shown = "\n".join(lines(replace(RACE, room=room(phase="over"), standings=result)))
    for text in ("all are done", "ann", "104", "solved in 04:32", "ab" * 32):
        assert text in shown


@pytest.mark.parametrize(
    ("desk", "words"),
    [
        (Desk(overlay=Help()), "home; 6 6 and w w do the same"),
        (Desk(overlay=Prompt("chat", "hello")), "say: hello_"),
        (Desk(overlay=Prompt("password", "hello")), "password: *****_"),
        (Desk(overlay=Confirm("resign")), "Give the race up? (y/n)"),
        (Desk(overlay=new_form()), "A new room"),
    ],
)
def test_what_lies_over_the_screen_is_shown(desk: Desk, words: str) -> None:
    assert words in "\n".join(lines(RACE, desk))


def test_a_password_being_typed_is_not_shown() -> None:
    assert "hello" not in "\n".join(lines(RACE, Desk(overlay=Prompt("password", "hello"))))
