"""The order of a race."""

from server import events as ev
from server.standings import standings
from tests.server.journal import Told, nearly_solved, put
from wire.values import Settings


def places(told: Told) -> dict[str, int]:
    return {line.player: line.place for line in standings(told.race)}


def test_solved_come_first_by_time_then_cards_then_who_gave_up_then_who_was_put_out() -> None:
    told = Told(Settings(seed="42"))
    players = ["slow", "fast", "many", "few", "quit", "out"]
    race = told.start(*players)
    for player in ("slow", "fast"):
        put(race.racers[player], nearly_solved(1))
    for player, left in (("many", 2), ("few", 8), ("quit", 1), ("out", 1)):
        put(race.racers[player], nearly_solved(left))
        race.racers[player].reached_at = told.now
    told.play("fast", "1>f")
    told.play("slow", "1>f")
    told.tell(ev.Resigned(p="quit"), ev.Disqualified(p="out", by="owner", why="x"))
    told.tell(ev.Over(why="time"))
    assert places(told) == {"fast": 1, "slow": 2, "many": 3, "few": 4, "quit": 5, "out": 6}


def test_equal_places_skip_the_next() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("a", "b", "c")
    put(race.racers["c"], nearly_solved(1))
    told.tell(ev.Over(why="time"))
    assert places(told) == {"c": 1, "a": 2, "b": 2}


def test_with_equal_cards_fewer_face_down_and_then_the_earlier_time_decide() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("a", "b", "c")
    told.play("b", "3>2")  # turns a card
    told.play("c", "3>2")
    assert race.racers["b"].down < race.racers["a"].down
    told.tell(ev.Over(why="time"))
    assert places(told) == {"b": 1, "c": 2, "a": 3}


def test_two_who_solve_in_the_same_millisecond_share_the_place() -> None:
    told = Told(Settings(seed="42"))
    race = told.start("a", "b", "c")
    for player in ("a", "b"):
        put(race.racers[player], nearly_solved(1))
    told.play("a", "1>f", after_ms=1000)
    told.play("b", "1>f", after_ms=0)
    told.tell(ev.Over(why="time"))
    assert places(told) == {"a": 1, "b": 1, "c": 3}


def test_casino_scores_follow_from_the_position() -> None:
    told = Told(Settings(seed="42", score="casino"))
    race = told.start("a", "b")
    assert race.score(race.racers["a"]) == -104
    put(race.racers["a"], nearly_solved(1))
    assert race.score(race.racers["a"]) == 5 * 103 - 104
