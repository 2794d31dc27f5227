"""Settings from a file and from the command line."""

from datetime import UTC, datetime

import pytest

from client.tournament import plan
from client.tournament.plan import BadPlan
from wire import acts as a
from wire.formats import Double, Single, StageSettings, Swiss, TournamentSettings
from wire.tournaments import Direct

FILE = """
title = "Autumn  Cup"
start_at = 2027-01-15T19:30:00+01:00
check_in_s = 600
tiebreaks = ["buchholz", "cards"]

[race]
time_limit_s = 600
undo = "safe"

[[stages]]
play = { kind = "swiss", rounds = 6 }
qualify = 8

[[stages]]
play = { kind = "double", final = "single" }
best_of = 3
"""


def test_a_file_has_the_settings_own_names() -> None:
    made = plan.read(FILE)
    assert made.title == "Autumn Cup"
    assert made.start_at == datetime(2027, 1, 15, 18, 30, tzinfo=UTC).timestamp() * 1000
    assert made.race.time_limit_s == 600
    assert made.stages == [
        StageSettings(play=Swiss(rounds=6), qualify=8),
        StageSettings(play=Double(final="single"), best_of=3),
    ]
    assert made.tiebreaks == ["buchholz", "cards"]


def test_without_anything_it_is_what_a_tournament_is_by_default() -> None:
    assert plan.read("") == TournamentSettings()


def test_options_take_the_place_of_what_the_file_says() -> None:
    made = plan.read(
        FILE,
        ["single:third-place=true,best-of=5"],
        ["title=Knock-out", "race.time_limit_s=300", "deals.share=round", "hold=true", "draw=42"],
    )
    assert made.stages == [StageSettings(play=Single(third_place=True), best_of=5)]
    assert (made.title, made.draw) == ("Knock-out", "42")
    assert made.race.time_limit_s == 300
    assert made.race.undo == "safe"
    assert made.deals.share == "round"
    assert made.hold


def test_a_start_may_be_said_as_people_write_it() -> None:
    made = plan.read("", sets=["start_at=2027-01-15T19:30"])
    there = datetime(2027, 1, 15, 19, 30).astimezone()
    assert made.start_at == there.timestamp() * 1000


def test_settings_that_there_are_can_be_changed_singly() -> None:
    made = plan.read(FILE)
    after = plan.changed(made, [], ["break_s=90"])
    assert after.break_s == 90
    assert after.stages == made.stages
    assert plan.changed(made, ["swiss"], []).stages == [StageSettings(play=Swiss())]


@pytest.mark.parametrize(
    ("text", "stages", "sets", "words"),
    [
        ("title = ", [], [], "no TOML"),
        ('titel = "x"', [], [], "there is no setting titel; there are"),
        ("[race]\ntime_limit = 5", [], [], "there is no setting race.time_limit"),
        ('[[stages]]\nplay = {kind = "swiss", round = 3}', [], [], "stages[1].play.round"),
        ("[race]\ntime_limit_s = 1", [], [], "race.time_limit_s: Expected `int` >= 5"),
        ('[[stages]]\nplay = {kind = "chess"}', [], [], "stages[1].play"),
        ("start_at = 2027-01-15", [], [], "write day and time"),
        ('start_at = "soon"', [], [], "'soon' is no time"),
        ("", ["chess"], [], "there is no format 'chess'; there are single, double"),
        ("", ["swiss:rounds"], [], "write NAME=VALUE"),
        ("", ["swiss:round=3"], [], "stages[1].play.round"),
        ("", [], ["break_s"], "write NAME=VALUE"),
        ("", [], ["break_s=soon"], "break_s: Expected `int`"),
        ("title = 5", [], ["title.x=3"], "title has no settings inside"),
        ("players = 1", [], [], "players: Expected `int` >= 2"),
    ],
)
def test_what_cannot_be_is_said_by_its_name(
    text: str, stages: list[str], sets: list[str], words: str
) -> None:
    with pytest.raises(BadPlan) as refused:
        plan.read(text, stages, sets)
    assert words in str(refused.value)


def test_what_the_server_would_not_read_is_not_sent() -> None:
    pairs = [(f"player{number:03}", f"other{number:03}") for number in range(200)]
    act = a.Edit(settings=TournamentSettings(forbidden=pairs))
    with pytest.raises(BadPlan, match="the server reads 4096"):
        plan.check_size(Direct(tournament="CUP", key="k", act=act))
