"""Those who look at tournaments on one node, without sockets."""

from typing import TypeVar

from server.refusal import Refusal
from server.tournament.acts import decide_announce, decide_enter
from tests.server.floor import until
from tests.server.stage import Crew
from wire import messages as m
from wire import tournaments as w
from wire.codec import decode_server

M = TypeVar("M", bound=m.ServerMessage)


class Visitor:
    """A connection that looks on, and may have a place."""

    def __init__(self, player: str = "") -> None:
        self.player = player
        self.is_gone = False
        self.heard: list[m.ServerMessage] = []
        self.refusals: list[str] = []

    def send(self, message: m.ServerMessage) -> None:
        self.heard.append(message)

    def send_latest(self, kind: str, data: bytes) -> None:
        message = decode_server(data)
        assert message is not None
        self.heard.append(message)

    def lost(self, refusal: Refusal) -> None:
        self.refusals.append(refusal.code)

    def disowned(self) -> None:
        self.is_gone = True

    def all(self, kind: type[M]) -> list[M]:
        return [message for message in self.heard if isinstance(message, kind)]

    async def hears(self, text: str) -> None:
        """Wait until an announcement is shown."""

        async def is_there() -> bool:
            shown = self.all(w.Tournament)
            return bool(shown) and any(each.text == text for each in shown[-1].notices)

        await until(is_there)


async def announce(crew: Crew, code: str, text: str) -> None:
    async with crew.halls.held(code) as hall:
        await hall.commit(lambda t: decide_announce(t, "owner", text))


async def enter(crew: Crew, code: str, player: str) -> None:
    async with crew.halls.held(code) as hall:
        await hall.commit(
            lambda t: decide_enter(t, player, player=player, name=player, rating=1500)
        )
