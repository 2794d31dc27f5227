"""What a client knows of a tournament is the newest of what it has heard."""

from client.tournament.scene import ROUNDS, Scene, heard
from tests.client.tournament.scenes import entrants, pairings, scene, tournament
from wire.messages import Lobby


def test_a_newer_message_takes_the_place_of_the_former_one() -> None:
    known = scene()
    after = heard(known, entrants("zoe"))
    assert [each.name for each in after.people.values()] == ["zoe"]
    assert after.pairings == known.pairings


def test_another_tournament_begins_anew() -> None:
    after = heard(scene(), tournament(tournament="OTHER"))
    assert after == Scene(tournament=after.tournament)


def test_what_is_of_no_tournament_changes_nothing() -> None:
    known = scene()
    assert heard(known, Lobby(rooms=[])) is known


def test_an_arena_fills_no_memory_with_its_rounds() -> None:
    known = scene()
    for number in range(1, 300):
        known = heard(known, pairings(round=number))
    assert list(known.pairings) == list(range(300 - ROUNDS, 300))


def test_players_are_found_by_id_or_by_name_in_whatever_case() -> None:
    known = scene()
    for named in ("p2", "Bob", "bob", " BOB "):
        assert [each.entry for each in known.named(named)] == ["p2"]
    assert known.named("nobody") == []


def test_a_name_as_written_goes_before_one_in_another_case() -> None:
    known = heard(scene(), entrants("Ann", "ann", "Bob", "Bob", "Émile"))
    assert [each.entry for each in known.named("ann")] == ["p2"]
    assert [each.entry for each in known.named("Ann")] == ["p1"]
    assert [each.entry for each in known.named("ANN")] == ["p1", "p2"]
    assert [each.entry for each in known.named("Bob")] == ["p3", "p4"]
    assert [each.entry for each in known.named("E\u0301mile")] == ["p5"]
