"""Organisers and referees of a tournament: what they direct, over the wire."""

import pytest
from msgspec.structs import replace

from server.aside import Aside
from server.director import FEW
from server.tournament.formats import swiss
from tests.server.fair import bots, enter, opened, settings
from tests.server.floor import Someone
from wire import acts as a
from wire import tournaments as w
from wire.formats import (
    Single,
    Swiss,
)


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
