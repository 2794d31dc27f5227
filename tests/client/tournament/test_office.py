"""What is asked of a server for a whole tournament."""

from client.identity import Identity
from client.organiser import OrganiserFailed
from client.tournament.cli import _replays
from client.tournament.office import Office
from tests.client.stage import Actor, staged
from tests.client.tournament.scenes import entrants, match, pairings, ranking, scene, tournament
from wire.lines import RaceLine
from wire.tournaments import Browse, Visit


async def test_all_rounds_are_fetched_those_behind_a_stage_that_was_discarded_too() -> None:
    async def server(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Visit)
        # Rounds 2 and 3 were of a stage that is no more.
        await actor.say(tournament(stage=None, round=4, rounds=[1, 1]), entrants("ann", "bob"))
        for number in range(1, 5):
            assert (await actor.hear(Browse)).round == number
            await actor.say(pairings(round=number))
        for number in range(2):
            assert (await actor.hear(Browse)).stage == number
            await actor.say(ranking(stage=number))

    async with staged(server) as stage, Office(stage.url, Identity(), "boss") as office:
        whole = await office.browse("CUP")
    assert list(whole.pairings) == [1, 2, 3, 4]


class Shelf(Office):
    """A server that has the replay of every room but one."""

    def __init__(self) -> None:
        super().__init__("ws://nowhere", Identity(), None)

    async def record(self, room: str) -> list[str]:
        if room == "LOST":
            raise OrganiserFailed("There is no such room.")
        return [room]


async def test_replays_are_of_all_that_was_raced_before_a_restart_too() -> None:
    states = {"RACED": "raced", "AGAIN": "void", "LOST": "void", "NOW": "called"}
    races = [
        RaceLine(race=number, room=room, starts=0, state=state)  # type: ignore[arg-type]
        for number, (room, state) in enumerate(states.items(), 1)
    ]
    shown = scene(pairings(matches=[match("1.1", "p1", "p2", races=races)]))
    journal = [f'1 {{"room":"{room}"}}' for room in (*states, "DISCARDED")]
    found = await _replays(Shelf(), shown, journal)
    assert list(found) == ["RACED", "AGAIN", "DISCARDED"]
