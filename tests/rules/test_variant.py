from dataclasses import FrozenInstanceError, fields, replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.rules import RULES, Rules, RulesError
from server.rules.cards import CARD_OF
from server.rules.variant import Build, Lift, Opening
from tests.rules import naive

# docs/rules.md, section 2, as a table of its own.
PRESETS = {
    "double-klondike": (2, 9, 59, 3, None, "alternate", "king", "any_suffix"),
    "double-klondike-3-pass": (2, 9, 59, 3, 3, "alternate", "king", "any_suffix"),
    "gargantua": (2, 9, 59, 1, 2, "alternate", "king", "any_suffix"),
    "klondike-familiar": (1, 7, 24, 3, None, "alternate", "king", "any_suffix"),
    "klondike-strict": (1, 7, 24, 1, 1, "alternate", "king", "full_only"),
    "klondike-easy": (1, 7, 24, 1, None, "alternate", "king", "any_suffix"),
    "thumb-and-pouch": (1, 7, 24, 1, 1, "any_other_suit", "any", "full_or_top"),
}

VALUES = {
    "decks": ["1", "2"],
    "columns": [str(n) for n in range(1, 10)],
    "sizes": ["1", "3-3-3", "9-8-7-6-5-4-3-2-1", "1-1-1-1-1-1-1-1-44"],
    "draw": ["1", "2", "3"],
    "passes": [*(str(n) for n in range(1, 100)), "unlimited"],
    "build": [*Build],
    "empty": [*Opening],
    "run": [*Lift],
    "foundation_return": ["no", "yes"],
}
OVERRIDES = [f"{name}={value}" for name, values in VALUES.items() for value in values]


def test_the_presets_are_the_seven_of_the_table() -> None:
    table = {
        name: (r.decks, r.columns, r.stock, r.draw, r.passes, r.build, r.empty, r.run)
        for name, r in RULES.items()
    }
    assert table == PRESETS
    assert not any(rules.foundation_return for rules in RULES.values())


def test_presets_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        RULES["double-klondike"] = RULES["gargantua"]  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        RULES["gargantua"].draw = 3  # type: ignore[misc]


@pytest.mark.parametrize("name", RULES)
def test_a_preset_is_written_as_its_name(name: str) -> None:
    assert RULES[name].text() == name
    assert Rules.parse(name) is not None
    assert Rules.parse(name) == RULES[name]


@pytest.mark.parametrize("name", RULES)
def test_every_value_of_every_parameter_overrides_every_preset_and_reads_back(name: str) -> None:
    for override in OVERRIDES:
        rules = Rules.parse(f"{name},{override}")
        assert Rules.parse(rules.text()) == rules
        assert rules.text().startswith(tuple(RULES))
        parameter, value = override.split("=")
        written = naive.read_rules(rules.text())
        if parameter != "columns":
            assert written[parameter] == value


def test_all_policies_together_read_back() -> None:
    for build, empty, run, back in product(Build, Opening, Lift, (False, True)):
        rules = replace(
            RULES["gargantua"], build=build, empty=empty, run=run, foundation_return=back
        )
        assert Rules.parse(rules.text()) == rules
        assert len(rules.text()) <= 200


@given(
    st.sampled_from([*RULES]),
    st.lists(st.sampled_from(OVERRIDES), max_size=6, unique_by=lambda o: o.split("=")[0]),
)
def test_any_set_of_overrides_reads_back_or_is_refused(name: str, overrides: list[str]) -> None:
    try:
        rules = Rules.parse(",".join([name, *overrides]))
    except RulesError:
        return
    assert Rules.parse(rules.text()) == rules
    assert hash(Rules.parse(rules.text())) == hash(rules)


@given(st.text(max_size=60) | st.from_regex(r"\Agargantua(,[a-z_]{1,9}=[0-9a-z-]{0,9}){1,3}\Z"))
def test_no_text_gives_anything_but_rules_or_a_rules_error(text: str) -> None:
    try:
        rules = Rules.parse(text)
    except RulesError:
        return
    assert isinstance(rules, Rules)


def test_the_text_names_the_nearest_preset() -> None:
    assert Rules.parse("double-klondike,passes=3").text() == "double-klondike-3-pass"
    assert (
        Rules.parse("double-klondike,foundation_return=yes").text()
        == "double-klondike,foundation_return=yes"
    )
    assert Rules.parse("double-klondike,columns=8").text() == "double-klondike,columns=8"
    assert Rules.parse("gargantua,sizes=2-2").text() == "gargantua,sizes=2-2"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is no game ''"),
        ("klondike", "there are double-klondike, double-klondike-3-pass, gargantua,"),
        ("gargantua,", "sets no parameter: write name=value with a name of decks, columns"),
        ("gargantua,draw", "'draw' sets no parameter"),
        ("gargantua,deal=3", "'deal=3' sets no parameter"),
        ("gargantua,draw=4", "draw is 4: it may be 1 to 3"),
        ("gargantua,draw=0", "'draw=0': draw may be 1 to 3"),
        ("gargantua,draw=three", "'draw=three': draw may be 1 to 3"),
        ("gargantua,draw=٣", "draw may be 1 to 3"),
        ("gargantua,decks=3", "decks is 3: it may be 1 to 2"),
        ("gargantua,columns=10", "columns is 10: it may be 1 to 9"),
        ("gargantua,passes=100", "passes is 100: it may be 1 to 99"),
        ("gargantua,passes=", "'passes=': passes may be 1 to 99 or unlimited"),
        ("gargantua,build=same", "'build=same': build may be alternate or any_other_suit"),
        ("gargantua,empty=queen", "empty may be king or any"),
        ("gargantua,run=some", "run may be any_suffix or full_or_top or full_only"),
        ("gargantua,foundation_return=1", "foundation_return may be no or yes"),
        ("gargantua,draw=1,draw=3", "draw is already set, set it once"),
        ("gargantua,columns=2,sizes=1-2", "sizes is already set, set it once"),
        ("gargantua,sizes=1-0", "sizes may be the cards of each column"),
        ("klondike-easy,sizes=30-30", "the columns take 60 of 52 cards"),
        ("klondike-easy,sizes=53", "sizes: a column is 53: it may be 1 to 52"),
        ("gargantua, draw=3", "sets no parameter"),
    ],
)
def test_a_wrong_text_is_refused_with_what_is_wrong_and_what_is_allowed(
    text: str, reason: str
) -> None:
    with pytest.raises(RulesError) as caught:
        Rules.parse(text)
    assert reason in str(caught.value)


def test_impossible_values_make_no_rules() -> None:
    with pytest.raises(RulesError, match="columns is 0"):
        replace(RULES["gargantua"], sizes=())


def test_a_hostile_text_is_not_echoed_at_length() -> None:
    with pytest.raises(RulesError) as caught:
        Rules.parse("x" * 10_000)
    assert len(str(caught.value)) < 300


def test_what_a_column_takes_follows_from_build_and_empty_column() -> None:
    ten = CARD_OF["TD"]
    alternate, other = RULES["double-klondike"], RULES["thumb-and-pouch"]
    assert alternate.takes[ten] == {CARD_OF["9C"], CARD_OF["9S"]}
    assert other.takes[ten] == {CARD_OF["9C"], CARD_OF["9H"], CARD_OF["9S"]}
    assert alternate.takes[-1] == {CARD_OF["K" + suit] for suit in "CDHS"}
    assert len(other.takes[-1]) == 52
    assert alternate.takes[CARD_OF["AD"]] == frozenset()


def test_every_parameter_is_a_field_and_no_rule_asks_for_a_name() -> None:
    given_fields = {f.name for f in fields(Rules) if f.init}
    assert given_fields == set(VALUES) - {"columns"}
    assert "name" not in given_fields
