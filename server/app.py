"""One node: every part built here, every recurring task listed, an ordered shutdown."""

import asyncio
import logging
import secrets
import time
from contextlib import AsyncExitStack

from server import metrics, private, tasks
from server.aside import Aside
from server.attendance import Fairground
from server.config import Config
from server.connection import Connection, Desk
from server.director import Director
from server.foyer import Foyer
from server.gateway import Gateway, Peer
from server.gateway.limits import owner
from server.halls import Halls
from server.ladder import Ladder
from server.pages import pages
from server.public.site import Site
from server.rate import Quota
from server.reminder import Reminder
from server.rooms import Rooms
from server.steward import Steward
from server.store import Store, Unavailable
from server.tally import Tally
from server.timekeeper import Timekeeper
from server.uptime import Uptime
from server.version import SERVER
from server.webhooks import Webhooks

log = logging.getLogger("dk.node")

BEAT_EVERY_S = 5.0
IN_FLIGHT_LIMIT_S = 5.0  # how long a stopping node waits for the store's answers
GUESSES_PER_S, GUESSES = 0.1, 10  # at rooms' passwords, of one address


class Node:
    """A server process from start to end."""

    def __init__(self, config: Config) -> None:
        """Check the settings; nothing is opened yet.

        Raises:
            BadSetting: one of them cannot work.
        """
        self.config = config
        self.id = secrets.token_hex(6)
        self.tally = Tally()
        self.port = 0
        self._limits = config.limits()
        self._tls = config.tls()
        self._stack = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []
        self._connections: set[Connection] = set()
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self._let_go = False  # of the store, by our own wish
        self._store: Store
        self._rooms: Rooms
        self._halls: Halls
        self._aside: Aside
        self._director: Director
        self._reminder: Reminder
        self._foyer: Foyer
        self._site: Site
        self._webhooks: Webhooks
        self._gateway: Gateway
        self._nodes = 0  # that live, when this one last looked
        self._openings: Quota
        self._guesses = Quota(GUESSES_PER_S, GUESSES)

    # --- the three acts ---------------------------------------------------------------

    async def start(self) -> None:
        """Open the store, then the rooms, then the doors."""
        config = self.config
        self._store = await Store.open(await private.store_url(config, self._stack))
        self._rooms = Rooms(self._store, self.tally, self.id)
        fairground = self._fairground()
        self._director = fairground.director
        self._reminder = Reminder(self._store, self._rooms.dues, self._director.dues)
        self._webhooks = fairground.webhooks
        looks = {"": self._rooms.look, "t": self._director.look, "h": self._webhooks.look}
        timekeeper = Timekeeper(self._store, self.tally, looks)
        an_hour = config.rooms_per_address
        self._openings = Quota(an_hour / 3600, an_hour)
        desk = Desk(self._store, self._rooms, self.tally, self, self._connections, fairground)
        self._gateway = Gateway(
            connect=lambda peer: self._connect(peer, desk),
            page=lambda request: page(request),
            stand=self._site.stand,
            limits=self._limits,
            origins=config.origins,
            proxies=config.trusted_proxies,
        )
        figures = metrics.registry(
            metrics.NodeCollector(
                self.tally,
                self._gateway,
                rooms=lambda: len(self._rooms),
                nodes=lambda: self._nodes,
                store_up=lambda: self._store.is_whole,
                store_refusals=lambda: self._store.refusals,
            )
        )
        page = pages(lambda: self._gateway, lambda: self._store.up, figures, self._site.answer)
        self._store.journals.on_state(self._store_state)
        self.port = await self._gateway.listen(
            config.host, config.port, ssl=self._tls, reuse_port=config.reuse_port
        )
        self._tasks = [
            asyncio.create_task(timekeeper.keep_time(), name="timers"),
            asyncio.create_task(self._beat(), name="beat"),
        ]
        log.info("node started", extra={"node": self.id, "port": self.port, "server": SERVER})

    async def run(self) -> None:
        """Serve until somebody says to stop."""
        await self._stop.wait()

    async def close(self) -> None:
        """Send everybody elsewhere, finish what is in flight, then let go of the store.

        In this order: no new rooms and no new sockets (readiness is red from here on),
        the goodbyes spread over the window, the store's last answers, the timers of other
        people's rooms, and at the very end the store itself. A second signal skips what is
        left of the window.
        """
        log.info("node stopping", extra={"node": self.id, "connections": len(self._connections)})
        drain = asyncio.create_task(self._gateway.drain(self.config.drain_seconds))
        hurry = asyncio.create_task(self._hurry.wait())
        await asyncio.wait((drain, hurry), return_when=asyncio.FIRST_COMPLETED)
        await tasks.cancel((drain, hurry, *self._tasks))
        await self._store.drain(IN_FLIGHT_LIMIT_S)
        await self._gateway.close()
        self._site.close()
        await self._webhooks.close()
        self._foyer.close()
        self._director.close()
        await self._reminder.close()
        await self._aside.close()
        self._halls.close()
        self._rooms.close()
        try:
            await self._store.nodes.leave(self.id)
        except Unavailable as error:
            log.warning("cannot take leave of the store", extra={"error": str(error)})
        self._let_go = True
        await self._store.close()
        await self._stack.aclose()
        log.info("node stopped", extra={"node": self.id})

    async def abandon(self) -> None:
        """Let go of what a failed start has opened."""
        self._let_go = True
        if hasattr(self, "_store"):
            await self._store.close()
        await self._stack.aclose()

    def stop(self) -> None:
        """Begin to stop; a second time, stop at once."""
        (self._hurry if self._stop.is_set() else self._stop).set()

    # --- parts ------------------------------------------------------------------------

    def _fairground(self) -> Fairground:
        self._halls = Halls(self._store, self.tally, self.id)
        ladder = Ladder(self._store)
        self._aside = Aside()
        uptime = Uptime(self._store)
        steward = Steward(self._store, self._rooms, uptime)
        director = Director(
            self._store, self._halls, steward, ladder, self._aside, uptime, self.tally
        )
        self._foyer = Foyer(self._store, self._halls, director, steward)
        self._site = Site(self._halls, self._foyer)
        webhooks = Webhooks(self._store, self.tally, private=self.config.private_webhooks)
        return Fairground(self._store, self._halls, director, self._foyer, ladder, webhooks)

    def _connect(self, peer: Peer, desk: Desk) -> Connection:
        return Connection(peer, desk)

    def _store_state(self, up: bool) -> None:
        if self._let_go:
            return
        if self._store.is_whole:
            log.info("the store answers again", extra={"node": self.id})
        else:
            what = "a part of the store" if up else "the store"
            log.error("%s does not answer", what, extra={"node": self.id})
        for connection in tuple(self._connections):
            connection.store_state()

    def may_create(self, address: str) -> bool:
        """Whether this address may open one more room."""
        return self._openings.takes(owner(address), time.monotonic())

    def may_guess(self, address: str) -> bool:
        """Whether this address may try one more password."""
        return self._guesses.takes(owner(address), time.monotonic())

    @property
    def is_draining(self) -> bool:
        """Whether the node is on its way out."""
        return self._stop.is_set()

    async def _beat(self) -> None:
        while True:
            try:
                await self._store.nodes.beat(
                    self.id, self._store.clock.now(), {"server": SERVER, "port": str(self.port)}
                )
                self._nodes = len(await self._store.nodes.live())
            except Unavailable as error:
                log.debug("no beat: %s", error)
            except Exception:  # a fault of ours once: the node lives on
                log.exception("no beat")
            await asyncio.sleep(BEAT_EVERY_S)
