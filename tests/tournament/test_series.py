import pytest

from server.tournament import series
from server.tournament.events import Row
from server.tournament.records import Match, Race, Result
from tests.tournament.told import rows

A, B, C = "anna", "ben", "cleo"


def match(*orders: list[list[str]], lost: tuple[str, ...] = (), closed: bool = False) -> Match:
    """A match after some races, each given by its order, equals together."""
    races = tuple(
        Race(n, f"R{n}", f"D{n}", 0, (), tuple(rows(order)), "raced")
        for n, order in enumerate(orders, 1)
    )
    players = sorted({each for order in orders for equals in order for each in equals} | {A, B})
    return Match("1.1", 0, 0, 1, "", tuple(players), "test", races, lost, closed=closed)


def outcome(
    played: Match, best_of: int = 1, *, decisive: bool = False, alone: bool = False
) -> Result | None:
    """What a match has come to."""
    return series.outcome(played, best_of=best_of, decisive=decisive, alone=alone, seeds=[B, A, C])


def places(result: Result | None) -> dict[str, int]:
    """The places of a match that is decided."""
    assert result is not None
    return dict(result.places)


def test_a_match_of_one_race_is_decided_by_it() -> None:
    assert outcome(match()) is None
    assert places(outcome(match([[B], [A]]))) == {B: 1, A: 2}


def test_an_equal_place_is_a_draw() -> None:
    result = outcome(match([[A, B]]))
    assert places(result) == {A: 1, B: 1}
    assert result is not None
    assert result.winner is None


@pytest.mark.parametrize(
    ("orders", "decided"),
    [
        (["A"], False),
        (["A", "A"], True),
        (["A", "B"], False),
        (["A", "B", "B"], True),
        (["A", "="], False),
        (["=", "=", "A"], True),
    ],
)
def test_a_series_ends_when_the_lead_cannot_be_caught_up(orders: list[str], decided: bool) -> None:
    order = {"A": [[A], [B]], "B": [[B], [A]], "=": [[A, B]]}
    assert (outcome(match(*(order[each] for each in orders)), 3) is not None) == decided


def test_a_drawn_match_that_needs_a_winner_is_raced_on_and_at_last_goes_by_cards_and_seed() -> None:
    drawn = [[A, B]]
    for extra in range(1 + series.EXTRA_RACES):
        assert (outcome(match(*[drawn] * extra), decisive=True)) is None
    result = outcome(match(*[drawn] * (1 + series.EXTRA_RACES)), decisive=True)
    assert places(result) == {B: 1, A: 2}  # the better seed


def test_a_tie_in_races_goes_by_the_cards_of_all_races() -> None:
    races = [[[A], [B]], [[B], [A]], [[A, B]]]
    played = match(*races, closed=True)
    many = played.races[0].rows[0]
    assert many.p == A
    first = Race(
        1, "R1", "D1", 0, (), (rows([[A]], cards=99)[0], *played.races[0].rows[1:]), "raced"
    )
    richer = Match("1.1", 0, 0, 1, "", (A, B), "test", (first, *played.races[1:]), closed=True)
    assert places(outcome(richer, 3, decisive=True)) == {A: 1, B: 2}


def test_who_gives_up_loses_whatever_was_raced() -> None:
    result = outcome(match([[A], [B]], lost=(A,)), 3)
    assert places(result) == {B: 1, A: 2}
    assert result is not None
    assert result.kind == "forfeit"


def test_a_match_that_was_never_called_is_a_walkover() -> None:
    result = outcome(match(lost=(A,)))
    assert result is not None
    assert result.kind == "walkover"
    assert result.winner == B


def test_a_match_without_anybody_is_void() -> None:
    result = outcome(match(lost=(A, B)))
    assert result is not None
    assert (result.kind, result.places) == ("void", ())


def test_several_race_on_when_one_of_them_leaves() -> None:
    assert outcome(match([[A], [B], [C]], lost=(A,))) is not None
    assert places(outcome(match([[A], [B], [C]], lost=(A,)))) == {B: 1, C: 2, A: 3}


def test_a_series_of_several_goes_by_the_sum_of_places_then_by_cards() -> None:
    played = match([[A], [B], [C]], [[B], [A], [C]])
    assert outcome(played, 3) is None
    assert places(outcome(played, 2)) == {A: 1, B: 1, C: 3}


def test_a_round_that_is_over_decides_a_series_by_what_has_been_raced() -> None:
    assert places(outcome(match([[B], [A]], closed=True), 5)) == {B: 1, A: 2}
    assert places(outcome(match(closed=True), 5)) == {A: 1, B: 1}
    assert places(outcome(match(closed=True), 5, decisive=True)) == {B: 1, A: 2}


def test_somebody_alone_at_a_table_races_on_where_the_result_counts_elsewhere() -> None:
    left = match(lost=(A,))
    assert outcome(left, alone=True) is None


def test_the_order_of_rows_is_that_of_a_race() -> None:
    def row(how: str, cards: int, down: int = 0, time_ms: int = 0) -> Row:
        return Row(p=A, place=1, outcome=how, cards=cards, down=down, time_ms=time_ms)  # type: ignore[arg-type]

    best_first = [
        row("solved", 104, 0, 500),
        row("solved", 104, 0, 600),
        row("unfinished", 90, 1, 100),
        row("unfinished", 90, 2, 50),
        row("unfinished", 80, 0, 10),
        row("resigned", 100, 0, 10),
        row("disqualified", 104, 0, 10),
    ]
    worst_first = best_first[::-1]
    assert sorted(worst_first, key=series.row_key) == best_first
