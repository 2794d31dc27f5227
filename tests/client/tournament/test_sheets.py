"""Tables of a tournament, as the command line and the screen paint them."""

import json
import re

import pytest
from msgspec import structs
from msgspec.structs import replace

from client.canvas import Canvas
from client.tournament import ledger, sheets
from client.tournament.scene import heard
from client.tournament.showing import fitted, open_rounds
from tests.client.tournament.scenes import (
    NOW,
    entrants,
    match,
    pairings,
    place,
    progress,
    race,
    ranking,
    scene,
    tournament,
)
from wire.lines import (
    ByeLine,
    LiveLine,
    LiveRace,
    MatchStart,
    PathLine,
    RaceLine,
)
from wire.tournaments import Place, Progress


def text(canvas: Canvas) -> str:
    return "\n".join(canvas.lines())


def test_standings_have_points_and_the_values_that_separate_equals() -> None:
    lines = sheets.standings(scene(), ranking()).lines()
    assert lines[0].split() == ["#", "Player", "Points", "BH", "Time"]
    assert lines[1].split() == ["1", "ann", "1", "0.5", "01:00"]
    assert lines[2].split() == ["2", "Bob", "½", "1", "00:00"]
    assert lines[4].split() == ["-", "cem", "0", "0", "01:00", "disqualified"]


def test_a_format_without_points_has_no_column_for_them() -> None:
    lines = sheets.standings(scene(), ranking(keys=[])).lines()
    assert lines[0].split() == ["#", "Player"]


def test_groups_have_headings() -> None:
    shown = ranking(groups=[ranking().groups[0][:2], ranking().groups[0][2:]])
    assert "Group 2" in text(sheets.standings(scene(), shown))


def test_pairings_say_who_meets_whom_what_came_of_it_and_why() -> None:
    on = pairings(byes=[ByeLine(entry="p4", kind="bye", why="odd number")])
    shown = text(sheets.pairings(scene(), on))
    assert "1.1  ann - cem  ann wins 71-65  equal points" in shown
    assert "1.2  Bob - Dun  not decided     equal points" in shown
    assert "Dun        bye             odd number" in shown


def test_results_are_put_in_words() -> None:
    known = scene()
    drawn = match(
        "1.1", "p1", "p2", kind="played", places=[1, 1], races=[race(("p1", 1, 5), ("p2", 1, 5))]
    )
    assert sheets.result(known, drawn) == "drawn 5-5"
    assert sheets.result(known, match("1.1", "p1", "p2", kind="walkover", places=[2, 1])) == (
        "Bob wins, walkover"
    )
    assert sheets.result(known, match("1.1", "p1", "p2", kind="void")) == "void"
    heat = match("1.1", "p1", "p2", "p3", kind="played", places=[3, 1, 2])
    assert sheets.result(known, heat) == "1. Bob, 2. cem, 3. ann"
    series = match("1.1", "p1", "p2", races=[race(("p1", 1, 5), ("p2", 2, 4))])
    assert sheets.result(known, series) == "after 1 race"


def test_running_races_show_who_leads_first() -> None:
    lines = sheets.live(scene(progress())).lines()
    assert lines[0].split()[:3] == ["1.2", "Dun", "23"]
    assert lines[0].endswith("resigned")
    assert lines[1].split()[:2] == ["Bob", "17"]
    assert "12 down" not in lines[0]
    assert sheets.live(scene(structs.replace(progress(), races=[]))).lines() == ["No race is on."]
    assert sheets.live(scene()).lines() == ["No race is shown yet."]


def test_a_bar_is_full_when_all_cards_of_the_game_are_home() -> None:
    for cards in (52, 104):
        lines = [LiveLine("p2", cards, 0, 90, "solved")]
        raced = LiveRace(match="1.2", race=1, room="BBBB", of=cards, lines=lines)
        told = Progress(tournament="CUP", races=[raced])
        shown = sheets.live(scene(told), ascii_only=True).lines()
        assert "#" * sheets.BAR in shown[-1]
        assert "." not in shown[-1].split("#")[-1]


def test_who_has_not_played_yet_can_be_told_from_who_has() -> None:
    lines = [LiveLine("p2", 0, 36, 1, "playing"), LiveLine("p4", 0, 0, 0, "playing")]
    told = Progress(
        tournament="CUP", races=[LiveRace(match="1.2", race=1, room="BBBB", of=104, lines=lines)]
    )
    said = text(sheets.live(scene(told)))
    assert re.search("Bob .* 36 down", said)
    assert re.search("Dun .* no play yet", said)


def test_a_win_with_as_many_cards_says_what_decided_it() -> None:
    rows = (("p1", 1, 7), ("p3", 2, 7))
    level = race(*rows)
    assert won_by(level) == "ann wins 7-7, sooner"
    turned = structs.replace(level.rows[1], down=level.rows[0].down + 1)
    assert won_by(structs.replace(level, rows=[level.rows[0], turned])) == (
        "ann wins 7-7, fewer down"
    )


def test_the_winners_score_comes_first() -> None:
    raced = race(("p1", 2, 5), ("p3", 1, 9))
    told = match("1.1", "p1", "p3", races=[raced], kind="played", places=[2, 1])
    assert sheets.result(scene(), told) == "cem wins 9-5"


def won_by(raced: RaceLine) -> str:
    """What a match of one race came to, which ann has won."""
    told = match("1.1", "p1", "p3", races=[raced], kind="played", places=[1, 2])
    return sheets.result(scene(), told)


@pytest.mark.parametrize(
    ("place", "points", "words"), [(1, 1, "won"), (1, 0.5, "drawn"), (2, 0, "lost")]
)
def test_a_match_of_two_is_won_drawn_or_lost(place: int, points: float, words: str) -> None:
    line = PathLine(
        round=1, match="1.1", opponents=["p3"], place=place, points=points, result="played"
    )
    own = Place(tournament="CUP", phase="running", entry="p1", path=[line])
    assert words in sheets.path(scene(), own).lines()[0]


def test_ones_own_way_is_told_round_by_round() -> None:
    shown = sheets.path(scene(), place()).lines()
    assert "Round 1  1.1  against cem  won" in shown[0]
    assert "no opponent  bye" in shown[1]


def test_players_come_in_the_order_of_their_seeds_with_ids_for_organisers() -> None:
    assert sheets.players(scene()).lines()[1].split() == ["1", "ann", "1599"]
    assert sheets.players(scene(), ids=True).lines()[1].split() == ["1", "ann", "1599", "p1"]


def test_the_schedule_is_in_order_of_time() -> None:
    t = tournament(deadline=1_800_000_900_000)
    lines = sheets.schedule(t).lines()
    assert [line[17:] for line in lines] == [
        "The tournament started.",
        "Round 1 starts.",
        "Round 1 has to be over.",
    ]


def test_a_match_that_is_called_anew_is_told_with_its_own_start() -> None:
    t = tournament(late=[MatchStart(match="1.2", at=NOW + 90_000)])
    assert [line[17:] for line in sheets.schedule(t).lines()] == [
        "The tournament started.",
        "Round 1 starts.",
        "Match 1.2 starts.",
    ]
    first, second = pairings().matches
    anew = replace(second.races[0], starts=NOW + 90_000)
    voided = replace(second.races[0], state="void")
    again = pairings(matches=[first, replace(second, races=[voided, anew])])
    shown = sheets.pairings(scene(), again).lines()
    assert sheets.instant(NOW) in shown[0]
    assert f"not decided, starts {sheets.instant(NOW + 90_000)}" in "\n".join(shown)
    alone = sheets.pairings(scene(), pairings(matches=[replace(second, races=[anew])])).lines()
    assert sheets.instant(NOW + 90_000) in alone[0]


def test_a_pause_puts_off_what_is_to_come() -> None:
    said = "\n".join(sheets.schedule(tournament(phase="paused")).lines())
    assert "Round 1 starts" not in said
    assert "Paused." in said


def test_the_rounds_shown_are_the_last_one_and_those_with_a_match_that_is_played_again() -> None:
    over = [match("1.1", "p1", "p2", kind="played", places=[1, 2])]
    last = pairings(round=3, matches=[])
    now = tournament(round=3)
    decided = scene(pairings(round=1, matches=over), pairings(round=2, matches=over), last, now)
    assert open_rounds(decided) == [3]
    again = pairings(round=1, matches=[*over, match("1.2", "p3", "p4")])
    assert open_rounds(heard(decided, again)) == [1, 3]


def test_the_audit_has_names_in_place_of_ids() -> None:
    what = '{"match":"1.1","places":[["p3"],["p1"]],"reason":"p1"}'
    log = [{"version": 1, "at": 0, "by": "owner", "act": "overridden", "what": what, "why": "x"}]
    (line,) = ledger.audit(log, scene()).lines()
    assert line.endswith("match:1.1,places:[[cem],[ann]],reason:ann")


def test_the_audit_shows_what_people_wrote_as_they_wrote_it() -> None:
    what = json.dumps({"p": "p3", "name": 'Quo"te, \\ and {brace}'})
    log = [{"version": 1, "at": 0, "by": "owner", "act": "entered", "what": what, "why": ""}]
    (line,) = ledger.audit(log, scene()).lines()
    assert line.endswith('p: cem, name: Quo"te, \\ and {brace}')


def test_the_audit_names_players_and_says_why() -> None:
    log = [
        {"version": 1, "at": 0, "by": "p1", "act": "entered", "what": "{}", "why": ""},
        {"version": 2, "at": 0, "by": "owner", "act": "paused", "what": "{}", "why": "coffee"},
    ]
    lines = ledger.audit(log, scene()).lines()
    assert "ann" in lines[0]
    assert "paused   coffee" in lines[1]


def test_the_head_says_what_is_going_on_and_the_newest_announcements() -> None:
    lines = sheets.head(tournament())
    assert lines[:-1] == [
        "Autumn Cup   (CUP)",
        "swiss, 2 rounds",
        "4 players; running",
        "round 1: 1 match to be decided",
    ]
    assert re.fullmatch(r"! \d\d:\d\d soup is ready", lines[-1])


def test_the_head_says_that_a_round_waits_to_be_published() -> None:
    assert "1 match to be decided" in "".join(sheets.head(tournament(held=True)))
    lines = sheets.head(tournament(held=True, open=0))
    assert "round 1: results are held back until they are published" in lines


def test_strangers_text_is_made_fit_for_a_terminal() -> None:
    nasty = scene(entrants("a\x1b[31m", "b\u202e", "c", "d"))
    for canvas in (
        sheets.players(nasty),
        sheets.standings(nasty, ranking()),
        sheets.pairings(nasty, pairings()),
        sheets.live(nasty),
    ):
        assert "\x1b" not in text(canvas)
        assert "\u202e" not in text(canvas)


def test_no_instant_breaks_a_sheet() -> None:
    assert sheets.instant(2**53) == "?"


def test_a_sheet_is_cut_to_the_terminal_and_says_so() -> None:
    canvas = sheets.pairings(scene(), pairings())
    whole = fitted(canvas, None)
    assert fitted(canvas, 200) == whole
    assert not whole[-1].startswith("(")
    cut = fitted(canvas, 20)
    assert cut[-1].startswith("(cut at 20 columns")
    assert [line[:20].rstrip() for line in whole] == cut[:-1]


def test_columns_line_up_whatever_the_width_of_names() -> None:
    wide = scene(entrants("大輔", "Bob", "c", "d"))
    lines = sheets.players(wide).lines()
    ruler = Canvas(1, 99)
    ends = {ruler.width(line[: line.rindex("15") + 4]) for line in lines[1:]}
    assert len(ends) == 1
