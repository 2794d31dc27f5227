"""The pages of tournaments on the screen, at any size and with any text."""

import dataclasses
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from client.clock import Clock
from client.desk import Desk
from client.line import Line
from client.model import State
from client.paint import Screen, frame
from client.style import Style
from client.tournament.hall import TABS, Hall
from client.tournament.tour import Tour, heard
from tests.client.states import texts
from tests.client.tournament.scenes import (
    NOW,
    bracket,
    entrants,
    knock_out,
    pairings,
    place,
    progress,
    scene,
    tournament,
)
from tests.client.tournament.test_hall import line, tour
from wire.lines import MatchLine, Notice
from wire.tournaments import Programme


def shown(
    hall: Hall, known: Tour, rows: int = 24, cols: int = 80, *, ascii_only: bool = False
) -> list[str]:
    """The whole screen."""
    state = State(tour=known, clock=Clock().stamped(NOW, 0.0), line=Line("online"))
    style = Style(ascii=ascii_only)
    return frame(Screen(state, Desk(overlay=hall), style, 0.0, "server"), rows, cols).lines()


def text(hall: Hall, known: Tour) -> str:
    return "\n".join(shown(hall, known))


def with_place(**changes: object) -> Tour:
    fields: dict[str, object] = {"actions": ["withdraw"]}
    return heard(Tour(scene=scene(progress())), replace(place(), **(fields | changes)))


def test_the_list_marks_where_one_takes_part() -> None:
    said = shown(Hall(row=1), tour("withdraw"))
    assert "* CUP" in said[2]
    assert "> " in said[4]
    assert "ONE  3/64 players  swiss" in said[5]


def test_before_the_list_or_the_tournament_has_come_there_are_dots() -> None:
    assert "..." in text(Hall(), Tour())
    assert "Tournament OTHER" in text(Hall("OTHER"), tour())
    assert "None is announced" in text(Hall(), heard(Tour(), Programme(tournaments=[])))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"room": "R", "match": "2.1", "starts": NOW + 42_000}, "Your match 2.1 starts in 00:42"),
        ({"room": "R", "match": "2.1", "starts": NOW - 1}, "Your match 2.1 has started: j goes"),
        ({}, "You wait for your next match."),
        ({"phase": "check-in"}, "Check in now"),
        ({"phase": "draft"}, "has not started"),
        ({"phase": "finished"}, "The tournament is finished."),
        ({"status": "disqualified"}, "You are disqualified."),
    ],
)
def test_it_says_what_comes_next(changes: dict[str, object], words: str) -> None:
    assert words in text(Hall("CUP"), with_place(**changes))


def test_who_has_no_place_is_told_so() -> None:
    assert "You take no part." in text(Hall("CUP"), tour())
    assert "e enter" in shown(Hall("CUP"), tour())[23]


def test_on_a_narrow_screen_every_part_still_has_its_number() -> None:
    lines = shown(Hall("CUP", tab="players"), with_place(), cols=60)
    assert lines[2] == " 1  2  3  4  5  6 Players  7"


@pytest.mark.parametrize(
    ("tab", "words"),
    [
        ("you", "Round 1  1.1  against cem  won"),
        ("live", "> 1.2  Dun"),
        ("round", "ann wins 71-65"),
        ("standings", "BH"),
        ("bracket", "There is none yet."),
        ("players", "1597"),
        ("schedule", "Round 1 starts."),
    ],
)
def test_every_part_is_shown(tab: str, words: str) -> None:
    said = text(Hall("CUP", tab=tab), with_place())  # type: ignore[arg-type]
    assert words in said
    assert re.search(r"! \d\d:\d\d soup is ready", said)


def test_a_bracket_is_drawn_and_can_be_scrolled_to_the_side() -> None:
    known = Tour(scene=knock_out())
    assert "─┐ winners 2" in text(Hall("CUP", tab="bracket"), known)
    narrow = shown(Hall("CUP", tab="bracket", col=999), known, 20, 56)
    assert any("winner of W1.2" in row for row in narrow)


def test_who_scrolls_beyond_the_end_sees_the_end() -> None:
    long = entrants(*(f"name-{number}" for number in range(200)))
    known = Tour(scene=scene(long))
    said = text(Hall("CUP", tab="players", row=10_000), known)
    assert "name-199" in said
    assert "more below" not in said
    assert "more below" in text(Hall("CUP", tab="players"), known)


def test_what_the_server_answers_is_seen_on_the_page() -> None:
    state = State(tour=tour(), line=Line("online")).says("All places are taken.", "bad", 0.0)
    screen = Screen(state, Desk(overlay=Hall("CUP")), Style(), 1.0, "server")
    assert "All places are taken." in frame(screen, 24, 80).lines()[22]


def test_the_question_is_asked_in_the_last_line() -> None:
    assert "Give your place up? (y/n)" in shown(Hall("CUP", asks=True), with_place())[23]


def test_in_ascii_nothing_else_is_shown() -> None:
    known = Tour(scene=knock_out(entrants("Émile", "大輔", "c", "d"), progress()))
    for tab in TABS:
        assert "\n".join(shown(Hall("CUP", tab=tab), known, ascii_only=True)).isascii()


halls = st.builds(
    Hall,
    code=st.sampled_from(["", "CUP", "OTHER"]),
    tab=st.sampled_from(TABS),
    row=st.integers(0, 10_000),
    col=st.integers(0, 10_000),
    asks=st.booleans(),
)


@settings(max_examples=150)
@given(
    hall=halls,
    rows=st.integers(1, 60),
    cols=st.integers(1, 200),
    title=texts,
    name=texts.map(lambda text: text or "x"),
    ascii_only=st.booleans(),
)
def test_nothing_leaves_the_screen_whatever_it_says(
    hall: Hall, rows: int, cols: int, title: str, name: str, ascii_only: bool
) -> None:
    known = tournament(notices=[Notice(at=1, text=title)], reason=title, stages=[title])
    match = MatchLine(match="1.1", entries=["p1", "p2"], why=title)
    made = scene(entrants(name, title or "y"), pairings(matches=[match]), bracket(), progress())
    tour = Tour(scene=dataclasses.replace(made, tournament=known))
    tour = heard(tour, Programme(tournaments=[replace(line("CUP"), title=title, format=title)]))
    tour = heard(tour, place())
    for row in shown(hall, tour, rows, cols, ascii_only=ascii_only):
        assert "\x1b" not in row
        assert "\n" not in row
