"""Names of keys, also of those that come in pieces."""

import pytest

from client.keynames import KeyNames


def names(*keys: str, gap: float = 0.1) -> list[str | None]:
    reader = KeyNames()
    return [reader.name(key, number * gap) for number, key in enumerate(keys)]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("a", "a"),
        ("é", "é"),
        ("\n", "enter"),
        ("\r", "enter"),
        ("\t", "tab"),
        ("\x7f", "backspace"),
        ("\x1b", "esc"),
        ("\x0c", "ctrl-l"),
        ("\x01", None),
    ],
)
def test_a_key_has_a_name(key: str, name: str | None) -> None:
    assert names(key) == [name]


def test_an_arrow_that_came_apart_is_put_together_and_toggles_nothing() -> None:
    assert names("\x1b", "[", "A") == ["esc", None, "up"]
    assert names("\x1b", "O", "C") == ["esc", None, "right"]
    assert names("\x1b", "[", "1", ";", "5", "C", "C") == [
        "esc",
        None,
        None,
        None,
        None,
        "right",
        "C",
    ]


def test_an_unknown_sequence_is_swallowed_to_its_end() -> None:
    assert names("\x1b", "[", "3", "~", "x") == ["esc", None, None, None, "x"]


def test_a_bracket_long_after_an_escape_is_itself() -> None:
    assert names("\x1b", "[", "A", gap=5.0) == ["esc", "[", "A"]


def test_a_letter_right_after_an_escape_is_itself() -> None:
    assert names("\x1b", "q") == ["esc", "q"]
