"""Where this node's connections meet its tournaments: the guests and visitors of each hall."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from server.director import Director
from server.gallery import Gallery, Sight, Visitor
from server.guestbook import Guest, Guestbook
from server.hall import Hall
from server.halls import Halls
from server.refusal import Refusal, store_away
from server.steward import Steward
from server.store import Store, Unavailable
from server.tournament import Tournament

log = logging.getLogger("dk.foyer")

LINGER_S = 10.0  # a gallery is kept so long after the last who looked
AGAIN_AFTER_S = 1.0  # a hall that has failed is opened again; if it cannot be, twice as late
LONGEST_PAUSE_S = 30.0


@dataclass
class _Left:
    """Those whom a hall that has failed leaves behind, until it is open again."""

    guests: set[Guest] = field(default_factory=set)
    looking: dict[Visitor, Sight] = field(default_factory=dict)
    told: set[Visitor] = field(default_factory=set)

    def has_any(self) -> bool:
        """Whether anybody is left; whoever has gone is not."""
        self.guests = {guest for guest in self.guests if not guest.is_gone}
        self.looking = {who: sight for who, sight in self.looking.items() if not who.is_gone}
        return bool(self.guests or self.looking)

    def tell(self, refusal: Refusal) -> None:
        """Say to each of those who look, once, that there is nothing to see."""
        for visitor in self.looking.keys() - self.told:
            visitor.lost(refusal)
        self.told |= self.looking.keys()


class Foyer:
    """Keeps the halls open that connections of this node look at or play in."""

    def __init__(self, store: Store, halls: Halls, director: Director, steward: Steward) -> None:
        self._store = store
        self._halls = halls
        self._director = director
        self._steward = steward
        self._books: dict[str, Guestbook] = {}
        self._galleries: dict[str, Gallery] = {}
        self._closing: dict[str, asyncio.TimerHandle] = {}
        self._left: dict[str, _Left] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        store.journals.on_state(self._store_state)

    # --- guests -----------------------------------------------------------------------

    async def enter(self, code: str, guest: Guest) -> bool:
        """Tell a connection what concerns its player; False where the player has no place.

        Raises:
            Refusal: there is no such tournament, or the store does not answer.
        """
        async with self._halls.held(code) as hall:
            entry = hall.t.entries.get(hall.t.people.get(guest.player, ""))
            if entry is None or hall.t.is_over:
                return False
            book = self._books.get(code)
            if book is None:
                await self._halls.hold(code)  # until the last guest goes
                book = self._books.get(code) or Guestbook(
                    hall, self._steward.arrange, lambda: self._book_lost(code)
                )
                if code in self._books:
                    self._halls.release(code)
                self._books[code] = book
            book.enter(guest)
            if hall.t.is_on and hall.t.stages and hall.t.format(hall.t.stage.number).on_clock:
                self._director.look_soon(code)  # somebody more may be paired
        return True

    def exit(self, code: str, guest: Guest) -> None:
        """Tell a connection no more."""
        if code in self._left:
            self._left[code].guests.discard(guest)
        book = self._books.get(code)
        if book is None:
            return
        book.exit(guest)
        if not book.guests:
            del self._books[code]
            book.close()
            self._halls.release(code)

    def _store_state(self, up: bool) -> None:
        if up and self._books:
            self._spawn(self._remember(), "remember guests")

    async def _remember(self) -> None:
        """Note again who plays where: a part of the store may have lost it, and who comes back
        would not be called.
        """
        left = list(self._books)
        while left:
            book, now = self._books.get(left[-1]), self._store.clock.now()
            try:
                if book is not None:
                    await self._store.tournaments.enter(list(book.guests), left[-1], now)
                left.pop()
            except Unavailable as error:
                log.warning("guests not noted yet", extra={"error": str(error)})
                await asyncio.sleep(AGAIN_AFTER_S)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _book_lost(self, code: str) -> None:
        book = self._books.pop(code, None)
        if book is not None:
            self._behind(code).guests.update(*book.guests.values())
            book.close()
            self._halls.release(code)

    # --- visitors ---------------------------------------------------------------------

    async def visit(self, code: str, visitor: Visitor, sight: Sight) -> None:
        """Show a tournament to a connection from now on.

        Raises:
            Refusal: there is no such tournament, or the store does not answer.
        """
        if code in self._left:  # or else who looks again would be taken for one who left
            self._left[code].looking[visitor] = sight
        try:
            await self._show(code, visitor, sight)
        except BaseException:
            if code in self._left:
                self._left[code].looking.pop(visitor, None)
            raise

    async def _show(self, code: str, visitor: Visitor, sight: Sight) -> Gallery:
        while True:
            async with self.gallery(code) as gallery:
                await gallery.enter(visitor, sight)
                if self._galleries.get(code) is gallery:
                    return gallery
                gallery.exit(visitor)  # the hall has failed meanwhile

    def depart(self, code: str, visitor: Visitor) -> None:
        """Show a tournament to a connection no more."""
        if code in self._left:
            self._left[code].looking.pop(visitor, None)
        gallery = self._galleries.get(code)
        if gallery is not None:
            gallery.exit(visitor)
            self._close_later(code)

    async def state(self, hall: Hall, sight: Sight) -> Tournament:
        """Give a tournament as those of a sight may see it now.

        Raises:
            Refusal: the store does not answer.
        """
        async with self.gallery(hall.code) as gallery:
            return gallery.state(sight)

    @asynccontextmanager
    async def gallery(self, code: str) -> AsyncIterator[Gallery]:
        """Open the gallery of a tournament for the length of a block; it stays for visitors.

        Raises:
            Refusal: there is no such tournament, or the store does not answer.
        """
        gallery = self._galleries.get(code)
        if gallery is None:
            hall = await self._halls.hold(code)  # until some time after the last visitor
            gallery = self._galleries.get(code)
            if gallery is not None:
                self._halls.release(code)
            else:
                gallery = Gallery(hall, self._store, lambda: self._gallery_lost(code))
                self._galleries[code] = gallery
        gallery.users += 1
        try:
            await gallery.open()
            yield gallery
        except Unavailable:
            raise store_away() from None
        finally:
            gallery.users -= 1
            self._close_later(code)

    def _close_later(self, code: str) -> None:
        # Not at once: who reads one page after the other opens it once.
        closing = self._closing.pop(code, None)
        if closing is not None:
            closing.cancel()
        loop = asyncio.get_running_loop()
        self._closing[code] = loop.call_later(LINGER_S, self._close_if_empty, code)

    def _close_if_empty(self, code: str) -> None:
        self._closing.pop(code, None)
        gallery = self._galleries.get(code)
        if gallery is not None and gallery.is_empty and not gallery.users:
            del self._galleries[code]
            gallery.close()
            self._halls.release(code)

    def _gallery_lost(self, code: str) -> None:
        gallery = self._galleries.pop(code, None)
        if gallery is not None:
            looking = self._behind(code).looking
            for sight, showing in gallery.showings.items():
                looking.update(dict.fromkeys(showing.visitors, sight))
            gallery.close()
            self._halls.release(code)

    # --- halls that have failed ---------------------------------------------------------

    def _behind(self, code: str) -> _Left:
        """Give those whom the hall leaves behind; it is opened again for them."""
        left = self._left.get(code)
        if left is None:
            left = self._left[code] = _Left()
            self._spawn(self._open_again(code, left), f"open {code} again")
        return left

    async def _open_again(self, code: str, left: _Left) -> None:
        pause_s = AGAIN_AFTER_S
        try:
            await asyncio.sleep(pause_s)
            while left.has_any():
                try:
                    await self._welcome(code, left)
                except Refusal as refusal:
                    log.warning(
                        "hall not opened again",
                        extra={"tournament": code, "error": refusal.reason},
                    )
                    left.tell(refusal)
                    if refusal.code == "no-tournament":
                        return
                except Exception:
                    log.exception("hall not opened again", extra={"tournament": code})
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
                await asyncio.sleep(pause_s)
        finally:
            del self._left[code]

    async def _welcome(self, code: str, left: _Left) -> None:
        """Let those who were left behind in again, one after the other."""
        for guest in list(left.guests):
            await self.enter(code, guest)
            left.guests.discard(guest)
        for visitor, sight in list(left.looking.items()):
            gallery = await self._show(code, visitor, sight)
            # Whoever has looked elsewhere meanwhile is not to be brought back.
            if left.looking.pop(visitor, None) is None:
                gallery.exit(visitor)

    def close(self) -> None:
        """Let go of everything."""
        for task in self._tasks:
            task.cancel()
        for closing in self._closing.values():
            closing.cancel()
        for book in self._books.values():
            book.close()
        self._books.clear()  # nothing is noted any more for those who were there
        for gallery in self._galleries.values():
            gallery.close()
