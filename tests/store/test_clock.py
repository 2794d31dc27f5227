from server.store.clock import SAMPLES, Clock


class Hand:
    """A clock set by hand."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def test_the_quickest_round_trip_counts() -> None:
    clock = Clock(Hand())
    clock.sample(99.0, 101.0, 5_000.7)  # a second each way, for all that is known
    clock.sample(99.9, 100.1, 5_000.0)
    clock.sample(98.0, 102.0, 5_001.0)
    assert clock.now() == 5_000_000


def test_the_estimate_runs_with_the_local_clock() -> None:
    hand = Hand()
    clock = Clock(hand)
    clock.sample(100.0, 100.0, 5_000.0)
    hand.at += 1.5
    assert clock.now() == 5_001_500


def test_a_step_of_the_stores_clock_is_followed() -> None:
    clock = Clock(Hand())
    clock.sample(100.0, 100.0, 5_000.0)
    for _ in range(SAMPLES):
        clock.sample(99.9, 100.1, 6_000.0)
    assert clock.now() == 6_000_000


def test_another_store_has_a_clock_of_its_own() -> None:
    clock = Clock(Hand())
    clock.sample(100.0, 100.0, 5_000.0)
    clock.forget()
    clock.sample(90.0, 110.0, 7_000.0)
    assert clock.now() == 7_000_000
