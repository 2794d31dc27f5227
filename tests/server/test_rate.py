"""How often something may happen."""

from hypothesis import given
from hypothesis import strategies as st

from server.rate import Quota, Rate


def test_a_burst_may_come_at_once_and_then_so_many_a_second() -> None:
    rate = Rate(per_s=10, burst=5)
    assert [rate.takes(100.0) for _ in range(6)] == [True] * 5 + [False]
    assert not rate.takes(100.05)


def test_the_bucket_fills_again_while_nothing_comes_but_not_above_the_burst() -> None:
    rate = Rate(per_s=10, burst=5)
    assert all(rate.takes(100.0) for _ in range(5))
    assert [rate.takes(100.2) for _ in range(3)] == [True, True, False]
    assert [rate.takes(999.0) for _ in range(6)] == [True] * 5 + [False]


def test_a_steady_stream_at_the_rate_passes_for_ever() -> None:
    rate = Rate(per_s=10, burst=1)
    assert all(rate.takes(i / 10) for i in range(10_000))


@given(st.lists(st.floats(0, 1), max_size=200))
def test_never_more_pass_than_the_burst_and_the_time_allow(gaps: list[float]) -> None:
    rate = Rate(per_s=7, burst=3)
    now = passed = 0.0
    for gap in gaps:
        now += gap
        passed += rate.takes(now)
        assert passed <= 3 + 7 * now + 1e-6


def test_what_was_refused_does_not_count() -> None:
    rate = Rate(per_s=1, burst=1)
    assert rate.takes(100.0)
    assert not any(rate.takes(100.5) for _ in range(100))
    assert rate.takes(101.0)


def test_a_quota_is_each_ones_own_and_remembers_only_so_many() -> None:
    quota = Quota(per_s=1, burst=1, most=2)
    assert quota.takes("anna", 100.0)
    assert quota.takes("ben", 100.0)
    assert not quota.takes("anna", 100.0)
    assert quota.takes("cleo", 100.0)  # ben, not seen for longest, is forgotten
    assert not quota.takes("anna", 100.0)
    assert quota.takes("ben", 100.0)
