"""Tells a club's own server of a tournament's rounds and results: signed, in order, retried.

A timer of each webhook, `h:CODE`, makes some node look every moment at what the journal has
that has not been told; telling goes on in a task of its own, so that a receiver that hangs
holds up neither the timers nor a round. A notice is told at least once: its id, the same each
time, lets the receiver drop the second one. What is told lags behind as far as spectators do.

The URL and the secret are the organiser's: neither appears in a log.
"""

import asyncio
import hashlib
import hmac
import logging
import secrets
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import httpx
import msgspec

from server.herald import Herald, Notice
from server.journaling import UnknownEvent
from server.outward import Lookup, NotOutward, target
from server.refusal import Refusal, store_away
from server.store import Store, Unavailable, keys
from server.store.hooks import Hook
from server.tally import Tally
from server.version import SERVER

log = logging.getLogger("dk.webhooks")
# At INFO the client logs every URL.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)

SIGNATURE: Final = "Klondike-Signature"
LOOK_EVERY_MS: Final = 1_000
IDLE_MS: Final = 10_000  # before the start
AGAIN_MS: Final = 20_000  # should the node die that is telling
ANSWER_LIMIT_S: Final = 5.0  # for the whole of one request
AT_ONCE: Final = 64  # webhooks that a node tells at a time
A_LOOK_S: Final = 10.0  # then another node may; well before AGAIN_MS
FIRST_PAUSE_MS: Final = 1_000  # after a failure; twice as long each time
LONGEST_PAUSE_MS: Final = 300_000
GIVE_UP_MS: Final = 24 * 3_600_000
HERALDS: Final = 256  # tournaments whose fold is kept
GONE: Final = 410

Outcome = Literal["told", "failed", "gone"]


@dataclass
class _Known:
    herald: Herald = field(default_factory=Herald)
    untold: deque[tuple[int, int, Notice]] = field(default_factory=deque)  # version, part


def sign(secret: str, at_s: int, body: bytes) -> str:
    """Give the signature of a notice that is sent at a Unix time in seconds."""
    mac = hmac.new(secret.encode(), b"%d." % at_s + body, hashlib.sha256).hexdigest()
    return f"t={at_s},v1={mac}"


def pause_ms(tries: int) -> int:
    """Give how long to wait after so many failures in a row."""
    return int(min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** min(tries - 1, 20)))


class Webhooks:
    """Tells all webhooks, together with the other nodes."""

    def __init__(
        self,
        store: Store,
        tally: Tally,
        *,
        private: bool = False,
        lookup: Lookup | None = None,
    ) -> None:
        """`private` lets notices go to addresses that are not of the open internet."""
        self._store = store
        self._tally = tally
        self._private = private
        self._lookup = lookup
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._client: httpx.AsyncClient | None = None

    # --- choosing ---------------------------------------------------------------------

    async def choose(self, code: str, url: str, kinds: Sequence[str]) -> str:
        """Have a tournament's notices of some kinds sent to a URL; gives the secret to sign with.

        Raises:
            Refusal: nothing may be sent there, or the store does not answer.
        """
        try:
            await target(url, private=self._private, lookup=self._lookup)
        except NotOutward as error:
            raise Refusal("bad-url", str(error)) from None
        except OSError:
            raise Refusal("bad-url", "The URL's host cannot be found.") from None
        secret = secrets.token_hex(32)
        try:
            version = await self._store.journals.version(keys.tournament(code))
            await self._store.hooks.keep(code, url, secret, kinds, version)
            await self._store.timers.set(keys.hook_timer(code), self._store.clock.now())
        except Unavailable:
            raise store_away() from None
        log.info("webhook chosen", extra={"tournament": code})
        return secret

    async def drop(self, code: str) -> None:
        """Tell a tournament's webhook nothing more.

        Raises:
            Refusal: the store does not answer.
        """
        try:
            await self._store.hooks.drop(code)
        except Unavailable:
            raise store_away() from None

    # --- looking ----------------------------------------------------------------------

    async def look(self, member: str) -> int | None:
        """Begin to tell what has not been told; gives when somebody has to look again."""
        code = member.partition(":")[2]
        now = self._store.clock.now()
        if code in self._running:
            return now + AGAIN_MS
        if len(self._running) >= AT_ONCE:
            return now + LOOK_EVERY_MS
        if await self._store.hooks.get(code) is None:
            return None
        task = asyncio.create_task(self._tell_all(code), name=f"webhook {code}")
        self._running[code] = task
        task.add_done_callback(lambda _: self._running.pop(code, None))
        return now + AGAIN_MS

    async def _tell_all(self, code: str) -> None:
        try:
            again = await self._go_on(code)
            member = keys.hook_timer(code)
            if again is None:
                await self._store.timers.drop(member)
            else:
                await self._store.timers.set(member, again)
        except Unavailable:
            pass  # the timer that was set beforehand comes due
        except UnknownEvent as error:
            log.warning("of a newer server", extra={"tournament": code, "error": str(error)})
        except Exception:
            log.exception("webhook failed", extra={"tournament": code})

    async def _go_on(self, code: str) -> int | None:
        """Tell what there is to tell, for a while; gives the instant of the next look."""
        hook = await self._store.hooks.get(code)
        if hook is None:
            return None
        known = await self._catch_up(code, hook)
        loop = asyncio.get_running_loop()
        ends = loop.time() + A_LOOK_S
        while known.untold:
            version, part, notice = known.untold[0]
            if loop.time() > ends:
                return self._store.clock.now()
            if notice.kind in hook.kinds:
                outcome = await self._tell(code, hook, notice)
                if outcome == "gone":
                    await self._store.hooks.drop(code)
                    return None
                if outcome == "failed":
                    return await self._put_off(code, hook)
                self._tally.notices_told += 1
                await self._store.hooks.told(code, version, part)
            known.untold.popleft()
        return await self._next_look(code, known)

    async def _catch_up(self, code: str, hook: Hook) -> _Known:
        """Fold what is new and may be told by now."""
        known = self._known.pop(code, None) or _Known()
        self._known[code] = known
        if len(self._known) > HERALDS:
            self._known.popitem(last=False)
        t = known.herald.t
        entries = await self._store.journals.read(keys.tournament(code), t.version)
        now = self._store.clock.now()
        for entry in entries:
            if t.version and entry.at + 1000 * t.settings.race.delay_s > now:
                break
            for part, notice in enumerate(known.herald.hear(entry.at, entry.payload), 1):
                known.untold.append((entry.version, part, notice))
        # Another node may have told some of it.
        while known.untold and known.untold[0][:2] <= (hook.version, hook.part):
            known.untold.popleft()
        return known

    async def _next_look(self, code: str, known: _Known) -> int | None:
        t, now = known.herald.t, self._store.clock.now()
        version = await self._store.journals.version(keys.tournament(code))
        if version < t.version:
            # The store has lost what was heard of: what it has now is the truth.
            del self._known[code]
            return now if version else None
        if t.is_over and version == t.version:
            return None
        return now + (LOOK_EVERY_MS if t.is_on or version > t.version else IDLE_MS)

    # --- telling ----------------------------------------------------------------------

    async def _tell(self, code: str, hook: Hook, notice: Notice) -> Outcome:
        """Send one notice."""
        try:
            async with asyncio.timeout(ANSWER_LIMIT_S):
                status = await self._post(hook, msgspec.json.encode(notice))
        except (TimeoutError, OSError, httpx.HTTPError, NotOutward) as error:
            # The error's text may have the URL in it.
            why = type(error).__name__
        else:
            if 200 <= status < 300:
                return "told"
            if status == GONE:
                log.info("webhook gone", extra={"tournament": code})
                return "gone"
            why = f"HTTP {status}"
        log.info("webhook not told", extra={"tournament": code, "error": why})
        return "failed"

    async def _post(self, hook: Hook, body: bytes) -> int:
        to = await target(hook.url, private=self._private, lookup=self._lookup)
        at_s = self._store.clock.now() // 1000
        headers = {
            "Host": to.host,
            "Content-Type": "application/json",
            "User-Agent": SERVER,
            SIGNATURE: sign(hook.secret, at_s, body),
        }
        if self._client is None:
            # No proxy from the environment: it would look the name up anew.
            self._client = httpx.AsyncClient(
                timeout=ANSWER_LIMIT_S, follow_redirects=False, trust_env=False
            )
        # What is answered beyond the status is not read.
        async with self._client.stream(
            "POST", to.url, content=body, headers=headers, extensions={"sni_hostname": to.name}
        ) as answer:
            return answer.status_code

    async def _put_off(self, code: str, hook: Hook) -> int | None:
        self._tally.notices_failed += 1
        now, tries = self._store.clock.now(), hook.tries + 1
        since = hook.since or now
        if now - since > GIVE_UP_MS:
            log.warning("webhook given up", extra={"tournament": code})
            await self._store.hooks.drop(code)
            return None
        await self._store.hooks.failed(code, tries, since)
        return now + pause_ms(tries)

    async def close(self) -> None:
        """Stop telling; others go on where this ends."""
        for task in list(self._running.values()):
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()
