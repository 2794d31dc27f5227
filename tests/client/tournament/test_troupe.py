"""Many bots in one process."""

from client.tournament import troupe
from client.tournament.troupe import Part
from wire.tournaments import Place


def test_newcomers_are_told_apart_and_sort_by_number() -> None:
    names = [part.name for part in troupe.newcomers(10)]
    assert names[0] == "bot-01"
    assert names == sorted(names)
    assert troupe.newcomers(1) == [Part("bot-1")]


def test_the_end_is_that_of_those_who_saw_it() -> None:
    out = Place(tournament="CUP", phase="paused", entry="p1", status="disqualified")
    through = Place(tournament="CUP", phase="finished", entry="p2")
    assert troupe.ending([through, out]) == "The tournament is finished"
    assert troupe.ending([out, through]) == "The tournament is finished"
    assert "None of them" in troupe.ending([out])
