"""All tournaments that this node has open, and the way to open new ones."""

import logging
import secrets

from server.codes import new_code
from server.hall import NET_MS, OWNER, REFEREE, Hall, key_hash, summary_of
from server.holding import Holding
from server.journaling import NewerFormat, UnknownEvent
from server.patience import Patience
from server.refusal import Refusal, race_lost, store_away
from server.store import Appended, Lost, Store, Unavailable, keys
from server.store.directory import Listing
from server.tally import Tally
from server.tournament import Tournament
from server.tournament import events as ev
from server.tournament.acts import decide_create
from wire import tournaments as w
from wire.formats import TournamentSettings, titled
from wire.lines import TournamentLine

log = logging.getLogger("dk.halls")

PROGRAMME_LINES = 100


class Halls(Holding[Hall]):
    """The tournaments of this node by code."""

    def __init__(self, store: Store, tally: Tally, node: str) -> None:
        """`node` is the id of this process."""
        super().__init__()
        self._store = store
        self._tally = tally
        self._node = node

    async def _read(self, code: str) -> Hall:
        hall = Hall(code, self._store, self._tally, self._node)
        try:
            found = await hall.load()
        except Unavailable:
            raise store_away() from None
        except NewerFormat as error:
            log.warning("of a newer server", extra={"tournament": code, "error": str(error)})
            raise Refusal(
                "newer-tournament",
                f"Tournament {code} is on a newer server; try again in a minute.",
            ) from None
        except UnknownEvent as error:
            log.error("cannot be read", extra={"tournament": code, "error": str(error)})
            raise Refusal(
                "unreadable-tournament", f"This server cannot read tournament {code}."
            ) from None
        except Exception:
            # A fault in one tournament stays there.
            log.exception("cannot be folded", extra={"tournament": code})
            self._tally.room_faults += 1
            raise Refusal(
                "unreadable-tournament", f"This server cannot read tournament {code}."
            ) from None
        if not found:
            raise Refusal("no-tournament", f"There is no tournament {code}.")
        return hall

    async def open(self, settings: TournamentSettings, *, public: bool) -> w.Organised:
        """Open a tournament; its keys are known to nobody but whoever asks.

        Raises:
            Refusal: the settings do not fit together, or the store does not answer.
        """
        owner, referee = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        hashes = {OWNER: key_hash(owner), REFEREE: key_hash(referee)}
        patience = Patience(self._store)
        for _ in range(5):
            code = new_code()
            created = decide_create(code, titled(settings, code))
            while (done := await self._created(created, hashes, public=public)) is None:
                await patience.wait()
            if done:
                log.info("tournament opened", extra={"tournament": code})
                return w.Organised(tournament=code, owner=owner, referee=referee)
        raise race_lost()

    async def _created(
        self, created: ev.Created, hashes: dict[str, str], *, public: bool
    ) -> bool | None:
        """Write the first entry; False if the code is taken, None if the store is away."""
        store, code = self._store, created.code
        t = Tournament()
        t.fold(store.clock.now(), created)
        try:
            await store.timers.set(keys.tournament_timer(code), store.clock.now() + NET_MS)
            outcome = await store.journals.append(
                keys.tournament(code),
                [ev.encode(created)],
                expect=0,
                sets={**summary_of(t), **hashes},
                ttl_s=keys.TOURNAMENT_S,
            )
            if isinstance(outcome, Lost):
                return None
            if not isinstance(outcome, Appended):
                # Ours after all, from an attempt whose answer was lost: no keys are alike.
                summary = await store.journals.summary(keys.tournament(code))
                if summary.get(OWNER) != hashes[OWNER]:
                    return False
            if public:
                await store.programme.add(code, store.clock.now())
        except Unavailable:
            return None
        return True

    async def programme(self) -> list[TournamentLine]:
        """Give the public tournaments, newest first."""
        try:
            found = await self._store.programme.newest(PROGRAMME_LINES)
        except Unavailable:
            raise store_away() from None
        return [_line(listing) for listing in found]


def _line(listing: Listing) -> TournamentLine:
    summary = listing.summary
    starts = summary.get("starts", "")
    return TournamentLine(
        tournament=listing.code,
        title=summary.get("title", ""),
        format=summary.get("format", ""),
        phase=summary.get("phase", "finished"),  # type: ignore[arg-type]
        entrants=int(summary.get("entrants", "0")),
        places=int(summary.get("places", "0")),
        opened=int(summary.get("opened", "0")),
        starts=int(starts) if starts else None,
        round=int(summary.get("round", "0")),
    )
