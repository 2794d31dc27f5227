"""Where the boxes of a bracket stand."""

from collections import Counter
from itertools import combinations

import pytest

from server.public.layout import Grid, Spot, laid_out
from server.tournament.settings import Double, Play, Single
from tests.public.made import sheet, told
from tests.tournament.told import settings


def grid(play: Play, players: int) -> Grid:
    names = [f"n{number}" for number in range(players)]
    shown = sheet(told(settings(play), names))  # type: ignore[arg-type]
    return laid_out(shown.brackets[0].groups[0])


PLAYS = [Single(third_place=True), Double(), Double(final="none"), Double(final="single")]


@pytest.mark.parametrize("play", PLAYS)
@pytest.mark.parametrize("players", [2, 3, 4, 5, 8, 13, 16, 33, 64])
def test_no_box_lies_on_another_and_every_line_leads_to_the_right(play: Play, players: int) -> None:
    made = grid(play, players)
    columns: dict[int, list[float]] = {}
    for spot in made.spots:
        columns.setdefault(spot.column, []).append(spot.row)
        assert 0 <= spot.row <= made.rows - 1
        assert 0 <= spot.column < made.columns
    for rows in columns.values():
        assert all(abs(a - b) >= 1 for a, b in combinations(rows, 2))
    assert all(source.column < target.column for source, target in made.edges)


@pytest.mark.parametrize("players", [4, 8, 32])
def test_a_box_stands_half_way_between_those_that_feed_it(players: int) -> None:
    made = grid(Single(), players)
    into: dict[str, list[Spot]] = {}
    for source, target in made.edges:
        into.setdefault(target.slot.slot, []).append(source)
    for spot in made.spots:
        if spot.slot.round > 1:
            above, below = into[spot.slot.slot]
            assert spot.row == (above.row + below.row) / 2


def test_the_losers_bracket_is_below_the_winners_and_the_finals_at_the_right() -> None:
    made = grid(Double(), 16)
    rows = {side: [s.row for s in made.spots if s.slot.side == side] for side in SIDES}
    assert max(rows["winners"]) < min(rows["losers"])
    finals = [spot for spot in made.spots if spot.slot.side == "final"]
    assert [spot.column for spot in finals] == [made.columns - 2, made.columns - 1]
    assert finals[0].row == finals[1].row


SIDES = ("winners", "losers", "final")


def test_every_winner_goes_somewhere_once() -> None:
    made = grid(Double(), 16)
    leaving = Counter(source.slot.slot for source, _ in made.edges)
    assert set(leaving.values()) == {1}
    assert len(leaving) == len(made.spots) - 1  # all but the last final
