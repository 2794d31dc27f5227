"""The race machine."""

import pytest

from server import events as ev
from server.permissions import ALLOWED
from server.race import AWAY_LIMIT_MS, IDLE_LIMIT_MS, Race
from server.refusal import Refusal
from server.rules import Move, Position, deal
from server.rules.deal import fair_key, layout
from server.rules.stuck import is_stuck
from server.standings import standings
from tests.server.journal import SECRET, T0, Told, nearly_solved
from wire.messages import Settings


def refusal(code: str) -> "pytest.RaisesExc[Refusal]":
    return pytest.raises(Refusal, check=lambda error: error.code == code and bool(error.reason))


# --- before the start ---------------------------------------------------------------------


def test_the_last_one_to_be_ready_locks_the_room() -> None:
    told = Told()
    told.seat("anna", "ben")
    told.tell(*told.race.decide_ready("anna", b"a"))
    assert told.race.phase == "open"
    told.tell(*told.race.decide_ready("ben", b"b"))
    assert told.race.phase == "locked"
    assert told.race.starts == told.now + 5000
    assert told.race.ends == told.now + 5000 + 900_000


def test_one_ready_player_alone_does_not_start_a_race_for_many() -> None:
    told = Told()
    told.seat("anna")
    assert told.race.decide_ready("anna", b"") == [ev.Readied(p="anna")]


def test_a_room_of_one_seat_is_practice_and_starts_when_that_one_is_ready() -> None:
    told = Told(Settings(seats=1))
    told.seat("anna")
    assert isinstance(told.race.decide_ready("anna", b"")[-1], ev.Locked)


def test_being_ready_twice_or_joining_twice_changes_nothing() -> None:
    told = Told()
    told.seat("anna", ready=True)
    assert told.race.decide_ready("anna", told.race.racers["anna"].salt) == []
    assert told.race.decide_join("anna", "Anna", False) == []


def test_a_full_room_takes_nobody_else() -> None:
    told = Told(Settings(seats=2))
    told.seat("anna", "ben")
    with refusal("full"):
        told.race.decide_join("cleo", "Cleo", False)


def test_equal_names_are_told_apart() -> None:
    told = Told()
    for player in ("p1", "p2", "p3"):
        told.tell(*told.race.decide_join(player, "Sam", False))
    assert [racer.name for racer in told.race.racers.values()] == ["Sam", "Sam-2", "Sam-3"]


def test_the_host_passes_on_to_a_person_before_a_bot() -> None:
    told = Told()
    told.seat("anna")
    told.tell(ev.Joined(p="bot", name="Bot", bot=True))
    told.seat("ben")
    told.tell(*told.race.decide_leave("anna"))
    assert told.race.host == "ben"


def test_when_the_last_one_leaves_the_room_is_over() -> None:
    told = Told()
    told.seat("anna")
    told.tell(*told.race.decide_leave("anna"))
    assert told.race.phase == "over"
    assert told.race.over_why == "aborted"
    assert told.race.revealed == SECRET.hex()


def test_when_the_one_who_is_not_ready_leaves_the_others_start() -> None:
    told = Told()
    told.seat("anna", "ben", ready=True)
    told.seat("cleo")
    assert isinstance(told.race.decide_leave("cleo")[-1], ev.Locked)


def test_only_the_host_starts_and_kicks() -> None:
    told = Told(Settings(start="host"))
    told.seat("anna", "ben")
    with refusal("not-host"):
        told.race.decide_start("ben")
    with refusal("not-host"):
        told.race.decide_kick("ben", "anna")
    assert told.race.decide_kick("anna", "ben") == [ev.Left(p="ben", why="kicked")]
    assert told.race.decide_start("anna") == [ev.Locked(countdown_ms=5000)]


def test_a_host_is_not_sent_out_by_the_host() -> None:
    told = Told()
    told.seat("anna", "ben")
    with refusal("yourself"):
        told.race.decide_kick("anna", "anna")
    with refusal("not-seated"):
        told.race.decide_kick("anna", "zoe")


def test_seats_and_salts_are_frozen_by_the_lock() -> None:
    told = Told()
    told.seat("anna", "ben", ready=True)
    told.tell(ev.Locked(countdown_ms=5000))
    with refusal("not-now"):
        told.race.decide_unready("anna")
    with refusal("not-now"):
        told.race.decide_join("cleo", "Cleo", False)
    with refusal("not-now"):
        told.race.decide_kick("anna", "ben")


def test_when_the_host_leaves_and_all_others_are_ready_the_race_starts() -> None:
    told = Told(host="cleo")
    told.seat("anna", "ben", ready=True)
    told.seat("cleo")
    assert [type(event) for event in told.race.decide_leave("cleo")] == [
        ev.Left, ev.Hosted, ev.Locked,
    ]  # fmt: skip


def test_a_host_without_a_seat_may_start_and_hands_the_role_on_when_gone() -> None:
    told = Told(Settings(start="host"), host="zoe")
    told.seat("anna", "ben")
    assert {"start", "kick"} <= set(told.race.actions("zoe", watching=True))
    assert told.race.decide_leave("zoe") == [ev.Hosted(p="anna")]
    assert told.race.expected == ["anna", "ben", "zoe"]
    assert told.race.due(told.now, away=["zoe"]) == [ev.Hosted(p="anna")]


def test_a_room_of_an_absent_host_and_nobody_else_is_over() -> None:
    told = Told(host="zoe")
    assert told.race.due(told.now, away=["zoe"])[0] == ev.Over(why="aborted")


def test_who_was_kicked_does_not_come_back() -> None:
    told = Told()
    told.seat("anna", "ben")
    told.tell(*told.race.decide_kick("anna", "ben"))
    with refusal("kicked"):
        told.race.decide_join("ben", "Ben", False)


def test_other_bytes_of_one_who_is_ready_count() -> None:
    told = Told()
    told.seat("anna")
    told.tell(*told.race.decide_ready("anna", b"a"))
    told.tell(*told.race.decide_ready("anna", b"b"))
    assert told.race.racers["anna"].salt == b"b"


# --- the race -----------------------------------------------------------------------------


def test_everybody_gets_the_deal_of_secret_and_salts() -> None:
    told = Told()
    race = told.start("anna", "ben")
    expected = layout(race.rules, fair_key(SECRET, "ABCDEF-1", race.rules.text(), [b"", b""]))
    assert {racer.board for racer in race.racers.values()} == {expected}


def test_a_public_seed_needs_no_secret() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    assert race.layout == deal(race.rules, "42")


def test_a_player_who_salts_differently_gets_another_deal() -> None:
    layouts = set()
    for salt in ("00", "01"):
        told = Told()
        told.seat("anna")
        told.tell(ev.Readied(p="anna", salt=salt), ev.Locked(countdown_ms=1000))
        layouts.add(told.tell(ev.Started()).layout)
    assert len(layouts) == 2


def test_there_is_no_layout_before_the_start() -> None:
    told = Told()
    told.seat("anna", "ben", ready=True)
    race = told.tell(ev.Locked(countdown_ms=5000))
    assert race.layout is None
    assert all(racer.board is None for racer in race.racers.values())
    with refusal("not-now"):
        race.decide_move("anna", 1, "d")


def test_a_refused_move_changes_nothing() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    before = race.racers["anna"].board
    with pytest.raises(Refusal, match="black Five"):
        race.decide_move("anna", 1, "2>1")
    with refusal("unreadable"):
        race.decide_move("anna", 1, "hello")
    assert race.racers["anna"].board is before
    assert race.racers["anna"].n == 0


def test_the_fold_gives_what_the_referee_allowed_wherever_it_happens() -> None:
    told = Told(Settings(seed="42"))
    told.start("anna", "ben")
    told.play_on("anna", 60)
    elsewhere = Race()
    for at, payload in told.lines:
        elsewhere.apply(at, payload)
    assert elsewhere.racers["anna"].board == told.race.racers["anna"].board
    assert elsewhere.head == told.race.head
    assert elsewhere.racers["anna"].plays == told.race.racers["anna"].plays


def test_the_move_that_was_looked_ahead_is_not_taken_for_another_one() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    race.decide_move("anna", 1, "3>2")  # looked at here, but another node was told "d"
    told.tell(ev.Played(p="anna", n=1, m="d"))
    assert race.racers["anna"].board == deal(race.rules, "42").play(Move.parse("d"))


def test_solving_ends_ones_own_race_and_the_last_one_ends_it_for_all() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    for player in ("anna", "ben"):
        race.racers[player].board = nearly_solved(1)
    told.play("anna", "1>f")
    assert race.racers["anna"].outcome == "solved"
    with refusal("done"):
        race.decide_move("anna", 2, "d")
    assert race.due(told.now) == []
    told.play("ben", "1>f")
    assert race.due(told.now) == [ev.Over(why="finished")]


def test_finish_plays_all_cards_home() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    race.racers["anna"].board = nearly_solved(5)
    told.play("anna", *race.decide_finish("anna"))
    assert race.racers["anna"].outcome == "solved"


def test_finish_is_refused_while_a_card_is_face_down() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    with refusal("not-clear"):
        race.decide_finish("anna")


def test_undo_follows_the_rooms_policy() -> None:
    off = Told(Settings(seed="42"))
    off.start("anna", "ben")
    off.play("anna", "d")
    with refusal("undo-off"):
        off.race.decide_undo("anna", 2)
    free = Told(Settings(seed="42", undo="free"))
    free.start("anna", "ben")
    free.play("anna", "d")
    free.tell(free.race.decide_undo("anna", 2))
    anna = free.race.racers["anna"]
    assert anna.board == free.race.layout
    assert (anna.n, anna.moves, anna.undos) == (2, 1, 1)
    safe = Told(Settings(seed="42", undo="safe"))
    safe.start("anna", "ben")
    safe.play("anna", "d")
    with pytest.raises(Refusal):
        safe.race.decide_undo("anna", 2)


def test_hints_are_the_legal_moves_where_the_room_allows_them() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    board = race.racers["anna"].board
    assert board is not None
    assert race.decide_hint("anna") == [move.text() for move in board.legal_moves()]
    without = Told(Settings(seed="42", hints=False))
    without.start("anna", "ben")
    with refusal("hints-off"):
        without.race.decide_hint("anna")


def test_leaving_a_race_resigns_and_leaving_after_the_own_end_does_nothing() -> None:
    told = Told()
    race = told.start("anna", "ben")
    told.tell(*race.decide_leave("anna"))
    assert race.racers["anna"].outcome == "resigned"
    assert race.decide_leave("anna") == []


# --- time ---------------------------------------------------------------------------------


def test_the_race_starts_at_the_start_instant_and_not_before() -> None:
    told = Told()
    told.seat("anna", "ben", ready=True)
    race = told.tell(ev.Locked(countdown_ms=5000))
    assert race.due(told.now + 4999) == []
    assert race.due(told.now + 5000) == [ev.Started()]
    assert race.next_due() == told.now + 5000


def test_a_race_whose_players_are_all_gone_still_ends_at_its_limit() -> None:
    told = Told(Settings(time_limit_s=30))
    race = told.start("anna", "ben")
    assert race.ends is not None
    assert race.due(race.ends - 1) == []
    assert race.due(race.ends) == [ev.Over(why="time"), ev.Revealed(secret=SECRET.hex())]
    told.tell(*race.due(race.ends))
    assert {racer.outcome for racer in race.racers.values()} == {"unfinished"}
    assert race.next_due() is None


def test_a_race_ends_early_when_all_have_resigned() -> None:
    told = Told()
    race = told.start("anna", "ben")
    told.tell(ev.Resigned(p="anna"), ev.Resigned(p="ben"))
    assert race.due(told.now)[0] == ev.Over(why="resigned")


def test_a_race_ends_early_when_all_who_remain_are_stuck() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    stuck = Position.parse(
        "double-klondike 1 - - KC/KC/KD/KD/KH/KH/JS/9S tsqsksqsJS/KS/-/-/-/-/-/-/-"
    )
    race.racers["anna"].board = stuck
    assert is_stuck(stuck)
    race.racers["anna"].is_stuck = True
    assert race.due(told.now) == []
    told.tell(ev.Resigned(p="ben"))
    assert race.due(told.now)[0] == ev.Over(why="stuck")


def test_who_may_take_moves_back_is_not_stuck_for_good() -> None:
    told = Told(Settings(seed="42", undo="free"))
    race = told.start("anna")
    told.play("anna", "d")
    race.racers["anna"].is_stuck = True
    assert race.due(told.now) == []


def test_a_room_started_at_a_time_locks_then_with_whoever_is_there() -> None:
    told = Told(Settings(start="time", start_at=T0 + 60_000))
    told.seat("anna")
    assert told.race.due(T0 + 59_999) == []
    assert told.race.due(T0 + 60_000) == [ev.Locked(countdown_ms=5000)]


def test_a_room_started_at_a_time_with_nobody_in_it_is_closed() -> None:
    told = Told(Settings(start="time", start_at=T0 + 60_000))
    assert told.race.due(T0 + 60_000)[0] == ev.Over(why="aborted")


def test_an_idle_open_room_is_closed() -> None:
    told = Told()
    told.seat("anna")
    assert told.race.due(told.now + IDLE_LIMIT_MS - 1) == []
    assert told.race.due(told.now + IDLE_LIMIT_MS)[0] == ev.Over(why="aborted")


def test_who_is_away_from_an_open_room_too_long_loses_the_seat() -> None:
    told = Told()
    told.seat("anna", "ben")
    assert told.race.due(told.now + AWAY_LIMIT_MS, away=["ben"]) == [ev.Left(p="ben", why="away")]


# --- the order of a race ------------------------------------------------------------------


def places(told: Told) -> dict[str, int]:
    return {line.player: line.place for line in standings(told.race)}


def test_solved_come_first_by_time_then_cards_then_who_gave_up_then_who_was_put_out() -> None:
    told = Told(Settings(seed="42"))
    players = ["slow", "fast", "many", "few", "quit", "out"]
    race = told.start(*players)
    for player in ("slow", "fast"):
        race.racers[player].board = nearly_solved(1)
    for player, left in (("many", 2), ("few", 8), ("quit", 1), ("out", 1)):
        race.racers[player].board = nearly_solved(left)
        race.racers[player].reached_at = told.now
    told.play("fast", "1>f")
    told.play("slow", "1>f")
    told.tell(ev.Resigned(p="quit"), ev.Disqualified(p="out", by="owner", why="x"))
    told.tell(ev.Over(why="time"))
    assert places(told) == {"fast": 1, "slow": 2, "many": 3, "few": 4, "quit": 5, "out": 6}


def test_equal_places_skip_the_next() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("a", "b", "c")
    race.racers["c"].board = nearly_solved(1)
    told.tell(ev.Over(why="time"))
    assert places(told) == {"c": 1, "a": 2, "b": 2}


def test_with_equal_cards_fewer_face_down_and_then_the_earlier_time_decide() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("a", "b", "c")
    told.play("b", "3>2")  # turns a card
    told.play("c", "3>2")
    assert race.racers["b"].down < race.racers["a"].down
    told.tell(ev.Over(why="time"))
    assert places(told) == {"b": 1, "c": 2, "a": 3}


def test_two_who_solve_in_the_same_millisecond_share_the_place() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("a", "b", "c")
    for player in ("a", "b"):
        race.racers[player].board = nearly_solved(1)
    told.play("a", "1>f", after_ms=1000)
    told.play("b", "1>f", after_ms=0)
    told.tell(ev.Over(why="time"))
    assert places(told) == {"a": 1, "b": 1, "c": 3}


def test_casino_scores_follow_from_the_position() -> None:
    told = Told(Settings(seed="42", score="casino"))
    race = told.start("a", "b")
    assert race.score(race.racers["a"]) == -104
    race.racers["a"].board = nearly_solved(1)
    assert race.score(race.racers["a"]) == 5 * 103 - 104


# --- put out by the host ------------------------------------------------------------------


def test_the_host_puts_somebody_else_out_of_the_race_that_runs() -> None:
    told = Told()
    race = told.start("anna", "ben", "cleo")
    assert "disqualify" in race.actions("anna")
    out = race.decide_disqualify("ben", "anna", "two screens")
    assert out == ev.Disqualified(p="ben", by="anna", why="two screens")
    told.tell(out)
    told.tell(ev.Resigned(p="cleo"))
    assert race.due(told.now) == []  # the host races on
    with refusal("done"):
        race.decide_move("ben", 1, "d")
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
    assert race.decide_disqualify("ben", race.host, "two screens").by == race.host


def test_the_race_is_over_when_the_last_one_is_put_out() -> None:
    told = Told()
    race = told.start("anna", "ben")
    told.tell(ev.Resigned(p="anna"))
    told.tell(race.decide_disqualify("ben", "anna", "two screens"))
    assert race.due(told.now)[0] == ev.Over(why="resigned")


def test_only_the_host_puts_out_and_only_who_still_races() -> None:
    told = Told()
    told.seat("anna", "ben", "cleo")
    with refusal("not-now"):
        told.race.decide_disqualify("ben", "anna", "x")
    told.tell(ev.Locked(countdown_ms=1000))
    with refusal("not-now"):
        told.race.decide_disqualify("ben", "anna", "x")
    race = told.tell(ev.Started())
    assert "disqualify" not in race.actions("ben") + race.actions(None)
    for other in ("ben", "zoe"):
        with refusal("not-host"):
            race.decide_disqualify("cleo", other, "x")
    with refusal("not-seated"):
        race.decide_disqualify("zoe", "anna", "x")
    with refusal("yourself"):
        race.decide_disqualify("anna", "anna", "x")
    told.tell(ev.Resigned(p="ben"))
    with refusal("done"):
        race.decide_disqualify("ben", "anna", "x")
    told.tell(ev.Over(why="time"))
    with refusal("not-now"):
        race.decide_disqualify("cleo", "anna", "x")


# --- the table ----------------------------------------------------------------------------


def test_every_action_that_the_table_offers_is_understood() -> None:
    told = Told(Settings(seed="42", undo="free", start="host"))
    told.seat("anna", "ben")
    assert told.race.actions("anna") == ["chat", "kick", "leave", "ready", "start"]
    assert told.race.actions("ben") == ["chat", "leave", "ready"]
    assert told.race.actions(None) == ["join", "leave"]
    told.tell(ev.Locked(countdown_ms=1000), ev.Started())
    assert told.race.actions("ben") == [
        "chat", "finish", "hint", "leave", "move", "resign", "undo",
    ]  # fmt: skip
    told.tell(ev.Over(why="time"))
    assert told.race.actions("ben") == ["chat", "leave", "rematch"]


@pytest.mark.parametrize("phase", list(ALLOWED))
def test_a_spectator_may_never_act_in_the_race(phase: str) -> None:
    offered = ALLOWED[phase]["spectator"]  # type: ignore[index]
    assert offered <= {"join", "leave"}


def test_a_fork_is_independent_of_the_race() -> None:
    told = Told(Settings(seed="42", undo="free"))
    race = told.start("anna", "ben")
    told.play("anna", "d")
    twin = race.fork()
    twin.fold(told.now, ev.Played(p="anna", n=2, m="d"))
    assert race.racers["anna"].n == 1
    assert len(race.racers["anna"].former) == 1
    assert race.version == twin.version - 1


def test_one_rematch_however_many_ask() -> None:
    told = Told()
    told.seat("anna", "ben")
    told.tell(ev.Over(why="time"))
    told.tell(*told.race.decide_follow("anna", "GHJKMN"))
    assert told.race.decide_follow("ben", "PQRSTV") == []
    assert told.race.next_room == "GHJKMN"


def test_a_journal_of_a_newer_format_is_refused_plainly() -> None:
    race = Race()
    opened = ev.Opened(
        format=ev.FORMAT + 1, room="A", deal="d", settings=Settings(), commitment="", host="p"
    )
    with pytest.raises(ev.UnknownEvent, match="update it"):
        race.apply(T0, ev.encode(opened))


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
        told.race.decide_join("cleo", "Cleo", False)
    assert told.race.decide_leave("anna") == []
    assert told.race.due(told.now + 10 * AWAY_LIMIT_MS, away=["anna", "ben"]) == []
    assert told.race.due(told.now + 2 * IDLE_LIMIT_MS) == []
    assert told.race.actions("anna") == ["chat", "leave"]


def test_the_director_begins_a_match_once() -> None:
    told = a_match("anna", "ben")
    told.tell(*told.race.decide_begin(5000))
    assert told.race.phase == "locked"
    assert told.race.decide_begin(5000) == []


def test_the_director_puts_a_player_out_of_a_race_that_runs() -> None:
    told = a_match("anna", "ben")
    with refusal("not-now"):
        told.race.decide_disqualify("anna", "", "two screens")
    told.tell(*told.race.decide_begin(0))
    told.tell(ev.Started())
    told.tell(told.race.decide_disqualify("anna", "", "two screens"))
    assert told.race.racers["anna"].outcome == "disqualified"
    with refusal("done"):
        told.race.decide_disqualify("anna", "", "two screens")
    with refusal("not-seated"):
        told.race.decide_disqualify("zoe", "", "two screens")


def test_no_player_of_a_match_puts_another_one_out() -> None:
    told = a_match("anna", "ben")
    told.tell(*told.race.decide_begin(0))
    told.tell(ev.Started())
    assert "disqualify" not in told.race.actions("anna")
    with pytest.raises(Refusal, match="organisers of the tournament"):
        told.race.decide_disqualify("ben", "anna", "too quick")


def test_races_that_share_a_deal_get_the_same_layout_whoever_plays() -> None:
    layouts = set()
    for players in (("anna", "ben"), ("cleo", "dora", "emma")):
        told = a_match(*players, deal="CUP.3", shared=True)
        told.tell(*told.race.decide_begin(5000))
        layouts.add(told.tell(ev.Started()).layout)
    assert len(layouts) == 1


def test_a_shared_deal_is_revealed_by_the_director_and_not_by_the_race_s_end() -> None:
    told = a_match("anna", "ben", shared=True)
    told.tell(*told.race.decide_begin(5000))
    told.tell(ev.Started())
    told.tell(*told.race.decide_abort())
    assert told.race.phase == "over"
    assert told.race.revealed is None
    told.tell(*told.race.decide_reveal())
    assert told.race.revealed == SECRET.hex()
    assert told.race.decide_reveal() == []
