"""The clock: the quickest ping is believed."""

from hypothesis import given
from hypothesis import strategies as st

from client.clock import KEPT, Clock


def test_nothing_is_known_before_anything_was_heard() -> None:
    assert Clock().server_ms(5.0) is None
    assert Clock().trip_ms is None


def test_a_stamp_counts_until_the_first_ping() -> None:
    clock = Clock().stamped(1_000_000, 10.0)
    assert clock.server_ms(11.0) == 1_001_000
    clock = clock.ponged(1_000_500, 10.0, 10.2)
    assert clock.server_ms(10.1) == 1_000_500


def test_the_least_delayed_stamp_is_the_nearest() -> None:
    clock = Clock().stamped(1_000_000, 10.0).stamped(1_000_500, 11.0)
    assert clock.server_ms(10.0) == 1_000_000


@given(
    st.lists(st.tuples(st.floats(0, 0.5), st.floats(0, 0.5)), min_size=1, max_size=KEPT),
    st.integers(-(10**6), 10**6),
)
def test_the_error_is_at_most_half_of_the_quickest_trip(
    trips: list[tuple[float, float]], offset: int
) -> None:
    clock, sent = Clock(), 100.0
    for there, back in trips:
        server = round((sent + there) * 1000 + offset)
        clock = clock.ponged(server, sent, sent + there + back)
        sent += 1
    quickest = min((there + back) * 1000 for there, back in trips)
    told = clock.server_ms(200.0)
    assert told is not None
    assert abs(told - (200_000 + offset)) <= quickest / 2 + 1


def test_old_samples_leave() -> None:
    clock = Clock().ponged(0, 0.0, 0.0)
    for number in range(KEPT):
        clock = clock.ponged(0, float(number), number + 0.1)
    assert len(clock.samples) == KEPT
    assert all(sample.trip_ms > 0 for sample in clock.samples)
