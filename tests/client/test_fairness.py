"""The deal compared with its promise: hashes alone, and no false alarm."""

import re
from pathlib import Path

import msgspec
import pytest

from client import model
from client.fairness import Check, Notes, check, commitment_of, head_of
from client.model import State
from server.journaling import chain
from tests.client.stage import room, seat
from wire.messages import Countdown, Standings
from wire.values import Reveal

SECRET = "5e" * 32
PROMISED = commitment_of("ABCDEF", SECRET)
OWN = b"my own bytes"
SALTS = [OWN.hex(), ""]
REVEAL = Reveal(
    deal="ABCDEF", commitment=PROMISED, secret=SECRET, seed=None, salts=SALTS, position=""
)
NOTES = Notes("ABCDEF", PROMISED, tuple(SALTS), OWN.hex(), seat=0, is_ready=True)


def changed(**changes: object) -> Reveal:
    return msgspec.structs.replace(REVEAL, **changes)


def test_commitments_are_those_of_the_published_vectors() -> None:
    page = Path(__file__).parents[2] / "docs" / "fairness.md"
    vectors = re.findall(
        r'"deal": "(.+?)",\s+"secret": "(.+?)",.+?"commitment": "(.+?)"', page.read_text(), re.S
    )
    assert len(vectors) == 5
    for deal, secret, commitment in vectors:
        assert commitment_of(deal, secret) == commitment


def test_a_deal_as_promised_is_said_to_be_checked() -> None:
    assert check(NOTES, REVEAL) == Check(
        "Deal checked: secret and bytes are those promised, your own among them."
    )


@pytest.mark.parametrize(
    ("notes", "reveal", "words"),
    [
        (NOTES, changed(secret="5f" * 32), "the secret does not fit the commitment"),
        (NOTES, changed(secret="no hex"), "the secret does not fit the commitment"),
        (NOTES, changed(deal="OTHER"), "the secret does not fit the commitment"),
        (
            NOTES,
            changed(secret="5f" * 32, commitment=commitment_of("ABCDEF", "5f" * 32)),
            "the server now shows another commitment",
        ),
        (NOTES, changed(salts=[OWN.hex(), "00"]), "bytes were changed after the lock"),
        (
            Notes("ABCDEF", PROMISED, ("00", ""), OWN.hex(), 0, True),
            changed(salts=["00", ""]),
            "your own bytes are not in the deal",
        ),
    ],
)
def test_a_deal_that_breaks_a_promise_is_a_loud_warning(
    notes: Notes, reveal: Reveal, words: str
) -> None:
    found = check(notes, reveal)
    assert found is not None
    assert found.is_bad
    assert words in found.text


@pytest.mark.parametrize(
    ("notes", "reveal"),
    [
        (NOTES, None),  # other races still use the deal
        (Notes("ABCDEF", ""), REVEAL),  # a public seed promises nothing
    ],
)
def test_where_nothing_was_promised_or_revealed_nothing_is_said(
    notes: Notes, reveal: Reveal | None
) -> None:
    assert check(notes, reveal) is None


@pytest.mark.parametrize(
    "notes",
    [
        Notes("ABCDEF", PROMISED),  # a spectator who came later
        Notes("ABCDEF", PROMISED, tuple(SALTS), None, 0, True),  # came back after a crash
        Notes("ABCDEF", PROMISED, tuple(SALTS), "77", 1, is_ready=False),  # too late to count
    ],
)
def test_who_knows_less_is_not_alarmed(notes: Notes) -> None:
    found = check(notes, REVEAL)
    assert found is not None
    assert not found.is_bad


def test_the_commitment_shown_first_and_the_first_list_of_bytes_count() -> None:
    state = State()
    opened = room(phase="open", commitment=PROMISED, seats=[seat("ann", ready=True), seat("bob")])
    state = model.heard(state, opened, 0.0)
    state = model.heard(state, Countdown(starts=1, remaining_ms=1, salts=SALTS), 0.0)
    later = msgspec.structs.replace(opened, phase="over", commitment="00" * 32)
    state = model.heard(state, later, 0.0)
    state = model.heard(state, Countdown(starts=1, remaining_ms=1, salts=["00", "00"]), 0.0)
    assert state.notes == Notes("ABCDEF", PROMISED, tuple(SALTS), None, 0, True)
    end = Standings(room="ABCDEF", reason="time", rows=[], head="", reveal=REVEAL)
    assert model.heard(state, end, 0.0).deal_check == check(state.notes, REVEAL)


def test_a_broken_promise_is_said_at_once_when_the_standings_come() -> None:
    state = model.heard(State(), room(phase="over", commitment="00" * 32), 0.0)
    end = Standings(room="ABCDEF", reason="time", rows=[], head="", reveal=REVEAL)
    after = model.heard(state, end, 0.0)
    assert after.notice.tone == "bad"
    assert "THE DEAL IS NOT WHAT WAS PROMISED" in after.notice.text


def test_the_head_of_a_journal_is_that_of_the_server_and_ends_where_the_race_does() -> None:
    lines = ['1 {"e":"opened"}', '2 {"e":"over","why":"time"}', '3 {"e":"followed","room":"X"}']
    assert head_of(lines) == chain(line.encode() for line in lines[:2]).hex()
    revealed = [*lines[:2], '4 {"e":"revealed","secret":"00"}']
    assert head_of(revealed) == chain(line.encode() for line in revealed).hex()
