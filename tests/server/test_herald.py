"""What a club hears of a tournament, out of its journal."""

from server.herald import Herald, Notice
from server.tournament import acts, calls
from server.tournament.settings import Arena, Single, Swiss
from tests.tournament.told import Told, settings


def heard(told: Told) -> list[Notice]:
    """All that a herald tells of a journal."""
    herald = Herald()
    return [notice for at, payload in told.lines for notice in herald.hear(at, payload)]


def kinds(told: Told) -> list[str]:
    return [notice.kind for notice in heard(told)]


def test_rounds_results_and_the_end_are_told_in_order() -> None:
    told = Told(settings(Single(), title="Cup"))
    told.enter(4)
    told.start()
    assert kinds(told) == ["round"]
    while told.t.phase == "running":
        told.race_all()
        told.wait()
    assert kinds(told) == ["round", "result", "result", "round", "result", "end"]
    first, result, *_, end = heard(told)
    assert (first.tournament, first.title, first.round) == ("CUP", "Cup", 1)
    assert first.starts is not None
    assert [[p.name for p in match.players] for match in first.matches] == [
        ["p001", "p004"],
        ["p002", "p003"],
    ]
    assert all(match.why for match in first.matches)
    assert (result.match, result.outcome) == ("1.1", "played")
    assert [(p.name, p.place) for p in result.players] == [("p001", 1), ("p004", 2)]
    assert end.players[0].name == "p001"
    assert end.reason


def test_every_notice_has_an_id_of_its_own_that_is_the_same_each_time() -> None:
    told = Told(settings(Swiss(rounds=3)))
    told.enter(7)
    told.start()
    while told.t.phase == "running":
        told.race_all()
        told.wait()
    ids = [notice.id for notice in heard(told)]
    assert len(set(ids)) == len(ids)
    assert ids == [notice.id for notice in heard(told)]


def test_byes_are_told_with_the_round() -> None:
    told = Told(settings(Swiss(rounds=3)))
    told.enter(5)
    told.start()
    (notice,) = heard(told)
    assert [player.name for player in notice.byes] == ["p005"]


def test_results_that_are_held_back_are_told_when_they_are_out() -> None:
    told = Told(settings(Swiss(rounds=2), hold=True))
    told.enter(4)
    told.start()
    for call in calls(told.t):
        told.race(call, [[player] for player, _ in call.players])
    assert kinds(told) == ["round"]
    told.tell(*acts.decide_publish(told.t, "owner"))
    told.settle()
    assert kinds(told) == ["round", "result", "result", "round"]


def test_a_ruling_is_told_as_the_result_that_now_counts() -> None:
    told = Told(settings(Swiss(rounds=2)))
    told.enter(4)
    told.start()
    first = calls(told.t)[0]
    told.race(first, [[player] for player, _ in first.players])
    told.tell(
        *acts.decide_override(
            told.t, "owner", told.now, first.match, [["p003"], ["p001"]], "typed it wrong"
        )
    )
    told.tell(*acts.decide_restart(told.t, "owner", told.now, first.match, "and now", confirm=True))
    outcomes = [notice.outcome for notice in heard(told) if notice.kind == "result"]
    assert outcomes == ["played", "ruled", "restarted"]


def test_a_cancelled_tournament_tells_its_end_and_no_results() -> None:
    told = Told(settings(Single()))
    told.enter(4)
    told.start()
    told.tell(*acts.decide_cancel(told.t, "owner", "fire alarm"))
    assert kinds(told) == ["round", "end"]
    assert heard(told)[-1].reason == "fire alarm"


def test_an_arena_tells_each_pairing() -> None:
    told = Told(settings(Arena(minutes=5)))
    told.enter(4)
    told.start()
    told.wait()
    assert "round" in kinds(told)
