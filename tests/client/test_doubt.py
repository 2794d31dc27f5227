"""When a line that looks open is asked, and when it is given up."""

import pytest

from client.doubt import ANSWER_LIMIT, ASK_AFTER, TRIPS, Doubt, Step


def steps(doubt: Doubt, instants: list[float], trip_s: float = 0.1) -> list[Step]:
    """What is done at each instant while a play stays without an answer."""
    done: list[Step] = []
    for now in instants:
        doubt, step = doubt.look(now, is_owed=True, trip_s=trip_s)
        done.append(step)
    return done


def test_an_answer_that_is_missed_is_asked_for_once_and_then_the_line_is_given_up() -> None:
    instants = [10.0, 12.9, 13.0, 14.0, 16.9, 17.0]
    assert steps(Doubt(), instants) == ["rest", "rest", "ask", "rest", "rest", "give up"]
    assert (ASK_AFTER, ANSWER_LIMIT) == (3.0, 4.0)


def test_where_nothing_is_owed_nothing_is_doubted() -> None:
    doubt, step = Doubt(owed_since=0.0).look(100.0, is_owed=False, trip_s=0.1)
    assert (doubt, step) == (Doubt(), "rest")


def test_a_ping_that_was_sent_has_to_be_answered_though_nothing_else_is_owed() -> None:
    asked = Doubt().asked(5.0)
    assert asked.look(8.9, is_owed=False, trip_s=0.1) == (asked, "rest")
    assert asked.look(9.0, is_owed=False, trip_s=0.1)[1] == "give up"


@pytest.mark.parametrize("trip_s", [2.0, 4.0, 10.0])
def test_a_slow_line_has_as_many_seconds_as_its_trips_take(trip_s: float) -> None:
    # A play's answer is there after one trip, so a line of that trip is never even asked.
    assert steps(Doubt(), [0.0, trip_s], trip_s) == ["rest", "rest"]
    late = TRIPS * trip_s
    assert steps(Doubt(), [0.0, late - 0.1, late, 2 * late - 0.1, 2 * late], trip_s) == [
        "rest",
        "rest",
        "ask",
        "rest",
        "give up",
    ]
