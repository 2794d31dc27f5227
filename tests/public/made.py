"""Sheets of tournaments that nobody raced, as visitors would get them."""

from collections.abc import Sequence

from server import bulletin
from server.public.sheet import Sheet, collect
from server.tournament import acts, calls, views
from server.tournament.settings import TournamentSettings
from tests.tournament.told import Told
from wire import tournaments as w
from wire.lines import LiveRace
from wire.messages import ServerMessage


def told(chosen: TournamentSettings, names: Sequence[str]) -> Told:
    """A tournament with players of these names, the best first, that has started."""
    made = Told(chosen)
    for number, name in enumerate(names):
        player = f"p{number:03}"
        made.tell(
            *acts.decide_enter(made.t, player, player=player, name=name, rating=3000 - number)
        )
    if len(names) > 1:
        made.start()
    return made


def play(made: Told, rounds: int) -> Told:
    """Race so many rounds, the better ones first; breaks and all."""
    for _ in range(rounds):
        for call in calls(made.t):
            made.race(call, [[player] for player in sorted(dict(call.players))])
        while not calls(made.t) and made.wait():
            pass
    return made


def messages(made: Told) -> list[ServerMessage]:
    """All that there is to show of it."""
    t = views.public(made.t)
    found: list[ServerMessage] = [bulletin.tournament(t, made.now), bulletin.entrants(t)]
    for stage in range(len(t.stages)):
        found.append(bulletin.ranking(t, stage))
        bracket = bulletin.bracket(t, stage)
        found += [bracket] if bracket is not None else []
    found += [bulletin.pairings(t, number) for number in range(1, len(t.rounds) + 1)]
    return found


def sheet(made: Told, *live: LiveRace) -> Sheet:
    """The same, with races that run."""
    progress = [w.Progress(tournament=made.t.code, races=list(live))] if live else []
    found = collect([*messages(made), *progress])
    assert found is not None
    return found
