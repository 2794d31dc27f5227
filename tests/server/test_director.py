"""Tournaments over the wire: real nodes, real sockets, a real store, players who race."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from server.aside import Aside
from server.director import FEW
from server.journaling import chain
from server.store import Store, keys
from server.store.players import Players
from server.tournament.formats import swiss
from tests.server.fair import RACE, Bot, Organiser, bots, settings
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


@pytest.fixture
async def port(store_url: str) -> AsyncIterator[int]:
    async with node(store_url) as started:
        yield started.port


@pytest.fixture
async def ports(store_url: str) -> AsyncIterator[list[int]]:
    async with node(store_url) as one, node(store_url) as other:
        yield [one.port, other.port]


async def enter(chief: Organiser, players: list[Bot]) -> None:
    """Have players enter, and the organiser look on."""
    for bot in players:
        await bot.line.say(w.Enter(tournament=chief.code))
        assert (await bot.line.hear(w.Place)).entry == bot.player
    await chief.line.say(w.Visit(tournament=chief.code, key=chief.keys.owner))
    await chief.line.hear(w.Tournament)


async def opened(port: int, wanted: TournamentSettings) -> Organiser:
    return await Organiser.open(await Someone.arrive(port, "chief"), wanted)


# --- whole tournaments ----------------------------------------------------------------


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


@pytest.mark.slow
async def test_an_arena_pairs_whoever_comes_free(ports: list[int]) -> None:
    wanted = settings(Arena(minutes=1), race=replace(RACE, time_limit_s=5))
    chief = await opened(ports[0], wanted)
    async with bots(ports, 4) as players:
        await enter(chief, players)
        await chief.direct(a.Begin())
        await chief.line.find(w.Tournament, lambda shown: (shown.round or 0) >= 3, limit_s=25)
        assert all(bot.raced for bot in players)


async def test_players_who_come_back_on_another_node_are_called_again(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(Single()))
    anna, ben = await Someone.arrive(ports[0], "anna"), await Someone.arrive(ports[0], "ben")
    for someone in (anna, ben):
        await someone.say(w.Enter(tournament=chief.code))
        await someone.hear(w.Place)
    await chief.direct(a.Begin())
    called = await anna.hear(w.Called)
    assert called.opponents == ["ben"]
    anna.vanish()
    back = await Someone.arrive(ports[1], token=anna.token)
    assert (await back.hear(w.Called)).room == called.room
    await back.say(m.Join(room=called.room))
    assert (await back.hear(m.Room)).seat is not None


# --- absences -------------------------------------------------------------------------


async def test_who_does_not_play_loses_and_who_did_does_not(port: int) -> None:
    chief = await opened(port, settings(Single(), no_show_s=10))
    async with bots([port], 2) as players:
        players[1].plays = False
        players[0].moves = 500  # goes on playing
        await enter(chief, players)
        await chief.direct(a.Begin())
        await chief.over()
        (match,) = (await chief.browse(1)).matches
        assert match.kind == "forfeit"
        assert match.entries[match.places.index(1)] == players[0].player
        # The race that nobody needs any more is ended, too.
        await players[0].line.find(m.Standings, lambda shown: shown.reason == "aborted")


async def test_who_withdraws_in_a_race_loses_it(port: int) -> None:
    chief = await opened(port, settings(Single()))
    async with bots([port], 2) as players:
        for bot in players:
            bot.moves = 500
        await enter(chief, players)
        await chief.direct(a.Begin())
        await players[0].line.find(m.Moved)
        await players[0].line.say(w.Withdraw(tournament=chief.code))
        await chief.over()
        assert chief.line.last(w.Ranking).groups[0][0].entry == players[1].player


# --- organisers -----------------------------------------------------------------------


async def test_an_organiser_pauses_corrects_puts_out_and_goes_on(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(Swiss(rounds=3), hold=True))
    async with bots(ports, 4) as players:
        await enter(chief, players)
        await chief.direct(a.Begin())
        await chief.line.find(w.Tournament, lambda shown: shown.held and shown.open == 0)
        assert (await chief.refused(a.Pause())).code == "no-reason"
        await chief.direct(a.Pause(), "lunch")
        first = await chief.browse(1)
        match = first.matches[0]
        winner = match.entries[match.places.index(1)] if 1 in match.places else match.entries[0]
        loser = next(entry for entry in match.entries if entry != winner)
        await chief.direct(a.Override(match=match.match, places=[[loser], [winner]]), "misread")
        await chief.direct(a.Disqualify(player=winner), "two screens")
        await chief.direct(a.Announce(text="We go on"))
        duties = chief.line.last(w.Duties)
        assert "resume" in duties.acts
        assert "pause" not in duties.acts
        await chief.direct(a.Resume())
        await chief.direct(a.Publish())
        await chief.direct(a.Hold(on=False))
        shown = await chief.over()
        assert [notice.text for notice in shown.notices] == ["We go on"]
        corrected = (await chief.browse(1)).matches[0]
        assert corrected.kind == "ruled"
        assert corrected.entries[corrected.places.index(1)] == loser
        ranking = chief.line.last(w.Ranking).groups[0]
        assert [line.entry for line in ranking if line.place is None] == [winner]
        later = [await chief.browse(number) for number in (2, 3)]
        assert not any(winner in match.entries for each in later for match in each.matches)


async def test_a_ruling_that_discards_what_was_played_wants_a_confirmation(port: int) -> None:
    chief = await opened(port, settings(Single(), break_s=1))
    async with bots([port], 4) as players:
        await enter(chief, players)
        await chief.direct(a.Begin())
        await chief.over()
        semi = (await chief.browse(1)).matches[0]
        turned = [[semi.entries[semi.places.index(2)]], [semi.entries[semi.places.index(1)]]]
        ruling = a.Override(match=semi.match, places=turned)
        refused = await chief.refused(ruling, "misread")
        assert refused.code == "needs-confirm"
        assert "2.1" in refused.reason
        await chief.direct(replace(ruling, confirm=True), "misread")
        await chief.line.find(w.Tournament, lambda shown: shown.phase == "running")
        shown = await chief.over()
        assert shown.phase == "finished"
        final = (await chief.browse(2)).matches[0]
        assert turned[0][0] in final.entries


async def test_a_referee_rules_but_does_not_own(port: int) -> None:
    chief = await opened(port, settings(Swiss(rounds=1)))
    referee = chief.keys.referee
    assert (await chief.refused(a.Cancel(), "no", key=referee)).code == "not-yours"
    assert (await chief.refused(a.Enrol(names=["zoe"]), key=referee)).code == "not-yours"
    assert (await chief.refused(a.Begin(), key="x" * 32)).code == "bad-key"
    await chief.direct(a.OpenCheckIn(), key=referee)
    await chief.direct(a.Cancel(), "rain")
    assert (await chief.refused(a.Pause(), "late")).code == "not-now"


async def test_players_enrolled_by_name_come_with_their_tokens(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(RoundRobin(), entry="invited"))
    outsider = await Someone.arrive(ports[0], "zoe")
    assert (await outsider.refused(w.Enter(tournament=chief.code))).code == "invited"
    await chief.line.say(chief.message(a.Enrol(names=["anna", "ben", "anna"])))
    enrolled = await chief.line.hear(w.Enrolled)
    assert [claim.name for claim in enrolled.players] == ["anna", "ben"]
    await chief.line.say(chief.message(a.Enrol(names=["anna", "cleo"])))
    again = await chief.line.hear(w.Enrolled)
    assert again.passed == ["anna"]
    claims = [*enrolled.players, *again.players]
    lines = [await Someone.arrive(ports[1], token=claim.token) for claim in claims]
    assert [line.welcome.name for line in lines] == ["anna", "ben", "cleo"]
    await chief.line.say(w.Visit(tournament=chief.code))
    players = [Bot(line, moves=2 + number) for number, line in enumerate(lines)]
    await chief.direct(a.Begin())
    await chief.over()
    for bot in players:
        await bot.go()
    assert len(chief.line.last(w.Ranking).groups[0]) == 3


async def test_a_lost_token_is_replaced_and_who_uses_it_is_sent_away(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(RoundRobin()))
    await chief.line.say(chief.message(a.Enrol(names=["anna"])))
    claim = (await chief.line.hear(w.Enrolled)).players[0]
    thief = await Someone.arrive(ports[1], token=claim.token)
    renew = a.NewToken(player=claim.player)
    assert (await chief.refused(renew)).code == "no-reason"
    assert (await chief.refused(renew, "lost", key=chief.keys.referee)).code == "not-yours"
    await chief.line.say(chief.message(renew, "lost"))
    found = (await chief.line.hear(w.Enrolled)).players[0]
    assert (found.player, found.name) == (claim.player, "anna")
    assert await thief.closed() == m.Close.BAD_TOKEN
    with pytest.raises(AssertionError, match=str(int(m.Close.BAD_TOKEN))):
        await Someone.arrive(ports[1], token=claim.token)
    anna = await Someone.arrive(ports[1], token=found.token)
    assert anna.welcome.player == claim.player
    await chief.line.say(w.Chronicle(tournament=chief.code, key=chief.keys.owner))
    line = (await chief.line.hear(w.Annals)).entries[-1]
    assert '"e":"tokenrenewed"' in line
    assert '"why":"lost"' in line
    assert found.token not in line


async def test_who_is_just_coming_in_with_the_former_token_is_sent_away_too(
    ports: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    chief = await opened(ports[0], settings(RoundRobin()))
    await chief.line.say(chief.message(a.Enrol(names=["anna"])))
    claim = (await chief.line.hear(w.Enrolled)).players[0]
    connect = Players.connect

    async def renewed(players: Players, player_id: str, run: str = "", line: int = 0) -> int:
        if player_id == claim.player:
            await chief.line.say(chief.message(a.NewToken(player=claim.player), "lost"))
            await chief.line.hear(w.Enrolled)
        return await connect(players, player_id, run, line)

    monkeypatch.setattr(Players, "connect", renewed)
    thief = await Someone.arrive(ports[0], token=claim.token)
    assert await thief.closed() == m.Close.BAD_TOKEN


async def test_an_organiser_gets_no_token_of_somebody_who_came_by_themselves(port: int) -> None:
    chief = await opened(port, settings(RoundRobin()))
    other = await opened(port, settings(RoundRobin()))
    await other.line.say(other.message(a.Enrol(names=["anna"])))
    claim = (await other.line.hear(w.Enrolled)).players[0]
    await chief.direct(a.Invite(player=claim.player))
    async with bots([port], 1) as players:
        await enter(chief, players)
        for player in (players[0].player, claim.player):
            refused = await chief.refused(a.NewToken(player=player), "mine")
            assert refused.code == "own-token"
    assert (await Someone.arrive(port, token=claim.token)).welcome.player == claim.player


async def test_a_player_is_summoned_to_the_race_that_waits(ports: list[int]) -> None:
    chief = await opened(ports[0], settings(Swiss(rounds=1)))
    async with bots(ports, 3) as players:
        await enter(chief, players)
        for bot in players:
            bot.plays = False
        refused = await chief.refused(a.Summon(player=players[0].player))
        assert refused.code == "not-now"
        await chief.direct(a.Begin())
        paired = (await chief.line.hear(w.Pairings)).matches[0].entries
        one, other = (bot for bot in players if bot.player in paired)
        (alone,) = (bot for bot in players if bot.player not in paired)
        room = (await one.line.find(w.Called)).room
        await other.line.find(w.Called)
        await chief.direct(a.Summon(player=one.player), key=chief.keys.referee)
        await until_called(one, [room, room])
        assert len(other.line.all(w.Called)) == 1
        assert (await chief.refused(a.Summon(player=alone.player))).code == "no-race"


async def until_called(bot: Bot, rooms: list[str]) -> None:
    async def is_so() -> bool:
        return [call.room for call in bot.line.all(w.Called)] == rooms

    await until(is_so)


async def test_a_large_field_is_paired_in_another_process(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def here(*args: object, **named: object) -> None:
        raise AssertionError("paired on the event loop's process")

    monkeypatch.setitem(swiss._PAIR, "exact", here)
    chief = await opened(port, settings(Swiss(rounds=2), break_s=600))
    await chief.line.say(chief.message(a.Enrol(names=[f"p{n}" for n in range(FEW + 4)])))
    await chief.line.hear(w.Enrolled)
    await chief.line.say(w.Visit(tournament=chief.code, key=chief.keys.owner))
    await chief.line.hear(w.Tournament)
    await chief.direct(a.Begin())
    shown = await chief.line.hear(w.Pairings)
    assert len(shown.matches) == FEW // 2 + 2
    gone = shown.matches[0].entries[0]
    await chief.direct(a.Remove(player=gone))
    await chief.direct(a.Repair(), "somebody has left")
    again = await chief.line.hear(w.Pairings, lambda on: len(on.matches) == FEW // 2 + 1)
    assert len(again.byes) == 1
    assert gone not in {entry for match in again.matches for entry in match.entries}


async def test_what_happens_while_a_round_is_paired_is_not_lost(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chief = await opened(port, settings(Swiss(rounds=2), break_s=600, late=True))
    await chief.line.say(chief.message(a.Enrol(names=[f"p{n}" for n in range(FEW + 4)])))
    players = (await chief.line.hear(w.Enrolled)).players
    await chief.line.say(w.Visit(tournament=chief.code, key=chief.keys.owner))
    await chief.line.hear(w.Tournament)
    await chief.direct(a.Begin())
    shown = await chief.line.hear(w.Pairings)
    do, left = Aside.do, [players[0].player, players[1].player]

    async def outrun(aside: Aside, *args: object) -> object:
        found: object = await do(aside, *args)  # type: ignore[arg-type]
        if left:
            await chief.direct(a.Remove(player=left.pop()))
        return found

    monkeypatch.setattr(Aside, "do", outrun)
    helper = await Someone.arrive(port, "helper")
    await helper.say(chief.message(a.Repair(), "two have left"))
    await helper.hear(w.Directed)
    again = await chief.line.hear(w.Pairings, lambda on: len(on.matches) < len(shown.matches))
    paired = {entry for match in again.matches for entry in match.entries}
    assert paired == {each.player for each in players[2:]}


async def test_only_who_checks_in_starts(port: int) -> None:
    chief = await opened(port, settings(Swiss(rounds=1)))
    async with bots([port], 3) as players:
        await enter(chief, players)
        await chief.direct(a.OpenCheckIn())
        for bot in players[:2]:
            await bot.line.say(w.CheckIn(tournament=chief.code))
            await bot.line.find(w.Place, lambda place: place.checked)
        await chief.direct(a.Begin())
        await chief.over()
        assert len(chief.line.last(w.Ranking).groups[0]) == 2
        place = await players[2].line.find(w.Place, lambda place: place.phase == "finished")
        assert place.entry is None


async def test_one_player_does_not_play_in_two_tournaments_at_once(ports: list[int]) -> None:
    first = await opened(ports[0], settings(Single(), break_s=60))
    second = await opened(ports[1], settings(Single(), break_s=60))
    async with bots(ports, 3) as players:
        await enter(first, players)
        await enter(second, players)
        await first.direct(a.Begin())
        assert (await second.refused(a.Begin())).code == "too-few"
        await first.direct(a.Cancel(), "rain")
        await second.direct(a.Begin())


async def test_a_tournament_starts_by_itself_at_its_time(port: int) -> None:
    chief = await opened(port, settings(Single()))
    async with bots([port], 2) as players:
        await enter(chief, players)
        now = chief.line.last(w.Tournament).now
        later = replace(settings(Single()), start_at=now + 1500)
        await chief.direct(a.Edit(settings=later))
        shown = await chief.over()
        assert shown.phase == "finished"
        assert shown.starts is not None
        assert shown.starts >= now + 1500


# --- what is seen ---------------------------------------------------------------------


async def test_the_public_sees_as_late_as_spectators_do(port: int) -> None:
    wanted = settings(Swiss(rounds=1), race=replace(RACE, delay_s=2))
    chief = await opened(port, wanted)
    public = await Someone.arrive(port, "zoe")
    async with bots([port], 2) as players:
        await enter(chief, players)
        await asyncio.sleep(2.2)
        await public.say(w.Visit(tournament=chief.code))
        assert (await public.hear(w.Entrants)).entrants
        await chief.direct(a.Begin())
        shown = await chief.over()
        assert all(each.phase != "finished" for each in public.all(w.Tournament))
        late = await public.find(w.Tournament, lambda each: each.phase == "finished")
        assert late.version == shown.version


async def test_results_that_are_held_are_shown_to_organisers_only(port: int) -> None:
    chief = await opened(port, settings(Swiss(rounds=1), hold=True))
    public = await Someone.arrive(port, "zoe")
    async with bots([port], 2) as players:
        await enter(chief, players)
        await public.say(w.Visit(tournament=chief.code))
        await chief.direct(a.Begin())
        await chief.line.find(w.Pairings, lambda shown: bool(shown.matches[0].kind))
        held = await public.find(w.Tournament, lambda shown: shown.held)
        assert held.open == 0
        assert all(not shown.matches[0].kind for shown in public.all(w.Pairings))
        await chief.direct(a.Publish())
        await public.find(w.Pairings, lambda shown: bool(shown.matches[0].kind))


async def test_live_scores_are_told_while_races_run(ports: list[int]) -> None:
    single_deck = replace(RACE, rules="klondike-familiar")
    chief = await opened(ports[0], settings(Single(), race=single_deck))
    async with bots(ports, 2) as players:
        for bot in players:
            bot.moves = 500
        await enter(chief, players)
        await chief.direct(a.Begin())
        seen = await chief.line.find(
            w.Progress, lambda shown: any(line.moves for race in shown.races for line in race.lines)
        )
        assert {line.entry for line in seen.races[0].lines} == {bot.player for bot in players}
        assert seen.races[0].of == 52


async def test_the_list_has_public_tournaments_only(port: int) -> None:
    line = await Someone.arrive(port, "chief")
    chief = await Organiser.open(line, settings(Swiss(rounds=5)))
    await line.say(w.Organise(settings=settings(Single()), public=False))
    await line.hear(w.Organised)
    await line.say(w.Tournaments())
    (only,) = (await line.hear(w.Programme)).tournaments
    assert (only.tournament, only.title, only.format) == (chief.code, "Cup", "swiss, 5 rounds")


async def test_the_journal_is_for_organisers_until_the_end(port: int) -> None:
    chief = await opened(port, settings(Single()))
    public = await Someone.arrive(port, "zoe")
    chronicle = w.Chronicle(tournament=chief.code)
    assert (await public.refused(chronicle)).code == "not-over"
    await chief.line.say(replace(chronicle, key=chief.keys.referee))
    assert (await chief.line.hear(w.Annals)).total == 1
    await chief.direct(a.Cancel(), "rain")
    await public.say(chronicle)
    annals = await public.hear(w.Annals)
    assert annals.total == 2
    assert '"why":"rain"' in annals.entries[1]
    assert chief.keys.owner not in "".join(annals.entries)
    lines = (entry.encode() for entry in annals.entries)
    await public.say(w.Visit(tournament=chief.code))
    assert (await public.hear(w.Tournament)).head == chain(lines).hex()


async def test_the_journal_and_its_head_come_as_late_as_all_that_visitors_see(port: int) -> None:
    chief = await opened(port, settings(Single(), race=replace(RACE, delay_s=60)))
    await chief.direct(a.Cancel(), "rain")
    public = await Someone.arrive(port, "zoe")
    chronicle = w.Chronicle(tournament=chief.code)
    assert (await public.refused(chronicle)).code == "not-over"
    await public.say(w.Visit(tournament=chief.code))
    assert (await public.hear(w.Tournament)).head == ""
    await chief.line.say(replace(chronicle, key=chief.keys.owner))
    assert (await chief.line.hear(w.Annals)).total == 2


# --- ratings --------------------------------------------------------------------------


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


# --- faults ---------------------------------------------------------------------------


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
