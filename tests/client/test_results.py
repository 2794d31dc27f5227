"""Final standings as text, as JSON, and as a file that tells the race again."""

import json

import pytest

from client.replay import NoReplay, tell
from client.results import as_json, as_table, replay_text
from tests.client.stage import room, standing
from wire.messages import Standings
from wire.values import Reveal, Settings

RESULT = Standings(room="ABCDEF", reason="finished", rows=[standing()], head="ab" * 32)


def test_the_json_has_what_scripts_rely_on() -> None:
    told = json.loads(json.dumps(as_json(room(settings=Settings(seed="42")), RESULT)))
    assert (told["room"], told["rules"], told["seed"]) == ("ABCDEF", "double-klondike", "42")
    assert told["commitment"] == "c0" * 32
    (row,) = told["standings"]
    for key, value in {
        "player": "ann",
        "place": 1,
        "cards": 104,
        "score": 104,
        "moves": 321,
        "finished_ms": 272_000,
    }.items():
        assert row[key] == value


def test_the_table_is_for_people() -> None:
    reveal = Reveal(
        deal="d", commitment="c0" * 32, secret="5e" * 32, seed=None, salts=[], position=""
    )
    result = Standings(
        room="ABCDEF", reason="time", rows=[standing()], head="ab" * 32, reveal=reveal
    )
    text = "\n".join(as_table(room(), result))
    for words in ("the time is over", "ann", "solved in 04:32", "5e" * 32, "ab" * 32):
        assert words in text


ENTRIES = [
    '1000 {"e":"opened","format":1,"room":"ABCDEF","deal":"d","settings":{},"host":"p1"}',
    '2000 {"e":"joined","p":"p1","name":"ann\\u001b"}',
    '9000 {"e":"started"}',
    '9500 {"e":"played","p":"p1","n":1,"m":"w>f"}',
    '9900 {"e":"resigned","p":"p1"}',
    '9900 {"e":"disqualified","p":"p1","by":"p2","why":"peeked\\u001b"}',
    '9900 {"e":"disqualified","p":"p1","by":"","why":""}',
    '9900 {"e":"left","p":"p1","why":"kicked"}',
    '9901 {"e":"over","why":"resigned"}',
    '9902 {"e":"invented","x":1}',
]


def test_a_replay_file_tells_the_race_again() -> None:
    told = tell(replay_text("ABCDEF", "ab" * 32, ENTRIES).decode())
    assert [(each.at_ms, each.player, each.text) for each in told[1:]] == [
        (-7000, "ann", "takes a seat"),
        (0, "", "the race starts"),
        (500, "ann", "w>f"),
        (900, "ann", "gives up"),
        (900, "ann", "is disqualified: peeked"),
        (900, "ann", "is disqualified"),
        (900, "ann", "is sent out by the host"),
        (901, "", "the race is over: resigned"),
        (902, "", "invented"),
    ]


def test_signs_that_look_like_line_ends_do_not_end_an_entry() -> None:
    entry = '2000 {"e":"joined","p":"p1","name":"a\u2028b"}'
    told = tell(replay_text("ABCDEF", "ab" * 32, [entry]).decode())
    assert [each.player for each in told] == ["ab"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "no json",
        '{"replay": 2}',
        '{"replay": 1}',
        '{"replay": 1}\nx {}',
        '{"replay": 1}\n1 x',
    ],
)
def test_what_is_no_replay_is_said_to_be_none(text: str) -> None:
    with pytest.raises(NoReplay):
        tell(text)
