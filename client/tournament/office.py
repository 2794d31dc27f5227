"""The line on which an organiser, or a script, asks a server about tournaments."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from client.identity import Identity
from client.link import Heard
from client.organiser import ANSWER_LIMIT, Organiser
from client.tournament import scene as scenes
from client.tournament.scene import Scene
from wire.acts import AnyAct
from wire.formats import Double, Single, TournamentSettings
from wire.lines import TournamentLine
from wire.messages import Refused
from wire.tournaments import (
    Annals,
    Browse,
    CheckIn,
    Chronicle,
    Direct,
    Directed,
    Enrolled,
    Enter,
    Hooked,
    Organise,
    Organised,
    Pairings,
    Place,
    Programme,
    Ranking,
    Rejoin,
    Tournaments,
    Visit,
    Webhook,
    Withdraw,
)

RACES_LIMIT: Final = 3.0  # seconds for the live scores, which follow what is shown at first


class Office(Organiser):
    """A line whose requests about tournaments are waited for, one after another."""

    def __init__(self, url: str, identity: Identity, name: str | None) -> None:
        super().__init__(url, identity, name)
        self.scene = Scene()

    async def __aenter__(self) -> "Office":
        await super().__aenter__()
        return self

    async def organise(self, settings: TournamentSettings, *, public: bool) -> Organised:
        """Open a tournament."""
        return await self._answer(Organise(settings=settings, public=public), Organised)

    async def direct(self, code: str, key: str, act: AnyAct, why: str) -> Directed:
        """Have an act done."""
        return await self._answer(Direct(tournament=code, key=key, act=act, why=why), Directed)

    async def enrol(self, code: str, key: str, act: AnyAct, why: str) -> Enrolled:
        """Have players made and entered."""
        return await self._answer(Direct(tournament=code, key=key, act=act, why=why), Enrolled)

    async def webhook(self, message: Webhook) -> Hooked:
        """Choose where notices go."""
        return await self._answer(message, Hooked)

    async def programme(self) -> list[TournamentLine]:
        """Give the public tournaments."""
        return (await self._answer(Tournaments(), Programme)).tournaments

    async def take_part(self, message: Enter | CheckIn | Withdraw | Rejoin) -> Place:
        """Enter a tournament, or what else a player does."""
        return await self._answer(message, Place)

    async def show(self, code: str, key: str = "") -> Scene:
        """Give a tournament as it stands."""
        self._link.send(Visit(tournament=code, key=key))
        await self._until_scene(is_whole)
        return self.scene

    async def races(self) -> None:
        """Wait for the races that run, which come a moment after the rest.

        Spectators may be shown them minutes later, or not at all: they go without.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(RACES_LIMIT):
                while self.scene.progress is None:
                    self._take(await self._heard.get())

    async def browse(self, code: str, key: str = "") -> Scene:
        """Give a tournament with all its rounds and stages."""
        await self.show(code, key)
        t = self.scene.tournament
        assert t is not None
        pairings, rankings = dict[int, Pairings](), dict[int, Ranking]()
        for number in range(1, (t.round or 0) + 1):
            pairings[number] = await self._answer(
                Browse(tournament=code, round=number, key=key), Pairings
            )
        for stage in range(len(t.rounds)):
            rankings[stage] = await self._answer(
                Browse(tournament=code, stage=stage, key=key), Ranking
            )
        return Scene(
            tournament=t,
            entrants=self.scene.entrants,
            rankings=rankings,
            brackets=self.scene.brackets,
            pairings=pairings,
        )

    async def round(self, code: str, number: int, key: str = "") -> Pairings:
        """Give one round."""
        return await self._answer(Browse(tournament=code, round=number, key=key), Pairings)

    async def stage(self, code: str, number: int, key: str = "") -> Ranking:
        """Give one stage's standings; with its bracket, if it has one, it is in the scene."""
        found = await self._answer(Browse(tournament=code, stage=number, key=key), Ranking)
        t = self.scene.tournament
        if t is not None and isinstance(t.settings.stages[number].play, Single | Double):
            await self._until_scene(lambda scene: number in scene.brackets)
        return found

    async def journal(self, code: str, key: str = "") -> list[str]:
        """Give a tournament's journal."""
        entries: list[str] = []
        while True:
            asked = Chronicle(tournament=code, start=len(entries), key=key)
            page = await self._answer(asked, Annals)
            entries.extend(page.entries)
            if len(entries) >= page.total or not page.entries:
                return entries

    async def _until_scene(self, is_so: Callable[[Scene], bool]) -> None:
        try:
            async with asyncio.timeout(ANSWER_LIMIT):
                while not is_so(self.scene):
                    self._take(await self._heard.get())
        except TimeoutError:
            raise self._unanswered(ANSWER_LIMIT) from None

    def _take(self, heard: Heard) -> Heard:
        super()._take(heard)
        if not isinstance(heard, Refused) and hasattr(heard, "__struct_config__"):
            self.scene = scenes.heard(self.scene, heard)  # type: ignore[arg-type]
        return heard


def is_whole(scene: Scene) -> bool:
    """Whether all that a visitor is shown at first has come."""
    t = scene.tournament
    if t is None or scene.entrants is None:
        return False
    if t.stage is None:
        return True
    has_bracket = isinstance(t.settings.stages[t.stage].play, Single | Double)
    return (
        t.stage in scene.rankings
        and (t.round is None or t.round in scene.pairings)
        and (not has_bracket or t.stage in scene.brackets)
    )
