"""Lines that drop, and players who come back."""

import pytest

from server import referee
from server.store import JournalId, keys
from tests.server.floor import Someone, node, race_of
from wire import messages as m
from wire.values import Settings


async def test_who_comes_back_finds_board_score_number_and_clock_as_they_were(port: int) -> None:
    code, (anna, _) = await race_of(port, "anna", "ben")
    await anna.play(1, "3>2")
    await anna.play(2, "d")
    await anna.say(m.Snapshot())
    before, room = await anna.hear(m.Board, lambda board: board.n == 2), anna.last(m.Room)
    anna.vanish()
    back = await Someone.arrive(port, token=anna.token)
    assert back.welcome.room == code
    assert back.welcome.player == anna.welcome.player
    after = await back.hear(m.Board)
    assert after == before
    assert (back.last(m.Room).starts, back.last(m.Room).ends) == (room.starts, room.ends)
    assert (await back.play(3, "d")).moves == 3


async def test_a_move_that_is_sent_again_after_a_drop_counts_once(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    await anna.play(1, "3>2")
    await anna.say(m.Move(n=2, m="d"))  # the answer never reaches the player
    await ben.hear(m.Scores, lambda scores: scores.lines[0].moves == 2)
    anna.vanish()
    back = await Someone.arrive(port, token=anna.token)
    assert (await back.hear(m.Board)).n == 2
    again = await back.play(2, "d")
    assert (again.m, again.moves) == ("d", 2)
    assert (await back.play(3, "d")).moves == 3


async def test_the_newest_connection_wins_at_once_and_the_old_one_is_told(port: int) -> None:
    code, (anna, _) = await race_of(port, "anna", "ben")
    newer = await Someone.arrive(port, token=anna.token)
    await newer.hear(m.Board)
    assert await anna.closed() == m.Close.REPLACED
    assert (await newer.play(1, "d")).n == 1


async def test_the_late_end_of_the_old_line_does_nothing_to_the_new_one(port: int) -> None:
    _, (anna, ben) = await race_of(port, "anna", "ben")
    newer = await Someone.arrive(port, token=anna.token)
    await newer.hear(m.Board)
    await anna.closed()
    await newer.say(m.Snapshot())
    room = await newer.hear(m.Room)
    assert room.seats[0].here
    assert (await newer.play(1, "d")).n == 1


async def test_the_newest_connection_wins_on_whatever_node(store_url: str) -> None:
    async with node(store_url) as one, node(store_url) as two:
        _, (anna, _) = await race_of(one.port, "anna", "ben")
        await anna.play(1, "d")
        newer = await Someone.arrive(two.port, token=anna.token)
        assert (await newer.hear(m.Board)).n == 1
        assert await anna.closed() == m.Close.REPLACED
        assert (await newer.play(2, "d")).n == 2


async def test_a_race_survives_the_end_of_its_node(store_url: str) -> None:
    async with node(store_url) as two:
        async with node(store_url) as one:
            code, (anna, ben) = await race_of(one.port, "anna", "ben")
            await anna.play(1, "d")
        assert await anna.closed() == m.Close.RESTART
        back = await Someone.arrive(two.port, token=anna.token)
        assert (await back.hear(m.Board)).n == 1
        assert (await back.play(2, "d")).n == 2


async def test_a_spectator_comes_back_as_a_spectator(port: int) -> None:
    code, _ = await race_of(port, "anna", "ben")
    watcher = await Someone.arrive(port, "wanda")
    await watcher.say(m.Spectate(room=code))
    await watcher.hear(m.Room)
    watcher.vanish()
    back = await Someone.arrive(port, token=watcher.token)
    room = await back.hear(m.Room)
    assert (room.room, room.seat) == (code, None)


async def test_who_left_does_not_come_back_into_the_room(port: int) -> None:
    anna = await Someone.arrive(port, "anna")
    await anna.say(m.Create(settings=Settings()))
    await anna.hear(m.Room)
    await anna.say(m.Leave())
    await anna.hear(m.Left)
    back = await Someone.arrive(port, token=anna.token)
    assert back.welcome.room is None


async def test_a_token_that_nobody_has_is_refused_with_its_own_code(port: int) -> None:
    with pytest.raises(AssertionError, match=str(int(m.Close.BAD_TOKEN))):
        await Someone.arrive(port, token="x" * 43)


@pytest.mark.parametrize(
    ("fate", "kind"),
    [("kicked", "kicked"), ("left", "left"), ("its seat lost", "lost"), ("all of it lost", "lost")],
)
async def test_who_comes_back_for_a_seat_that_goes_just_then_is_told(
    store_url: str, fate: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by another node, between the look into the room and the first picture of it."""
    async with node(store_url) as started:
        anna = await Someone.arrive(started.port, "anna")
        await anna.say(m.Create(settings=Settings()))
        code = (await anna.hear(m.Room)).room
        ben = await Someone.arrive(started.port, "ben")
        await ben.say(m.Join(room=code))
        await ben.hear(m.Room)
        ben.vanish()
        host, guest = anna.welcome.player, ben.welcome.player
        journals = started._store.journals
        attach = journals.attach

        async def attach_late(jid: JournalId, player: str, epoch: int) -> bool:
            monkeypatch.undo()
            async with started._rooms.held(code) as room:
                match fate:
                    case "kicked":
                        await room.commit(lambda race: referee.decide_kick(race, host, guest))
                    case "left":
                        await room.commit(lambda race: referee.decide_leave(race, guest))
                    case "its seat lost":
                        await started._store.line.ask("RPOP", keys.journal(jid).journal)
                    case _:
                        await started._store.line.ask("DEL", keys.journal(jid).journal)
            return await attach(jid, player, epoch)

        monkeypatch.setattr(journals, "attach", attach_late)
        back = await Someone.arrive(started.port, token=ben.token)
        assert await back.hear(m.Left) == m.Left(room=code, kind=kind)
        await back.say(m.Create(settings=Settings()))
        assert (await back.hear(m.Room)).seat == 0
