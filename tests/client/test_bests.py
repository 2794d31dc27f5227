"""A player's own best: counted once, by the game, and no loss when the file is one."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from client.bests import Best, Bests, count, keep, load, told
from client.filing import NotWritten, alone
from tests.client.stage import standing
from wire.values import Settings

GAME = Settings()


def test_the_most_cards_and_the_quickest_solution_stay() -> None:
    bests = Bests({})
    for room, cards, time_ms in (("A", 40, None), ("B", 104, 300_000), ("C", 104, 400_000)):
        row = standing(cards=cards, finished_ms=time_ms)
        bests = bests.counted(room, GAME, row)
    assert bests.of(GAME) == Best(races=3, solved=2, cards=104, time_ms=300_000)


def test_a_room_counts_once_for_each_player_and_every_game_for_itself() -> None:
    bests = Bests({}).counted("A", GAME, standing())
    assert bests.counted("A", GAME, standing(cards=0)) == bests
    assert bests.counted("A", GAME, standing("bob")).of(GAME).races == 2
    easy = Settings(undo="free")
    assert bests.of(easy) == Best()
    assert bests.counted("B", easy, standing()).of(GAME) == bests.of(GAME)


def test_what_is_told_is_the_best_and_whether_it_is_new() -> None:
    first, better = Best(1, 0, 40), Best(2, 1, 104, 252_000)
    assert told(Best(), first) == "best     40 cards home; 1 race, 0 solved"
    assert told(first, better) == "best     solved in 04:12, just now; 2 races, 1 solved"
    assert told(better, better) == "best     solved in 04:12; 2 races, 1 solved"


def test_they_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "state" / "bests.json"
    bests = Bests({}).counted("A", GAME, standing(finished_ms=None))
    bests = bests.counted("B", Settings(rules="gargantua"), standing())
    keep(bests, file)
    assert load(file) == bests


@pytest.mark.parametrize("content", [b"", b"[]", b'{"games": 5}', b'{"games": {}}', b"\xff"])
def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, content: bytes) -> None:
    assert load(tmp_path / "none") == Bests({})
    file = tmp_path / "bests.json"
    file.write_bytes(content)
    with pytest.raises(NotWritten, match="holds no bests: move it away"):
        count(file, "A", GAME, standing())
    assert file.read_bytes() == content


def test_windows_that_end_their_races_at_once_lose_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.filing.LOCK_TRIES", 1500)  # half a minute
    file = tmp_path / "state" / "bests.json"
    with ThreadPoolExecutor(4) as windows:
        for number in range(12):
            windows.submit(count, file, f"R{number}", GAME, standing())
    assert load(file).of(GAME).races == 12


def test_one_that_holds_the_file_for_ever_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.filing.LOCK_GAP", 0.0)
    with alone(tmp_path), pytest.raises(NotWritten, match="in use by another klondike"):
        count(tmp_path / "bests.json", "A", GAME, standing())
    count(tmp_path / "bests.json", "A", GAME, standing())
