"""Random tournaments under random mishaps, held against the laws.

    python -m tests.tournament.fuzz [--runs N] [--seed S] [--most PLAYERS]

prints what was tried and exits with 1 at the first run that breaks a law, naming its seed.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random

import msgspec

from server.refusal import Refusal
from server.tournament import Call, acts, calls, due, next_due, views
from server.tournament import events as ev
from server.tournament.settings import (
    AnyPlay,
    Arena,
    Deals,
    Double,
    Duplicate,
    Heats,
    NFold,
    RoundRobin,
    Single,
    StageSettings,
    Swiss,
    TournamentSettings,
)
from tests.tournament.laws import Broken, Watch, check_end, law
from tests.tournament.mishaps import Mishaps, Room
from tests.tournament.told import RACE, T0, Told

HOUR_MS = 3_600_000
NEVER_MS = 10**15
MAX_STEPS = 40_000
LARGE_EVERY = 200  # one run of so many has up to 512 players

PLAYS: tuple[Callable[[Random], AnyPlay], ...] = (
    lambda r: Single(third_place=r.random() < 0.5),
    lambda r: Double(final=r.choice(("none", "single", "reset", "reset"))),
    lambda r: NFold(losses=r.randint(1, 4)),
    lambda r: Swiss(rounds=r.choice((None, None, r.randint(1, 9)))),
    lambda r: Swiss(engine="dutch"),
    lambda r: RoundRobin(double=r.random() < 0.3, left=r.choice(("forfeit", "remove"))),
    lambda r: Arena(minutes=r.randint(5, 40), streaks=r.random() < 0.5, pauses=r.random() < 0.5),
    lambda r: Heats(size=r.randint(3, 8), advance=r.randint(1, 4), best=r.choice((0, 0, 2, 5))),
    lambda r: Duplicate(
        deals=r.randint(1, 5), score=r.choice(("places", "cards")), table=r.randint(2, 16)
    ),
)


def _stage(r: Random, play: AnyPlay, many: bool, is_last: bool) -> StageSettings:
    best_of = 1 if isinstance(play, Duplicate) else r.choice((1, 1, 1, 3, 5))
    groups = r.randint(2, 5) if many and not isinstance(play, Arena) else 1
    qualify = None if is_last else max(r.randint(1, 8), 2 if groups == 1 else 1)
    return StageSettings(play=play, best_of=best_of, groups=groups, qualify=qualify)


def random_settings(r: Random, play: AnyPlay | None) -> TournamentSettings:
    """Settings of every kind; with a format given they are of one stage."""
    plays = [play or r.choice(PLAYS)(r)]
    if play is None and r.random() < 0.2:
        plays.append(r.choice(PLAYS)(r))
    last = len(plays) - 1
    many = r.random() < 0.2
    stages = [_stage(r, play, many, index == last) for index, play in enumerate(plays)]
    start_at = T0 + 2 * HOUR_MS if r.random() < 0.5 else None
    return TournamentSettings(
        stages=stages,
        race=RACE,
        players=1024,
        seeding=r.choice(("rating", "random")),
        start_at=start_at,
        check_in_s=r.choice((None, 900)) if start_at else None,
        no_shows=r.randint(1, 3),
        break_s=r.choice((0, 30)),
        race_break_s=r.choice((0, 20)),
        round_limit_s=r.choice((None, None, 400, 1500)),
        deals=Deals(share=r.choice(("match", "round"))),
        hold=r.random() < 0.1,
    )


class Run(Mishaps):
    """One tournament from its making to its end."""

    def __init__(
        self, seed: int, most: int, *, players: int | None = None, play: AnyPlay | None = None
    ) -> None:
        self.r = Random(seed)
        self.players = players or self.r.choice((self.r.randint(2, 8), self.r.randint(2, most)))
        self.mishaps = self.r.choice((0.0, 0.05, 0.3))
        self.chosen = random_settings(self.r, play)
        self.told = Told(self.chosen)
        self.watch = Watch()
        self.rooms: dict[str, Room] = {}
        self.refused: Counter[str] = Counter()
        self.folds = 0
        self.next_crash = self.r.randint(1, 40)
        self.late = 0

    # --- appending --------------------------------------------------------------------

    def tell(self, *events: ev.AnyEvent) -> None:
        for event in events:
            self.watch.before(self.told.t, event)
            self.told.tell(event)
            self.count(event)
            self.watch.after(self.told.t, event)
        if self.told.t.version >= self.next_crash:
            self.crash()

    def crash(self) -> None:
        """Go on with what the journal tells."""
        again = self.told.folded()
        self.folds += 1
        # Often at first and ever more rarely, so that folding stays as long as the journal.
        self.next_crash = again.version + self.r.randint(1, 10 + again.version)
        law(again.dump() == self.told.t.dump(), "the journal folds to another tournament")
        self.look()
        self.told.t = again

    def count(self, event: ev.AnyEvent) -> None:
        discards = getattr(event, "discards", ())
        self.watch.kinds["(matches discarded)"] += len(discards)

    def look(self) -> None:
        """Show everything there is to show."""
        shown = views.public(self.told.t)
        numbers = range(len(shown.stages))
        seen = (
            [views.standings(shown, number) for number in numbers],
            [views.brackets(shown, number) for number in numbers],
            [views.round_view(shown, on.number) for on in shown.rounds],
            [views.path(shown, player) for player in list(shown.people)[:5]],
            views.schedule(shown),
            views.audit(self.told.lines[-5:]),
        )
        law(bool(msgspec.json.encode(seen)), "something cannot be shown")

    def settle(self) -> None:
        told = self.told
        for _ in range(MAX_STEPS):
            events = due(told.t, told.now, told.around)
            if not events:
                break
            law(told.t.phase not in ("paused", "finished", "cancelled"), "it acts by itself")
            self.tell(*events)
        else:
            raise Broken("there is always something due")
        following = next_due(told.t, told.now)
        law(following is None or following > told.now, "the next instant is in the past")

    # --- living through it ------------------------------------------------------------

    def play(self) -> "Run":
        """Play the tournament to its end."""
        self.before()
        for _ in range(MAX_STEPS):
            self.settle()
            if self.told.t.phase in ("finished", "cancelled"):
                if not self.reopen():
                    break
                continue
            self.open_rooms()
            if self.r.random() < self.mishaps:
                self.mishap()
            elif not self.go_on():
                self.unstick()
        else:
            raise Broken("it never ends")
        self.crash()
        check_end(self.told.t, self.watch)
        return self

    def reopen(self) -> bool:
        """Overrule something when it is all over, at times; whether it goes on."""
        if self.told.t.phase == "finished" and self.r.random() < 4 * self.mishaps:
            self.r.choice((self.restart, self.override))()
            self.watch.kinds["Reopened"] += self.told.t.phase == "running"
            self.mishaps /= 4
        return self.told.t.phase == "running"

    def before(self) -> None:
        r, told = self.r, self.told
        for index in range(self.players):
            self.enter(f"p{index:03}")
            if r.random() < 0.02:
                name = f"p{r.randint(0, index):03}"
                self.do(partial(acts.decide_withdraw, told.t, name, player=name))
        if r.random() < 0.2:
            order = [entry for entry in told.t.entries if r.random() < 0.7]
            r.shuffle(order)
            self.do(lambda: acts.decide_seed(told.t, "owner", "list", order=order))
        if told.t.start_at is None:
            self.do(lambda: acts.decide_start(told.t, "owner", told.around))
            if told.t.phase != "running":
                self.do(lambda: acts.decide_cancel(told.t, "owner", "nobody is here"))
            return
        told.now = told.t.start_at - 800_000
        self.settle()
        if told.t.checked_in:
            for entry in list(told.t.entries):
                if r.random() < 0.9:
                    self.do(partial(acts.decide_check_in, told.t, entry, player=entry))
        told.now = told.t.start_at

    def enter(self, name: str) -> None:
        self.do(
            lambda: acts.decide_enter(
                self.told.t, name, player=name, name=name, rating=self.r.randint(800, 2400)
            )
        )

    def do(self, act: Callable[[], list[ev.AnyEvent]]) -> bool:
        """Let somebody act; a refusal changes nothing."""
        version = self.told.t.version
        try:
            events = act()
        except Refusal as refusal:
            law(self.told.t.version == version, "a refusal changed the tournament")
            self.refused[refusal.code] += 1
            return False
        self.tell(*events)
        return True

    def open_rooms(self) -> None:
        """Open the rooms that are called, and close those that count no more."""
        now_called = {call.room: call for call in calls(self.told.t)}
        for room, call in now_called.items():
            known = self.rooms.get(room)
            if known is None or known.call.settings.start_at != call.settings.start_at:
                self.rooms[room] = self.room(call)
        self.rooms = {room: self.rooms[room] for room in now_called}

    def room(self, call: Call) -> Room:
        starts = call.settings.start_at or 0
        absent = tuple(p for p, _ in call.players if self.r.random() < self.mishaps / 6)
        length = self.r.randint(20_000, 300_000)
        if self.r.random() < self.mishaps / 30:
            length = NEVER_MS  # its result never comes in
        return Room(call, starts + 5_000 + length, absent)

    def go_on(self) -> bool:
        """Move to the next thing that happens; whether there is one."""
        told = self.told
        live = [room for room in self.rooms.values() if room.ends < NEVER_MS]
        ends = min(live, key=lambda room: room.ends, default=None)
        following = next_due(told.t, told.now)
        if ends is not None and (following is None or ends.ends <= following):
            told.now = max(told.now, ends.ends)
            self.end(ends)
            return True
        if following is not None:
            told.now = following
        return following is not None

    def end(self, room: Room) -> None:
        """Report a race, once or twice, absences first."""
        call, told, r = room.call, self.told, self.r
        there = [player for player, _ in call.players if player not in room.absent]
        started_at = (call.settings.start_at or 0) + 5_000
        at = max(told.now, started_at + 1000 * call.no_show_s)
        self.do(
            lambda: acts.decide_no_show(
                told.t, call.match, call.race, now=at, started_at=started_at, played=there
            )
        )
        r.shuffle(there)
        lines = self.lines(there)
        for _ in range(r.choice((1, 1, 2))):
            self.do(lambda: acts.decide_raced(told.t, call.match, call.race, lines))

    def lines(self, players: list[str]) -> list[ev.Row]:
        result: list[ev.Row] = []
        for index, player in enumerate(players):
            tied = bool(result) and self.r.random() < 0.1
            above = result[-1] if tied else None
            result.append(
                ev.Row(
                    p=player,
                    place=above.place if above else index + 1,
                    outcome=above.outcome if above else "unfinished",
                    cards=above.cards if above else max(0, 80 - 3 * index),
                    time_ms=above.time_ms if above else self.r.randint(50_000, 300_000),
                )
            )
        return result

    def unstick(self) -> None:
        """Do what a tournament waits for people to do; if it waits for nothing, it is stuck."""
        told = self.told
        if told.t.phase == "paused":
            told.now += 60_000
            self.do(lambda: acts.decide_resume(told.t, "referee"))
        elif told.t.hold and not told.t.open and told.t.round and not told.t.round.published:
            self.do(lambda: acts.decide_publish(told.t, "referee"))
        else:
            raise Broken("it waits for ever")


def large_run(seed: int) -> Run:
    """A tournament of up to 512 players, of a format that does not take all day for it."""
    r = Random(seed)
    play = r.choice((Single(), Double(), NFold(), Heats(), Duplicate(), Swiss(rounds=5)))
    most = 150 if isinstance(play, Swiss | NFold) else 512
    return Run(seed, most, players=r.randint(65, most), play=play)


def main() -> int:
    """Run the fuzz from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=64, help="players at most")
    asked = parser.parse_args()
    began = time.monotonic()
    formats: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    folds = events = matches = 0
    for seed in range(asked.seed, asked.seed + asked.runs):
        run = large_run(seed) if seed % LARGE_EVERY == 0 else Run(seed, asked.most)
        try:
            run.play()
        except Exception as error:
            print(f"run {seed}: {type(error).__name__}: {error}")
            print(f"  {run.players} players, {run.chosen}")
            raise
        formats["+".join(type(s.play).__name__ for s in run.chosen.stages[:1])] += 1
        kinds += run.watch.kinds
        refused += run.refused
        folds += run.folds
        events += len(run.told.lines)
        matches += len(run.told.t.matches)
    took = time.monotonic() - began
    print(f"{asked.runs} tournaments, {matches} matches, {events} events, {folds} crashes")
    print(f"{took:.0f} s, {1000 * took / asked.runs:.1f} ms each")
    for title, counted in (("format", formats), ("event", kinds), ("refusal", refused)):
        print(f"{title}: " + ", ".join(f"{name} {n}" for name, n in counted.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
