import pickle

import msgspec
import pytest

from server.journaling import UnknownEvent, chain
from server.tournament import Tournament
from server.tournament import events as ev
from server.tournament.settings import Swiss
from tests.tournament.told import T0, Told, settings

SAMPLES: tuple[ev.AnyEvent, ...] = (
    ev.Created(by="owner", format=1, code="CUP", settings=settings(Swiss())),
    ev.Edited(by="owner", settings=settings(Swiss(rounds=3)), why="fewer players came"),
    ev.Entered(by="anna", p="anna", name="Anna", rating=1500, bye="half-bye"),
    ev.Withdrawn(by="anna", p="anna", why="has to go"),
    ev.Rejoined(by="anna", p="anna"),
    ev.CheckInOpened(),
    ev.CheckInClosed(by="referee"),
    ev.CheckedIn(by="anna", p="anna"),
    ev.Seeded(by="owner", method="random", draw="42"),
    ev.Begun(dropped=[ev.Bye(p="ben", why="did not check in", kind="none")]),
    ev.StageOpened(stage=0, groups=[["anna", "ben"]], ends=T0),
    ev.RoundCalled(
        stage=0,
        round=1,
        starts=T0,
        deadline=T0 + 1,
        bouts=[ev.Bout(p=["anna", "ben"], why="seeds", slot="W1.1", room="R1", deal="CUP.1.1-1")],
        byes=[ev.Bye(p="cleo", why="odd number")],
    ),
    ev.Repaired(by="referee", why="late entry", round=1, starts=T0, bouts=[]),
    ev.RacesCalled(seats=[ev.Seat(match="1.1", race=2, room="R2", deal="CUP.1.1-2")], starts=T0),
    ev.Raced(
        match="1.1",
        race=1,
        rows=[ev.Row(p="anna", place=1, outcome="solved", cards=104, time_ms=99)],
    ),
    ev.Absent(match="1.1", race=1, p=["ben"], why="was not there to play"),
    ev.RaceVoided(match="1.1", race=1, why="no result came in", last=True),
    ev.RoundClosed(round=1),
    ev.Published(by="referee", round=1),
    ev.Held(by="referee", hold=True),
    ev.MatchRestarted(by="referee", why="lag", match="1.1", stage=0, discards=["2.1"]),
    ev.MatchVoided(by="referee", why="both cheated", match="1.1", stage=0),
    ev.Overridden(by="owner", why="typed it", match="1.1", places=[["ben"], ["anna"]], stage=0),
    ev.Disqualified(by="referee", why="rude", p="ben"),
    ev.Reinstated(by="referee", why="was not", p="ben"),
    ev.Substituted(by="owner", why="ill", p="ben", player="dora", name="Dora"),
    ev.TokenRenewed(by="owner", why="lost", p="ben"),
    ev.Summoned(by="referee", p="ben"),
    ev.Paused(by="referee", why="fire alarm"),
    ev.Resumed(by="referee"),
    ev.Extended(by="referee", what="round", ms=60_000),
    ev.Announced(by="referee", text="Pizza is here."),
    ev.StageEnded(stage=0, why="all rounds are played"),
    ev.Finished(why="all rounds are played"),
    ev.Cancelled(by="owner", why="the hall is closed"),
)


def test_there_is_a_sample_of_every_event() -> None:
    assert [type(sample) for sample in SAMPLES] == list(ev.KINDS)


@pytest.mark.parametrize("event", SAMPLES, ids=lambda event: type(event).__name__)
def test_an_event_has_one_canonical_form_and_reads_back(event: ev.AnyEvent) -> None:
    payload = ev.encode(event)
    assert ev.decode(payload) == event
    assert ev.encode(ev.decode(payload)) == payload
    assert payload.startswith(b'{"e":"%s"' % type(event).__name__.lower().encode())


@pytest.mark.parametrize("event", SAMPLES, ids=lambda event: type(event).__name__)
def test_what_comes_from_another_process_is_canonical_too(event: ev.AnyEvent) -> None:
    payload = ev.encode(pickle.loads(pickle.dumps(event)))
    assert ev.encode(ev.decode(payload)) == payload


@pytest.mark.parametrize("payload", [b"", b"{}", b'{"e":"crowned","p":"anna"}', b'{"e":"paused"'])
def test_what_cannot_be_read_is_never_guessed_at(payload: bytes) -> None:
    with pytest.raises(UnknownEvent, match="cannot read the journal entry"):
        ev.decode(payload)


def test_a_journal_of_a_newer_format_is_refused() -> None:
    made = msgspec.structs.replace(SAMPLES[0], format=ev.FORMAT + 1)
    with pytest.raises(UnknownEvent, match="update it"):
        Tournament().apply(T0, ev.encode(made))


def test_the_head_of_the_hash_chain_fixes_the_whole_journal() -> None:
    told = Told(settings(Swiss()))
    told.enter(3)
    lines = [b"%d %s" % line for line in told.lines]
    assert told.t.head == chain(lines)
    assert told.t.head != chain(lines[:-1])
    assert told.t.version == len(lines)
