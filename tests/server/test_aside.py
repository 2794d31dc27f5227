"""Long work is done in a process of its own, which nothing that happens to it can make wrong."""

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.aside import Aside, Failed
from server.refusal import Refusal
from server.tournament import Around, due
from server.tournament import events as ev
from server.tournament.settings import Swiss
from tests.processes import is_alive
from tests.server.floor import until
from tests.tournament.told import Told, settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def tests_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process find the work of this file."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
async def aside() -> AsyncIterator[Aside]:
    made = Aside()
    yield made
    await made.close()


async def gone(pid: int) -> None:
    async def is_gone() -> bool:
        return not is_alive(pid)

    await until(is_gone)


async def test_work_is_done_in_another_process_which_is_started_for_the_first(aside: Aside) -> None:
    assert aside.pid is None
    pid = await aside.do(os.getpid)
    assert pid == aside.pid != os.getpid()
    assert await aside.do(os.getpid) == pid


async def test_a_round_is_paired_there_as_it_would_be_here(aside: Aside) -> None:
    told = Told(settings(Swiss(rounds=3)))
    told.enter(64)
    told.tell(ev.Begun(by="owner"))
    told.tell(*due(told.t, told.now, told.around))
    here = due(told.t, told.now, rooms())
    before = told.t.dump()
    there = await aside.do(due, told.t.fork(), told.now, rooms())
    assert there == here
    assert isinstance(there[0], ev.RoundCalled)
    assert told.t.dump() == before


def rooms() -> Around:
    return Around(room)


def room() -> str:
    return "ROOM"


async def test_what_the_work_raises_is_raised_here(aside: Aside) -> None:
    with pytest.raises(ZeroDivisionError):
        await aside.do(divmod, 1, 0)
    with pytest.raises(Refusal, match="It is taken") as refused:
        await aside.do(refuse)
    assert refused.value.code == "taken"
    assert await aside.do(divmod, 7, 2) == (3, 1)


def refuse() -> None:
    raise Refusal("taken", "It is taken.")


async def test_what_the_work_prints_is_none_of_its_answer(aside: Aside) -> None:
    assert await aside.do(say, "hello") == 5
    assert await aside.do(divmod, 7, 2) == (3, 1)


def say(text: str) -> int:
    print(text)
    return len(text)


async def test_a_process_that_died_is_replaced(aside: Aside) -> None:
    pid = await aside.do(os.getpid)
    os.kill(pid, signal.SIGKILL)
    assert await aside.do(os.getpid) != pid


async def test_work_whose_process_is_killed_is_done_by_another(
    aside: Aside, tmp_path: Path
) -> None:
    mark = str(tmp_path / "begun")
    work = asyncio.create_task(aside.do(die_once, mark))
    assert await work == "done"


def die_once(mark: str) -> str:
    if not os.path.exists(mark):
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


async def test_work_that_kills_every_process_fails_and_the_next_does_not(aside: Aside) -> None:
    with pytest.raises(Failed):
        await aside.do(os._exit, 3)
    assert await aside.do(divmod, 7, 2) == (3, 1)


async def test_work_that_takes_too_long_is_given_up_with_its_process() -> None:
    aside = Aside(limit_s=1.0)
    pid = await aside.do(os.getpid)
    with pytest.raises(Failed, match="no answer"):
        await aside.do(time.sleep, 60)
    await gone(pid)
    assert await aside.do(divmod, 7, 2) == (3, 1)
    await aside.close()


async def test_the_answer_to_work_that_was_called_off_is_nobody_elses(aside: Aside) -> None:
    await aside.do(os.getpid)
    work = asyncio.create_task(aside.do(slowly, "former"))
    await asyncio.sleep(0.05)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    assert await aside.do(slowly, "newer") == "newer"


def slowly(text: str) -> str:
    time.sleep(0.1)
    return text


async def test_several_who_ask_at_once_each_get_their_own_answer(aside: Aside) -> None:
    found = await asyncio.gather(*(aside.do(divmod, number, 7) for number in range(20)))
    assert found == [divmod(number, 7) for number in range(20)]


async def test_a_process_without_work_ends_after_a_while(
    aside: Aside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.aside.IDLE_S", 0.05)
    await gone(await aside.do(os.getpid))
    assert aside.pid is None
    assert await aside.do(divmod, 7, 2) == (3, 1)


async def test_closing_ends_the_process(aside: Aside) -> None:
    pid = await aside.do(os.getpid)
    await aside.close()
    assert not is_alive(pid)
    assert aside.pid is None


PARENT = """
import asyncio, os, time
from server.aside import Aside

async def main():
    aside = Aside()
    print(await aside.do(os.getpid), flush=True)
    await aside.do(time.sleep, 1)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_the_process_ends_in_silence_with_a_node_that_is_killed() -> None:
    command = [sys.executable, "-c", PARENT]
    parent = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    assert is_alive(pid)
    await asyncio.sleep(0.3)  # it is at work
    parent.kill()
    _, said = await parent.communicate()  # what it says is said by both
    assert said == b""
    await gone(pid)
