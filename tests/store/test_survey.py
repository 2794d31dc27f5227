import asyncio

import pytest

from server.store.survey import survey


async def says(answer: int) -> int:
    return answer


async def fails() -> int:
    raise OSError("nobody there")


async def test_all_answers_and_all_errors_are_given() -> None:
    answers, errors = await survey([says(1), fails(), says(2)])
    assert sorted(answers) == [1, 2]
    assert [str(error) for error in errors] == ["nobody there"]
    assert await survey([]) == ([], [])


async def test_once_one_has_answered_the_silent_are_not_waited_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("server.store.survey.GRACE_S", 0.01)
    monkeypatch.setattr("server.store.survey.LIMIT_S", 1000.0)
    silent = asyncio.get_running_loop().create_future()
    async with asyncio.timeout(30):
        assert await survey([says(1), silent]) == ([1], [])
    assert silent.cancelled()


async def test_an_error_is_no_answer_that_would_end_the_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("server.store.survey.GRACE_S", 0.0)
    slow = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.05, slow.set_result, 3)
    answers, errors = await survey([fails(), slow])
    assert answers == [3]
    assert len(errors) == 1


async def test_where_all_are_silent_the_waiting_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.store.survey.LIMIT_S", 0.01)
    silent = asyncio.get_running_loop().create_future()
    assert await survey([silent]) == ([], [])
    assert silent.cancelled()
