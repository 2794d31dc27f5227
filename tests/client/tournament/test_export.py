"""A tournament as files."""

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from client.filing import NotWritten
from client.tournament import export
from server.journaling import chain
from tests.client.tournament.scenes import entrants, pairings, scene
from wire.lines import ByeLine

JOURNAL = [
    '1800000000000 {"e":"created","by":"owner","format":1,"code":"CUP","settings":{}}',
    '1800000000500 {"e":"paused","by":"referee","why":"=coffee"}',
    '1800000000900 {"e":"finished","why":"all is played"}',
]


def test_every_table_is_there_in_both_forms_with_the_journal_and_the_replays() -> None:
    made = export.files("CUP", scene(), JOURNAL, {"AAAA": ['5 {"e":"opened"}']})
    tables = {"players", "pairings", "results", "standings", "audit"}
    assert set(made) == {
        *(f"{name}.{ending}" for name in tables for ending in ("csv", "json")),
        "journal.txt",
        "replays/AAAA.replay",
    }
    for name in tables:
        rows = json.loads(made[f"{name}.json"])
        written = list(csv.DictReader(io.StringIO(made[f"{name}.csv"].decode("utf-8-sig"))))
        assert len(rows) == len(written) > 0


def test_results_have_a_row_for_each_player_of_each_decided_match() -> None:
    first, second = export.results(scene())
    assert (first["match"], first["name"], first["place"], first["cards"]) == ("1.1", "ann", 1, 71)
    assert (second["name"], second["place"], second["rooms"]) == ("cem", 2, "AAAA")


def test_byes_stand_among_the_pairings() -> None:
    on = pairings(byes=[ByeLine(entry="p4", kind="half-bye", why="late entry")])
    row = export.pairings(scene(on))[-1]
    assert (row["name"], row["bye"], row["why"], row["match"]) == (
        *("Dun", "half-bye", "late entry", ""),
    )


def test_standings_have_their_values_by_name() -> None:
    rows = export.standings(scene())
    assert (rows[0]["name"], rows[0]["points"], rows[0]["buchholz"]) == ("ann", 1.0, 0.5)
    assert rows[3]["place"] is None


def test_the_audit_says_when_who_what_and_why() -> None:
    rows = export.audit(JOURNAL)
    assert [(row["by"], row["act"], row["why"]) for row in rows] == [
        ("owner", "created", ""),
        ("referee", "paused", "=coffee"),
        ("rules", "finished", "all is played"),
    ]
    assert rows[0]["time"] == "2027-01-15T08:00:00.000+00:00"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum", "\tx", "\r=x"])
def test_no_text_becomes_a_formula_in_a_spreadsheet(text: str) -> None:
    rows = export.players(scene(entrants(text)))
    (row,) = csv.DictReader(io.StringIO(export.as_csv(rows).decode("utf-8-sig"), newline=""))
    assert row["name"] == f"'{text}"
    assert json.loads(export.as_json(rows))[0]["name"] == text


def test_rooms_are_found_wherever_a_journal_calls_to_them() -> None:
    called = '1 {"e":"roundcalled","bouts":[{"p":["a"],"room":"AAAA"},{"room":"BBBB"}]}'
    assert export.rooms([called, '2 {"e":"racecalled","room":"CCCC"}', called]) == [
        "AAAA",
        "BBBB",
        "CCCC",
    ]


def test_the_head_is_that_of_the_servers_hash_chain() -> None:
    header, *lines = export.journal_text("CUP", JOURNAL).decode().splitlines()
    assert lines == JOURNAL
    assert json.loads(header) == {
        "tournament": 1,
        "code": "CUP",
        "head": chain(line.encode() for line in JOURNAL).hex(),
    }


def test_an_archive_holds_every_file_and_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "cup.zip"
    export.archive({"journal.txt": b"x", "replays/A.replay": b"y"}, file)
    with zipfile.ZipFile(file) as packed:
        assert packed.namelist() == ["journal.txt", "replays/A.replay"]
    with pytest.raises(NotWritten, match="--force"):
        export.archive({}, file)
    assert [each.name for each in tmp_path.iterdir()] == ["cup.zip"]


def test_a_folder_gets_the_same_files(tmp_path: Path) -> None:
    export.folder({"journal.txt": b"x", "replays/A.replay": b"y"}, tmp_path / "cup")
    assert (tmp_path / "cup" / "replays" / "A.replay").read_bytes() == b"y"
