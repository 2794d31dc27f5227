"""Painting: any state, at any size, stays within its cells and says what matters."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as replace_struct

from client.cells import cells
from client.clock import Clock
from client.desk import Confirm, Desk, Help, Log, Prompt
from client.fairness import Notes, commitment_of
from client.forms import new_form
from client.line import Line
from client.model import Notice, State
from client.paint import Screen, frame
from client.plays import Play, Plays
from client.putout import PutOut
from client.scoreboard import ranked, short_names
from client.style import Style
from client.tournament.tour import Tour, heard
from client.words import moment
from tests.client import states
from tests.client.stage import NOW, PILES, board, room, seat, standing
from tests.client.test_canvas import is_well_formed
from wire.lines import PathLine
from wire.messages import Hints, Move, Standings
from wire.tournaments import Called, Place
from wire.values import Reveal, RoomLine, Settings, Standing

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
    assert is_well_formed(canvas)
    for line in canvas.lines():
        assert all(sign.isprintable() or sign == "\u200c" for sign in line)
        assert not style.ascii or line.isascii()


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
    assert shown[2].endswith("31 14")
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
    assert "[8]" in shown[4]
    assert "[f]" in shown[1]
    assert "[7]" not in shown[4]
    assert "> J♠<" in "\n".join(shown)


def test_what_somebody_who_is_watched_has_just_moved_is_marked_and_ones_own_is_not() -> None:
    touched = ((0, frozenset({"6", "f3"})),)
    watching = replace(RACE, room=room(seat=None), touched=touched)
    assert "*6*" in lines(watching)[4]
    assert "*5*" not in lines(watching)[4]
    assert "*6*" not in lines(replace(RACE, touched=touched))[4]


def test_a_half_typed_move_without_hints_names_no_target() -> None:
    assert "to?   [Enter lets the rules choose" in lines(RACE, Desk(half="6"))[22]


def test_the_piles_of_the_moves_that_were_asked_for_are_marked_on_the_board() -> None:
    hints = Hints(n=0, moves=["6>8:2", "w>f", "d"])
    shown = lines(replace(RACE, hints=hints), Desk(hinting=True))
    assert "Legal: 6>8  w>f  d" in shown[22]
    assert "[w]" in shown[1]
    assert "[f]" in shown[1]
    assert [sign for sign in shown[4].split() if "[" in sign] == ["[6]", "[8]"]
    assert "[6]" not in lines(replace(RACE, hints=hints))[4]


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


@pytest.mark.parametrize("rows", [20, 22, 24])
def test_a_message_is_whole_on_the_narrowest_screen_and_what_is_typed_ends_in_sight(
    rows: int,
) -> None:
    reason = "Column 2 takes a black Ace, and column 3 has none to move."
    shown = lines(replace(RACE, notice=Notice(reason, "bad", 99.0)), rows=rows, cols=56)
    assert reason in " ".join(line.strip() for line in shown)
    text = "word " * 39 + "end"
    typed = lines(RACE, Desk(overlay=Prompt("chat", text)), rows=rows, cols=56)
    assert any(line.endswith(" word end_") for line in typed)
    endless = lines(replace(RACE, notice=Notice(text, "bad", 99.0)), rows=rows, cols=56)
    assert any(line.endswith(" ...") for line in endless)


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
        (Line("held up"), False, "~ WAITING"),
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


def test_a_server_that_holds_the_hello_up_is_said_to_be_there() -> None:
    state = replace(RACE, line=Line("held up"))
    shown = lines(state)[22]
    assert shown == " The server is there, but held up; it may be waiting for its store."
    kept = lines(replace(state, plays=Plays(held=(Play("d"),))))[22]
    assert kept == " The server is there, but held up; 1 move is kept and sent again."


def test_a_server_that_lets_nobody_in_is_not_said_to_be_none() -> None:
    line = Line("waiting", "the server's store does not answer", is_answered=True)
    shown = lines(replace(RACE, line=line))[22]
    assert shown == " Not let in (the server's store does not answer); r tries at once."


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


@pytest.mark.parametrize("is_seated", [True, False])
def test_on_a_narrow_screen_nothing_of_the_board_stands_among_the_scores(is_seated: bool) -> None:
    two = [seat("ann"), seat("bob", cards=31)]
    state = replace(RACE, room=room(seats=two, seat=0 if is_seated else None))
    caption = "moves " if is_seated else "ann   "
    assert lines(state, cols=60)[3].startswith(f" {caption}")
    assert lines(state, Desk(panel=True), cols=60)[3][:6].isspace()


def test_on_a_narrow_screen_the_boards_can_be_seen_when_the_race_is_over() -> None:
    over = Standings(room="ABCDEF", reason="time", rows=[put_out(0)], head="ab" * 32)
    state = replace(RACE, room=room(phase="over"), standings=over)
    shown = lines(state, Desk(panel=True), cols=60)
    assert "K♥" in "\n".join(shown)
    assert shown[3].startswith(" ann   ")


@pytest.mark.parametrize("rows", [21, 22, 23])
def test_a_message_hides_no_keys_where_there_is_a_row_for_both(rows: int) -> None:
    said = lines(replace(RACE, notice=Notice("no", "bad", 99.0)), rows=rows)
    assert said[-2] == " no"
    assert "1-9 move" in said[-1]


def test_on_the_lowest_screen_a_message_leaves_the_key_of_the_help() -> None:
    said = lines(replace(RACE, notice=Notice("no", "bad", 99.0)), rows=20)[19]
    assert said.startswith(" no ")
    assert said.endswith("? help")
    assert "1-9 move" in lines(RACE, rows=20)[19]


@pytest.mark.parametrize(("rows", "cols"), [(10, 40), (5, 20), (3, 80)])
def test_a_question_is_seen_on_a_terminal_that_is_too_small(rows: int, cols: int) -> None:
    shown = " ".join(" ".join(lines(RACE, Desk(overlay=Confirm("quit")), rows, cols)).split())
    assert "Quit? The same command brings you back to your seat. (y/n)" in shown


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
    for mark in ("2 ? gone", "2 b robot", "6 x quit", "1 * done", "2 ! fast", "2   ann (you)"):
        assert mark in shown


def test_sixteen_players_all_stand_in_the_scores() -> None:
    seats = [seat(f"player-{number}") for number in range(16)]
    shown = "\n".join(lines(replace(RACE, room=room(seats=seats, seat=None)), rows=20))
    assert all(f"player-{number}" in shown for number in range(16))


@pytest.mark.parametrize(
    "names",
    [
        [f"player-number-{number:02}" for number in range(16)],
        [f"{number:02}-player-number" for number in range(16)],
        ["one-long-name-aa", "one-lnng-name-aa", "one-long-name-ab", "short"],
        ["漢字漢字漢字漢字漢字漢字漢字漢字", "漢字漢字漢字漢字漢字漢字漢字漢學", "漢字"],
    ],
)
@pytest.mark.parametrize("room_for", [7, 11])
def test_long_names_stay_different_when_they_are_cut(names: list[str], room_for: int) -> None:
    shown = short_names(names, room_for)
    assert len(set(shown)) == len(names)
    assert all(cells(name) <= room_for for name in shown)
    assert all(cut == name for cut, name in zip(shown, names, strict=True) if cells(name) < 6)


def test_one_sees_oneself_in_the_scores_under_a_long_name() -> None:
    seats = [seat(f"player-number-{number:02}") for number in range(16)]
    shown = lines(replace(RACE, room=room(seats=seats, seat=15)))
    assert sum("(you)" in line for line in shown) == 1
    assert " 1   playe (you) " in "\n".join(shown)


@pytest.mark.parametrize("players", [2, 16])
def test_undos_stand_in_the_scores_where_the_room_allows_them(players: int) -> None:
    seats = [seat(f"player-{number}", undos=41, down=36) for number in range(players)]
    allowed = room(seats=seats, settings=Settings(undo="free"))
    assert "41" in "\n".join(lines(replace(RACE, room=allowed)))
    forbidden = room(seats=seats)
    assert "41" not in "\n".join(lines(replace(RACE, room=forbidden)))


def test_who_was_put_out_ranks_behind_who_gave_up() -> None:
    seats = [
        seat("out", outcome="disqualified", cards=50),
        seat("gone", outcome="resigned", cards=5),
        seat("late", outcome="unfinished"),
        seat("first", outcome="solved", done_ms=5),
    ]
    order = [line.seat.name for line in ranked(seats)]
    assert order == ["first", "late", "gone", "out"]


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
        invitation="klondike ws://10.0.0.1:1 --room {room}",
    )
    shown = "\n".join(lines(state))
    for text in ("ABCDEF", "Friday", "15:00", "c0" * 32, "you, not ready, host"):
        assert text in shown
    assert "To join: klondike ws://10.0.0.1:1 --room ABCDEF" in shown


def full_room(**changes: Any) -> State:
    seats = [seat(f"player-{number:02}") for number in range(16)]
    return replace(RACE, room=room(**{"phase": "open", "seats": seats} | changes))


@pytest.mark.parametrize("rows", [20, 22, 24])
@pytest.mark.parametrize("row", [0, 7, 15])
@pytest.mark.parametrize("own", [0, 9, 15])
def test_a_long_list_of_seats_shows_the_selected_and_the_own_one_and_that_there_are_more(
    rows: int, row: int, own: int
) -> None:
    talk = tuple(Notice(f"said {number}", "talk") for number in range(9))
    state = replace(full_room(seat=own, actions=["kick"]), log=talk)
    shown = lines(state, Desk(row=row), rows=rows)
    assert any(line.startswith(f" > player-{row:02}") for line in shown)
    assert any(f"player-{own:02}" in line and "you, not ready" in line for line in shown)
    assert "of 16 shown, up/down for more" in "\n".join(shown)
    assert "said 8" in "\n".join(shown)


def test_a_short_list_has_no_cursor_where_nothing_can_be_done_with_it() -> None:
    state = replace(RACE, room=room(phase="open", actions=["ready", "leave"]))
    assert ">" not in "\n".join(lines(state))
    host = replace(RACE, room=room(phase="open", actions=["kick"]))
    assert " > ann" in "\n".join(lines(host))


def test_settings_and_talk_that_are_wider_than_the_screen_wrap() -> None:
    said = "bob: " + "word " * 39 + "end"
    rules = "double-klondike," + ",".join(f"option_{number}=yes" for number in range(9))
    state = replace(
        full_room(seats=[seat("ann")], settings=Settings(rules=rules)),
        log=(Notice(said, "talk"),),
    )
    for desk in (Desk(), Desk(overlay=Log())):
        words = " ".join("\n".join(lines(state, desk)).split())
        assert said in words
    assert "option_8=yes" in "\n".join(lines(state))
    assert "spectators see scores" in " ".join("\n".join(lines(state)).split())


def test_a_start_at_a_time_says_when() -> None:
    at = NOW + 754_000
    settings = Settings(start="time", start_at=at)
    shown = "\n".join(lines(full_room(settings=settings)))
    assert f"starts at {moment(at)}" in shown
    assert "The race starts in 12:34." in shown


def test_who_is_ready_alone_is_told_that_a_race_takes_two() -> None:
    alone = full_room(seats=[seat("ann", ready=True)])
    assert "a race takes two" in lines(alone)[22]
    practice = full_room(seats=[seat("ann")], settings=Settings(seats=1))
    assert lines(practice)[22] == ""
    two = full_room(seats=[seat("ann", ready=True), seat("bob")])
    assert lines(two)[22] == " Waiting for 1 more to be ready."


def test_boards_without_delay_are_warned_of_in_the_form() -> None:
    form = new_form()
    fields = tuple(
        replace(field, value="boards") if field.label == "spectators" else field
        for field in form.fields
    )
    open_boards = replace(form, fields=fields)
    assert "can tell a racer" in "\n".join(lines(RACE, Desk(overlay=open_boards)))
    assert "can tell a racer" not in "\n".join(lines(RACE, Desk(overlay=form)))
    late = tuple(
        replace(field, value="60") if field.label == "delay" else field for field in fields
    )
    delayed = replace(form, fields=late)
    assert "can tell a racer" not in "\n".join(lines(RACE, Desk(overlay=delayed)))


def test_the_lobby_has_room_for_all_its_keys_that_do_something() -> None:
    assert "r refresh" in lines(State(line=Line("online"), rooms=()))[23]


def test_only_keys_that_do_something_are_offered() -> None:
    state = replace(RACE, room=room(phase="open", actions=["unready", "leave", "chat"]))
    keys = lines(state)[23]
    assert "r not ready" in keys
    assert "s start" not in keys
    assert "k kick" not in keys


def test_the_host_is_offered_to_disqualify_as_long_as_somebody_else_races() -> None:
    guests = ["move", "hint", "resign", "leave", "chat"]
    actions = [*guests, "disqualify"]
    two = [seat("ann"), seat("bob")]
    host = replace(RACE, room=room(actions=actions, seats=two))
    assert "  x give up  k out  ? help  q quit" in lines(host)[23]
    done = [seat("ann", outcome="resigned"), seat("bob")]
    waits = room(actions=["disqualify", "leave", "chat"], seats=done)
    assert "k out" in lines(replace(RACE, room=waits))[23]
    watches = room(actions=["disqualify", "chat"], seat=None, seats=two)
    assert "k disqualify" in lines(replace(RACE, room=watches))[23]
    alone = room(actions=actions, seats=[seat("ann"), seat("bob", outcome="solved")])
    assert "k out" not in lines(replace(RACE, room=alone))[23]
    guest = replace(RACE, room=room(actions=guests, seats=two))
    assert "k out" not in lines(guest)[23]


def test_putting_out_asks_whom_why_and_whether_that_is_meant() -> None:
    long = "player-number-01"
    host = replace(RACE, room=room(seats=[seat("ann"), seat(long)]))
    over = PutOut(f"p-{long}")
    assert lines(host, Desk(overlay=over))[22].startswith(f" Disqualify < {long} >?")
    typed = replace(over, step="why", why="two screens")
    assert lines(host, Desk(overlay=typed))[22] == f" Why {long}, for all to read: two screens_"
    sure = replace(over, step="sure", why="two screens")
    said = f" Disqualify {long} for good? (y/n)   two screens"
    assert lines(host, Desk(overlay=sure))[22] == said
    for step in ("why", "sure"):
        full = replace(over, step=step, why="word " * 19 + "end")
        shown = lines(host, Desk(overlay=full))
        assert shown[22].endswith("word end" + "_" * (step == "why"))


def test_the_page_of_keys_fits_on_the_lowest_and_narrowest_screen() -> None:
    for around, sign in ((False, "host: put out"), (True, "change your name")):
        shown = lines(RACE, Desk(overlay=Help(around)), rows=20, cols=56)
        wide = lines(RACE, Desk(overlay=Help(around)))
        assert shown[:19] == wide[:19]
        assert shown[19].endswith("any other key goes back")
        assert any(sign in line for line in shown)


@pytest.mark.parametrize("cols", [56, 80])
@pytest.mark.parametrize("phase", ["open", "running", "over"])
def test_the_line_of_keys_always_ends_with_help_and_quit(cols: int, phase: str) -> None:
    state = replace(RACE, room=room(phase=phase, actions=list(states.ACTIONS)))
    assert lines(state, cols=cols)[23].endswith("? help  q quit")


def test_the_standings_show_places_and_the_reveal() -> None:
    result = Standings(room="ABCDEF", reason="finished", rows=[standing()], head="ab" * 32)
    shown = "\n".join(lines(replace(RACE, room=room(phase="over"), standings=result)))
    for text in ("all are done", "ann", "you", "104", "solved in 04:32", "ab" * 32):
        assert text in shown


@pytest.mark.parametrize(
    ("status", "result", "place", "told"),
    [
        ("in", "forfeit", 2, "match 2.1 is decided: you were not there"),
        ("disqualified", "forfeit", 2, "match 2.1 is decided: you are disqualified"),
        ("in", "forfeit", 1, "match 2.1 is decided: nobody else was there"),
        ("in", "ruled", 1, "match 2.1 is decided: by a ruling"),
        ("in", "", None, "it was called off"),
    ],
)
def test_a_race_that_its_match_did_not_wait_for_says_how_that_was_decided(
    status: Any, result: str, place: int | None, told: str
) -> None:
    call = Called(
        tournament="CUP",
        title="Cup",
        match="2.1",
        race=1,
        room="ABCDEF",
        starts=NOW,
        opponents=["bob"],
        no_show_s=60,
    )
    own = Place(tournament="CUP", phase="running", entry="p-ann", match="2.1", room="ABCDEF")
    path = [PathLine(round=2, match="2.1", place=place, result=result)]
    decided = replace_struct(own, status=status, room=None, path=path)
    tour = Tour()
    for message in (call, own, decided):
        tour = heard(tour, message)
    over = Standings(room="ABCDEF", reason="aborted", rows=[standing()], head="ab" * 32)
    state = replace(RACE, room=room(phase="over"), standings=over, tour=tour)
    assert f"the race is over, {told}" in "\n".join(lines(state))


def put_out(number: int) -> Standing:
    """A line of one who was disqualified, as wide as a line gets."""
    return standing(
        f"player-number-{number:02}",
        player=f"p-{number}",
        place=number + 1,
        outcome="disqualified",
        down=36,
        moves=3000,
        undos=417,
        finished_ms=None,
        reached_ms=0,
    )


@pytest.mark.parametrize("rows", [20, 24])
@pytest.mark.parametrize("row", [0, 8, 15])
def test_long_standings_show_the_selected_and_the_own_line_and_that_there_are_more(
    rows: int, row: int
) -> None:
    result = Standings(
        room="ABCDEF", reason="time", rows=[put_out(n) for n in range(16)], head="ab" * 32
    )
    over = room(phase="over", next_room="NEXTUP", settings=Settings(undo="safe"))
    state = replace(RACE, room=over, standings=result, player="p-3")
    shown = lines(state, Desk(row=row), rows=rows)
    assert any(line.startswith(">") and f"number-{row:02}" in line for line in shown)
    assert any("number-03 you" in line for line in shown)
    assert "of 16 shown, up/down for more" in "\n".join(shown)
    assert "A rematch is open" in "\n".join(shown)
    assert "  417  disqualified" in "\n".join(shown)


def test_undos_stand_in_the_standings_only_where_the_room_allows_them() -> None:
    result = Standings(room="ABCDEF", reason="time", rows=[put_out(0)], head="ab" * 32)
    state = replace(RACE, room=room(phase="over"), standings=result)
    assert "417" not in "\n".join(lines(state))


def test_the_standings_say_that_the_deal_was_checked_or_warn_loudly() -> None:
    reveal = Reveal(
        deal="d",
        commitment=commitment_of("d", "5e"),
        secret="5e",
        seed=None,
        salts=[],
        position="",
    )
    result = Standings(
        room="ABCDEF", reason="time", rows=[put_out(0)], head="ab" * 32, reveal=reveal
    )
    for promised, words in (
        (reveal.commitment, "Deal checked"),
        ("c0" * 32, "THE DEAL IS NOT WHAT WAS PROMISED"),
    ):
        over = room(phase="over", commitment=promised)
        state = replace(
            RACE, room=over, standings=result, notes=Notes("ABCDEF", promised, is_ready=True)
        )
        assert words in "\n".join(lines(state))


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
