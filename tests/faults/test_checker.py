"""The checker finds what it is there to find; on a race as it should be it finds nothing."""

import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from server import referee, view
from server.race import Race as State
from server.store import lua
from server.store.lua import Script
from tests.faults.checker import check
from tests.faults.processes import HOST, ValkeyProcess, until
from tests.faults.proxy import Proxy
from tests.faults.record import Answer, Record, seen
from tests.server.floor import Someone, node, race_of
from tests.server.journal import SECRET, Told
from wire import messages as m
from wire.values import Settings

# --- a race as it should be, and one fault at a time ----------------------------------


@dataclass
class Whole:
    """A journal and what its clients wrote down."""

    lines: list[str]
    records: dict[str, Record]


@pytest.fixture
def whole() -> Whole:
    """A race of two, finished, with undo, in which nothing went wrong."""
    told = Told(Settings(undo="free"))
    told.race.secret = SECRET
    told.start("anna", "ben")
    told.play_on("anna", 12)
    told.play_on("ben", 9)
    told.tell(referee.decide_undo(told.race, "anna", 13))
    for player in ("anna", "ben"):
        told.tell(referee.decide_resign(told.race, player))
    told.tell(*referee.due(told.race, told.now + 1))
    lines = [f"{at} {payload.decode()}" for at, payload in told.lines]
    return Whole(lines, _records(told))


def _records(told: Told) -> dict[str, Record]:
    records = {player: Record(player, player) for player in ("anna", "ben")}
    state = State(SECRET)
    for at, payload in told.lines:
        event = json.loads(payload)
        state.apply(at, payload)
        for record in records.values():
            record.room = state.room
        if event["e"] in ("played", "undone"):
            record, racer = records[event["p"]], state.racers[event["p"]]
            text = event.get("m", "undo")
            record.ask(racer.n, text)
            record.answers.append(Answer(racer.n, text, at))
            moved = view.moved(state, racer, racer.n, state.layout)
            board = view.board(state, 0, racer)
            assert board is not None
            record.boards.append(seen(moved, racer.n, board.piles))
    for record in records.values():
        record.standings.append(view.result(state))
    return records


def verdict(whole: Whole, published: list[str] | None = None) -> tuple[int, int, int, int]:
    return check(whole.lines, whole.records.values(), published or whole.lines).zeros


def play_line(whole: Whole, player: str, n: int) -> int:
    """Where a play stands in the journal."""
    for index, line in enumerate(whole.lines):
        event = json.loads(line.partition(" ")[2])
        if event.get("p") == player and event.get("n") == n:
            return index
    raise AssertionError(f"there is no play {n} of {player}")


def test_a_race_as_it_should_be_gives_four_zeros(whole: Whole) -> None:
    result = check(whole.lines, whole.records.values(), whole.lines)
    assert result.findings == []
    assert result.zeros == (0, 0, 0, 0)
    assert result.plays == result.answers == 22


def test_an_acknowledged_play_that_the_journal_lacks_is_lost(whole: Whole) -> None:
    del whole.lines[play_line(whole, "ben", 9)]
    lost, _, differing, _ = verdict(whole)
    assert lost == 1
    assert differing > 0  # its board was shown, too


def test_an_acknowledgement_of_another_move_than_the_journal_has_is_lost(whole: Whole) -> None:
    record = whole.records["anna"]
    record.answers[3] = record.answers[3]._replace(at=record.answers[3].at + 1)
    assert verdict(whole) == (1, 0, 0, 0)


def test_what_was_lost_inside_the_store_s_window_and_told_is_excused(whole: Whole) -> None:
    record = whole.records["ben"]
    del whole.lines[play_line(whole, "ben", 9)]
    record.resynchronised.append((len(record.answers), len(record.boards)))
    result = check(whole.lines, whole.records.values())
    assert (result.lost, result.excused) == (0, 1)


def test_a_play_that_stands_twice_is_applied_twice(whole: Whole) -> None:
    index = play_line(whole, "ben", 9)
    whole.lines.insert(index, whole.lines[index])
    _, twice, _, _ = verdict(whole)
    assert twice >= 1


def test_a_play_that_nobody_asked_for_is_applied_twice(whole: Whole) -> None:
    del whole.records["ben"].sent[9]
    assert verdict(whole) == (0, 1, 0, 0)


def test_a_play_after_the_end_is_applied_twice(whole: Whole) -> None:
    whole.lines.append(whole.lines[play_line(whole, "ben", 9)].replace('"n":9', '"n":10'))
    _, twice, _, _ = verdict(whole)
    assert twice >= 1


def test_a_board_with_one_wrong_card_differs(whole: Whole) -> None:
    record = whole.records["anna"]
    board = record.boards[-1]
    record.boards[-1] = board._replace(piles={**board.piles, "1": "0:KS"})
    assert verdict(whole) == (0, 0, 1, 0)


def test_a_wrong_count_differs(whole: Whole) -> None:
    record = whole.records["anna"]
    record.boards[4] = record.boards[4]._replace(moves=9)
    assert verdict(whole) == (0, 0, 1, 0)


def test_a_move_that_is_not_legal_differs(whole: Whole) -> None:
    index = play_line(whole, "ben", 9)
    line = json.loads(whole.lines[index].partition(" ")[2])
    whole.lines[index] = whole.lines[index].replace(line["m"], "9>1:1")
    _, _, differing, _ = verdict(whole)
    assert differing > 0


def test_official_time_that_goes_back_differs(whole: Whole) -> None:
    index = play_line(whole, "ben", 1)
    at, _, text = whole.lines[index].partition(" ")
    whole.lines[index] = f"{int(at) - 60_000} {text}"
    _, _, differing, _ = verdict(whole)
    assert differing > 0


@pytest.mark.parametrize("field", ["place", "cards", "moves", "reached_ms"])
def test_standings_that_the_journal_does_not_give_differ(whole: Whole, field: str) -> None:
    for record in whole.records.values():
        standings = record.standings[0]
        row = replace(standings.rows[0], **{field: getattr(standings.rows[0], field) + 1})
        record.standings[0] = replace(standings, rows=[row, *standings.rows[1:]])
    _, _, differing, _ = verdict(whole)
    assert differing > 0


def test_two_who_hear_different_ends_differ(whole: Whole) -> None:
    record = whole.records["anna"]
    record.standings[0] = replace(record.standings[0], reason="time")
    assert verdict(whole) == (0, 0, 1, 0)


def test_a_published_record_that_is_not_the_journal_differs(whole: Whole) -> None:
    assert verdict(whole, whole.lines[:-1]) == (0, 0, 1, 0)


def test_a_journal_without_an_end_is_a_race_without_an_end(whole: Whole) -> None:
    whole.lines = [line for line in whole.lines if '"e":"over"' not in line]
    assert verdict(whole)[3] == 1


def test_a_race_that_is_gone_from_the_store_is_excused_only_if_all_were_told(
    whole: Whole,
) -> None:
    whole.lines.clear()
    whole.records["anna"].is_forgotten = True
    assert verdict(whole) == (0, 0, 0, 1)
    whole.records["ben"].is_forgotten = True
    result = check(whole.lines, whole.records.values())
    assert (result.zeros, result.gone) == ((0, 0, 0, 0), 1)


def test_an_end_that_nobody_heard_is_a_race_without_an_end(whole: Whole) -> None:
    for record in whole.records.values():
        record.standings.clear()
    assert verdict(whole) == (0, 0, 0, 1)


# --- a server whose guard is off ------------------------------------------------------

GUARDS = (
    b"if epoch and epoch < newest then return {'replaced', last} end",
    b"if n > 0 and n <= last then return {'repeat', last} end",
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ValkeyProcess]:
    with ValkeyProcess("store", tmp_path) as store:
        await store.start()
        yield store


def scripts_run(store: ValkeyProcess) -> int:
    """How often the store has run a script by its name."""
    with store.client() as client:
        return int(client.info("commandstats")["cmdstat_evalsha"]["calls"])


async def two_plays_of_one_number(store: ValkeyProcess) -> tuple[int, int, int, int]:
    """Let a node that hears nothing from the store take a play its player made elsewhere."""
    async with (
        Proxy((HOST, store.port)) as line,
        node(f"redis://{HOST}:{line.port}") as deaf,
        node(store.url) as other,
    ):
        code, (anna,) = await race_of(deaf.port, "anna")
        await anna.play(1, "d")
        line.hold("down")
        again = await Someone.arrive(other.port, token=anna.token)
        board = await again.hear(m.Board)
        await again.play(2, "d")
        before = scripts_run(store)
        await anna.say(m.Move(n=2, m="3>2"))
        await until(lambda: scripts_run(store) > before, "the store has judged it")
        await again.play(3, "d")
        line.calm()
        await anna.closed()
        await again.say(m.Resign())
        record = Record("anna", again.welcome.player, code)
        record.sent = {1: {"d"}, 2: {"d", "3>2"}, 3: {"d"}}
        record.boards = [seen(board, board.n, board.piles)]
        record.standings = [await again.hear(m.Standings)]
        with store.client() as client:
            lines = [line.decode() for line in client.lrange(f"dk:{{r:{code}}}:journal", 0, -1)]
        return check(lines, [record]).zeros


async def test_with_its_guards_a_node_that_is_behind_does_no_harm(store: ValkeyProcess) -> None:
    assert await two_plays_of_one_number(store) == (0, 0, 0, 0)


async def test_a_server_without_its_guards_is_found_out(
    store: ValkeyProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = lua.ACT.text
    for guard in GUARDS:
        assert guard in text
        text = text.replace(guard, b"")
    sha = hashlib.sha1(text, usedforsecurity=False).hexdigest()
    monkeypatch.setattr(lua, "ACT", Script("act", text, sha))
    _, twice, _, _ = await two_plays_of_one_number(store)
    assert twice > 0
