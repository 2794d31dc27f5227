"""How plays come into a room's journal, and whatever else ends one player's race.

They are not committed like other events: they are guarded by their player, a play by its
number too, so that different players never get in each other's way, and the outcome comes
by callback. Nothing is acknowledged before it is appended.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from server import events as ev
from server import referee, view
from server.audience import Viewer
from server.follower import Follower, denied
from server.patience import Patience
from server.race import Race
from server.refusal import Refusal
from server.store import ActOutcome, Appended, Denied, Entry, Lost, Store, keys
from server.summary import play_summary
from server.tally import Tally
from wire import messages as m

log = logging.getLogger("dk.rooms")


class Plays:
    """The plays of one room, as this node referees them."""

    def __init__(
        self,
        room: Follower[Race, ev.AnyEvent],
        store: Store,
        tally: Tally,
        time_is_up: Callable[[], None],
    ) -> None:
        """`time_is_up` hears that the store has found a play too late."""
        self._room = room
        self._store = store
        self._tally = tally
        self._time_is_up = time_is_up
        self._waiting: set[Viewer] = set()  # who has been told that the store takes nothing in

    def play(
        self, viewer: Viewer, n: int, text: str | None, patience: Patience | None = None
    ) -> bool:
        """Referee play n of a viewer's player: a move, or an undo where `text` is None.

        `patience` comes with a play that was tried before. Gives True where the outcome will
        come later, by `viewer.moved` or a refusal that is followed by `viewer.moved`; False
        where all has been said.

        Raises:
            Refusal: the play cannot be done; nothing has changed.
        """
        race = self._room.replica
        player = viewer.player
        racer = race.racers.get(player)
        action = "move" if text is not None else "undo"
        if racer is None:
            referee.check(race, None, action)
            raise AssertionError("the table allows nobody without a seat to play")
        last = racer.n
        if n <= last:
            # Said before: the same outcome again, never silence, never a second effect.
            viewer.send(self.repeated(player, n))
            return False
        if n > last + 1:
            raise Refusal("gap", f"Play {n} came before play {last + 1}; ask for a snapshot.")
        event: ev.Played | ev.Undone
        if text is not None:
            event = referee.decide_move(race, player, n, text)
        else:
            event = referee.decide_undo(race, player, n)
        payload = ev.encode(event)
        self._store.journals.act(
            self._room.jid,
            player,
            viewer.epoch,
            n,
            payload,
            play_summary(race, racer, event),
            partial(self._acted, viewer, n, text, payload, patience),
        )
        return True

    def repeated(self, player: str, n: int) -> m.Moved:
        """Give the outcome of a play that counts already, with the board as it is now."""
        race = self._room.replica
        return view.moved(race, race.racers[player], n)

    def _acted(
        self,
        viewer: Viewer,
        n: int,
        text: str | None,
        payload: bytes,
        patience: Patience | None,
        outcome: ActOutcome,
    ) -> None:
        if not isinstance(outcome, Appended):
            patience = patience or self._room.patience()
            self._room.spawn(self._settle(viewer, n, text, outcome, patience), "settle")
            return
        self._tally.moves += 1
        self._room.on_entry(Entry(outcome.version, outcome.at, payload))
        race = self._room.replica
        racer = race.racers.get(viewer.player)
        if racer is not None and racer.n < n and outcome.version <= race.version:
            # It took the place of an entry that we know and the store has lost.
            self._room.soon(self._room.catch_up, "catch-up")

    async def _settle(
        self, viewer: Viewer, n: int, text: str | None, outcome: Denied | Lost, patience: Patience
    ) -> None:
        """Find out what became of a play that was not simply appended, and say so."""
        action = "move" if text is not None else "undo"
        try:
            if await self._is_settled(viewer, n, outcome, patience):
                return
            if self.play(viewer, n, text, patience):
                return
        except Refusal as refusal:
            viewer.send(m.Refused(re=action, n=n, code=refusal.code, reason=refusal.reason))
        except Exception:
            log.exception(
                "play failed", extra={"room": self._room.replica.room, "player": viewer.player}
            )
            self._tally.room_faults += 1
            reason = "This failed on our side; it is logged."
            viewer.send(m.Error(code="internal", reason=reason, re=action, n=n))
        viewer.moved()

    async def _is_settled(
        self, viewer: Viewer, n: int, outcome: Denied | Lost, patience: Patience
    ) -> bool:
        """Whether the play needs no other attempt: it was answered, or its player is gone."""
        if isinstance(outcome, Lost) and patience.is_tried and viewer not in self._waiting:
            self._waiting.add(viewer)
            viewer.store_refuses(True)
        if isinstance(outcome, Lost) or outcome.code in ("repeat", "gap"):
            await patience.wait()
        await self._room.catch_up()
        racer = self._room.replica.racers.get(viewer.player)
        if racer is not None and racer.n >= n:
            return True  # folded, and so answered, while catching up
        if isinstance(outcome, Denied) and outcome.code not in ("repeat", "gap"):
            if outcome.code == "replaced":
                viewer.replaced()
                return True
            if outcome.code == "late":
                self._time_is_up()
            raise denied(outcome.code)
        return False

    def taken_in(self) -> None:
        """Learn that the store has taken something in, whosever it is."""
        while self._waiting:
            self._waiting.pop().store_refuses(False)

    def exit(self, viewer: Viewer) -> None:
        """Let a viewer go, who hears of this room's store no more."""
        if viewer in self._waiting:
            self._waiting.discard(viewer)
            viewer.store_refuses(False)

    async def resign(self, viewer: Viewer) -> None:
        """Give the race up for a viewer's player."""
        await self.end(
            viewer.player, viewer.epoch, lambda race: referee.decide_resign(race, viewer.player)
        )

    async def disqualify(self, viewer: Viewer, player: str, why: str) -> None:
        """Put a player out of the race for a viewer who is its host.

        Who that is cannot change once the race runs: no version has to be guarded.
        """
        await self.end(
            player, None, lambda race: referee.decide_disqualify(race, player, viewer.player, why)
        )

    async def end(
        self,
        player: str,
        epoch: int | None,
        decide: Callable[[Race], ev.Resigned | ev.Disqualified],
    ) -> None:
        """Append what ends one player's race, unless it has ended meanwhile.

        The plays of other players do not conflict with it.

        Raises:
            Refusal: what `decide` refuses, or the store does not answer.
        """
        patience = self._room.patience()
        while True:
            event = decide(self._room.replica)
            payload = ev.encode(event)
            acted: asyncio.Future[ActOutcome] = asyncio.get_running_loop().create_future()
            ended = {keys.done_field(player): type(event).__name__.lower()}
            self._store.journals.act(
                self._room.jid, player, epoch, 0, payload, ended, partial(_resolve, acted)
            )
            outcome = await acted
            match outcome:
                case Appended():
                    self._room.on_entry(Entry(outcome.version, outcome.at, payload))
                    return
                case Denied() if outcome.code != "done":
                    raise denied(outcome.code)
                case _:
                    await patience.wait()
                    await self._room.catch_up()
            racer = self._room.replica.racers.get(player)
            if racer is not None and racer.is_done:
                return  # meanwhile, or by an attempt whose answer was lost


def _resolve(waiter: "asyncio.Future[ActOutcome]", outcome: ActOutcome) -> None:
    if not waiter.done():
        waiter.set_result(outcome)
