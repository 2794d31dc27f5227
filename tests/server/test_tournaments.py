"""Whole tournaments over the wire: real nodes, real sockets, a real store, players who race."""

import pytest
from msgspec.structs import replace

from server.store import Store, keys
from tests.server.fair import RACE, bots, enter, opened, settings
from tests.server.floor import Someone, node, until
from wire import acts as a
from wire import messages as m
from wire import tournaments as w
from wire.formats import (
    Arena,
    Deals,
    Double,
    Duplicate,
    Heats,
    NFold,
    RoundRobin,
    Single,
    StageSettings,
    Swiss,
    TournamentSettings,
)


async def test_four_players_play_a_knock_out_to_its_end(port: int) -> None:
    chief = await opened(port, settings(Single()))
    async with bots([port], 4) as players:
        await enter(chief, players)
        assert (await chief.direct(a.Begin())).do == "start"
        assert (await chief.over()).phase == "finished"
        ranking = chief.line.last(w.Ranking)
        assert [line.place for line in ranking.groups[0]] == [1, 2, 3, 3]
        assert all(bot.raced for bot in players)
        bracket = chief.line.last(w.Bracket)
        assert all(slot.state == "over" for slot in bracket.groups[0])


async def test_five_players_play_swiss_on_two_nodes(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(Swiss(rounds=3)))
    async with bots(ports, 5) as players:
        await enter(chief, players)
        await chief.direct(a.Begin())
        shown = await chief.over()
        assert shown.round == 3
        rounds = [await chief.browse(number) for number in (1, 2, 3)]
        byes = [each.byes[0].entry for each in rounds]
        assert len(set(byes)) == 3
        pairs = {frozenset(match.entries) for each in rounds for match in each.matches}
        assert len(pairs) == 6
        assert all(match.kind == "played" for each in rounds for match in each.matches)
        ranking = chief.line.last(w.Ranking)
        assert sum(line.points for line in ranking.groups[0]) == 3 * 3
        assert ranking.keys[0] == "buchholz-cut1"


async def test_a_double_elimination_runs_through_both_brackets(ports: list[int]) -> None:
    chief = await opened(ports[1], settings(Double(final="single")))
    async with bots(ports, 4) as players:
        await enter(chief, players)
        await chief.direct(a.Begin())
        await chief.over()
        places = [line.place for line in chief.line.last(w.Ranking).groups[0]]
        assert places == [1, 2, 3, 4]


async def test_a_deal_that_tables_share_is_revealed_when_the_last_one_is_done(
    ports: list[int],
) -> None:
    wanted = settings(Duplicate(deals=1, table=2), deals=Deals(source="fair"))
    chief = await opened(ports[0], wanted)
    async with bots(ports, 4) as players:
        await enter(chief, players)
        await chief.direct(a.Begin())
        await chief.over()
        revealed = [
            await bot.line.find(m.Standings, lambda shown: shown.reveal is not None)
            for bot in players
        ]
        secrets = {shown.reveal.secret for shown in revealed if shown.reveal is not None}
        assert len(secrets) == 1
        positions = {shown.reveal.position for shown in revealed if shown.reveal is not None}
        assert len(positions) == 1


GROUPS = settings(
    stages=[
        StageSettings(play=RoundRobin(), groups=2, qualify=1),
        StageSettings(play=Single(), best_of=3),
    ]
)


@pytest.mark.parametrize(
    ("wanted", "players", "stages"),
    [
        (settings(Heats(size=3, advance=1)), 6, 1),
        (settings(NFold(losses=2)), 3, 1),
        (GROUPS, 4, 2),
    ],
    ids=["heats to a final", "out with the second loss", "groups, then best of three"],
)
async def test_races_of_several_and_stages_of_several_run_to_their_end(
    ports: list[int], wanted: TournamentSettings, players: int, stages: int
) -> None:
    chief = await opened(ports[0], wanted)
    async with bots(ports, players) as entered:
        await enter(chief, entered)
        await chief.direct(a.Begin())
        shown = await chief.over()
        assert (shown.phase, shown.stage) == ("finished", stages - 1)
        rounds = [await chief.browse(number + 1) for number in range(shown.round or 0)]
        races = [race for each in rounds for match in each.matches for race in match.races]
        assert all(race.state == "raced" for race in races)
        if wanted is GROUPS:
            # Equal ones race on, twice at most.
            assert 2 <= len(rounds[-1].matches[0].races) <= 5
        ranking = await chief.line.find(w.Ranking, lambda shown: shown.stage == stages - 1)
        assert ranking.groups[0][0].place == 1


# Far enough that the organiser's word is there before, on any machine.
AHEAD_MS = 4_000


@pytest.mark.slow
async def test_an_arena_pairs_whoever_comes_free(ports: list[int]) -> None:
    wanted = settings(Arena(minutes=1), race=replace(RACE, time_limit_s=5))
    chief = await opened(ports[0], wanted)
    async with bots(ports, 4) as players:
        await enter(chief, players)
        await chief.direct(a.Begin())
        await chief.line.find(w.Tournament, lambda shown: (shown.round or 0) >= 3, limit_s=60)
        assert all(bot.raced for bot in players)


async def test_a_tournament_starts_by_itself_at_its_time(port: int) -> None:
    chief = await opened(port, settings(Single()))
    async with bots([port], 2) as players:
        await enter(chief, players)
        now = chief.line.last(w.Tournament).now
        later = replace(settings(Single()), start_at=now + AHEAD_MS)
        await chief.direct(a.Edit(settings=later))
        shown = await chief.over()
        assert shown.phase == "finished"
        assert shown.starts is not None
        assert shown.starts >= now + AHEAD_MS


async def test_matches_count_for_the_ratings_once_the_tournament_is_over(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(Single()))
    async with bots(ports, 2) as players:
        await enter(chief, players)
        await chief.direct(a.Begin())
        await chief.over()
        winner = chief.line.last(w.Ranking).groups[0][0].entry

        async def is_rated() -> bool:
            await chief.line.say(w.Ratings())
            return (await chief.line.hear(w.Leaderboard)).total == 2

        await until(is_rated)
        best, other = chief.line.last(w.Leaderboard).lines
        assert best.player == winner
        assert best.rating > 1500 > other.rating
        assert best.provisional
        await chief.line.say(w.Career(player=winner))
        history = await chief.line.hear(w.History)
        assert history.rating == best.rating
        assert [(each.match, each.change) for each in history.changes] == [
            ("1.1", best.rating - 1500)
        ]


async def test_a_fault_in_one_tournament_is_not_noticed_in_another(store_url: str) -> None:
    async with node(store_url) as started:
        port = started.port
        bad = await opened(port, settings(Single()))
        good = await opened(port, settings(Single()))
        async with bots([port], 2) as players:
            await enter(bad, players)
            await enter(good, players)
            store = await Store.open(store_url)
            jid = keys.tournament(bad.code)
            nonsense = b'{"e":"raced","match":"9.9","race":1,"rows":[]}'
            version = await store.journals.version(jid)
            await store.journals.append(jid, [nonsense], expect=version, ttl_s=60)
            await store.close()
            await good.direct(a.Begin())
            assert (await good.over()).phase == "finished"
            assert (await bad.refused(a.Begin())).code == "unreadable-tournament"
        assert started.tally.room_faults > 0


async def test_who_sits_in_a_race_whose_call_is_lost_goes_to_the_one_that_is_called_anew(
    store_url: str,
) -> None:
    async with node(store_url) as started:
        chief = await opened(started.port, settings(Single(), break_s=60))
        players = [await Someone.arrive(started.port, name) for name in ("anna", "ben")]
        for each in players:
            await each.say(w.Enter(tournament=chief.code))
            await each.hear(w.Place)
        await chief.direct(a.Begin())
        former = (await players[0].hear(w.Called)).room
        for each in players:
            await each.say(m.Join(room=former))
            await each.hear(m.Room)
        journal = keys.journal(keys.tournament(chief.code)).journal
        assert b'"roundcalled"' in await started._store.line.ask("RPOP", journal)
        started._store.line.leave("a test")
        for each in players:
            called = await each.hear(w.Called, lambda called: called.room != former)
            await each.say(m.Join(room=called.room))
            assert (await each.hear(m.Room, lambda shown: shown.room != former)).room == called.room
