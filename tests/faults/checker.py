"""Compares what clients wrote down, what the journal holds and what the standings say.

The journal is read with nothing of the server's: plain JSON, the second dealer of
tests/rules and the naive referee.
"""

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.faults.record import Answer, Record, Seen
from tests.rules import naive, second_deal
from wire.messages import Standings

SHOWN_OF_WASTE = 3


class Play(NamedTuple):
    """A play as the journal has it."""

    n: int
    text: str
    at: int


@dataclass
class Verdict:
    """The four figures that have to be zero, and what was found, in words."""

    lost: int = 0
    twice: int = 0
    differing: int = 0
    endless: int = 0
    excused: int = 0  # lost inside the store's own window, and the player was told
    gone: int = 0  # races that were lost there as a whole, and all were told
    races: int = 0
    plays: int = 0
    answers: int = 0
    findings: list[str] = field(default_factory=list)

    @property
    def zeros(self) -> tuple[int, int, int, int]:
        return self.lost, self.twice, self.differing, self.endless

    @property
    def is_clean(self) -> bool:
        return not any(self.zeros)

    def __iadd__(self, other: "Verdict") -> "Verdict":
        for name in ("lost", "twice", "differing", "endless", "excused", "gone"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.races += other.races
        self.plays += other.plays
        self.answers += other.answers
        self.findings += other.findings
        return self

    def text(self) -> str:
        """The four zeros, or whatever they are."""
        return (
            f"acknowledged moves lost = {self.lost}, applied twice = {self.twice}, "
            f"boards differing from the journal = {self.differing}, "
            f"races without an end = {self.endless}"
        )


class Tale:
    """What a journal tells, read line by line with no code of the server's."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.plays: dict[str, list[Play]] = {}
        self.outcomes: dict[str, tuple[str, int]] = {}
        self.seats: dict[str, str] = {}  # player to salt, in seat order
        self.opened: dict[str, Any] = {}
        self.started_at: int | None = None
        self.over: str | None = None
        self.secret = ""
        self.after_end = 0  # plays that stand behind the end
        self.unordered = 0  # entries earlier than the one before them
        before = 0
        for line in lines:
            at, _, text = line.partition(" ")
            self.unordered += int(at) < before
            before = int(at)
            self._tell(before, json.loads(text))

    def _tell(self, at: int, event: dict[str, Any]) -> None:
        player = event.get("p", "")
        match event["e"]:
            case "opened":
                self.opened = event
            case "joined":
                self.seats[player] = ""
            case "left":
                del self.seats[player]
            case "readied":
                self.seats[player] = event.get("salt", "")
            case "unreadied":
                self.seats[player] = ""
            case "started":
                self.started_at = at
            case "played" | "undone":
                self.after_end += self.over is not None or player in self.outcomes
                play = Play(event["n"], event.get("m", "undo"), at)
                self.plays.setdefault(player, []).append(play)
            case "resigned" | "disqualified":
                self.outcomes[player] = event["e"], at
            case "over":
                self.over = event["why"]
            case "revealed":
                self.secret = event["secret"]

    @property
    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = self.opened["settings"]
        return settings

    @property
    def rules(self) -> str:
        rules: str = self.settings.get("rules", "double-klondike")
        return rules

    def layout(self) -> str:
        """The position line of the deal."""
        parameters = naive.read_rules(self.rules)
        sizes = [int(size) for size in parameters["sizes"].split("-")]
        seed = self.settings.get("seed")
        if seed is not None:
            key = second_deal.public_key(seed)
        else:
            salts = [bytes.fromhex(salt) for salt in self.seats.values()]
            secret = bytes.fromhex(self.secret)
            key = second_deal.fair_key(secret, self.opened["deal"], self.rules, salts)
        return second_deal.layout(self.rules, sizes, int(parameters["decks"]), key)

    def head(self) -> str:
        """The hash chain up to the end or the reveal, in hex."""
        head = bytes(32)
        sealed = head
        for line in self.lines:
            head = hashlib.sha256(head + line.encode()).digest()
            if json.loads(line.partition(" ")[2])["e"] in ("over", "revealed"):
                sealed = head
        return sealed.hex()


def visible(game: naive.Game) -> dict[str, str]:
    """The piles as their player may see them."""
    waste = game["waste"]
    hidden = max(0, len(waste) - SHOWN_OF_WASTE)
    piles = {"h": f"{len(game['hand'])}:", "w": f"{hidden}:{''.join(waste[hidden:])}"}
    for number, pile in enumerate(game["foundations"], 1):
        piles[f"f{number}"] = f"{len(pile) - 1}:{pile[-1]}" if pile else "0:"
    for number, (down, up) in enumerate(zip(game["down"], game["up"], strict=True), 1):
        piles[str(number)] = f"{len(down)}:{''.join(up)}"
    return piles


class Boards:
    """Every board of one player, by the number of the last play."""

    def __init__(self, layout: str, plays: Sequence[Play]) -> None:
        """`broken` says at which play the journal stops to make sense, if it does."""
        self.broken = ""
        self._seen: list[tuple[dict[str, str], int, int]] = []
        self.reached: list[int] = [0]  # by play: the last play that changed cards or down
        former: list[naive.Game] = []
        game = naive.read(layout)
        self._keep(game)
        for number, play in enumerate(plays, 1):
            if play.text == "undo" and former:
                game = former.pop()
            elif play.text in naive.moves(game):
                former.append(game)
                game = copy.deepcopy(game)
                naive.play(game, play.text)
            else:
                self.broken = f"play {number}, {play.text}, is not legal in {naive.write(game)}"
                return
            self._keep(game)

    def _keep(self, game: naive.Game) -> None:
        cards = sum(len(pile) for pile in game["foundations"])
        down = sum(len(pile) for pile in game["down"])
        if self._seen:
            _, *before = self._seen[-1]
            is_same = before == [cards, down]
            self.reached.append(self.reached[-1] if is_same else len(self._seen))
        self._seen.append((visible(game), cards, down))

    def __len__(self) -> int:
        return len(self._seen)

    def at(self, n: int) -> tuple[dict[str, str], int, int] | None:
        """Piles, cards home and cards face down after play n; None for no such play."""
        return self._seen[n] if n < len(self._seen) else None


def check(
    lines: Sequence[str], records: Iterable[Record], published: Sequence[str] | None = None
) -> Verdict:
    """Compares one race's journal with what its clients wrote down.

    `published` is the journal as the server gives it out. Records of players who were not
    seated count as spectators'.
    """
    return _Check(Tale(lines), list(records), published).verdict


class _Check:
    def __init__(self, tale: Tale, records: list[Record], published: Sequence[str] | None) -> None:
        self.tale = tale
        self.verdict = Verdict(races=1)
        self.room = tale.opened.get("room", "?")
        if not tale.lines and all(record.is_forgotten for record in records):
            self.verdict.gone = 1
            return
        if tale.started_at is None:
            self._find("endless", f"it never started: {tale.over or 'no end either'}")
            return
        if tale.over is None:
            self._find("endless", "the journal has no end")
            return
        self._journal(published)
        layout = tale.layout()
        self.boards = {player: Boards(layout, tale.plays.get(player, [])) for player in tale.seats}
        for player, boards in self.boards.items():
            if boards.broken:
                self._find("differing", f"{player}: {boards.broken}")
        for record in records:
            if record.player in tale.seats:
                self._answers(record)
                self._origins(record)
            self._shown(record)
        self._standings([each for record in records for each in record.standings])

    def _find(self, kind: str, what: str, count: int = 1) -> None:
        setattr(self.verdict, kind, getattr(self.verdict, kind) + count)
        self.verdict.findings.append(f"room {self.room}: {what}")

    # --- the journal by itself --------------------------------------------------------

    def _journal(self, published: Sequence[str] | None) -> None:
        tale = self.tale
        for player, plays in tale.plays.items():
            self.verdict.plays += len(plays)
            for number, count in Counter(play.n for play in plays).items():
                if count > 1:
                    self._find("twice", f"{player}: play {number} stands {count} times")
            if sorted({play.n for play in plays}) != list(range(1, len({*plays}) + 1)):
                self._find("differing", f"{player}: the numbers of the plays have a gap")
        if tale.after_end:
            self._find("twice", f"{tale.after_end} plays stand behind an end", tale.after_end)
        if tale.unordered:
            self._find("differing", f"official time goes back {tale.unordered} times")
        if published is not None and list(published) != list(tale.lines):
            self._find("differing", "the published record is not the journal")

    # --- a player's record against it -------------------------------------------------

    def _answers(self, record: Record) -> None:
        journal = {play.n: play for play in self.tale.plays.get(record.player, [])}
        excused = record.resynchronised[-1][0] if record.resynchronised else 0
        outcomes: dict[int, Answer] = {}
        for index, answer in enumerate(record.answers):
            self.verdict.answers += 1
            play = journal.get(answer.n)
            if play == (answer.n, answer.text, answer.at):
                continue
            if index < excused:
                self.verdict.excused += 1
                continue
            first = outcomes.setdefault(answer.n, answer)
            if play is not None and first is not answer:
                continue  # said already
            self._find("lost", f"{record.name}: {answer} was acknowledged, the journal has {play}")

    def _origins(self, record: Record) -> None:
        """Every play of the journal was asked for, under its own number."""
        finishing = min((n for n, texts in record.sent.items() if "finish" in texts), default=None)
        for n, text, _ in self.tale.plays.get(record.player, []):
            asked = record.sent.get(n, set())
            if any(text == each or _may_mean(each, text) for each in asked):
                continue
            if finishing is not None and n >= finishing and text.endswith(">f"):
                continue
            self._find("twice", f"{record.name}: play {n}, {text}, was never asked for: {asked}")

    def _shown(self, record: Record) -> None:
        boards = self.boards.get(record.player)
        excused = record.resynchronised[-1][1] if record.resynchronised else 0
        for index, seen in enumerate(record.boards):
            if boards is None:
                self._find("differing", f"{record.name}: a board was shown to nobody's seat")
            elif index >= excused:
                wrong = _difference(seen, boards, self.tale.plays.get(record.player, []))
                if wrong:
                    self._find("differing", f"{record.name}: {wrong}")

    # --- the end ----------------------------------------------------------------------

    def _standings(self, heard: list[Standings]) -> None:
        tale = self.tale
        if not heard:
            self._find("endless", "nobody heard the end")
            return
        whole = [each for each in heard if each.reveal is not None] or heard
        for each in heard:
            if each.reason != tale.over or each.rows != whole[0].rows:
                self._find("differing", "two clients heard different ends")
        for each in whole:
            if each.head != tale.head():
                self._find("differing", "the published head is not that of the journal")
            if each.reveal is not None and each.reveal.position != tale.layout():
                self._find("differing", "the revealed layout is not the one that was played")
        for row in whole[0].rows:
            expected = self._row(row.player)
            given = (
                row.outcome,
                row.cards,
                row.down,
                row.moves,
                row.undos,
                row.finished_ms,
                row.reached_ms,
            )
            if given != expected:
                self._find("differing", f"{row.name} has {given}, the journal says {expected}")
        self._order(whole[0])

    def _row(self, player: str) -> tuple[Any, ...]:
        tale, boards = self.tale, self.boards[player]
        plays = tale.plays.get(player, [])
        start = tale.started_at or 0
        n = len(boards) - 1
        _, cards, down = boards.at(n) or ({}, 0, 0)
        total = 52 * int(naive.read_rules(tale.rules)["decks"])
        undos = sum(play.text == "undo" for play in plays)
        reached = boards.reached[n]
        at = plays[reached - 1].at if reached else start
        finished = None
        if cards == total:
            outcome, finished = "solved", plays[-1].at - start
        elif player in tale.outcomes:
            outcome = tale.outcomes[player][0]
        else:
            outcome = "unfinished"
        return outcome, cards, down, len(plays) - undos, undos, finished, at - start

    def _order(self, standings: Standings) -> None:
        group = {"solved": 0, "unfinished": 1, "resigned": 2, "disqualified": 3}

        def key(player: str) -> tuple[int, ...]:
            outcome, cards, down, _, _, finished, reached = self._row(player)
            if outcome == "solved":
                return (0, finished)
            return (group[outcome], -cards, down, reached)

        keys = [key(row.player) for row in standings.rows]
        places = [1 + sum(other < own for other in keys) for own in keys]
        if [row.place for row in standings.rows] != places or keys != sorted(keys):
            self._find("differing", f"the places are not by the journal: {places}")


def _may_mean(asked: str, played: str) -> bool:
    """Whether a move in full is one that a shorter text may have meant."""
    return asked.endswith(">") and played.startswith(asked)


def _difference(seen: Seen, boards: Boards, plays: Sequence[Play]) -> str:
    expected = boards.at(seen.n)
    if expected is None:
        return f"a board after play {seen.n} was shown, the journal has {len(boards) - 1}"
    piles, cards, down = expected
    undos = sum(play.text == "undo" for play in plays[: seen.n])
    if seen.piles != piles:
        wrong = {name: (text, piles.get(name)) for name, text in seen.piles.items()}
        wrong = {name: both for name, both in wrong.items() if both[0] != both[1]}
        return f"the board after play {seen.n} has other piles (shown, true): {wrong}"
    counts = (seen.cards, seen.down, seen.moves, seen.undos)
    true = (cards, down, seen.n - undos, undos)
    if counts != true:
        return f"the board after play {seen.n} counts {counts}, true is {true}"
    return ""
