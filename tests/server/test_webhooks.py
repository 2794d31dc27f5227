"""Notices to a club's server: signed, in order, at least once, and never in the way."""

import asyncio
import hashlib
import hmac
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from server import webhooks
from server.refusal import Refusal
from server.store import Store, keys
from server.tally import Tally
from server.tournament import acts, calls
from server.tournament import events as ev
from server.tournament.settings import Single, Swiss
from server.webhooks import SIGNATURE, Webhooks, pause_ms, sign
from tests.listener import listening
from tests.server.fair import Organiser, bots
from tests.server.fair import settings as quick
from tests.server.floor import Someone
from tests.server.floor import node as serving
from tests.server.stage import Crew
from tests.store.dues import dues
from tests.tournament.told import RACE, Told, settings
from wire import acts as a
from wire import tournaments as w

WAIT_S = 30.0
SLACK_MS = 500  # the estimate of the store's clock may step meanwhile
ALL = ("round", "result", "end")


class Club:
    """A club's server, which answers as it is told."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int | None] = []  # the next ones; None: no answer; then 200
        self.port = 0
        self._news = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?who=club"

    @property
    def notices(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.requests]

    @property
    def ids(self) -> list[str]:
        return [notice["id"] for notice in self.notices]

    async def until(self, count: int) -> None:
        async with asyncio.timeout(WAIT_S):
            while len(self.requests) < count:
                self._news.clear()
                await self._news.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lines = head.split("\r\n")
            headers = dict(line.split(": ", 1) for line in lines[1:] if line)
            body = await reader.readexactly(int(headers["Content-Length"]))
            self.requests.append(({":line": lines[0], **headers}, body))
            status = self.answers.pop(0) if self.answers else 200
            self._news.set()
            if status is None:
                await asyncio.sleep(60)
            more = "Location: http://127.0.0.1:1/\r\n" if status == 302 else ""
            writer.write(f"HTTP/1.1 {status} x\r\n{more}Content-Length: 2\r\n\r\nok".encode())


@asynccontextmanager
async def club() -> AsyncIterator[Club]:
    made = Club()
    async with listening(made.serve) as made.port:
        yield made


class Hall:
    """A tournament in the store, and nodes that tell of it."""

    def __init__(self, store: Store, told: Told) -> None:
        self.store = store
        self.told = told
        self._written = 0

    async def write(self) -> None:
        """Append to the store what the tournament has come to."""
        lines = self.told.lines[self._written :]
        await self.store.journals.append(
            keys.tournament("CUP"),
            [payload for _, payload in lines],
            expect=self._written,
            sets={},
            ttl_s=600,
        )
        self._written += len(lines)

    async def look(self, *nodes: Webhooks) -> int | None:
        """Let nodes look and wait until they are done; gives when the timer is due."""
        for node in nodes:
            await node.look("h:CUP")
        async with asyncio.timeout(WAIT_S):
            for node in nodes:
                await asyncio.gather(*list(node._running.values()))
        return (await dues(self.store)).get("h:CUP")


@asynccontextmanager
async def hall(store_url: str, told: Told | None = None) -> AsyncIterator[Hall]:
    store = await Store.open(store_url)
    made = Hall(store, told or Told(settings(Single(), title="Cup")))
    await made.write()
    try:
        yield made
    finally:
        await store.close()


@asynccontextmanager
async def node(store: Store, **options: Any) -> AsyncIterator[Webhooks]:
    made = Webhooks(store, Tally(), **({"private": True} | options))
    try:
        yield made
    finally:
        await made.close()


async def played(there: Hall, *, rounds: int = 9) -> None:
    """Play the tournament."""
    told = there.told
    told.enter(4)
    told.start()
    for _ in range(rounds):
        told.race_all()
        told.wait()
    await there.write()


async def test_notices_come_signed_and_in_order(store_url: str) -> None:
    async with club() as there, hall(store_url) as made, node(made.store) as hooks:
        secret = await hooks.choose("CUP", there.url, ALL)
        await played(made)
        await made.look(hooks)
        assert [notice["kind"] for notice in there.notices] == [
            *("round", "result", "result", "round", "result", "end")
        ]
        for headers, body in there.requests:
            assert headers[":line"] == "POST /hook?who=club HTTP/1.1"
            assert headers["Host"] == f"127.0.0.1:{there.port}"
            assert headers["Content-Type"] == "application/json"
            at = int(headers[SIGNATURE].split(",")[0].removeprefix("t="))
            mac = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
            assert headers[SIGNATURE] == f"t={at},v1={mac.hexdigest()}"
            assert abs(at - made.store.clock.now() / 1000) < 60


def test_the_signature_covers_the_time_and_every_byte() -> None:
    right = sign("secret", 5, b"body")
    assert right == "t=5,v1=" + hmac.digest(b"secret", b"5.body", "sha256").hex()
    assert len({right, sign("secret", 6, b"body"), sign("secret", 5, b"bodY")}) == 3


async def test_only_what_was_asked_for_is_told_and_only_what_comes_after(store_url: str) -> None:
    async with club() as there, hall(store_url) as made, node(made.store) as hooks:
        made.told.enter(4)
        made.told.start()
        await made.write()
        await hooks.choose("CUP", there.url, ["result", "end"])
        for _ in range(3):
            made.told.race_all()
            made.told.wait()
        await made.write()
        await made.look(hooks)
        assert [notice["kind"] for notice in there.notices] == ["result"] * 3 + ["end"]


async def test_what_was_not_taken_is_told_again_later_and_nothing_overtakes_it(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with club() as there, hall(store_url) as made, node(made.store) as hooks:
        await hooks.choose("CUP", there.url, ALL)
        await played(made)
        there.answers = [200, 500, 302, 503]
        now = made.store.clock.now
        before, due = now(), await made.look(hooks)
        assert len(there.requests) == 2
        assert due is not None
        assert before + 1_000 - SLACK_MS <= due <= now() + 1_000 + SLACK_MS
        await made.look(hooks)
        before, due = now(), await made.look(hooks)
        assert len(there.requests) == 4  # a redirect is not followed
        assert due is not None
        assert before + 4_000 - SLACK_MS <= due <= now() + 4_000 + SLACK_MS
        await made.look(hooks)
        ids = there.ids
        assert ids[1] == ids[2] == ids[3] == ids[4]
        assert list(dict.fromkeys(ids)) == [ids[0], *ids[4:]]
        assert len(set(ids)) == 6


def test_the_pauses_grow_and_have_an_end() -> None:
    pauses = [pause_ms(tries) for tries in range(1, 40)]
    assert pauses[:4] == [1_000, 2_000, 4_000, 8_000]
    assert max(pauses) == pauses[-1] == 300_000


async def test_a_receiver_that_hangs_holds_up_no_look(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with club() as there, hall(store_url) as made, node(made.store) as hooks:
        await hooks.choose("CUP", there.url, ALL)
        await played(made)
        there.answers = [None]
        again = await hooks.look("h:CUP")
        assert again is not None
        assert again > made.store.clock.now() + 10_000  # not by another node meanwhile
        await there.until(1)
        assert (await made.store.hooks.get("CUP")).tries == 0  # type: ignore[union-attr]


async def test_a_receiver_that_hangs_is_tried_again_later(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "ANSWER_LIMIT_S", 0.2)
    async with club() as there, hall(store_url) as made, node(made.store) as hooks:
        await hooks.choose("CUP", there.url, ALL)
        await played(made)
        there.answers = [None]
        await made.look(hooks)
        assert (await made.store.hooks.get("CUP")).tries == 1  # type: ignore[union-attr]


async def test_nobody_there_is_a_failure_like_any_other(store_url: str) -> None:
    async with hall(store_url) as made, node(made.store) as hooks:
        await hooks.choose("CUP", "http://127.0.0.1:1/", ALL)
        await played(made)
        await made.look(hooks)
        assert hooks._tally.notices_failed == 1


async def test_one_that_is_gone_or_silent_for_a_day_is_given_up(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with club() as there, hall(store_url) as made, node(made.store) as hooks:
        await hooks.choose("CUP", there.url, ALL)
        await played(made)
        there.answers = [410]
        await made.look(hooks)
        assert await made.store.hooks.get("CUP") is None
        assert await dues(made.store) == {}
        await hooks.choose("CUP", "http://127.0.0.1:1/", ALL)
        await made.store.hooks.told("CUP", 0, 0)
        await made.store.hooks.failed("CUP", 500, made.store.clock.now() - webhooks.GIVE_UP_MS - 1)
        await made.look(hooks)
        assert await made.store.hooks.get("CUP") is None


async def test_another_node_goes_on_where_one_has_ended(store_url: str) -> None:
    async with club() as there, hall(store_url) as made:
        async with node(made.store) as first:
            await first.choose("CUP", there.url, ALL)
            await played(made)
            there.answers = [200, 200, 500]
            await made.look(first)
        async with node(made.store) as second:
            await made.look(second)
        assert len(there.ids) == 7
        assert len(set(there.ids)) == 6
        async with node(made.store) as third:
            assert await made.look(third) is None  # all is told: no timer is left
        assert len(there.ids) == 7


async def test_notices_lag_behind_as_far_as_spectators_do(store_url: str) -> None:
    told = Told(settings(Single(), race=replace(RACE, delay_s=600)))
    async with club() as there, hall(store_url, told) as made, node(made.store) as hooks:
        await hooks.choose("CUP", there.url, ALL)
        await played(made)
        due = await made.look(hooks)
        assert there.requests == []
        assert due is not None


async def test_the_store_may_lose_what_was_told_of(store_url: str) -> None:
    async with club() as there, hall(store_url) as made, node(made.store) as hooks:
        await hooks.choose("CUP", there.url, ALL)
        await played(made, rounds=1)
        await made.look(hooks)
        before = len(there.requests)
        made.told = Told(settings(Single(), title="Cup"))
        made._written = 0
        await made.store._pool.ask("DEL", keys.journal(keys.tournament("CUP")).journal)
        await made.write()
        await made.look(hooks)
        await made.store.hooks.told("CUP", 0, 0)
        await played(made)
        await made.look(hooks)
        assert len(there.requests) == before + 6


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://localhost/", "nonsense"])
async def test_a_url_that_leads_inside_is_refused_when_it_is_chosen(
    store_url: str, url: str
) -> None:
    async with hall(store_url) as made, node(made.store, private=False) as hooks:
        with pytest.raises(Refusal) as refused:
            await hooks.choose("CUP", url, ALL)
        assert refused.value.code == "bad-url"
        assert await made.store.hooks.get("CUP") is None


async def test_a_name_that_leads_inside_later_is_not_followed_either(store_url: str) -> None:
    found = ["93.184.215.14"]

    async def look_up(name: str, port: int) -> Sequence[str]:
        return found

    async with (
        club() as there,
        hall(store_url) as made,
        node(made.store, private=False, lookup=look_up) as hooks,
    ):
        await hooks.choose("CUP", f"http://club.example:{there.port}/", ALL)
        found[:] = ["127.0.0.1"]
        await played(made)
        await made.look(hooks)
        assert there.requests == []
        assert hooks._tally.notices_failed == 1


async def test_neither_url_nor_secret_is_in_any_log(
    store_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with club() as there, hall(store_url) as made, node(made.store) as hooks:
        there.answers = [500]
        secret = await hooks.choose("CUP", there.url, ALL)
        await played(made)
        await made.look(hooks)
        await made.look(hooks)
        await hooks.choose("CUP", "http://127.0.0.1:1/private-path", ALL)
        await made.store.hooks.told("CUP", 0, 0)
        await made.look(hooks)
    said = [record.getMessage() + str(record.__dict__) for record in caplog.records]
    for private in (secret, "who=club", "private-path", str(there.port)):
        assert not any(private in text for text in said)
    assert any("not told" in text for text in said)


async def test_without_a_webhook_a_timer_ends(store_url: str) -> None:
    async with hall(store_url) as made, node(made.store) as hooks:
        assert await hooks.look("h:CUP") is None


async def test_a_swiss_of_many_costs_each_entry_once(store_url: str) -> None:
    told = Told(settings(Swiss(rounds=3)))
    async with club() as there, hall(store_url, told) as made, node(made.store) as hooks:
        await hooks.choose("CUP", there.url, ["end"])
        told.enter(32)
        told.start()
        while told.t.phase == "running":
            for call in calls(told.t):
                told.race(call, [[player] for player, _ in call.players])
                await made.write()
                await made.look(hooks)
            told.wait()
        await made.write()
        await made.look(hooks)
        assert [notice["kind"] for notice in there.notices] == ["end"]
        assert hooks._known["CUP"].herald.t.version == told.t.version


async def test_what_a_newer_server_has_written_waits_for_it(
    store_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with club() as there, hall(store_url) as made, node(made.store) as hooks:
        await hooks.choose("CUP", there.url, ALL)
        await made.store.journals.append(
            keys.tournament("CUP"), [b'{"e":"unheard-of"}'], expect=1, sets={}, ttl_s=600
        )
        await made.look(hooks)
        assert there.requests == []
        assert "of a newer server" in caplog.text


def test_no_event_of_a_tournament_carries_a_webhook() -> None:
    fields = {name for kind in ev.KINDS for name in kind.__struct_fields__}
    assert not {"url", "hook", "secret"} & fields
    assert not hasattr(acts, "decide_hook")


# --- over the wire ----------------------------------------------------------------------


async def test_an_owner_has_a_club_told_of_a_tournament_that_is_raced(store_url: str) -> None:
    async with (
        club() as there,
        serving(store_url, private_webhooks=True) as made,
        bots([made.port], 2) as players,
    ):
        boss = await Someone.arrive(made.port, "boss")
        organiser = await Organiser.open(boss, quick(Single()))
        await boss.say(
            w.Webhook(tournament=organiser.code, key=organiser.keys.owner, url=there.url)
        )
        hooked = await boss.hear(w.Hooked)
        for each in players:
            await each.line.say(w.Enter(tournament=organiser.code))
            await each.line.hear(w.Place)
        await organiser.direct(a.Begin())
        async with asyncio.timeout(30):
            while not there.notices or there.notices[-1]["kind"] != "end":
                await there.until(len(there.requests) + 1)
        assert there.notices[0]["kind"] == "round"
        headers, body = there.requests[0]
        at = int(headers[SIGNATURE].split(",")[0].removeprefix("t="))
        assert headers[SIGNATURE] == sign(hooked.secret, at, body)
        # Nobody else is shown it.
        visitor = await Someone.arrive(made.port, "visitor")
        await visitor.say(w.Visit(tournament=organiser.code))
        await visitor.hear(w.Tournament)
        await visitor.say(w.Chronicle(tournament=organiser.code))
        await visitor.hear(w.Annals)
        for frame in visitor.frames:
            assert there.url.encode() not in frame
            assert hooked.secret.encode() not in frame
        await visitor.go()
        await boss.go()


async def test_only_the_owner_chooses_a_webhook_and_may_end_it(store_url: str) -> None:
    async with club() as there, serving(store_url, private_webhooks=True) as made:
        boss = await Someone.arrive(made.port, "boss")
        organiser = await Organiser.open(boss, quick(Single()))
        keys_of = organiser.keys
        for key, code in ((keys_of.referee, "not-yours"), ("nonsense", "bad-key")):
            asked = w.Webhook(tournament=organiser.code, key=key, url=there.url)
            assert (await boss.refused(asked)).code == code
        store = await Store.open(store_url)
        for url, is_kept in ((there.url, True), ("", False)):
            await boss.say(w.Webhook(tournament=organiser.code, key=keys_of.owner, url=url))
            assert bool((await boss.hear(w.Hooked)).secret) == is_kept
            assert (await store.hooks.get(organiser.code) is not None) == is_kept
        await store.close()
        await boss.go()


async def test_a_server_refuses_to_tell_its_own_machine_by_default(store_url: str) -> None:
    async with club() as there, serving(store_url) as made:
        boss = await Someone.arrive(made.port, "boss")
        organiser = await Organiser.open(boss, quick(Single()))
        asked = w.Webhook(tournament=organiser.code, key=organiser.keys.owner, url=there.url)
        assert (await boss.refused(asked)).code == "bad-url"
        await boss.go()


async def test_what_is_ruled_after_the_end_is_told_too(store_url: str) -> None:
    store = await Store.open(store_url)
    crew = Crew(store)
    code = (await crew.halls.open(quick(Single()), public=True)).tournament
    member = keys.hook_timer(code)
    async with crew.halls.held(code) as hall:
        await hall.commit(lambda t: acts.decide_cancel(t, "owner", "rain"))
        assert member not in await dues(store)
        await hall.commit(lambda t: acts.decide_announce(t, "owner", "see you in May"))
        assert member in await dues(store)
    await crew.close()
    await store.close()
