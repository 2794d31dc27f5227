"""Small texts: times, and strangers' text made harmless."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.words import clean, room_code, span
from wire.text import flaw, tidied


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "00:00"), (999, "00:00"), (61_000, "01:01"), (3_600_000, "1:00:00"), (-5, "00:00")],
)
def test_a_span_is_minutes_and_seconds(milliseconds: int, text: str) -> None:
    assert span(milliseconds) == text


@given(st.text())
def test_nothing_that_steers_a_terminal_survives(text: str) -> None:
    for sign in clean(text):
        assert unicodedata.category(sign)[0] not in ("C",)
        assert unicodedata.category(sign) not in ("Zl", "Zp")


@given(st.text())
def test_cleaning_what_is_clean_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_names_in_other_scripts_are_kept() -> None:
    for name in ("Zoë", "Мира", "美咲", "नमस्ते", "ไทย"):
        assert clean(name) == unicodedata.normalize("NFC", name)


def test_a_pile_of_marks_on_one_letter_is_cut_down() -> None:
    assert len(clean("a" + "\u0323" * 50)) <= 4


def test_selectors_that_change_a_glyphs_width_go() -> None:
    assert clean("♥\ufe0f") == "♥"


@pytest.mark.parametrize("typed", ["KMTQRB", "kmtqrb", " kmt-qrb ", "KMT QRB", "kmtqrb!"])
def test_a_room_code_is_read_as_people_type_it(typed: str) -> None:
    assert room_code(typed) == "KMTQRB"


@given(st.text())
def test_what_the_wire_lets_in_is_shown_as_it_is(text: str) -> None:
    text = tidied(text)
    assert flaw(text) is None
    assert clean(text) == text


def test_a_room_code_may_be_typed_with_blanks_and_dashes() -> None:
    assert room_code(" abc-def ") == "ABCDEF"
