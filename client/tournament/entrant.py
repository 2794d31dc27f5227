"""A bot in a tournament: enters, checks in, follows every call, until the tournament ends."""

import asyncio
from random import Random

from client import passing
from client.bot import Bot, BotFailed, Plan
from client.identity import Identity
from client.link import Heard
from wire.messages import Join, Left, Refused, Standings, Welcome
from wire.tournaments import (
    Called,
    CheckIn,
    Enter,
    Place,
)

OVER = ("finished", "cancelled")


class Entrant(Bot):
    """One bot and its tournament."""

    def __init__(
        self, url: str, identity: Identity, name: str, code: str, pace: float, chance: Random
    ) -> None:
        super().__init__(url, identity, name, Plan(moves_per_second=pace), chance)
        self.place: Place | None = None
        self._code = code
        self._called = ""  # the room of the newest call
        self._has_asked = False

    async def take_part(self) -> Place:
        """Play the tournament to its end, or until the place is lost; gives how it stands.

        Raises:
            BotFailed: there is no server, or no place.
        """
        await self._live()
        if self._failure or self.place is None:
            raise BotFailed(self._failure or self._link.line.why or "the tournament did not end")
        return self.place

    # --- hearing ----------------------------------------------------------------------

    def _hear(self, heard: Heard) -> None:
        match heard:
            case Called(tournament=self._code):
                self._called = heard.room
                self._follow()
            case Place(tournament=self._code):
                self._placed(heard)
            case _:
                pass
        super()._hear(heard)

    def _enter(self, welcome: Welcome) -> None:
        if self.place is not None and welcome.token is not None:
            # The former token is dead, and the link came back as somebody without a place.
            self._fail("somebody else has been given this place's token")
            return
        # What was said on a line that broke may not have arrived; again is the same.
        if not self._has_asked or self.place is None:
            self._has_asked = self._link.send(Enter(tournament=self._code))

    def _placed(self, place: Place) -> None:
        self.place = place
        if place.phase in OVER or place.status != "in":
            self._ended.set()
        elif "checkin" in place.actions:
            self._link.send(CheckIn(tournament=self._code))

    def _follow(self) -> None:
        room = self.state.room
        if self._called and (room is None or room.room != self._called):
            self._link.send(Join(room=self._called))

    def _finished(self, heard: Standings) -> None:
        """Stay: the next race is called."""

    def _lost_seat(self, left: Left) -> None:
        """Stay: a seat that counts is held, and called to again."""

    def _refused(self, refused: Refused) -> None:
        later = asyncio.get_running_loop().call_later
        match refused.re:
            case "enter" if passing.is_passing(refused):
                later(passing.AGAIN_AFTER, self._link.send, Enter(tournament=self._code))
            case "checkin" if passing.is_passing(refused):
                later(passing.AGAIN_AFTER, self._link.send, CheckIn(tournament=self._code))
            case "enter":
                self._fail(refused.reason)
            case "join":
                later(passing.AGAIN_AFTER, self._follow)
            case "checkin":
                pass  # too late for it: what comes of that, the place tells
            case _:
                super()._refused(refused)
