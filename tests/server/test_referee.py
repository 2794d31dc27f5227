"""What may be asked of a race, and what follows by itself."""

import pytest

from server import events as ev
from server import referee
from server.race import Race
from server.referee import AWAY_LIMIT_MS, IDLE_LIMIT_MS
from server.refusal import Refusal
from server.rules import Position
from server.rules.stuck import is_stuck
from server.standings import standings
from tests.server.journal import SECRET, T0, Told, nearly_solved, put
from wire.values import Settings


def refusal(code: str) -> "pytest.RaisesExc[Refusal]":
    return pytest.raises(Refusal, check=lambda error: error.code == code and bool(error.reason))


# --- before the start ---------------------------------------------------------------------


def test_the_last_one_to_be_ready_locks_the_room() -> None:
    told = Told()
    told.seat("anna", "ben")
    told.tell(*referee.decide_ready(told.race, "anna", b"a"))
    assert told.race.phase == "open"
    told.tell(*referee.decide_ready(told.race, "ben", b"b"))
    assert told.race.phase == "locked"
    assert told.race.starts == told.now + 5000
    assert told.race.ends == told.now + 5000 + 900_000


def test_one_ready_player_alone_does_not_start_a_race_for_many() -> None:
    told = Told()
    told.seat("anna")
    assert referee.decide_ready(told.race, "anna", b"") == [ev.Readied(p="anna")]


def test_a_room_of_one_seat_is_practice_and_starts_when_that_one_is_ready() -> None:
    told = Told(Settings(seats=1))
    told.seat("anna")
    assert isinstance(referee.decide_ready(told.race, "anna", b"")[-1], ev.Locked)


def test_being_ready_twice_or_joining_twice_changes_nothing() -> None:
    told = Told()
    told.seat("anna", ready=True)
    assert referee.decide_ready(told.race, "anna", told.race.racers["anna"].salt) == []
    assert referee.decide_join(told.race, "anna", "Anna", False) == []


def test_a_full_room_takes_nobody_else() -> None:
    told = Told(Settings(seats=2))
    told.seat("anna", "ben")
    with refusal("full"):
        referee.decide_join(told.race, "cleo", "Cleo", False)


def test_equal_names_are_told_apart() -> None:
    told = Told()
    for player in ("p1", "p2", "p3"):
        told.tell(*referee.decide_join(told.race, player, "Sam", False))
    assert [racer.name for racer in told.race.racers.values()] == ["Sam", "Sam-2", "Sam-3"]


def test_the_host_passes_on_to_a_person_before_a_bot() -> None:
    told = Told()
    told.seat("anna")
    told.tell(ev.Joined(p="bot", name="Bot", bot=True))
    told.seat("ben")
    told.tell(*referee.decide_leave(told.race, "anna"))
    assert told.race.host == "ben"


def test_when_the_last_one_leaves_the_room_is_over() -> None:
    told = Told()
    told.seat("anna")
    told.tell(*referee.decide_leave(told.race, "anna"))
    assert told.race.phase == "over"
    assert told.race.over_why == "aborted"
    assert told.race.revealed == SECRET.hex()


def test_when_the_one_who_is_not_ready_leaves_the_others_start() -> None:
    told = Told()
    told.seat("anna", "ben", ready=True)
    told.seat("cleo")
    assert isinstance(referee.decide_leave(told.race, "cleo")[-1], ev.Locked)


def test_only_the_host_starts_and_kicks() -> None:
    told = Told(Settings(start="host"))
    told.seat("anna", "ben")
    with refusal("not-host"):
        referee.decide_start(told.race, "ben")
    with refusal("not-host"):
        referee.decide_kick(told.race, "ben", "anna")
    assert referee.decide_kick(told.race, "anna", "ben") == [ev.Left(p="ben", why="kicked")]
    assert referee.decide_start(told.race, "anna") == [ev.Locked(countdown_ms=5000)]


def test_a_host_is_not_sent_out_by_the_host() -> None:
    told = Told()
    told.seat("anna", "ben")
    with refusal("yourself"):
        referee.decide_kick(told.race, "anna", "anna")
    with refusal("not-seated"):
        referee.decide_kick(told.race, "anna", "zoe")


def test_seats_and_salts_are_frozen_by_the_lock() -> None:
    told = Told()
    told.seat("anna", "ben", ready=True)
    told.tell(ev.Locked(countdown_ms=5000))
    with refusal("not-now"):
        referee.decide_unready(told.race, "anna")
    with refusal("not-now"):
        referee.decide_join(told.race, "cleo", "Cleo", False)
    with refusal("not-now"):
        referee.decide_kick(told.race, "anna", "ben")


def test_when_the_host_leaves_and_all_others_are_ready_the_race_starts() -> None:
    told = Told(host="cleo")
    told.seat("anna", "ben", ready=True)
    told.seat("cleo")
    assert [type(event) for event in referee.decide_leave(told.race, "cleo")] == [
        ev.Left, ev.Hosted, ev.Locked,
    ]  # fmt: skip


def test_a_host_without_a_seat_may_start_and_hands_the_role_on_when_gone() -> None:
    told = Told(Settings(start="host"), host="zoe")
    told.seat("anna", "ben")
    assert {"start", "kick"} <= set(told.race.actions("zoe", watching=True))
    assert referee.decide_leave(told.race, "zoe") == [ev.Hosted(p="anna")]
    assert told.race.expected == ["anna", "ben", "zoe"]
    assert referee.due(told.race, told.now, away=["zoe"]) == [ev.Hosted(p="anna")]


def test_a_room_of_an_absent_host_and_nobody_else_is_over() -> None:
    told = Told(host="zoe")
    assert referee.due(told.race, told.now, away=["zoe"])[0] == ev.Over(why="aborted")


def test_who_was_kicked_does_not_come_back() -> None:
    told = Told()
    told.seat("anna", "ben")
    told.tell(*referee.decide_kick(told.race, "anna", "ben"))
    with refusal("kicked"):
        referee.decide_join(told.race, "ben", "Ben", False)


def test_other_bytes_of_one_who_is_ready_count() -> None:
    told = Told()
    told.seat("anna")
    told.tell(*referee.decide_ready(told.race, "anna", b"a"))
    told.tell(*referee.decide_ready(told.race, "anna", b"b"))
    assert told.race.racers["anna"].salt == b"b"


# --- the race -----------------------------------------------------------------------------


def test_there_is_no_layout_before_the_start() -> None:
    told = Told()
    told.seat("anna", "ben", ready=True)
    race = told.tell(ev.Locked(countdown_ms=5000))
    assert race.layout is None
    assert all(racer.board is None for racer in race.racers.values())
    with refusal("not-now"):
        referee.decide_move(race, "anna", 1, "d")


def test_a_refused_move_changes_nothing() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    before = race.racers["anna"].board
    with pytest.raises(Refusal, match="black Five"):
        referee.decide_move(race, "anna", 1, "2>1")
    with refusal("unreadable"):
        referee.decide_move(race, "anna", 1, "hello")
    assert race.racers["anna"].board is before
    assert race.racers["anna"].n == 0


def test_solving_ends_ones_own_race_and_the_last_one_ends_it_for_all() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    for player in ("anna", "ben"):
        put(race.racers[player], nearly_solved(1))
    told.play("anna", "1>f")
    assert race.racers["anna"].outcome == "solved"
    with refusal("done"):
        referee.decide_move(race, "anna", 2, "d")
    assert referee.due(race, told.now) == []
    told.play("ben", "1>f")
    assert referee.due(race, told.now) == [ev.Over(why="finished")]


def test_finish_plays_all_cards_home() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    put(race.racers["anna"], nearly_solved(5))
    told.play("anna", *referee.decide_finish(race, "anna"))
    assert race.racers["anna"].outcome == "solved"


def test_finish_is_refused_while_a_card_is_face_down() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    with refusal("not-clear"):
        referee.decide_finish(race, "anna")


def test_undo_follows_the_rooms_policy() -> None:
    off = Told(Settings(seed="42"))
    off.start("anna", "ben")
    off.play("anna", "d")
    with refusal("undo-off"):
        referee.decide_undo(off.race, "anna", 2)
    free = Told(Settings(seed="42", undo="free"))
    free.start("anna", "ben")
    free.play("anna", "d")
    free.tell(referee.decide_undo(free.race, "anna", 2))
    anna = free.race.racers["anna"]
    assert anna.board == free.race.layout
    assert (anna.n, anna.moves, anna.undos) == (2, 1, 1)
    safe = Told(Settings(seed="42", undo="safe"))
    safe.start("anna", "ben")
    safe.play("anna", "d")
    with pytest.raises(Refusal):
        referee.decide_undo(safe.race, "anna", 2)


def test_hints_are_the_legal_moves_where_the_room_allows_them() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    board = race.racers["anna"].board
    assert board is not None
    assert referee.decide_hint(race, "anna") == [move.text() for move in board.legal_moves()]
    without = Told(Settings(seed="42", hints=False))
    without.start("anna", "ben")
    with refusal("hints-off"):
        referee.decide_hint(without.race, "anna")


def test_leaving_a_race_resigns_and_leaving_after_the_own_end_does_nothing() -> None:
    told = Told()
    race = told.start("anna", "ben")
    told.tell(*referee.decide_leave(race, "anna"))
    assert race.racers["anna"].outcome == "resigned"
    assert referee.decide_leave(race, "anna") == []


# --- time ---------------------------------------------------------------------------------


def test_the_race_starts_at_the_start_instant_and_not_before() -> None:
    told = Told()
    told.seat("anna", "ben", ready=True)
    race = told.tell(ev.Locked(countdown_ms=5000))
    assert referee.due(race, told.now + 4999) == []
    assert referee.due(race, told.now + 5000) == [ev.Started()]
    assert referee.next_due(race) == told.now + 5000


def test_a_race_whose_players_are_all_gone_still_ends_at_its_limit() -> None:
    told = Told(Settings(time_limit_s=30))
    race = told.start("anna", "ben")
    assert race.ends is not None
    assert referee.due(race, race.ends - 1) == []
    assert referee.due(race, race.ends) == [ev.Over(why="time"), ev.Revealed(secret=SECRET.hex())]
    told.tell(*referee.due(race, race.ends))
    assert {racer.outcome for racer in race.racers.values()} == {"unfinished"}
    assert referee.next_due(race) is None


def test_a_race_ends_early_when_all_have_resigned() -> None:
    told = Told()
    race = told.start("anna", "ben")
    told.tell(ev.Resigned(p="anna"), ev.Resigned(p="ben"))
    assert referee.due(race, told.now)[0] == ev.Over(why="resigned")


def test_a_race_ends_early_when_all_who_remain_are_stuck() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    stuck = Position.parse(
        "double-klondike 1 - - KC/KC/KD/KD/KH/KH/JS/9S tsqsksqsJS/KS/-/-/-/-/-/-/-"
    )
    put(race.racers["anna"], stuck)
    assert is_stuck(stuck)
    race.racers["anna"].is_stuck = True
    assert referee.due(race, told.now) == []
    told.tell(ev.Resigned(p="ben"))
    assert referee.due(race, told.now)[0] == ev.Over(why="stuck")


def test_who_may_take_moves_back_is_not_stuck_for_good() -> None:
    told = Told(Settings(seed="42", undo="free"))
    race = told.start("anna")
    told.play("anna", "d")
    race.racers["anna"].is_stuck = True
    assert referee.due(race, told.now) == []


def test_a_room_started_at_a_time_locks_then_with_whoever_is_there() -> None:
    told = Told(Settings(start="time", start_at=T0 + 60_000))
    told.seat("anna")
    assert referee.due(told.race, T0 + 59_999) == []
    assert referee.due(told.race, T0 + 60_000) == [ev.Locked(countdown_ms=5000)]


def test_a_room_started_at_a_time_with_nobody_in_it_is_closed() -> None:
    told = Told(Settings(start="time", start_at=T0 + 60_000))
    assert referee.due(told.race, T0 + 60_000)[0] == ev.Over(why="aborted")


def test_an_idle_open_room_is_closed() -> None:
    told = Told()
    told.seat("anna")
    assert referee.due(told.race, told.now + IDLE_LIMIT_MS - 1) == []
    assert referee.due(told.race, told.now + IDLE_LIMIT_MS)[0] == ev.Over(why="aborted")


def test_who_is_away_from_an_open_room_too_long_loses_the_seat() -> None:
    told = Told()
    told.seat("anna", "ben")
    assert referee.due(told.race, told.now + AWAY_LIMIT_MS, away=["ben"]) == [
        ev.Left(p="ben", why="away")
    ]


# --- put out by the host ------------------------------------------------------------------


def test_the_host_puts_somebody_else_out_of_the_race_that_runs() -> None:
    told = Told()
    race = told.start("anna", "ben", "cleo")
    assert "disqualify" in race.actions("anna")
    out = referee.decide_disqualify(race, "ben", "anna", "two screens")
    assert out == ev.Disqualified(p="ben", by="anna", why="two screens")
    told.tell(out)
    told.tell(ev.Resigned(p="cleo"))
    assert referee.due(race, told.now) == []  # the host races on
    with refusal("done"):
        referee.decide_move(race, "ben", 1, "d")
    assert [(line.player, line.outcome) for line in standings(race)] == [
        ("anna", "playing"),
        ("cleo", "resigned"),
        ("ben", "disqualified"),
    ]


@pytest.mark.parametrize("seated", [True, False])
def test_a_host_who_has_given_up_or_has_no_seat_still_puts_out(seated: bool) -> None:
    told = Told(host="anna" if seated else "zoe")
    race = told.start("anna", "ben", "cleo")
    told.tell(ev.Resigned(p="anna"))
    assert "disqualify" in race.actions(race.host, watching=not seated)
    assert referee.decide_disqualify(race, "ben", race.host, "two screens").by == race.host


def test_the_race_is_over_when_the_last_one_is_put_out() -> None:
    told = Told()
    race = told.start("anna", "ben")
    told.tell(ev.Resigned(p="anna"))
    told.tell(referee.decide_disqualify(race, "ben", "anna", "two screens"))
    assert referee.due(race, told.now)[0] == ev.Over(why="resigned")


def test_only_the_host_puts_out_and_only_who_still_races() -> None:
    told = Told()
    told.seat("anna", "ben", "cleo")
    with refusal("not-now"):
        referee.decide_disqualify(told.race, "ben", "anna", "x")
    told.tell(ev.Locked(countdown_ms=1000))
    with refusal("not-now"):
        referee.decide_disqualify(told.race, "ben", "anna", "x")
    race = told.tell(ev.Started())
    assert "disqualify" not in race.actions("ben") + race.actions(None)
    for other in ("ben", "zoe"):
        with refusal("not-host"):
            referee.decide_disqualify(race, "cleo", other, "x")
    with refusal("not-seated"):
        referee.decide_disqualify(race, "zoe", "anna", "x")
    with refusal("yourself"):
        referee.decide_disqualify(race, "anna", "anna", "x")
    told.tell(ev.Resigned(p="ben"))
    with refusal("done"):
        referee.decide_disqualify(race, "ben", "anna", "x")
    told.tell(ev.Over(why="time"))
    with refusal("not-now"):
        referee.decide_disqualify(race, "cleo", "anna", "x")


def test_one_rematch_however_many_ask() -> None:
    told = Told()
    told.seat("anna", "ben")
    told.tell(ev.Over(why="time"))
    told.tell(*referee.decide_follow(told.race, "anna", "GHJKMN"))
    assert referee.decide_follow(told.race, "ben", "PQRSTV") == []
    assert told.race.next_room == "GHJKMN"


# --- a tournament's rooms -----------------------------------------------------------------


def a_match(*players: str, deal: str = "ABCDEF-1", shared: bool = False) -> Told:
    told = Told.__new__(Told)
    told.now, told.lines, told.race = T0, [], Race(SECRET)
    told.tell(
        ev.Opened(
            format=ev.FORMAT,
            room="ABCDEF",
            deal=deal,
            settings=Settings(start="host"),
            commitment="",
            host="",
            tournament="CUP",
            match="1.1",
            shared=shared,
        )
    )
    told.seat(*players)
    return told


def test_the_seats_of_a_match_are_held_for_its_players() -> None:
    told = a_match("anna", "ben")
    with refusal("held"):
        referee.decide_join(told.race, "cleo", "Cleo", False)
    assert referee.decide_leave(told.race, "anna") == []
    assert referee.due(told.race, told.now + 10 * AWAY_LIMIT_MS, away=["anna", "ben"]) == []
    assert referee.due(told.race, told.now + 2 * IDLE_LIMIT_MS) == []
    assert told.race.actions("anna") == ["chat", "leave"]


def test_the_director_begins_a_match_once() -> None:
    told = a_match("anna", "ben")
    told.tell(*referee.decide_begin(told.race, 5000))
    assert told.race.phase == "locked"
    assert referee.decide_begin(told.race, 5000) == []


def test_the_director_puts_a_player_out_of_a_race_that_runs() -> None:
    told = a_match("anna", "ben")
    with refusal("not-now"):
        referee.decide_disqualify(told.race, "anna", "", "two screens")
    told.tell(*referee.decide_begin(told.race, 0))
    told.tell(ev.Started())
    told.tell(referee.decide_disqualify(told.race, "anna", "", "two screens"))
    assert told.race.racers["anna"].outcome == "disqualified"
    with refusal("done"):
        referee.decide_disqualify(told.race, "anna", "", "two screens")
    with refusal("not-seated"):
        referee.decide_disqualify(told.race, "zoe", "", "two screens")


def test_no_player_of_a_match_puts_another_one_out() -> None:
    told = a_match("anna", "ben")
    told.tell(*referee.decide_begin(told.race, 0))
    told.tell(ev.Started())
    assert "disqualify" not in told.race.actions("anna")
    with pytest.raises(Refusal, match="organisers of the tournament"):
        referee.decide_disqualify(told.race, "ben", "anna", "too quick")


def test_a_shared_deal_is_revealed_by_the_director_and_not_by_the_race_s_end() -> None:
    told = a_match("anna", "ben", shared=True)
    told.tell(*referee.decide_begin(told.race, 5000))
    told.tell(ev.Started())
    told.tell(*referee.decide_abort(told.race))
    assert told.race.phase == "over"
    assert told.race.revealed is None
    told.tell(*referee.decide_reveal(told.race))
    assert told.race.revealed == SECRET.hex()
    assert referee.decide_reveal(told.race) == []


def test_races_that_share_a_deal_get_the_same_layout_whoever_plays() -> None:
    layouts = set()
    for players in (("anna", "ben"), ("cleo", "dora", "emma")):
        told = a_match(*players, deal="CUP.3", shared=True)
        told.tell(*referee.decide_begin(told.race, 5000))
        layouts.add(told.tell(ev.Started()).layout)
    assert len(layouts) == 1
