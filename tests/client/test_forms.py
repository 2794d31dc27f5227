"""The form of a new room."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from client.forms import Form, Scheduled, create_room, edited, new_form
from tests.client import states
from wire import codec
from wire.messages import Create
from wire.values import Settings


def test_the_form_as_it_comes_opens_an_ordinary_room() -> None:
    assert create_room(new_form()) == Create(settings=Settings())


def test_choices_go_round_both_ways() -> None:
    form = new_form()
    while form.fields[form.at].label != "undo":
        form = edited(form, "down")
    values = []
    for key in ("right", "right", "right", "left", " "):
        form = edited(form, key)
        values.append(form.fields[form.at].value)
    assert values == ["safe", "free", "off", "free", "off"]


def test_what_is_chosen_only_cannot_be_typed() -> None:
    labels = [field.label for field in new_form().fields]
    form = Form(new_form().fields, at=labels.index("undo"))
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


def filled(**values: str) -> Form:
    form = new_form()
    named = {label.replace("_", " "): value for label, value in values.items()}
    return replace(
        form,
        fields=tuple(
            replace(field, value=named.get(field.label, field.value)) for field in form.fields
        ),
    )


def test_all_that_a_room_can_be_is_chosen_in_the_form() -> None:
    made = create_room(filled(score="casino", chat="no", spectators="boards", delay="60"))
    assert made == Create(
        settings=Settings(score="casino", chat=False, spectators="boards", delay_s=60)
    )


def test_a_start_at_a_time_is_so_many_minutes_from_now_by_the_servers_clock() -> None:
    made = create_room(filled(start="time", start_in="90"))
    assert isinstance(made, Scheduled)
    assert made.at(1000.4).settings == Settings(start="time", start_at=5_401_000)


def test_a_delay_or_a_start_out_of_bounds_is_said() -> None:
    assert "0 to 600" in str(create_room(filled(delay="601")))
    assert "minutes from now" in str(create_room(filled(start="time", start_in="0")))
    # What is not asked for does not matter.
    assert create_room(filled(start_in="never")) == Create(settings=Settings())


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
        made = made.at(1_700_000_000_000.5) if isinstance(made, Scheduled) else made
        assert codec.decode_client(codec.encode(made)) == made
