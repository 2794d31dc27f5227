"""Tournaments for tests, made as the journal would make them, with races that nobody races."""

from collections.abc import Callable, Iterable, Sequence
from itertools import count

from server.tournament import Around, Call, Tournament, acts, calls, due, next_due
from server.tournament import events as ev
from server.tournament.settings import AnyPlay, StageSettings, TournamentSettings
from wire.values import Settings

T0 = 1_800_000_000_000  # when the tournament was made

RACE = Settings(time_limit_s=300, countdown_s=5)


def settings(
    *plays: AnyPlay, best_of: int = 1, groups: int = 1, qualify: int = 4, **more: object
) -> TournamentSettings:
    """Settings with one stage for each format; the groups are those of the first."""
    last = len(plays) - 1
    stages = [
        StageSettings(
            play=play,
            best_of=best_of,
            groups=groups if index == 0 else 1,
            qualify=qualify if index < last else None,
        )
        for index, play in enumerate(plays)
    ]
    fields: dict[str, object] = {"stages": stages, "race": RACE, "players": 1024} | more
    return TournamentSettings(**fields)  # type: ignore[arg-type]


class Told:
    """A tournament, its journal and its clock."""

    def __init__(self, chosen: TournamentSettings) -> None:
        self.now = T0
        self.lines: list[tuple[int, bytes]] = []
        self.t = Tournament()
        self._codes = count(1)
        self.here: set[str] | None = None
        self.busy: dict[str, str] = {}
        self.since = 0  # the store was away, or took nothing in, until then
        self.tell(acts.decide_create("CUP", chosen))

    @property
    def around(self) -> Around:
        """What the tournament asks for."""
        return Around(lambda: f"R{next(self._codes):05}", self.here, self.busy, self.since)

    def tell(self, *events: ev.AnyEvent) -> None:
        """Append events as the store would."""
        for event in events:
            payload = ev.encode(event)
            self.lines.append((self.now, payload))
            self.t.apply(self.now, payload)

    def enter(self, number: int) -> list[str]:
        """Let so many enter, the best first: p001, p002, …"""
        names = [f"p{index:03}" for index in range(1, number + 1)]
        for index, name in enumerate(names):
            self.tell(*acts.decide_enter(self.t, name, player=name, name=name, rating=3000 - index))
        return names

    def start(self) -> None:
        """Start now."""
        self.tell(*acts.decide_start(self.t, "owner", self.around))
        self.settle()

    def settle(self) -> None:
        """Do what is due until nothing is."""
        while events := due(self.t, self.now, self.around):
            self.tell(*events)

    def wait(self) -> bool:
        """Move the clock to the next instant that matters; whether there was one."""
        instant = next_due(self.t, self.now)
        if instant is None:
            return False
        self.now = instant
        self.settle()
        return True

    def race(self, call: Call, order: Sequence[Sequence[str]]) -> None:
        """Report a race: the players best first, equals together."""
        self.now = max(self.now, (call.settings.start_at or 0) + 60_000)
        self.tell(*acts.decide_raced(self.t, call.match, call.race, rows(order)))
        self.settle()

    def call(self, match: str) -> Call:
        """The race of a match that is called."""
        return next(call for call in calls(self.t) if call.match == match)

    def race_all(self, better: Callable[[str], object] = lambda player: player) -> None:
        """Race everything that is called, the better ones first, to the end."""
        while open_calls := calls(self.t):
            for call in open_calls:
                players = [player for player, _ in call.players]
                self.race(call, [[player] for player in sorted(players, key=better)])  # type: ignore[arg-type]

    def race_all_of_round(self) -> None:
        """Race what is called now, the better ones first, until another round is called."""
        rounds = len(self.t.rounds)
        while len(self.t.rounds) == rounds and (open_calls := calls(self.t)):
            self.race(open_calls[0], [[player] for player, _ in open_calls[0].players])

    def folded(self) -> Tournament:
        """Fold the journal anew."""
        again = Tournament()
        for at, payload in self.lines:
            again.apply(at, payload)
        return again


def rows(order: Sequence[Iterable[str]], cards: int = 60) -> list[ev.Row]:
    """Standings of a race: equals share place, cards and time."""
    result: list[ev.Row] = []
    for equals in order:
        place = len(result) + 1
        result += [
            ev.Row(
                p=player,
                place=place,
                outcome="unfinished",
                cards=max(0, cards - place),
                time_ms=200_000 + place,
            )
            for player in equals
        ]
    return result


def begun(*plays: object, players: int = 4, **more: object) -> Told:
    """A tournament whose first round is called."""
    told = Told(settings(*plays, **more))  # type: ignore[arg-type]
    told.enter(players)
    told.start()
    return told
