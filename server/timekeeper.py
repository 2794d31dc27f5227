"""Acts on due timers, whatever they are about.

The member of a timer says its kind by what stands before its colon, none for a room, and
each kind has a handler that looks at one thing. Looks go on side by side, within a bound;
one that is slow, or fails, delays no other.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from server import tasks
from server.refusal import Refusal
from server.store import Claim, Store, Unavailable
from server.tally import Tally

log = logging.getLogger("dk.timers")

ASK_EVERY_S = 0.25
AT_ONCE = 64
LEASE_MS = 5_000  # a node that dies while it acts on a timer leaves it to another
LEFT_TO_NEWER_MS = 1_000  # a timer of something that only a newer server can read
FAILED_AGAIN_MS = 60_000  # a timer whose look failed on our side: not again and again

# Looks at what a member names and gives the instant of the next look; None for never.
Look = Callable[[str], Awaitable[int | None]]


class Timekeeper:
    """Claims timers of all nodes' things and has them looked at."""

    def __init__(self, store: Store, tally: Tally, looks: Mapping[str, Look]) -> None:
        """`looks` has a handler for each kind of member; the one of rooms is "" there."""
        self._store = store
        self._tally = tally
        self._looks = looks
        self._under_way: dict[str, asyncio.Task[None]] = {}  # by member

    async def keep_time(self) -> None:
        """Act on due timers until cancelled."""
        try:
            while True:
                await asyncio.sleep(ASK_EVERY_S)
                try:
                    await self.act()
                except Exception:  # a fault of ours once: not the end of all timers
                    log.exception("timers failed")
                    self._tally.room_faults += 1
        finally:
            await self.close()

    async def close(self) -> None:
        """End all looks; what they were about comes due again."""
        await tasks.cancel(self._under_way.values())

    async def act(self) -> None:
        """Begin to act on what is due, as far as there is room for it."""
        free = AT_ONCE - len(self._under_way)
        if not free:
            return
        try:
            claims = await self._store.timers.claim(LEASE_MS, free)
        except Unavailable:
            await asyncio.sleep(1)
            return
        for claim in claims:
            if claim.member not in self._under_way:  # else it takes longer than its lease
                task = asyncio.create_task(self._act_on(claim), name=f"timer {claim.member}")
                self._under_way[claim.member] = task

    async def _act_on(self, claim: Claim) -> None:
        try:
            await self._store.timers.done(claim, await self._look(claim.member))
        except Unavailable:
            pass  # it comes due again, here or elsewhere
        finally:
            self._under_way.pop(claim.member, None)

    async def _look(self, member: str) -> int | None:
        """Look at what a timer is about, whatever comes of it; gives the next instant."""
        kind = member.partition(":")[0] if ":" in member else ""
        look = self._looks.get(kind)
        if look is None:
            # Of a newer version, which looks when its turn comes.
            return self._store.clock.now() + LEFT_TO_NEWER_MS
        try:
            return await look(member)
        except Unavailable:
            raise
        except Refusal as refusal:
            if refusal.code == "store":
                raise Unavailable(refusal.reason) from None
            log.warning("cannot look", extra={"member": member, "error": refusal.reason})
            wait = LEFT_TO_NEWER_MS if refusal.code.startswith("newer-") else FAILED_AGAIN_MS
        except Exception:
            log.exception("timer failed", extra={"member": member})
            self._tally.room_faults += 1
            wait = FAILED_AGAIN_MS
        return self._store.clock.now() + wait
