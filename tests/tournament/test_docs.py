"""docs/tournaments.md says what the code does."""

from pathlib import Path

import pytest

from server.tournament.acts import ALLOWED
from server.tournament.formats import FORMATS
from server.tournament.formats.bracket import DROPS
from server.tournament.records import Phase

TEXT = (Path(__file__).parents[2] / "docs" / "tournaments.md").read_text()


@pytest.mark.parametrize("phase", list(ALLOWED))
def test_the_documented_acts_are_those_of_the_table(phase: Phase) -> None:
    roles = (", ".join(sorted(ALLOWED[phase][role])) for role in ("owner", "referee", "player"))
    cells = (f" {cell} " if cell else " " for cell in (phase, *roles))
    assert f"|{'|'.join(cells)}|" in TEXT


def test_every_format_has_its_section() -> None:
    for play in FORMATS:
        assert f"(`{play.__struct_config__.tag}`)" in TEXT


@pytest.mark.parametrize("size", DROPS)
def test_the_documented_drops_are_those_of_the_code(size: int) -> None:
    row = ", ".join(DROPS[size]).replace("pair-flip, pair-flip, pair-flip", "pair-flip ×3")
    assert f"| {size} | {row} |" in TEXT
