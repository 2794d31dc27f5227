"""Texts as cells: what stands together is not taken apart, and everything has a width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.cells import cells, clusters, head, tail


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann", [("A", 1), ("n", 1), ("n", 1)]),
        ("漢a", [("漢", 2), ("a", 1)]),
        ("e\u0301x", [("e\u0301", 1), ("x", 1)]),
        ("\u0301x", [("x", 1)]),
        ("\u0903x", [("?", 1), ("x", 1)]),  # a mark beside its letter, without the letter
        ("क\u094dष", [("क\u094dष", 2)]),
        ("क\u094da", [("क\u094d", 1), ("a", 1)]),
        ("ব\u09cdक", [("ব\u09cdक", 2)]),  # of another script
        ("का", [("का", 2)]),
        ("त्रि", [("त्रि", 3)]),  # two cells where it is joined: better a gap than half a name
        ("\U0001f1e9\U0001f1ea", [("\U0001f1e9\U0001f1ea", 2)]),
        ("👍🏽", [("👍🏽", 2)]),
        ("👨\u200d👩", [("👨\u200d👩", 2)]),
        ("\u1112\u1161\u11ab", [("\u1112\u1161\u11ab", 2)]),
        ("\x1b[m", [("?", 1), ("[", 1), ("m", 1)]),
        ("a\u202eb", [("a", 1), ("b", 1)]),
        ("\ud800", [("?", 1)]),
    ],
)
def test_a_text_is_taken_apart_into_what_stands_together(
    text: str, expected: list[tuple[str, int]]
) -> None:
    assert list(clusters(text)) == expected
    assert cells(text) == sum(count for _, count in expected)


@given(st.text(st.sampled_from("ab漢e\u0301क\u094dष\U0001f1e9"), max_size=12), st.integers(0, 12))
def test_the_ends_of_a_text_fit_and_take_nothing_apart(text: str, room_for: int) -> None:
    whole = [sign for sign, _ in clusters(text)]
    begin, end = head(text, room_for), tail(text, room_for)
    assert max(cells(begin), cells(end)) <= room_for
    kept = [
        sum(cells("".join(part)) <= room_for for part in parts)
        for parts in (
            [whole[:count] for count in range(1, len(whole) + 1)],
            [whole[-count:] for count in range(1, len(whole) + 1)],
        )
    ]
    assert begin == "".join(whole[: kept[0]])
    assert end == "".join(whole[len(whole) - kept[1] :])
