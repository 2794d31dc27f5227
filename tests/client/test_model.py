"""The model: it replaces what it is told, computes nothing and survives the unknown."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from client.line import Line
from client.model import LOG_KEPT, State, heard, lined
from tests.client import states
from tests.client.stage import NOW, PILES, board, moved, room, seat, welcome
from wire.messages import (
    Chatted,
    Countdown,
    Finished,
    Hints,
    Left,
    Lobby,
    News,
    Refused,
    Scores,
    ServerMessage,
    Standings,
    Store,
)
from wire.values import Score


def after(state: State, *messages: ServerMessage) -> State:
    for message in messages:
        state = heard(state, message, 1.0)
    return state


RACE = after(State(), welcome(), room(), board())


def test_the_piles_that_changed_last_are_known_of_every_board() -> None:
    state = State(room=room(seat=None))
    state = after(state, board(seat=0), board(seat=1))
    assert state.touched == ()
    other = PILES | {"6": "4:TC", "5": "4:QDJC"}
    state = after(state, board(seat=1, n=1, piles=other))
    assert dict(state.touched) == {1: frozenset({"5", "6"})}
    assert after(state, board(seat=1, n=2, piles=other)).touched == state.touched
    assert after(state, room(seat=None, phase="open")).touched == ()


def test_a_move_replaces_the_piles_that_it_names_and_no_other() -> None:
    state = after(RACE, moved(1, "1>f", piles={"1": "0:", "f1": "0:AS"}, cards=1, down=35))
    assert state.board is not None
    assert state.board.piles == PILES | {"1": "0:", "f1": "0:AS"}
    assert (state.board.n, state.board.cards, state.board.down) == (1, 1, 35)


def test_an_answer_that_comes_again_changes_nothing() -> None:
    state = after(RACE, moved(1, piles={"1": "0:"}), moved(2, piles={"1": "0:AS"}))
    assert after(state, moved(1, piles={"1": "0:KH"})) == state


def test_a_missing_play_is_a_doubt_that_a_board_clears() -> None:
    state = after(RACE, moved(2, piles={"1": "0:"}))
    assert state.in_doubt
    assert state.board == RACE.board
    state = after(state, board(n=2))
    assert not state.in_doubt
    assert state.board is not None
    assert state.board.n == 2


def test_who_is_put_out_reads_why_and_so_does_everybody_else() -> None:
    news = News(kind="disqualified", player="p-ann", name="ann", text="two screens", at=NOW)
    out = Finished(outcome="disqualified", done_ms=9)
    for messages in ((news, out), (out, news), (news,)):
        state = after(RACE, *messages)
        assert state.notice.text == "ann was disqualified: two screens"
        assert state.notice.tone == "bad"
        assert state.log[-1].text == state.notice.text


def test_scores_replace_the_figures_of_a_seat_and_mark_who_gained() -> None:
    line = Score(1, 5, 30, 5, 17, 0, "playing", None)
    state = after(RACE, Scores(version=2, lines=[line]))
    assert state.room is not None
    bob = state.room.seats[1]
    assert (bob.cards, bob.down, bob.moves, bob.name) == (5, 30, 17, "bob")
    assert state.gains == ((1, 1.0),)
    again = heard(state, Scores(version=3, lines=[line]), 9.0)
    assert again.gains == ((1, 1.0),)


def test_scores_of_seats_that_are_not_there_are_passed_over() -> None:
    line = Score(7, 5, 30, 5, 17, 0, "playing", None)
    assert after(RACE, Scores(version=2, lines=[line])) == RACE


def test_another_room_takes_nothing_of_the_former_along() -> None:
    state = after(RACE, Hints(n=0, moves=["d"]), room(room="OTHERS", phase="open"))
    assert state.boards == ()
    assert state.hints is None
    assert state.room is not None
    assert state.room.room == "OTHERS"


def test_coming_back_to_the_same_room_keeps_the_board_on_the_screen() -> None:
    assert after(RACE, welcome(room="ABCDEF")).board == RACE.board
    assert after(RACE, welcome(room=None)).room is None


def test_a_board_is_the_players_own_only_at_the_players_seat() -> None:
    state = after(RACE, board(seat=1, n=9))
    assert state.board == RACE.board
    spectator = after(State(), room(seat=None), board(seat=1))
    assert spectator.board is None
    assert spectator.seat is None
    assert dict(spectator.boards).keys() == {1}


def test_a_refusal_is_shown_but_not_the_gap_that_follows_from_it() -> None:
    state = after(
        RACE,
        Refused(re="move", code="king", reason="only a King goes there", n=1),
        Refused(re="move", code="gap", reason="play 2 came before play 1", n=2),
    )
    assert state.notice.text == "only a King goes there"
    assert state.notice.tone == "bad"
    assert after(state, moved(1)).notice.text == ""


def test_the_countdown_sets_the_start() -> None:
    state = after(RACE, Countdown(starts=NOW + 5_000, remaining_ms=5_000, salts=["ab"]))
    assert state.room is not None
    assert state.room.starts == NOW + 5_000


def test_the_log_keeps_news_and_talk_up_to_a_bound() -> None:
    news = News(kind="resigned", player="p-bob", name="bob", at=NOW)
    state = after(RACE, news, Chatted(player="p-bob", name="bob", text="bye", at=NOW))
    assert [entry.text for entry in state.log] == ["bob gave up", "bob: bye"]
    assert state.notice.text == "bob: bye"
    assert len(after(state, *[news] * (LOG_KEPT + 5)).log) == LOG_KEPT


def test_news_are_told_in_sentences() -> None:
    for kind, text, told in [
        ("left", "left", "bob left"),
        ("left", "kicked", "bob was sent out by the host"),
        ("followed", "NNNNNN", "A rematch is open: room NNNNNN"),
        ("promoted", "to {queen}", "bob promoted to {queen}"),
    ]:
        news = News(kind=kind, player="p-bob", name="bob", text=text, at=NOW)
        assert after(RACE, news).log[-1].text == told


def test_a_record_that_went_back_is_told_at_once() -> None:
    state = after(RACE, News(kind="resynchronised", text="The record stands at 5.", at=NOW))
    assert state.notice.text == "The record stands at 5."


def test_a_board_that_went_back_is_told_though_no_node_knows_of_it() -> None:
    before = after(RACE, board(n=7))
    assert after(before, board(n=7)).notice.text == before.notice.text
    back = after(before, board(n=5))
    assert back.notice.text == (
        "The server's record is older than it was: your last 2 plays do not count."
    )
    assert back.log[-1].text == back.notice.text
    other = after(RACE, board(seat=1, n=7), board(seat=1, n=5))
    assert "older" not in other.notice.text


def test_being_sent_out_leads_to_the_lobby_with_the_reason() -> None:
    state = after(RACE, Left(room="ABCDEF", kind="kicked"))
    assert state.room is None
    assert state.notice.text == "The host freed your seat."
    assert after(RACE, Left(room="OTHERS", kind="kicked")).room is not None


def test_the_rest_is_kept_as_told() -> None:
    result = Standings(room="ABCDEF", reason="time", rows=[], head="")
    state = after(RACE, result, Lobby(rooms=[]), Store(waiting=True))
    assert state.standings == result
    assert state.rooms == ()
    assert state.store_waits
    assert not lined(state, Line("waiting")).store_waits
    assert "Solved" in after(RACE, Finished(outcome="solved", done_ms=1)).notice.text


def test_a_message_it_does_not_know_changes_nothing() -> None:
    assert after(RACE, ServerMessage()) == RACE


@given(
    states.states,
    st.lists(
        st.one_of(
            states.rooms,
            states.boards,
            states.standings,
            st.builds(moved, st.integers(1, 5)),
            st.just(welcome()),
            st.just(Left(room="ABCDEF", kind="closed")),
        ),
        max_size=6,
    ),
)
@settings(max_examples=40)
def test_messages_in_any_order_are_borne(state: State, messages: list[ServerMessage]) -> None:
    after(state, *messages)


def test_the_own_seat_is_found_only_where_there_is_one() -> None:
    assert RACE.seat == seat("ann")
    assert replace(RACE, room=room(seat=9)).seat is None
    assert State().seat is None
    assert State().board is None
    assert not State().may("move")
