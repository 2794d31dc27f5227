"""One rule for every text that one person writes and others read."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wire.text import INVISIBLE, flaw, tidied


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ann",
        "Ann B",
        "Zoë",
        "Олег",
        "陳大文",
        "अनिता",
        "ภูมิ",
        "שלום",
        "e\u0301",
        "🂡 king",
        "a-b_c.d",
    ],
)
def test_the_writing_systems_of_the_world_are_clean(text: str) -> None:
    assert flaw(text) is None


@pytest.mark.parametrize(
    "character",
    [
        *map(chr, range(0x20)),
        "\x7f",
        *map(chr, range(0x80, 0xA0)),
        "\u00a0",  # no-break space
        "\u00ad",  # soft hyphen
        "\u061c",  # Arabic letter mark
        *map(chr, range(0x200B, 0x2010)),  # zero width, left-to-right and right-to-left marks
        *map(chr, range(0x2028, 0x202F)),  # line ends, embeddings and overrides
        *map(chr, range(0x2060, 0x2070)),  # word joiner, invisible operators, isolates
        "\ufeff",
        "\ufff9",
        "\ue000",  # private
        "\uffff",
        "\ud800",
        "\U000e0041",  # a tag
        *sorted(INVISIBLE),
    ],
    ids=lambda character: f"U+{ord(character):04X}",
)
def test_what_moves_the_cursor_turns_the_text_or_hides_is_named(character: str) -> None:
    assert f"U+{ord(character):04X}" in (flaw(f"a{character}b") or "")
    assert tidied(f"a{character}b") in ("ab", "a b")


def test_a_text_has_no_blank_at_its_ends() -> None:
    for text in (" ", " Ann", "Ann ", "   "):
        assert flaw(text) == "begins or ends with a blank"


def test_blanks_inside_are_single_ones() -> None:
    assert flaw("Ann  B") == "has two blanks in a row"
    assert tidied("Ann  B   C") == "Ann B C"


def test_marks_do_not_stack_up_over_other_lines() -> None:
    assert flaw("a" + "\u0301" * 3) is None
    assert "U+0301" in (flaw("a" + "\u0301" * 4) or "")
    assert tidied("q" + "\u0301" * 40) == "q" + "\u0301" * 3


def test_a_text_does_not_begin_with_a_mark() -> None:
    assert "U+0301" in (flaw("\u0301a") or "")
    assert tidied("\u0301a") == "a"


def test_invisible_characters_are_those_that_python_takes_for_printable() -> None:
    assert all(character.isprintable() for character in INVISIBLE)


# Letters beside all that is taken out, so that what it leaves behind is tried as well.
anything = st.text(max_size=60) | st.text(
    "ab \u0301\u0323\u200b\u0008\u00a0\u202e\ufe0f가각", max_size=12
)


@given(anything)
@example("0 \b 0")
@example("\u0301 \u0301a")
@example("a\u0301\u0301\u0301\u200b\u0301")
@settings(max_examples=200)
def test_a_tidied_text_is_clean_and_stays_as_it_is(text: str) -> None:
    tidy = tidied(text)
    assert flaw(tidy) is None
    assert tidied(tidy) == tidy


@given(st.text("abcЖщ中 ", max_size=30))
def test_tidying_a_clean_text_changes_no_more_than_doubled_blanks(text: str) -> None:
    clean = " ".join(text.split())
    assert tidied(text) == unicodedata.normalize("NFC", clean)
