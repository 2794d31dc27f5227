"""A client without a player: what it says when nothing comes back."""

import pytest

from client import organiser
from client.identity import Identity
from client.organiser import Organiser, OrganiserFailed
from tests.client.stage import Actor, staged
from wire.messages import Close, Error, Record


async def test_who_is_not_let_in_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(organiser, "ANSWER_LIMIT", 0.5)

    async def full(actor: Actor) -> None:
        await actor.hear_hello()
        await actor.close(Close.OVERLOAD)

    async with staged(full) as stage:
        with pytest.raises(OrganiserFailed, match=r"did not answer in .* s: the server is full"):
            async with Organiser(stage.url, Identity(), "boss"):
                raise AssertionError("it came in")


@pytest.mark.parametrize(
    "error",
    [
        Error(code="bad-frame", reason="It is no message."),
        Error(code="internal", reason="It is no message.", re="record"),
    ],
)
async def test_a_request_that_fails_is_not_waited_for(error: Error) -> None:
    async def faulty(actor: Actor) -> None:
        await actor.welcome()
        await actor.hear(Record)
        await actor.say(error)

    async with staged(faulty) as stage, Organiser(stage.url, Identity(), "boss") as boss:
        with pytest.raises(OrganiserFailed, match="It is no message"):
            await boss.record("CODE")
