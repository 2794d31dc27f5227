"""Rooms over the wire: a real node, a real socket, a real store."""

import asyncio

import pytest
from msgspec.structs import replace

from server.app import Node
from server.store import keys
from tests.server.floor import QUICK, Someone, node, race_of, until
from wire import messages as m
from wire.values import Settings


async def test_two_players_arrange_a_race_and_play_it(port: int) -> None:
    anna, ben = await Someone.arrive(port, "anna"), await Someone.arrive(port, "ben")
    await anna.say(m.Create(settings=replace(QUICK, seed=None, countdown_s=2)))
    opened = await anna.hear(m.Room)
    assert len(opened.commitment) == 64
    assert opened.seat == 0
    await ben.say(m.Join(room=opened.room.lower()))
    joined = await ben.hear(m.Room)
    assert [seat.name for seat in joined.seats] == ["anna", "ben"]
    await anna.say(m.Ready(salt=b"a"))
    await ben.say(m.Ready(salt=b"b"))
    countdown = await anna.hear(m.Countdown)
    assert countdown.salts == [b"a".hex(), b"b".hex()]
    assert 0 < countdown.remaining_ms <= 2000
    board = await anna.hear(m.Board)
    assert board.n == 0
    assert board.piles["h"] == "59:"
    assert board.down == 36
    moved = await anna.play(1, "d")
    assert set(moved.piles) == {"h", "w"}
    assert moved.piles["h"] == "56:"
    await ben.hear(m.Scores)
    await anna.say(m.Resign())
    assert (await anna.hear(m.Finished)).outcome == "resigned"
    await ben.say(m.Resign())
    result = await ben.hear(m.Standings)
    assert result.reason == "resigned"
    assert {row.name for row in result.rows} == {"anna", "ben"}
    assert result.reveal is not None
    assert result.reveal.commitment == opened.commitment


async def test_no_layout_leaves_the_server_before_the_start(port: int) -> None:
    anna = await Someone.arrive(port)
    await anna.say(m.Create(settings=replace(QUICK, seats=1, countdown_s=4)))
    await anna.hear(m.Room)
    await anna.say(m.Snapshot())
    await anna.hear(m.Room)
    await anna.say(m.Ready())
    await anna.hear(m.Countdown)
    assert (await anna.refused(m.Move(n=1, m="d"))).code == "not-now"
    await anna.say(m.Snapshot())
    await anna.hear(m.Room)
    assert anna.all(m.Board) == []
    await anna.hear(m.Board)
    starts = anna.last(m.Room).starts
    assert starts is not None


async def test_a_refusal_says_why_and_changes_nothing(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    refused = await anna.refused(m.Move(n=1, m="2>1"))
    assert refused.re == "move"
    assert refused.n == 1
    assert "black Five" in refused.reason
    moved = await anna.play(1, "3>2")
    assert moved.m == "3>2:1"


async def test_a_repeated_play_gets_its_outcome_again_and_counts_once(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    first = await anna.play(1, "d")
    again = await anna.play(1, "d")
    assert (again.m, again.at, again.moves) == (first.m, first.at, 1)
    other = await anna.play(1, "3>2")
    assert other.m == "d"
    assert (await anna.play(2, "d")).moves == 2


async def test_a_play_that_leaves_a_gap_is_refused(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    assert (await anna.refused(m.Move(n=3, m="d"))).code == "gap"


async def test_plays_sent_without_waiting_are_all_judged_in_order(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    for n in range(1, 61):
        await anna.say(m.Move(n=n, m="d"))
    await anna.hear(m.Moved, lambda moved: moved.n == 60)
    assert [moved.n for moved in anna.all(m.Moved)] == list(range(1, 61))


async def test_scores_reach_the_others_and_a_burst_makes_few_pushes(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    before = len(ben.all(m.Scores))
    for n in range(1, 31):
        await anna.say(m.Move(n=n, m="d"))
    await ben.hear(m.Scores, lambda scores: scores.lines[0].moves == 30)
    assert len(ben.all(m.Scores)) - before < 15


async def test_solitary_moves_reach_the_rival_within_a_tenth_of_a_second_of_the_store_s_time(
    port: int,
) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    loop = asyncio.get_running_loop()
    wait, n = 1.0, 0
    while wait >= 0.1:  # the promise; now and then the machine is busy
        n += 1
        assert n <= 30
        await anna.play(n, "d")
        said = loop.time()
        await ben.hear(m.Scores, lambda scores, n=n: scores.lines[0].moves == n)  # type: ignore[misc]
        wait = loop.time() - said


async def test_the_lobby_lists_public_rooms_and_no_private_ones(port: int) -> None:
    anna, ben = await Someone.arrive(port, "anna"), await Someone.arrive(port, "ben")
    await anna.say(m.Create(settings=replace(QUICK, title="Open to all"), password="x"))
    public = await anna.hear(m.Room)
    await ben.say(m.Create(settings=replace(QUICK, public=False)))
    await ben.hear(m.Room)
    await ben.say(m.Leave())
    await ben.hear(m.Left)
    await ben.say(m.Rooms())
    (line,) = (await ben.hear(m.Lobby)).rooms
    assert (line.room, line.title, line.host, line.taken, line.locked) == (
        public.room, "Open to all", "anna", 1, True,
    )  # fmt: skip


async def test_a_password_keeps_out_who_does_not_know_it(port: int) -> None:
    anna, ben = await Someone.arrive(port, "anna"), await Someone.arrive(port, "ben")
    await anna.say(m.Create(settings=QUICK, password="open sesame"))
    code = (await anna.hear(m.Room)).room
    assert (await ben.refused(m.Join(room=code))).code == "password"
    assert (await ben.refused(m.Join(room=code, password="open barley"))).code == "password"
    assert (await ben.refused(m.Spectate(room=code))).code == "password"
    await ben.say(m.Join(room=code, password="open sesame"))
    assert (await ben.hear(m.Room)).seat == 1


async def test_who_is_kicked_is_told_and_can_join_elsewhere(port: int) -> None:
    anna, ben = await Someone.arrive(port, "anna"), await Someone.arrive(port, "ben")
    await anna.say(m.Create(settings=QUICK))
    code = (await anna.hear(m.Room)).room
    await ben.say(m.Join(room=code))
    await ben.hear(m.Room)
    assert (await ben.refused(m.Kick(player=anna.welcome.player))).code == "not-host"
    await anna.say(m.Kick(player=ben.welcome.player))
    assert (await ben.hear(m.Left)).kind == "kicked"
    await ben.say(m.Create(settings=QUICK))
    assert (await ben.hear(m.Room)).seat == 0


async def test_the_host_puts_a_player_of_another_node_out_and_everybody_is_told(
    port: int, store_url: str
) -> None:
    async with node(store_url) as other:
        anna, ben = await Someone.arrive(port, "anna"), await Someone.arrive(other.port, "ben")
        wanda = await Someone.arrive(other.port, "wanda")
        await anna.say(m.Create(settings=replace(QUICK, start="host", seed=None)))
        code = (await anna.hear(m.Room)).room
        await ben.say(m.Join(room=code))
        await ben.hear(m.Room)
        await wanda.say(m.Spectate(room=code))
        await wanda.hear(m.Room)
        me, rival = anna.welcome.player, ben.welcome.player
        early = await anna.refused(m.Disqualify(player=rival, why="two screens"))
        assert (early.re, early.code) == ("disqualify", "not-now")
        await anna.say(m.Start())
        await ben.hear(m.Board)
        await ben.play(1, "d")
        for someone in (ben, wanda):
            no = await someone.refused(m.Disqualify(player=me, why="x"))
            assert no.code == "not-host"
            assert "disqualify" not in someone.last(m.Room).actions
        assert (await anna.refused(m.Disqualify(player="zoe", why="x"))).code == "not-seated"
        assert (await anna.refused(m.Disqualify(player=me, why="x"))).code == "yourself"
        assert "disqualify" in anna.last(m.Room).actions

        await anna.say(m.Disqualify(player=rival, why="two screens"))
        for someone in (anna, ben, wanda):
            told = await someone.hear(m.News, lambda news: news.kind == "disqualified")
            assert (told.name, told.text) == ("ben", "two screens")
        assert (await ben.hear(m.Finished)).outcome == "disqualified"
        assert (await ben.refused(m.Move(n=2, m="d"))).code == "done"
        again = await anna.refused(m.Disqualify(player=rival, why="two screens"))
        assert (again.code, again.reason) == ("done", "The race of ben is done.")
        # Out of the race is no way to look on.
        assert (await ben.refused(m.Spectate(room=code))).code == "seated"
        await anna.play(1, "d")
        await anna.say(m.Resign())
        result = await wanda.hear(m.Standings)
        assert [(row.name, row.outcome, row.place) for row in result.rows] == [
            ("anna", "resigned", 1),
            ("ben", "disqualified", 2),
        ]
        await wanda.say(m.Record(room=code))
        entries = (await wanda.hear(m.Journal)).entries
        (out,) = [line for line in entries if '"disqualified"' in line]
        assert f'"by":"{me}"' in out


async def test_the_host_s_role_passes_on_when_the_host_leaves(port: int) -> None:
    anna, ben = await Someone.arrive(port, "anna"), await Someone.arrive(port, "ben")
    await anna.say(m.Create(settings=QUICK))
    code = (await anna.hear(m.Room)).room
    await ben.say(m.Join(room=code))
    await ben.hear(m.Room)
    await anna.say(m.Leave())
    room = await ben.hear(m.Room, lambda room: len(room.seats) == 1)
    assert room.seats[0].host
    assert "kick" in room.actions


async def test_one_rematch_room_however_many_ask(port: int) -> None:
    code, (anna, ben) = await race_of(port, "anna", "ben")
    for player in (anna, ben):
        await player.say(m.Resign())
    for player in (anna, ben):
        await player.hear(m.Standings)
        await player.say(m.Rematch())
    rooms = {(await player.hear(m.Follow)).room for player in (anna, ben)}
    assert len(rooms) == 1
    assert code not in rooms
    for player in (anna, ben):
        await player.say(m.Join(room=rooms.copy().pop()))
    room = await anna.hear(m.Room, lambda room: room.room in rooms and len(room.seats) == 2)
    assert room.phase == "open"


async def test_chat_reaches_the_room_and_a_flood_of_it_is_refused(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    await anna.say(m.Chat(text="good luck"))
    said = await ben.hear(m.Chatted)
    assert (said.name, said.text) == ("anna", "good luck")
    for _ in range(10):
        await anna.say(m.Chat(text="x"))
    assert (await anna.hear(m.Error)).code == "slow-down"


async def test_a_room_without_chat_refuses_it(port: int) -> None:
    _, (anna, _) = await race_of(port, "anna", "ben", settings=replace(QUICK, chat=False))
    assert (await anna.refused(m.Chat(text="hello"))).code == "chat-off"


async def test_a_spectator_sees_scores_and_no_board_and_cannot_act(port: int) -> None:
    code, (anna, ben) = await race_of(port, "anna", "ben")
    watcher = await Someone.arrive(port, "wanda")
    await watcher.say(m.Spectate(room=code))
    room = await watcher.hear(m.Room)
    assert room.seat is None
    assert room.actions == ["leave"]
    await anna.play(1, "d")
    assert (await watcher.hear(m.Scores)).lines[0].moves == 1
    for forbidden in (m.Move(n=1, m="d"), m.Resign(), m.Hint(), m.Undo(n=1), m.Finish(n=1)):
        await watcher.say(forbidden)
        assert (await watcher.hear(m.Error)).code == "spectator"
    assert watcher.all(m.Board) == []


async def test_a_room_may_show_its_boards_to_spectators(port: int) -> None:
    code, (anna, ben) = await race_of(
        port, "anna", "ben", settings=replace(QUICK, spectators="boards")
    )
    watcher = await Someone.arrive(port, "wanda")
    await watcher.say(m.Spectate(room=code))
    await watcher.hear(m.Board, lambda board: board.seat == 1)
    await anna.play(1, "3>2")
    board = await watcher.hear(m.Board, lambda board: board.seat == 0)
    assert board.moves == 1
    assert ben.all(m.Board)[-1].seat == 1


async def test_spectators_of_a_room_with_a_delay_see_things_later(port: int) -> None:
    code, (anna, ben) = await race_of(port, "anna", "ben", settings=replace(QUICK, delay_s=2))
    watcher = await Someone.arrive(port, "wanda")
    await watcher.say(m.Spectate(room=code))
    assert (await watcher.hear(m.Room)).phase in ("open", "locked")
    moved = await anna.play(1, "d")
    await ben.hear(m.Scores)
    seen = await watcher.hear(m.Scores)
    assert seen.lines[0].moves == 1
    await watcher.say(m.Ping(c=1))
    pong = await watcher.hear(m.Pong)
    assert pong.s - moved.at >= 2000


async def test_a_room_may_have_no_spectators(port: int) -> None:
    code, _ = await race_of(port, "anna", "ben", settings=replace(QUICK, spectators="none"))
    watcher = await Someone.arrive(port, "wanda")
    assert (await watcher.refused(m.Spectate(room=code))).code == "no-spectators"


async def test_there_is_no_room_that_nobody_opened(port: int) -> None:
    anna = await Someone.arrive(port)
    refused = await anna.refused(m.Join(room="QQQQQQ"))
    assert refused.code == "no-room"
    assert "QQQQQQ" in refused.reason


@pytest.mark.parametrize("rules", ["bridge", "double-klondike,draw=0", "double-klondike,x=1"])
async def test_settings_that_make_no_race_are_refused_with_the_reason(
    port: int, rules: str
) -> None:
    anna = await Someone.arrive(port)
    refused = await anna.refused(m.Create(settings=Settings(rules=rules)))
    assert refused.code == "rules"


async def test_hints_list_the_legal_moves(port: int) -> None:
    _, (anna, _) = await race_of(port, "anna", "ben")
    await anna.say(m.Hint())
    hints = await anna.hear(m.Hints)
    assert "d" in hints.moves
    for text in hints.moves:
        if text != "d":
            assert (await anna.play(1, text)).m == text
            break


async def test_undo_where_the_room_allows_it(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben", settings=replace(QUICK, undo="free"))
    first = anna.last(m.Board)
    await anna.play(1, "d")
    await anna.say(m.Undo(n=2))
    undone = await anna.hear(m.Moved, lambda moved: moved.n == 2)
    assert undone.m == "undo"
    assert {pile: first.piles[pile] for pile in undone.piles} == undone.piles
    assert undone.undos == 1
    scores = await ben.hear(m.Scores, lambda scores: scores.lines[0].undos == 1)
    assert scores.lines[0].moves == 1


async def test_a_race_ends_at_its_limit_also_when_nobody_is_there_any_more(store_url: str) -> None:
    async with node(store_url) as started:
        code, (anna,) = await race_of(started.port, "anna", settings=replace(QUICK, time_limit_s=5))
        await anna.play(1, "3>2")
        await anna.go()
        await until(lambda: _is_over(started, code))
        back = await Someone.arrive(started.port, token=anna.token)
        result = await back.hear(m.Standings)
        assert result.reason == "time"
        assert result.rows[0].outcome == "unfinished"


async def _is_over(started: Node, code: str) -> bool:
    return (await started._store.journals.summary(keys.room(code)))["phase"] == "over"


async def test_a_player_cannot_watch_the_own_race(port: int) -> None:
    code, (anna, _) = await race_of(
        port, "anna", "ben", settings=replace(QUICK, spectators="boards")
    )
    assert (await anna.refused(m.Spectate(room=code))).code == "seated"


async def test_who_has_a_seat_in_a_race_cannot_take_another(port: int) -> None:
    _, (anna, _) = await race_of(port, "anna", "ben")
    other, _ = await race_of(port, "cleo")
    refused = await anna.refused(m.Join(room=other))
    assert refused.code == "seated"


async def test_who_drops_out_of_an_open_room_is_shown_as_away(port: int) -> None:
    anna, ben = await Someone.arrive(port, "anna"), await Someone.arrive(port, "ben")
    await anna.say(m.Create(settings=QUICK))
    code = (await anna.hear(m.Room)).room
    await ben.say(m.Join(room=code))
    await anna.hear(m.Room, lambda room: len(room.seats) == 2 and room.seats[1].here)
    ben.vanish()
    await anna.hear(m.Room, lambda room: not room.seats[1].here)
    back = await Someone.arrive(port, token=ben.token)
    assert back.welcome.room == code
    await anna.hear(m.Room, lambda room: room.seats[1].here)


async def test_nodes_share_a_race(store_url: str) -> None:
    async with node(store_url) as one, node(store_url) as two:
        anna, ben = await Someone.arrive(one.port, "anna"), await Someone.arrive(two.port, "ben")
        await anna.say(m.Create(settings=QUICK))
        code = (await anna.hear(m.Room)).room
        await ben.say(m.Join(room=code))
        await ben.hear(m.Room)
        await anna.hear(m.Room, lambda room: len(room.seats) == 2 and room.seats[1].here)
        await anna.say(m.Ready())
        await ben.say(m.Ready())
        assert (await anna.hear(m.Board)).piles == (await ben.hear(m.Board)).piles
        await anna.play(1, "d")
        await ben.hear(m.Scores, lambda scores: scores.lines[0].moves == 1)
        await ben.play(1, "d")
        await anna.hear(m.Scores, lambda scores: scores.lines[1].moves == 1)


async def test_a_fault_in_one_room_ends_that_room_alone(store_url: str) -> None:
    async with node(store_url) as started:
        broken, (anna, ben) = await race_of(started.port, "anna", "ben")
        _, (cleo, dora) = await race_of(started.port, "cleo", "dora")
        await _spoil(started, broken)
        await anna.say(m.Move(n=1, m="d"))
        assert (await anna.hear(m.Error)).code == "internal"
        assert (await ben.hear(m.Left)).kind == "closed"
        assert (await cleo.play(1, "d")).n == 1
        await anna.say(m.Join(room=broken))
        assert (await anna.hear(m.Board)).n == 1  # the journal has it; the replica is new


async def _spoil(started: Node, code: str) -> None:
    async with started._rooms.held(code) as room:

        def fail(*_: object) -> None:
            raise RuntimeError("spoilt for a test")

        room.live.take = fail  # type: ignore[assignment,method-assign]


async def test_a_player_who_is_stuck_is_told_and_a_race_of_the_stuck_ends(store_url: str) -> None:
    """One deck, one pass, one card at a time: played at random it is soon stuck."""
    async with node(store_url) as started:
        settings = replace(QUICK, rules="klondike-strict")
        _, (anna,) = await race_of(started.port, "anna", settings=settings)
        n = 0
        while not anna.all(m.Standings):
            await anna.say(m.Hint())
            hints = await anna.hear(m.Hints)
            if not hints.moves:
                break
            n += 1
            await anna.play(n, hints.moves[-1])
        await anna.hear(m.Board, lambda board: board.stuck)
        assert (await anna.hear(m.Standings)).reason == "stuck"


async def test_a_request_for_what_is_so_already_is_answered_with_the_room(port: int) -> None:
    anna = await Someone.arrive(port, "anna")
    await anna.say(m.Create(settings=QUICK))
    await anna.hear(m.Room)
    for number, again in enumerate((m.Unready(), m.Ready(salt=b"a"), m.Ready(salt=b"a"))):
        heard = len(anna.all(m.Room))
        await anna.say(again)
        await anna.say(m.Ping(c=number))
        await anna.hear(m.Pong, lambda pong, number=number: pong.c == number)  # type: ignore[misc]
        assert len(anna.all(m.Room)) > heard


async def test_a_host_without_a_seat_runs_the_room(port: int) -> None:
    host, anna = await Someone.arrive(port, "zoe"), await Someone.arrive(port, "anna")
    await host.say(m.Create(settings=replace(QUICK, start="host"), play=False))
    room = await host.hear(m.Room)
    assert {"start", "kick"} <= set(room.actions)
    await anna.say(m.Join(room=room.room))
    await anna.hear(m.Room)
    await host.say(m.Start())
    await anna.hear(m.Board)


async def test_the_rematch_has_a_host_who_is_there(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    for player in (anna, ben):
        await player.say(m.Resign())
    for player in (anna, ben):
        await player.hear(m.Standings)
    await anna.say(m.Leave())
    await anna.hear(m.Left)
    await ben.say(m.Rematch())
    code = (await ben.hear(m.Follow)).room
    await ben.say(m.Join(room=code))
    room = await ben.hear(m.Room, lambda room: room.room == code)
    assert "start" in room.actions


async def test_guessing_passwords_is_slowed_down(port: int) -> None:
    anna, eve = await Someone.arrive(port, "anna"), await Someone.arrive(port, "eve")
    await anna.say(m.Create(settings=QUICK, password="open sesame"))
    code = (await anna.hear(m.Room)).room
    codes = [
        (await eve.refused(m.Join(room=code, password=f"guess {number}"))).code
        for number in range(12)
    ]
    assert codes[:10] == ["password"] * 10
    assert codes[-1] == "slow-down"


async def test_an_older_connection_in_the_lobby_gives_way_too(store_url: str) -> None:
    async with node(store_url) as one, node(store_url) as two:
        first = await Someone.arrive(one.port, "anna")
        second = await Someone.arrive(one.port, token=first.token)
        assert await first.closed() == m.Close.REPLACED
        third = await Someone.arrive(two.port, token=first.token)
        await second.say(m.Create(settings=QUICK))
        assert await second.closed() == m.Close.REPLACED
        await third.say(m.Create(settings=QUICK))
        assert (await third.hear(m.Room)).seat == 0
