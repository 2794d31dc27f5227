"""Keys: what each does where, and that no key at any time does harm."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from client.desk import Ask, Confirm, Deed, Desk, GetReady, Help, Local, Log, Prompt, Rename, Say
from client.forms import Form
from client.keys import press
from client.line import Line
from client.model import State
from client.paint import Screen, frame
from client.putout import PutOut
from client.style import Style
from tests.client import states
from tests.client.stage import NOW, PILES, board, room, seat, standing
from wire import codec
from wire.messages import (
    Chat,
    ClientMessage,
    Create,
    Disqualify,
    Hint,
    Hints,
    Join,
    Kick,
    Leave,
    Rematch,
    Resign,
    Room,
    Rooms,
    Spectate,
    Standings,
    Start,
    Unready,
)
from wire.values import Phase, RoomLine, Settings

ACTIONS = ["move", "undo", "finish", "hint", "resign", "leave", "chat"]
RACE = State(
    line=Line("online"),
    room=room(actions=ACTIONS),
    boards=((0, board(piles=PILES | {"w": "3:5C7S"})),),
    hints=Hints(n=0, moves=["d"]),
)


def room_line(code: str, phase: Phase, *, locked: bool = False) -> RoomLine:
    return RoomLine(
        room=code,
        title="",
        rules="gargantua",
        phase=phase,
        taken=1,
        seats=8,
        host="bob",
        locked=locked,
        spectators="scores",
        opened=NOW,
    )


LOBBY = State(
    line=Line("online"),
    name="ann",
    rooms=(
        room_line("AAAAAA", "open"),
        room_line("BBBBBB", "running"),
        room_line("CCCCCC", "open", locked=True),
    ),
)
OPEN = State(
    line=Line("online"),
    room=room(
        phase="open",
        actions=["ready", "start", "kick", "leave", "chat"],
        seats=[seat("ann"), seat("bob")],
    ),
)
OVER = State(line=Line("online"), room=room(phase="over", actions=["rematch", "leave", "chat"]))


def typed(state: State, *keys: str, desk: Desk | None = None) -> tuple[Desk, list[Deed]]:
    desk = desk or Desk()
    deeds: list[Deed] = []
    for key in keys:
        desk, more = press(desk, state, key)
        deeds.extend(more)
    return desk, deeds


def replace_room(state: State, **changes: object) -> Room:
    assert state.room is not None
    return msgspec.structs.replace(state.room, **changes)


def deeds_of(state: State, *keys: str) -> list[Deed]:
    return typed(state, *keys)[1]


@given(states.states, states.desks, st.lists(states.keys, max_size=12))
@settings(max_examples=60)
def test_any_keys_on_any_state_lead_to_deeds_that_can_be_sent(
    state: State, desk: Desk, keys: Sequence[str]
) -> None:
    for key in keys:
        desk, deeds = press(desk, state, key)
        for deed in deeds:
            if isinstance(deed, ClientMessage):
                assert codec.decode_client(codec.encode(deed)) == deed
        frame(Screen(state, desk, Style(), 1.0), 24, 80)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("68", "6>8"),
        ("66", "6>f"),
        ("6f", "6>f"),
        ("w3", "w>3"),
        ("wf", "w>f"),
        ("ww", "w>f"),
        (" ", "d"),
        ("u", "undo"),
        ("a", "finish"),
        ("f25", "f2>5"),
        ("3++5", "3>5"),  # one card is shown in column 3: plus goes round to "as many as fit"
        ("3+5", "3>5:1"),
        ("6wf", "w>f"),  # the waste is never a target: w begins anew
        ("-_", "6>8"),  # the row of a French keyboard
        ("&é", "1>2"),
    ],
)
def test_a_move_is_two_keys(keys: str, text: str) -> None:
    desk, deeds = typed(RACE, *keys)
    assert deeds == [Ask(text)]
    assert desk.half == ""


def test_enter_lets_the_rules_choose_where() -> None:
    assert deeds_of(RACE, "6", "enter") == [Ask("6>")]
    assert deeds_of(RACE, "w", "enter") == [Ask("w>")]
    assert deeds_of(RACE, "enter") == []


def test_escape_lets_go_and_does_nothing_else() -> None:
    desk, deeds = typed(RACE, "6", "esc")
    assert desk.half == ""
    assert deeds == []
    assert press(Desk(), RACE, "esc") == (Desk(), [])


def test_keys_of_a_split_escape_sequence_move_nothing() -> None:
    assert deeds_of(RACE, "esc", "[") == []


def test_an_empty_or_missing_pile_cannot_be_lifted() -> None:
    state = replace(RACE, boards=((0, board(piles={"1": "0:", "2": "0:KH", "w": "0:"})),))
    for key in "1w9":
        desk, deeds = typed(state, key)
        assert desk.half == ""
        assert isinstance(deeds[0], Say)


def test_h_shows_the_legal_moves_until_the_next_key() -> None:
    desk, deeds = typed(replace(RACE, hints=None), "h")
    assert desk.hinting
    assert deeds == [Say("")]
    assert not press(desk, RACE, "esc")[0].hinting
    silent, deeds = typed(replace(RACE, room=room(actions=["move"])), "h")
    assert not silent.hinting
    assert deeds == [Hint()]


def test_giving_up_and_leaving_ask_first() -> None:
    for key, message in (("x", Resign()), ("l", Leave())):
        desk, deeds = typed(RACE, key)
        assert isinstance(desk.overlay, Confirm)
        assert deeds == []
        assert press(desk, RACE, "y")[1] == [message]
        assert press(desk, RACE, "n") == (Desk(), [])


def test_quitting_asks_in_a_room_and_not_in_the_lobby() -> None:
    assert deeds_of(LOBBY, "q") == [Local("quit")]
    desk, deeds = typed(RACE, "q")
    assert deeds == []
    assert press(desk, RACE, "y")[1] == [Local("quit")]


def test_ctrl_c_twice_always_quits() -> None:
    for state in (RACE, OPEN, OVER):
        assert deeds_of(state, "ctrl-c", "ctrl-c") == [Local("quit")]
    typing = Desk(overlay=Prompt("chat", "half a word"))
    assert typed(RACE, "ctrl-c", "ctrl-c", desk=typing)[1] == [Local("quit")]


def test_an_offline_end_is_quit_without_a_question() -> None:
    assert deeds_of(replace(RACE, line=Line("ended", "update")), "q") == [Local("quit")]


def test_a_cursor_moves_over_all_piles_and_enter_picks_and_drops() -> None:
    desk, _ = typed(RACE, "right")
    assert desk.cursor == "1"
    desk, deeds = typed(RACE, "right", "enter", "right", "enter", desk=desk)
    assert deeds == [Ask("2>3")]
    desk, deeds = typed(RACE, "up", desk=Desk(cursor="1"))
    assert desk.cursor == "h"
    assert press(desk, RACE, "enter")[1] == [Ask("d")]
    assert typed(RACE, "right", "enter", "right", "enter", desk=desk)[1] == [Ask("w>f")]
    assert typed(RACE, "left", desk=Desk(cursor="1"))[0].cursor == "9"
    assert typed(RACE, "down", desk=Desk(cursor="w"))[0].cursor == "3"


def test_after_the_end_of_ones_own_race_moves_are_not_sent() -> None:
    done = replace(RACE, room=room(actions=["leave", "chat"]))
    assert all(isinstance(deed, Say) for deed in deeds_of(done, "6", "8", " ", "x"))


def test_chat_is_typed_on_a_line_and_sent_with_enter() -> None:
    assert deeds_of(RACE, "t", *"hi q?", "enter") == [Chat(text="hi q?")]
    assert deeds_of(RACE, "t", "x", "backspace", "enter") == []
    assert deeds_of(RACE, "t", *"hi", "esc") == []


def test_chat_is_cut_to_what_the_wire_takes() -> None:
    (said,) = deeds_of(RACE, "t", *("x" * 300), "enter")
    assert isinstance(said, Chat)
    assert len(said.text) == 200


def test_a_room_without_chat_says_so() -> None:
    quiet = replace(RACE, room=room(actions=["move"]))
    assert isinstance(deeds_of(quiet, "t")[0], Say)


def test_the_lobby_joins_watches_and_asks_for_passwords() -> None:
    assert deeds_of(LOBBY, "enter") == [Join(room="AAAAAA")]
    assert deeds_of(LOBBY, "w") == [Spectate(room="AAAAAA")]
    assert deeds_of(LOBBY, "down", "enter") == [Spectate(room="BBBBBB")]
    desk, deeds = typed(LOBBY, "end", "enter")
    assert deeds == []
    _, deeds = typed(LOBBY, *"pw", "enter", desk=desk)
    assert deeds == [Join(room="CCCCCC", password="pw")]


def test_a_room_is_joined_by_its_code_in_any_case() -> None:
    assert deeds_of(LOBBY, "j", *"abcdef", "enter") == [Join(room="ABCDEF")]


def test_the_lobby_refreshes_and_renames() -> None:
    assert deeds_of(LOBBY, "r") == [Rooms()]
    backspaces = ["backspace"] * 3
    assert deeds_of(LOBBY, "n", *backspaces, *"zoe", "enter") == [Rename("zoe")]


def test_an_empty_lobby_bears_every_key() -> None:
    for key in ("enter", "up", "down", "end", "w"):
        assert deeds_of(replace(LOBBY, rooms=()), key) == []
        assert deeds_of(replace(LOBBY, rooms=None), key) == []


def test_the_form_opens_a_room_with_what_was_chosen() -> None:
    desk, _ = typed(LOBBY, "c", *"Friday", "down", "right", "down", *"42", "enter")
    assert desk.overlay is None
    (created,) = deeds_of(
        LOBBY, "c", *"Friday", "down", "right", "down", *"42", "down", "right", "enter"
    )
    assert created == Create(
        settings=Settings(
            title="Friday", rules="double-klondike-3-pass", seed="42", time_limit_s=1200
        )
    )


def test_nobody_is_kicked_unasked() -> None:
    desk, deeds = typed(OPEN, "down", "k")
    assert deeds == []
    assert "Kick bob?" in "\n".join(frame(Screen(OPEN, desk, Style(), 1.0), 24, 80).lines())
    assert deeds_of(OPEN, "down", "k", "n") == []
    assert deeds_of(OPEN, "down", "k", "y") == [Kick(player="p-bob")]


def test_a_form_with_a_fault_stays_and_says_what_is_wrong() -> None:
    keys = ("c", "down", "down", "down", "backspace", "backspace", "0", "enter")
    desk, deeds = typed(LOBBY, *keys)
    assert deeds == []
    assert isinstance(desk.overlay, Form)
    assert "1 to 240" in desk.overlay.fault


def test_the_room_gets_ready_starts_and_leaves() -> None:
    assert deeds_of(OPEN, "r") == [GetReady()]
    ready = replace(OPEN, room=room(phase="open", actions=["unready", "leave"]))
    assert deeds_of(ready, "r") == [Unready()]
    assert deeds_of(OPEN, "s") == [Start()]
    assert deeds_of(OPEN, "l") == [Leave()]


def test_leaving_asks_only_where_it_gives_a_race_up() -> None:
    locked = replace(OPEN, room=room(phase="locked", actions=["leave"]))
    desk, deeds = typed(locked, "l")
    assert desk.overlay == Confirm("leave")
    assert deeds == []
    assert deeds_of(locked, "l", "y") == [Leave()]
    watched = replace(OPEN, room=room(phase="locked", seat=None, actions=["leave"]))
    assert deeds_of(watched, "l") == [Leave()]
    done = [seat("ann", outcome="resigned"), seat("bob")]
    assert deeds_of(replace(RACE, room=room(seats=done, actions=["leave"])), "l") == [Leave()]


HOST = replace(
    RACE,
    room=room(
        actions=[*ACTIONS, "disqualify"],
        seats=[seat("ann"), seat("bob", outcome="resigned"), seat("cleo"), seat("dora")],
    ),
)


def test_the_host_puts_out_whom_and_why_and_is_asked_whether_that_is_meant() -> None:
    desk, deeds = typed(HOST, "k", "right", "enter", *"two screens ", "enter")
    assert deeds == []
    assert desk.overlay == PutOut("p-dora", "two screens", "sure")
    assert press(desk, HOST, "y") == (Desk(), [Disqualify(player="p-dora", why="two screens")])
    assert press(desk, HOST, "enter") == (Desk(), [])
    assert press(desk, HOST, "n") == (Desk(), [])


def test_only_others_who_still_race_can_be_put_out() -> None:
    chosen = [typed(HOST, "k", *["down"] * n)[0].overlay for n in range(3)]
    assert chosen == [PutOut("p-cleo"), PutOut("p-dora"), PutOut("p-cleo")]
    watching = replace(HOST, room=replace_room(HOST, seat=None))
    assert typed(watching, "k")[0].overlay == PutOut("p-ann")
    alone = replace(HOST, room=replace_room(HOST, seats=[seat("ann"), seat("b", outcome="solved")]))
    assert deeds_of(alone, "k") == [Say("Nobody else is racing any more.")]


def test_who_is_done_while_the_host_chooses_is_passed_over() -> None:
    desk, _ = typed(HOST, "k")
    seats = [seat("ann"), seat("bob"), seat("cleo", outcome="solved")]
    fewer = replace(HOST, room=replace_room(HOST, seats=seats))
    desk, _ = typed(fewer, "enter", desk=desk)
    assert desk.overlay == PutOut("p-bob")
    over = replace(HOST, room=replace_room(HOST, seats=seats[:1]))
    assert typed(over, "enter", desk=desk)[0].overlay is None


def test_nobody_is_put_out_without_a_reason_and_escape_lets_go_of_it() -> None:
    desk, deeds = typed(HOST, "k", "enter", " ", "enter", *"ab", "backspace", "backspace", "enter")
    assert (desk.overlay, deeds) == (PutOut("p-cleo", " ", "why"), [])
    assert typed(HOST, "esc", desk=desk) == (Desk(), [])
    desk, _ = typed(HOST, "k", "enter", *"x" * 300, "enter")
    assert desk.overlay == PutOut("p-cleo", "x" * 100, "sure")


def test_who_is_not_the_host_puts_nobody_out() -> None:
    assert deeds_of(RACE, "k") == [Say("Only the host may do that.")]
    watching = replace(RACE, room=room(seat=None, actions=["leave"]))
    assert deeds_of(watching, "k") == [Say("Only the host may do that.")]


def test_standings_scroll_with_the_arrows_and_boards_with_left_and_right() -> None:
    result = Standings(room="ABCDEF", reason="time", rows=[standing()] * 3, head="")
    over = replace(OVER, standings=result, boards=((0, board()), (1, board(seat=1))))
    assert typed(over, "down", "down", "down")[0].row == 2
    assert typed(over, "right")[0].seat == 1
    assert typed(over, "tab", "down")[0].seat == 1


def test_who_is_not_the_host_is_told_so() -> None:
    guest = replace(OPEN, room=room(phase="open", actions=["ready", "leave"]))
    assert isinstance(deeds_of(guest, "s")[0], Say)
    assert isinstance(deeds_of(guest, "k")[0], Say)


def test_a_spectator_of_an_open_room_may_take_a_seat() -> None:
    watching = replace(OPEN, room=room(phase="open", seat=None, actions=["join", "leave"]))
    assert deeds_of(watching, "j") == [Join(room="ABCDEF")]


def test_players_ask_for_the_rematch_and_spectators_go_to_it() -> None:
    assert deeds_of(OVER, "m") == [Rematch()]
    # Also where somebody has asked before: the server opens the room for whoever asks.
    named = room(phase="over", next_room="NNNNNN", actions=["rematch", "leave"])
    assert deeds_of(replace(OVER, room=named), "m") == [Rematch()]
    watched = room(phase="over", next_room="NNNNNN", actions=["leave"], seat=None)
    assert deeds_of(replace(OVER, room=watched), "m") == [Join(room="NNNNNN")]


def test_a_spectator_goes_through_the_boards() -> None:
    watching = replace(
        RACE, room=room(seat=None, actions=["leave"]), boards=((0, board()), (2, board(seat=2)))
    )
    desk, _ = typed(watching, "right")
    assert desk.seat == 2
    assert typed(watching, "right", desk=desk)[0].seat == 0
    assert deeds_of(watching, "6", "8") == []


def test_help_and_log_go_with_any_key_that_does_nothing_else() -> None:
    for key, overlay in (("?", Help()), ("L", Log())):
        desk, _ = typed(RACE, key)
        assert desk.overlay == overlay
        assert press(desk, RACE, "x") == (Desk(), [])


def test_a_line_that_is_down_is_tried_again_at_once_on_demand() -> None:
    for state in (RACE, LOBBY, OPEN):
        down = replace(state, line=Line("waiting", "nobody answers there"))
        assert deeds_of(down, "r") == [Local("retry")]
        typing = press(Desk(overlay=Prompt("chat", "he")), down, "r")
        assert typing == (Desk(overlay=Prompt("chat", "her")), [])


def test_help_begins_with_the_keys_of_the_screen_and_tab_shows_the_others() -> None:
    for state, around in ((RACE, False), (LOBBY, True), (OPEN, True)):
        desk, _ = typed(state, "?")
        assert desk.overlay == Help(around)
        assert press(desk, state, "tab")[0].overlay == Help(not around)


def test_looks_can_be_changed_at_any_time() -> None:
    assert deeds_of(RACE, "C") == [Local("colour")]
    assert deeds_of(LOBBY, "A") == [Local("ascii")]
    assert deeds_of(OPEN, "B") == [Local("bell")]
    assert deeds_of(OPEN, "ctrl-l") == [Local("repaint")]
