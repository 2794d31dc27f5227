"""Finished races fetched from a server."""

import json
from pathlib import Path

import pytest

from client.fairness import head_of
from client.identity import Identity
from client.organiser import Organiser, OrganiserFailed
from client.record import RaceFailed, fetch
from tests.client.stage import Actor, room, staged
from tests.client.terminal import real_server
from wire.messages import Journal, Record, Refused, Spectate, Standings

ENTRIES = ['1 {"e":"opened"}', '2 {"e":"over","why":"time"}']


async def given(actor: Actor) -> None:
    await actor.welcome()
    for number, entry in enumerate(ENTRIES):
        assert await actor.hear(Record) == Record(room="ABCDEF", start=number)
        await actor.say(Journal(room="ABCDEF", start=number, total=2, entries=[entry]))


async def fetched(url: str) -> tuple[list[str], Standings | None]:
    async with Organiser(url, Identity(), "organiser") as organiser:
        return await organiser.record("ABCDEF"), await organiser.published("ABCDEF")


async def test_all_parts_are_asked_for_and_the_published_standings() -> None:
    async def script(actor: Actor) -> None:
        await given(actor)
        await actor.hear(Spectate)
        await actor.say(room(phase="over"))
        await actor.say(Standings(room="ABCDEF", reason="time", rows=[], head=head_of(ENTRIES)))
        await actor.stay()

    async with staged(script) as stage:
        entries, published = await fetched(stage.url)
    assert entries == ENTRIES
    assert published is not None
    assert published.head == head_of(ENTRIES)


async def test_a_room_that_cannot_be_watched_gives_its_record_all_the_same() -> None:
    async def script(actor: Actor) -> None:
        await given(actor)
        await actor.hear(Spectate)
        await actor.say(Refused(re="spectate", code="no-spectators", reason="No spectators."))
        await actor.stay()

    async with staged(script) as stage:
        assert await fetched(stage.url) == (ENTRIES, None)


async def test_a_dead_address_is_said_at_once_and_named() -> None:
    with pytest.raises(OrganiserFailed, match=r"ws://127\.0\.0\.1:1: nobody answers there"):
        await fetched("ws://127.0.0.1:1")


@pytest.mark.parametrize("published", [head_of(ENTRIES), "00" * 32, None])
def test_a_record_that_is_not_the_published_one_is_kept_and_said(
    published: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def entries(url: str, room: str, password: str) -> tuple[list[str], str | None]:
        return ENTRIES, published

    monkeypatch.setattr("client.record._entries", entries)
    file = tmp_path / "race.dk"
    done = fetch("ws://h:1", "ABCDEF", "", file)
    assert (published == "00" * 32) == bool(done.fault)
    header, *kept = file.read_text().splitlines()
    assert json.loads(header)["head"] == (published or head_of(ENTRIES))
    assert kept == ENTRIES


def test_a_race_that_is_not_over_leaves_no_file(tmp_path: Path) -> None:
    with real_server(tmp_path) as url, pytest.raises(RaceFailed, match="There is no room"):
        fetch(url, "ABCDEF", "", tmp_path / "race.dk")
    assert not (tmp_path / "race.dk").exists()
