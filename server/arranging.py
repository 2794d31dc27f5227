"""The rooms of a tournament's races: opened once, with their seats taken."""

import secrets
from collections.abc import Sequence

from msgspec.structs import replace

from server import events as ev
from server.race import Race
from server.refusal import Refusal, store_away
from server.rules.deal import commitment
from server.store import Appended, Lost, Store, Unavailable, keys
from server.summary import lifetime_s, summary_of


async def arrange(store: Store, opened: ev.Opened, seats: Sequence[ev.Joined]) -> None:
    """Open a room and seat its players, unless that is done; again is the same.

    The commitment of `opened` is filled in: whoever comes first chooses the deal's secret.

    Raises:
        Refusal: the room's code is somebody else's, or the store does not answer.
    """
    try:
        await _arrange(store, opened, seats)
    except Unavailable:
        raise store_away() from None


async def _arrange(store: Store, opened: ev.Opened, seats: Sequence[ev.Joined]) -> None:
    jid = keys.room(opened.room)
    if await store.journals.version(jid):
        await _check_own(store, opened)
        return
    if opened.settings.seed is None:
        secret = await store.deals.keep(opened.deal, secrets.token_bytes(32))
        opened = replace(opened, commitment=commitment(opened.deal, secret).hex())
    race, now = Race(), store.clock.now()
    events: list[ev.AnyEvent] = [opened, *seats]
    for event in events:
        race.fold(now, event)
    outcome = await store.journals.append(
        jid,
        [ev.encode(event) for event in events],
        expect=0,
        sets=summary_of(race),
        ttl_s=lifetime_s(race, now),
    )
    if isinstance(outcome, Lost):
        raise store_away()
    if not isinstance(outcome, Appended):
        await _check_own(store, opened)


async def _check_own(store: Store, opened: ev.Opened) -> None:
    entries = await store.journals.read(keys.room(opened.room))
    first = ev.decode(entries[0].payload) if entries else None
    if not isinstance(first, ev.Opened) or first.deal != opened.deal or first.host:
        raise Refusal("taken", f"Room {opened.room} is another one.")
