"""What the pages say, and that nothing a person wrote becomes a part of the page."""

import re
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from server.public import render
from server.public.figures import drawing
from server.public.sheet import Sheet
from server.tournament import acts, calls
from server.tournament.settings import Arena, Deals, Double, Heats, Single, StageSettings, Swiss
from tests.public.made import play, sheet, told
from tests.tournament.told import Told, settings
from wire.lines import LiveLine, LiveRace, TournamentLine

NASTY = "<b>&\"'{{7*7}}"


class Reader(HTMLParser):
    """Reads a page strictly: every element that is opened is closed, in order."""

    VOID = frozenset({"meta", "link", "rect", "path"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.texts: list[str] = []
        self.within: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        self.within.append((data, tuple(self.open)))

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))


def page(shown: Sheet) -> Reader:
    made = render.tournament(shown, render.board(shown), render.live(shown))
    return Reader(made.decode())


def names(count: int) -> list[str]:
    return [f"player-{number}" for number in range(1, count + 1)]


def nasty() -> Told:
    made = told(settings(Single(), title=NASTY), [NASTY + str(n) for n in range(4)])
    play(made, 1)
    made.tell(*acts.decide_announce(made.t, "owner", NASTY))
    made.tell(*acts.decide_disqualify(made.t, "owner", player="p001", why=NASTY))
    return made


def test_texts_of_people_are_shown_as_they_are_and_make_no_elements() -> None:
    shown = sheet(nasty())
    read = page(shown)
    assert NASTY in read.text
    assert f"{NASTY}0" in read.text
    plain = play(told(settings(Single(), title="plain"), ["a", "b", "c", "d"]), 1)
    plain.tell(*acts.decide_announce(plain.t, "owner", "a word"))
    plain.tell(*acts.decide_disqualify(plain.t, "owner", player="p001", why="rude"))
    assert read.seen == page(sheet(plain)).seen


def test_texts_of_people_turn_round_nothing_beside_them() -> None:
    # A name that is read from right to left would else draw the figures after it to its left.
    shown = sheet(nasty())
    rounds = Reader((render.one_round(shown, 1) or b"").decode())
    before = page(sheet(told(settings(Swiss(rounds=1), title=NASTY), [NASTY + "1", NASTY + "2"])))
    for read in (page(shown), rounds, before):
        found = [within for text, within in read.within if NASTY in text]
        assert len(found) > 3
        assert [each for each in found if not {"bdi", "svg", "title"} & set(each)] == []


def render_text(shown: Sheet) -> str:
    return render.tournament(shown, render.board(shown), render.live(shown)).decode()


def test_there_is_no_script_or_style_inside_a_page() -> None:
    read = page(sheet(nasty()))
    assert read.seen.count("script") == 1
    assert "style" not in read.seen
    assert not [name for name, _ in read.attributes if name == "style" or name.startswith("on")]


def test_standings_have_the_values_that_separate_equals_and_what_they_mean() -> None:
    chosen = settings(Swiss(rounds=3), tiebreaks=["buchholz-cut1", "cards", "total-time"])
    shown = sheet(play(told(chosen, names(8)), 2))
    read = page(shown)
    for head in ("BH-1", "Cards", "Time", "Points"):
        assert head in read.text
    assert ("title", "sum of the opponents' points without the lowest") in read.attributes
    first = shown.rankings[0].groups[0][0]
    assert f" 1 player-{int(first.entry[1:]) + 1} " in read.text


def test_a_round_that_waits_to_be_published_is_said_to() -> None:
    made = told(settings(Swiss(rounds=3), hold=True), names(4))
    assert "round 1, 2 matches to be decided" in page(sheet(made)).text
    made = play(made, 1)
    assert "round 1, results are held back until they are published" in page(sheet(made)).text


def test_pairings_state_their_reasons() -> None:
    shown = sheet(play(told(settings(Swiss(rounds=3)), names(7)), 1))
    read = page(shown)
    for match in shown.pairings[2].matches:
        assert match.why in read.text
    (bye,) = shown.pairings[2].byes
    assert f"bye: {bye.why}" in read.text


@pytest.mark.parametrize("players", [2, 3, 6, 11, 16])
def test_a_bracket_names_everybody_or_where_they_will_come_from(players: int) -> None:
    shown = sheet(play(told(settings(Double()), names(players)), 1))
    read = page(shown)
    assert "svg" in read.seen
    for slot in shown.brackets[0].groups[0]:
        for entry, source in zip(slot.sides, slot.sources, strict=True):
            if slot.state != "empty" and entry:
                assert shown.name(entry) in read.text
            elif slot.state == "waiting":
                assert source in read.text


@pytest.mark.parametrize("play_of", [Single(third_place=True), Double(final="reset")])
def test_where_somebody_will_come_from_has_room_in_its_box(play_of: Single | Double) -> None:
    shown = sheet(told(settings(play_of), names(16)))
    (slots,) = shown.brackets[0].groups
    sides = [side for box in drawing(shown, slots).boxes for side in box.sides if not side.known]
    assert sides
    # 173 pixels, and a letter of 13 pixels is rarely wider than 7.2.
    assert [side.text for side in sides if len(side.text) > 24] == []


def test_a_bracket_numbers_players_as_they_came_into_it() -> None:
    made = told(settings(Swiss(rounds=1), Single()), names(8))
    for call in calls(made.t):  # the worse one wins, so that seeds of the two stages differ
        made.race(call, [[player] for player in sorted(dict(call.players), reverse=True)])
    while made.t.phase == "running" and len(made.t.stages) < 2:
        assert made.wait()
    (shown,) = sheet(made).brackets[1].groups
    sides = [side for box in drawing(sheet(made), shown).boxes for side in box.sides if side.known]
    assert sorted(side.seed for side in sides) == ["1", "2", "3", "4"]


def test_races_that_run_are_shown_with_the_leader_first() -> None:
    made = told(settings(Single()), names(2))
    lines = [LiveLine("p000", 17, 9, 40, "playing"), LiveLine("p001", 23, 12, 44, "playing")]
    race = LiveRace(match="1.1", race=1, room="R", of=52, lines=lines)
    text = render.live(sheet(made, race))
    assert text.index("player-2") < text.index("player-1")
    assert "23 cards" in text
    assert "12 down" in text
    assert 'max="52"' in text


def test_heats_show_everybody_in_the_order_of_their_places() -> None:
    made = told(settings(Heats(size=4)), names(8))
    first = calls(made.t)[0]
    made.race(first, [[player] for player, _ in reversed(first.players)])
    text = render.board(sheet(made))
    assert text.index("1. 59 cards") < text.index("2. 58 cards") < text.index("3. 57 cards")


def test_a_series_counts_an_equal_race_as_half() -> None:
    made = told(settings(Single()), names(2))
    chosen = replace(made.t.settings, stages=[StageSettings(play=Single(), best_of=3)])
    made = told(chosen, names(2))
    for order in ([["p000", "p001"]], [["p001"], ["p000"]], [["p001"], ["p000"]]):
        (call,) = calls(made.t)
        made.race(call, order)
        while not calls(made.t) and made.wait():
            pass
    assert "2½ won" in render.board(sheet(made))
    assert "½ won" in render.board(sheet(made))


def test_an_arena_shows_the_matches_that_are_on_before_those_that_are_over() -> None:
    made = told(settings(Arena(minutes=30)), names(6))
    made.wait()
    first = calls(made.t)[0]
    made.race(first, [[player] for player, _ in first.players])
    while len(calls(made.t)) < 2 and made.wait():
        pass
    shown = sheet(made)
    text = render.board(shown)
    assert "Matches" in text
    assert text.rindex('class="open"') < text.index('class="over"')
    assert "Pairing stops." in text


def test_a_match_that_is_called_anew_stands_in_the_schedule() -> None:
    made = told(settings(Single()), ["Ann", "Bob", "Cem", "Dun"])
    made.now += 60_000
    made.tell(*acts.decide_restart(made.t, "referee", made.now, "1.1", "a crash"))
    made.settle()
    assert render.schedule(sheet(made).tournament)[-1] == (
        made.now + 1000 * made.t.settings.race_break_s,
        "Match 1.1 starts.",
    )


def test_what_the_organiser_holds_back_is_on_no_page() -> None:
    made = told(settings(Swiss(rounds=3), hold=True), names(4))
    open_before = render.board(sheet(made))
    for call in calls(made.t):
        made.race(call, [[player] for player, _ in call.players])
    shown = sheet(made)
    held = render.board(shown)
    assert "wait for the organiser" in held
    assert "cards" not in held.replace("cards brought home", "")
    assert 'class="over"' not in held
    assert held.count("<li") == open_before.count("<li")
    made.tell(*acts.decide_publish(made.t, "owner"))
    assert "59 cards" in render.board(sheet(made))


def test_rounds_and_stages_have_pages_of_their_own() -> None:
    made = told(settings(Swiss(rounds=1), Single()), names(6))
    play(made, 3)
    shown = sheet(made)
    first = Reader((render.one_round(shown, 1) or b"").decode())
    assert "Round 1" in first.text
    stage = Reader((render.stage(shown, 0) or b"").decode())
    assert "Stage 1" in stage.text
    assert render.one_round(shown, 99) is None
    assert render.stage(shown, 9) is None


def test_a_round_that_a_ruling_has_discarded_says_so() -> None:
    shown = sheet(play(told(settings(Swiss(rounds=2)), names(4)), 2))
    on = shown.pairings[2]
    assert "discarded" not in (render.one_round(shown, 2) or b"").decode()
    shown.pairings[2] = replace(on, matches=[], byes=[])
    assert "a ruling has discarded it" in (render.one_round(shown, 2) or b"").decode()


def test_the_same_sheet_makes_the_same_bytes() -> None:
    shown = sheet(nasty())
    assert render_text(shown) == render_text(sheet(nasty()))


def test_the_list_links_every_tournament() -> None:
    line = TournamentLine(
        tournament="CUP",
        title=NASTY,
        format="Swiss",
        phase="check-in",
        entrants=3,
        places=64,
        opened=0,
        starts=1_800_000_000_000,
    )
    read = Reader(render.listing([line]).decode())
    assert ("href", "/t/CUP") in read.attributes
    assert NASTY in read.text
    assert "15 Jan 2027, 08:00 UTC" in read.text
    assert "No tournament" in Reader(render.listing([]).decode()).text


def test_an_instant_that_no_calendar_has_breaks_no_page() -> None:
    made = told(settings(Single(), start_at=2**53, deals=Deals()), ["alone"])
    assert "9999" in page(sheet(made)).text


def test_the_head_of_the_journal_is_there_when_the_tournament_is_over() -> None:
    made = told(settings(Single()), ["Ann", "Ben"])
    head = re.compile(r"[0-9a-f]{64}")
    assert not head.search(page(sheet(made)).text)
    shown = page(sheet(play(made, 1)))
    assert head.findall(shown.text) == [made.t.head.hex()]
    assert "klondike tournament verify" in shown.text
