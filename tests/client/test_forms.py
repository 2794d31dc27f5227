"""The form of a new room."""

from hypothesis import given, settings
from hypothesis import strategies as st

from client.forms import Form, create_room, edited, new_form
from tests.client import states
from wire import codec
from wire.messages import Create, Settings


def test_the_form_as_it_comes_opens_an_ordinary_room() -> None:
    assert create_room(new_form()) == Create(settings=Settings())


def test_choices_go_round_both_ways() -> None:
    form = new_form()
    for _ in range(7):
        form = edited(form, "down")
    assert form.fields[form.at].label == "undo"
    values = []
    for key in ("right", "right", "right", "left", " "):
        form = edited(form, key)
        values.append(form.fields[form.at].value)
    assert values == ["safe", "free", "off", "free", "off"]


def test_what_is_chosen_only_cannot_be_typed() -> None:
    form = Form(new_form().fields, at=7)
    assert edited(form, "x") == form
    assert edited(form, "backspace") == form


def test_rules_may_be_typed_over() -> None:
    form = Form(new_form().fields, at=1)
    for key in ",draw=1":
        form = edited(form, key)
    made = create_room(form)
    assert isinstance(made, Create)
    assert made.settings.rules == "double-klondike,draw=1"


def test_tab_and_the_arrows_go_round_the_fields() -> None:
    form = new_form()
    assert edited(form, "up").at == len(form.fields) - 1
    assert edited(edited(form, "tab"), "backtab").at == 0


@given(st.lists(states.keys, max_size=60))
@settings(max_examples=60)
def test_whatever_is_typed_gives_a_room_the_wire_takes_or_says_what_is_wrong(
    keys: list[str],
) -> None:
    form = new_form()
    for key in keys:
        form = edited(form, key)
    made = create_room(form)
    if isinstance(made, str):
        assert made
    else:
        assert codec.decode_client(codec.encode(made)) == made
