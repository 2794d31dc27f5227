"""Many bots in one process."""

import asyncio

from client.tournament import troupe
from client.tournament.troupe import Part
from tests.client.stage import LIMIT, TOKEN, Actor, staged
from wire.messages import Close
from wire.tournaments import Enter, Place


def test_newcomers_are_told_apart_and_sort_by_number() -> None:
    names = [part.name for part in troupe.newcomers(10)]
    assert names[0] == "bot-01"
    assert names == sorted(names)
    assert troupe.newcomers(1) == [Part("bot-1")]


def test_the_end_is_that_of_those_who_saw_it() -> None:
    out = Place(tournament="CUP", phase="paused", entry="p1", status="disqualified")
    through = Place(tournament="CUP", phase="finished", entry="p2")
    assert troupe.ending([through, out]) == "The tournament is finished"
    assert troupe.ending([out, through]) == "The tournament is finished"
    assert "None of them" in troupe.ending([out])


async def test_a_bot_whose_token_has_died_is_not_waited_for() -> None:
    async def known(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Enter)
        await actor.say(Place(tournament="CUP", phase="running", entry="p1", status="in"))
        await actor.close(Close.BAD_TOKEN)

    async def anew(actor: Actor) -> None:
        await actor.welcome(player="p9", token="n" * 32)
        await actor.stay()

    said: list[str] = []
    async with staged(known, anew) as stage:
        playing = troupe.play(
            stage.url, "CUP", [Part("ann", TOKEN)], moves_per_second=1, failed=said.append
        )
        assert await asyncio.wait_for(playing, LIMIT) == []
    assert said == ["ann: somebody else has been given this place's token"]
