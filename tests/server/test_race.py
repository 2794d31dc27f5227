"""What a race is made of by its journal."""

import random

import pytest

from server import events as ev
from server import referee
from server.permissions import ALLOWED
from server.race import Race
from server.rules import Move, deal
from server.rules.deal import fair_key, layout
from tests.server.journal import SECRET, T0, Told
from wire.values import Settings


def test_everybody_gets_the_deal_of_secret_and_salts() -> None:
    told = Told()
    race = told.start("anna", "ben")
    expected = layout(race.rules, fair_key(SECRET, "ABCDEF-1", race.rules.text(), [b"", b""]))
    assert {racer.board for racer in race.racers.values()} == {expected}


def test_a_public_seed_needs_no_secret() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    assert race.layout == deal(race.rules, "42")


def test_a_player_who_salts_differently_gets_another_deal() -> None:
    layouts = set()
    for salt in ("00", "01"):
        told = Told()
        told.seat("anna")
        told.tell(ev.Readied(p="anna", salt=salt), ev.Locked(countdown_ms=1000))
        layouts.add(told.tell(ev.Started()).layout)
    assert len(layouts) == 2


def test_the_fold_gives_what_the_referee_allowed_wherever_it_happens() -> None:
    told = Told(Settings(seed="42"))
    told.start("anna", "ben")
    told.play_on("anna", 60)
    elsewhere = Race()
    for at, payload in told.lines:
        elsewhere.apply(at, payload)
    assert elsewhere.racers["anna"].board == told.race.racers["anna"].board
    assert elsewhere.head == told.race.head
    assert elsewhere.racers["anna"].plays == told.race.racers["anna"].plays


def test_the_move_that_was_looked_ahead_is_not_taken_for_another_one() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("anna", "ben")
    referee.decide_move(race, "anna", 1, "3>2")  # looked at here, but another node was told "d"
    told.tell(ev.Played(p="anna", n=1, m="d"))
    assert race.racers["anna"].board == deal(race.rules, "42").play(Move.parse("d"))


def test_what_is_counted_along_is_what_lies_on_the_board() -> None:
    told = Told(Settings(seed="42", undo="free"))
    racer = told.start("anna", "ben").racers["anna"]
    chance = random.Random("counts")
    for _ in range(150):
        assert racer.board is not None
        told.play("anna", chance.choice(racer.board.legal_moves()).text())
        assert (racer.cards, racer.down) == (racer.board.cards, racer.board.down)
    assert racer.cards
    assert racer.down < deal(told.race.rules, "42").down
    while racer.former:
        told.tell(ev.Undone(p="anna", n=racer.n + 1))
        assert racer.board is not None
        assert (racer.cards, racer.down) == (racer.board.cards, racer.board.down)


def test_every_action_that_the_table_offers_is_understood() -> None:
    told = Told(Settings(seed="42", undo="free", start="host"))
    told.seat("anna", "ben")
    assert told.race.actions("anna") == ["chat", "kick", "leave", "ready", "start"]
    assert told.race.actions("ben") == ["chat", "leave", "ready"]
    assert told.race.actions(None) == ["join", "leave"]
    told.tell(ev.Locked(countdown_ms=1000), ev.Started())
    assert told.race.actions("ben") == [
        "chat", "finish", "hint", "leave", "move", "resign", "undo",
    ]  # fmt: skip
    told.tell(ev.Over(why="time"))
    assert told.race.actions("ben") == ["chat", "leave", "rematch"]


@pytest.mark.parametrize("phase", list(ALLOWED))
def test_a_spectator_may_never_act_in_the_race(phase: str) -> None:
    offered = ALLOWED[phase]["spectator"]  # type: ignore[index]
    assert offered <= {"join", "leave"}


def test_a_fork_is_independent_of_the_race() -> None:
    told = Told(Settings(seed="42", undo="free"))
    race = told.start("anna", "ben")
    told.play("anna", "d")
    twin = race.fork()
    twin.fold(told.now, ev.Played(p="anna", n=2, m="d"))
    assert race.racers["anna"].n == 1
    assert len(race.racers["anna"].former) == 1
    assert race.version == twin.version - 1


def test_a_journal_of_a_newer_format_is_refused_plainly() -> None:
    race = Race()
    opened = ev.Opened(
        format=ev.FORMAT + 1, room="A", deal="d", settings=Settings(), commitment="", host="p"
    )
    with pytest.raises(ev.UnknownEvent, match="update it"):
        race.apply(T0, ev.encode(opened))
