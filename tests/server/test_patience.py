"""How long requests wait for the store."""

import asyncio

import pytest

from server.patience import Patience
from server.refusal import Refusal


class Stub:
    """A store that is up or not, and a clock that jumps where it is slept on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, up: bool = True) -> None:
        self.now = 0.0
        self.up = up
        self.pauses: list[float] = []
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "time", lambda: self.now)
        monkeypatch.setattr("server.patience.asyncio.sleep", self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    async def wait_up(self, limit_s: float) -> bool:
        if not self.up:
            self.now += limit_s
        return self.up


async def test_after_a_broken_line_it_is_tried_at_once_and_then_ever_more_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Stub(monkeypatch)
    patient = Patience(store, 20)
    tried = []
    for _ in range(4):
        await patient.wait()
        tried.append(patient.is_tried)
    assert tried == [False, True, True, True]
    with pytest.raises(Refusal, match="does not answer"):
        await _wait_for_ever(patient)
    assert store.pauses[:4] == [0.0, 0.05, 0.1, 0.2]
    assert max(store.pauses) == 1.0
    assert 20 <= store.now <= 21


async def _wait_for_ever(patient: Patience) -> None:
    while True:
        await patient.wait()


async def test_a_store_that_stays_away_uses_the_time_up(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Stub(monkeypatch, up=False)
    with pytest.raises(Refusal) as refused:
        await Patience(store, 5).wait()
    assert refused.value.code == "store"
    assert store.now == 5


async def test_what_is_refused_again_and_again_keeps_nothing_of_the_earlier_times() -> None:
    def depth(refusal: Refusal) -> int:
        count, trace = 0, refusal.__traceback__
        while trace is not None:
            count, trace = count + 1, trace.tb_next
        return count

    class Gone:
        async def wait_up(self, limit_s: float) -> bool:
            return False

    depths = []
    for _ in range(3):
        with pytest.raises(Refusal) as refused:
            await Patience(Gone()).wait()
        depths.append(depth(refused.value))
    assert len(set(depths)) == 1
