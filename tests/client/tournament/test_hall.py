"""Keys on the pages of tournaments."""

import pytest

from client.tournament import hall as halls
from client.tournament.hall import TABS, Hall, press
from client.tournament.tour import Tour, heard
from tests.client.tournament.scenes import place, progress, scene, tournament
from wire.formats import TournamentSettings
from wire.lines import TournamentLine
from wire.messages import Join, Spectate
from wire.tournaments import (
    Called,
    CheckIn,
    Enter,
    Place,
    Programme,
    Rejoin,
    Tournaments,
    Visit,
    Withdraw,
)

BY_INVITATION = TournamentSettings(entry="invited")


def line(code: str) -> TournamentLine:
    return TournamentLine(
        tournament=code,
        title=code,
        format="swiss",
        phase="draft",
        entrants=3,
        places=64,
        opened=1,
    )


def tour(*actions: str, **changes: object) -> Tour:
    """Somebody who looks at CUP, with a place in it where there are actions."""
    made = heard(Tour(scene=scene()), Programme(tournaments=[line("ONE"), line("CUP")]))
    if actions or changes:
        fields: dict[str, object] = {
            "tournament": "CUP",
            "phase": "running",
            "entry": "p1",
            "actions": list(actions),
        }
        made = heard(made, Place(**(fields | changes)))  # type: ignore[arg-type]
    return made


def call() -> Called:
    return Called(
        tournament="CUP",
        title="Cup",
        match="1.1",
        race=1,
        room="ROOM",
        starts=5,
        opponents=["bob"],
        no_show_s=60,
    )


def test_the_pages_open_where_the_player_takes_part_and_else_with_the_list() -> None:
    assert halls.opened(Tour()) == (Hall(), [Tournaments()])
    elsewhere = heard(tour(), Place(tournament="ONE", phase="running", entry="p1"))
    assert halls.opened(elsewhere) == (Hall("ONE"), [Visit(tournament="ONE")])
    assert halls.opened(tour("withdraw")) == (Hall("CUP"), [Visit(tournament="CUP")])
    assert halls.opened(heard(tour(), call())) == (Hall("CUP"), [Visit(tournament="CUP")])


def test_who_has_watched_a_race_comes_back_to_its_tournament() -> None:
    assert halls.opened(tour()) == (Hall("CUP"), [Visit(tournament="CUP")])


def test_the_own_tournaments_come_first_in_the_list() -> None:
    assert [each.tournament for each in halls.lines_of(tour())] == ["ONE", "CUP"]
    assert [each.tournament for each in halls.lines_of(tour("withdraw"))] == ["CUP", "ONE"]


def test_the_list_is_gone_through_and_one_of_it_opened() -> None:
    at: Hall | None = Hall()
    for key in ("up", "down", "down", "down"):
        assert at is not None
        at, said = press(at, tour(), key)
        assert said == []
    assert at == Hall(row=1)
    assert press(Hall(row=1), tour(), "enter") == (Hall("CUP"), [Visit(tournament="CUP")])
    assert press(Hall(), tour(), "r") == (Hall(), [Tournaments()])
    assert press(Hall(), Tour(), "enter") == (Hall(), [])


@pytest.mark.parametrize("key", ["T", "q"])
def test_who_closes_a_tournament_is_shown_no_more_of_it(key: str) -> None:
    assert press(Hall("CUP"), tour(), key) == (None, [Visit()])
    assert press(Hall(), tour(), key) == (None, [])
    assert press(Hall("CUP"), tour(), "esc") == (Hall(), [Visit(), Tournaments()])


def test_parts_are_turned_by_tab_and_by_number_and_begin_at_their_top() -> None:
    at = Hall("CUP", row=9, col=24)
    seen = []
    for _ in TABS:
        following, _ = press(at, tour(), "tab")
        assert following is not None
        at = following
        seen.append(at.tab)
    assert seen == [*TABS[1:], TABS[0]]
    assert press(Hall("CUP", row=9), tour(), "5")[0] == Hall("CUP", tab="bracket")
    assert press(Hall("CUP"), tour(), "backtab")[0] == Hall("CUP", tab="schedule")


def test_a_part_is_scrolled_in_all_directions_and_never_before_its_begin() -> None:
    at = Hall("CUP", tab="bracket")
    for key in ("right", "down", "pgdn", "left", "left", "up"):
        following, _ = press(at, tour(), key)
        assert following is not None
        at = following
    assert (at.row, at.col) == (15, 0)
    assert press(at, tour(), "home")[0] == Hall("CUP", tab="bracket")


@pytest.mark.parametrize("changes", [{"phase": "finished"}, {"settings": BY_INVITATION}])
def test_nobody_is_offered_a_place_that_cannot_be_had(changes: dict[str, object]) -> None:
    looking = heard(Tour(), tournament(**changes))
    assert press(Hall("CUP"), looking, "e") == (Hall("CUP"), [])
    assert looking.actions == []


def test_only_what_the_server_allows_is_said() -> None:
    assert press(Hall("CUP"), tour(), "e")[1] == [Enter(tournament="CUP")]
    assert press(Hall("CUP"), tour("checkin"), "i")[1] == [CheckIn(tournament="CUP")]
    assert press(Hall("CUP"), tour("rejoin"), "e")[1] == [Rejoin(tournament="CUP")]
    for key in ("e", "i", "x", "j", "w", "enter"):
        assert press(Hall("CUP"), tour("none"), key) == (Hall("CUP"), [])


@pytest.mark.parametrize(("answer", "said"), [("y", [Withdraw(tournament="CUP")]), ("n", [])])
def test_a_place_is_given_up_after_a_question_only(answer: str, said: list[object]) -> None:
    asked, nothing = press(Hall("CUP"), tour("withdraw"), "x")
    assert nothing == []
    assert asked == Hall("CUP", asks=True)
    assert press(Hall("CUP", asks=True), tour("withdraw"), answer) == (Hall("CUP"), said)


def test_the_own_race_is_joined_and_another_one_watched() -> None:
    waiting = tour("withdraw", room="ROOM", match="1.1", starts=9)
    assert press(Hall("CUP"), waiting, "j") == (None, [Visit(), Join(room="ROOM")])
    running = Tour(scene=scene(progress()))
    at = Hall("CUP", tab="live")
    assert press(at, running, "down")[0] == at  # there is only one
    assert press(at, running, "w") == (None, [Visit(), Spectate(room="BBBB")])


def test_a_call_is_forgotten_when_another_race_or_none_is_next() -> None:
    called = heard(tour("withdraw", room="ROOM"), call())
    assert called.called == call()
    assert heard(called, place()).called is None
    same = Place(tournament="CUP", phase="running", entry="p1", room="ROOM")
    assert heard(called, same).called == call()
    other = Place(tournament="OTHER", phase="running", entry="p1")
    assert heard(called, other).called == call()


def test_a_place_that_is_given_up_is_no_longer_the_players() -> None:
    gone = heard(tour("withdraw"), Place(tournament="CUP", phase="draft"))
    assert gone.places == {}
    assert gone.own == ""
