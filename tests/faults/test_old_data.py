"""Races that were begun before: by an older format, by a node that is gone."""

import re
from pathlib import Path

import msgspec
import pytest

from server import events as ev
from server.race import Race
from server.standings import standings
from server.store import keys
from tests.faults.checker import Boards, Tale
from tests.faults.processes import NodeProcess, ValkeyProcess, until
from tests.faults.sampling import FOLDER, Sample
from tests.server.floor import Someone
from wire import messages as m
from wire.values import Settings

SAMPLES = sorted(path.stem for path in FOLDER.glob("*.json"))


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> Sample:
    return Sample.read(request.param)


def folded(lines: list[str], secret: str) -> Race:
    race = Race(bytes.fromhex(secret))
    for line in lines:
        at, _, event = line.partition(" ")
        race.apply(int(at), event.encode())
    return race


def test_there_is_a_sample_of_this_format() -> None:
    formats = {Tale(Sample.read(name).running).opened["format"] for name in SAMPLES}
    assert formats == set(range(1, ev.FORMAT + 1))


def test_a_kept_race_still_ends_as_it_did(sample: Sample) -> None:
    tale = Tale(sample.ended)
    race = folded(sample.ended, tale.secret)
    assert race.phase == "over"
    assert race.seal.hex() == sample.standings["head"] == tale.head()
    assert [msgspec.to_builtins(row) for row in standings(race)] == sample.standings["rows"]
    for player, plays in tale.plays.items():
        boards = Boards(tale.layout(), plays)
        assert boards.broken == ""
        assert len(boards) - 1 == race.racers[player].n


@pytest.mark.parametrize("module", ["server", "tests.faults.newer_node"])
async def test_a_race_begun_by_an_older_server_is_played_on(
    sample: Sample, store: ValkeyProcess, tmp_path: Path, module: str
) -> None:
    with store.client() as client:
        sample.put(client)
    with NodeProcess("node", tmp_path, store.url) as node:
        node.begin(module)
        await node.ready()
        players = [await Someone.arrive(node.port, token=token) for token in sample.tokens.values()]
        for player, record in zip(players, sample.players.values(), strict=True):
            assert player.welcome.room == sample.room
            plays = Tale(sample.running).plays[record]
            board = await player.hear(m.Board)
            assert board.n == len(plays)
            # What was answered before the upgrade is answered the same after it.
            again = await player.play(1, plays[0].text)
            assert (again.m, again.n) == (plays[0].text, 1)
            assert (await player.play(board.n + 1, "d")).undos == board.undos
        for player in players:
            await player.say(m.Resign())
        result = await players[0].hear(m.Standings)
        with store.client() as client:
            key = keys.journal(keys.room(sample.room)).journal
            tale = Tale([line.decode() for line in client.lrange(key, 0, -1)])
        assert tale.over == "resigned"
        assert result.head == tale.head()
        for player in players:
            player.vanish()
            await player.closed()


async def test_a_node_that_starts_on_old_data_ends_what_is_overdue(
    sample: Sample, store: ValkeyProcess, tmp_path: Path
) -> None:
    with store.client() as client:
        sample.put(client, seconds_ago=3600)
        before = int(client.time()[0]) * 1000
        key = keys.journal(keys.room(sample.room)).journal
        with NodeProcess("node", tmp_path, store.url) as node:
            await node.start()
            await until(lambda: b'"e":"revealed"' in client.lindex(key, -1), "the race is over")
            over = client.lindex(key, -2).decode()
            assert re.fullmatch(r'\d+ {"e":"over","why":"time"}', over)
            assert int(over.partition(" ")[0]) >= before
            # Whoever comes back later hears how it ended.
            anna = await Someone.arrive(node.port, token=sample.tokens["anna"])
            result = await anna.hear(m.Standings)
            assert {row.outcome for row in result.rows} == {"unfinished"}
            assert result.head == Tale([line.decode() for line in client.lrange(key, 0, -1)]).head()
            anna.vanish()
            await anna.closed()


@pytest.mark.slow
async def test_a_race_whose_players_all_vanish_with_their_node_ends_on_another(
    store: ValkeyProcess, tmp_path: Path
) -> None:
    with (
        NodeProcess("one", tmp_path, store.url) as one,
        NodeProcess("two", tmp_path, store.url) as two,
        store.client() as client,
    ):
        await one.start()
        await two.start()
        anna = await Someone.arrive(one.port)
        settings = Settings(seats=1, countdown_s=0, time_limit_s=30, seed="42")
        await anna.say(m.Create(settings=settings))
        code = (await anna.hear(m.Room)).room
        await anna.say(m.Ready())
        await anna.hear(m.Board)
        await anna.play(1, "d")
        await one.kill()
        await anna.closed()
        ends = anna.last(m.Room).ends
        assert ends is not None
        key = keys.journal(keys.room(code)).journal
        await until(lambda: b'"e":"over"' in client.lindex(key, -1), "the race is over", 60)
        at = int(client.lindex(key, -1).partition(b" ")[0])
        assert ends <= at <= ends + 10_000
