"""Brackets in letters and lines."""

from itertools import combinations

import pytest
from msgspec.structs import replace

from client.canvas import Canvas
from client.tournament.bracket import BOX, STEP, paint_bracket, placed
from client.tournament.scene import Scene, heard
from server.tournament.settings import Double, Play, Single
from tests.client.tournament.scenes import entrants, knock_out, scene, semifinals, slot
from tests.public.made import messages, play, told
from tests.tournament.told import settings
from wire.lines import SlotLine


def real(play_: Play, players: int, rounds: int = 0) -> tuple[Scene, list[SlotLine]]:
    """A bracket as a server would show it."""
    made = told(settings(play_), [f"name-{number}" for number in range(players)])  # type: ignore[arg-type]
    scene = Scene()
    for message in messages(play(made, rounds)):
        scene = heard(scene, message)
    return scene, scene.brackets[0].groups[0]


def test_a_bracket_of_four_looks_like_one() -> None:
    assert paint_bracket(knock_out(), semifinals()).lines() == [
        "winners 1",
        "  1 ann             71 ─┐ winners 2",
        "  4 Dun             65  ├   1 ann",
        "                        │     winner of W1.2",
        "  2 Bob                ─┘",
        "  3 cem",
        "",
    ]


def test_in_ascii_nothing_else_is_used() -> None:
    canvas = paint_bracket(
        knock_out(entrants("Émile", "大輔", "c", "d")), semifinals(), ascii_only=True
    )
    text = "\n".join(canvas.lines())
    assert text.isascii()
    assert "Emile" in text
    assert "-+" in text


PLAYS = [Single(third_place=True), Double(), Double(final="none"), Double(final="single")]


@pytest.mark.parametrize("play_", PLAYS)
@pytest.mark.parametrize("players", [2, 3, 5, 8, 13, 33, 64])
def test_no_box_lies_on_another(play_: Play, players: int) -> None:
    _, slots = real(play_, players)
    seen = [each for each in slots if each.state != "empty"]
    rows, height = placed(seen)
    columns: dict[tuple[str, int], list[int]] = {}
    for each in seen:
        key = ("final" if each.side == "final" else "", each.round)
        columns.setdefault(key, []).append(rows[each.slot])
        assert 1 <= rows[each.slot] <= height - 2
    for on in columns.values():
        assert all(abs(a - b) >= 2 for a, b in combinations(on, 2))


@pytest.mark.parametrize("play_", PLAYS)
def test_everybody_who_stands_in_it_is_named(play_: Play) -> None:
    scene, slots = real(play_, 11, rounds=2)
    text = "\n".join(paint_bracket(scene, slots).lines())
    for each in slots:
        for entry in each.sides:
            if each.state != "empty" and entry:
                assert scene.people[entry].name in text


def test_seeds_are_those_of_the_bracket() -> None:
    slots = [replace(each, sources=["seed 11", "seed 12"]) for each in semifinals()[:1]]
    lines = paint_bracket(scene(), slots).lines()
    assert " 11 ann" in lines[1]
    assert " 12 Dun" in lines[2]


def test_ones_own_entry_has_a_mark() -> None:
    lines = paint_bracket(knock_out(), semifinals(), own="p4").lines()
    assert "  4>Dun" in lines[2]
    assert not any(">" in line for number, line in enumerate(lines) if number != 2)


def test_a_name_never_leaves_its_box() -> None:
    scene = knock_out(entrants("W" * 16, "大" * 16, "c", "d"))
    canvas = paint_bracket(scene, semifinals())
    for line in canvas.lines():
        assert Canvas(1, 200).width(line) <= STEP + BOX
    assert " 71 ─" in canvas.line(1)


def test_strangers_text_cannot_move_the_cursor() -> None:
    scene = knock_out(entrants("a\x1b[2Jb\u202e", "b", "c", "d"))
    text = "".join(paint_bracket(scene, semifinals()).lines())
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_boxes_in_which_nobody_will_ever_stand_are_left_out() -> None:
    slots = [*semifinals(), slot("L1.1", name="never", state="empty")]
    assert "never" not in "".join(paint_bracket(knock_out(), slots).lines())
