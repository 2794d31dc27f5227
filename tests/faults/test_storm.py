"""A short storm, of which `make faults` is the long one."""

from pathlib import Path

from tests.faults.schedule import KINDS, plan
from tests.faults.storm import Storm

SEED = 20


def test_a_schedule_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    assert plan(7, 60, 1.0) == plan(7, 60, 1.0)
    assert plan(7, 60, 1.0) != plan(8, 60, 1.0)


def test_a_long_schedule_has_every_kind_of_fault_in_order_and_in_time() -> None:
    faults = plan(1, 240, 1.2)
    assert len(faults) >= 200
    assert {fault.kind for fault in faults} == set(KINDS)
    assert [fault.at for fault in faults] == sorted(fault.at for fault in faults)
    assert faults[-1].at < 240


async def test_races_through_a_storm_lose_double_and_forget_nothing(tmp_path: Path) -> None:
    figures = await Storm(tmp_path, SEED, 10, 1.2, vanishing=0).run()
    text = "\n".join(figures.lines())
    assert figures.is_good, text
    assert figures.verdict.zeros == (0, 0, 0, 0)
    assert figures.verdict.races >= 4, text
    assert figures.verdict.answers > 100, text
    assert figures.faults.total() >= 8, text
