"""Lists of players, in and out."""

import csv
import io

import pytest

from client.tournament import roll
from client.tournament.roll import BadRoll
from wire import codec
from wire.acts import Enrol
from wire.lines import Claim
from wire.messages import MAX_CLIENT_FRAME
from wire.tournaments import Direct


@pytest.mark.parametrize(
    "text",
    [
        "ann\nBob\n",
        "name\nann\nBob",
        "\ufeffclub,Name\r\nA,ann\r\nB,Bob\r\n",
        "Player,rating\nann,1\n\nBob,2\n,3\n",
        '"ann"\n" Bob "\n',
        '"Name";"Club"\r\n"ann";"x"\r\nBob;y\r\n',
        "club\tname\nA\tann\nB\tBob\n",
        "name\rann\rBob\r",
    ],
)
def test_names_are_read_from_their_column_or_the_first_one(text: str) -> None:
    assert roll.read(text) == ["ann", "Bob"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no name"),
        ("name\n\n", "no name"),
        ("ann\nbob\nann\n", "line 3: 'ann' stands in line 1 too"),
        ("name\nabcdefghijklmnopq\n", "line 2: 'abcdefghijklmnopq' has more than 16"),
        ('name,club\nann,"a\nb"\n\nann,c\n', "line 5: 'ann' stands in line 2 too"),
        ("name\nann\n'x','y'\n\"bob\ncem\n", "line 4: this is no CSV from here on"),
        ('name\n"ann" x\nbob\n', "line 2: this is no CSV from here on"),
        ("ann,A\nbob,B\n", "line 1: of several columns, one has to be called name"),
        ("ann;A\nbob;B\n", "line 1: of several columns, one has to be called name"),
    ],
)
def test_a_list_that_cannot_be_used_says_which_line(text: str, words: str) -> None:
    with pytest.raises(BadRoll, match=words):
        roll.read(text)


def test_a_name_may_have_the_sign_that_parts_columns() -> None:
    assert roll.read('"O\'Brien, Pat"\nann\n') == ["O'Brien, Pat", "ann"]
    assert roll.read('name;club\n"Ann; the 2nd";A\nBob, B;C\n') == ["Ann; the 2nd", "Bob, B"]


@pytest.mark.parametrize("letter", ["a", "大", "🂡"])
def test_every_part_fits_one_message_and_none_is_lost(letter: str) -> None:
    names = [f"{letter * 12}{number:04}" for number in range(1000)]
    parts = roll.messages(names)
    assert [name for part in parts for name in part] == names
    for part in parts:
        sent = codec.encode(Direct(tournament="C" * 12, key="k" * 64, act=Enrol(names=part)))
        assert len(sent) <= MAX_CLIENT_FRAME
        assert isinstance(codec.decode_client(sent), Direct)


def test_each_player_gets_a_line_with_a_command_that_needs_nothing_else() -> None:
    claims = [Claim(player="abcd2345", name='Ann, "A"', token="t" * 43)]
    text = roll.claims_text(claims, "wss://play.example:443")
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["name"] == 'Ann, "A"'
    assert row["command"] == f"klondike tournament --server wss://play.example:443 claim {'t' * 43}"


def test_what_import_wrote_is_read_again() -> None:
    claims = [Claim(player="abcd2345", name='Ann, "A"', token="t" * 43)]
    assert roll.tokens(roll.claims_text(claims, "ws://x")) == [('Ann, "A"', "t" * 43)]
    with pytest.raises(BadRoll, match="the file that import wrote"):
        roll.tokens("name,club\nann,A\n")
