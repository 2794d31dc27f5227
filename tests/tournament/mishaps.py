"""What goes wrong in a random tournament."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from server.tournament import Call, acts
from server.tournament import events as ev
from tests.tournament.told import Told


@dataclass
class Room:
    """A race that is on: when it ends, and whether somebody never plays."""

    call: Call
    ends: int
    absent: tuple[str, ...]


class Mishaps:
    """People and machines at their worst; mixed into a run."""

    r: Random
    told: Told
    rooms: dict[str, Room]
    late: int

    def do(self, act: Callable[[], list[ev.AnyEvent]]) -> bool:
        """Let somebody act."""
        raise NotImplementedError

    def settle(self) -> None:
        """Do what is due."""
        raise NotImplementedError

    def enter(self, name: str) -> None:
        """Let somebody enter."""
        raise NotImplementedError

    def mishap(self) -> None:
        self.told.now += self.r.randint(0, 40_000)
        # Time has passed: what is due comes before what people do, as it would.
        self.settle()
        if self.told.t.phase in ("running", "paused"):
            self.r.choice(MISHAPS)(self)

    def someone(self) -> str:
        return self.r.choice([entry.player for entry in self.told.t.entries.values()])

    def some_match(self) -> str:
        known = [*self.told.t.matches, "0.0"]
        return self.r.choice(known[-12:] if self.r.random() < 0.5 else known)

    def withdraw(self) -> None:
        who = self.someone()
        by = self.r.choice((who, "owner"))
        self.do(lambda: acts.decide_withdraw(self.told.t, by, player=who, why="has to go"))

    def rejoin(self) -> None:
        who = self.someone()
        self.do(lambda: acts.decide_rejoin(self.told.t, who, player=who))

    def disqualify(self) -> None:
        who = self.someone()
        self.do(lambda: acts.decide_disqualify(self.told.t, "referee", player=who, why="rude"))

    def reinstate(self) -> None:
        who = self.someone()
        self.do(lambda: acts.decide_reinstate(self.told.t, "referee", player=who, why="mistake"))

    def substitute(self) -> None:
        who, new = self.someone(), f"s{self.r.randint(0, 99):03}"
        self.do(
            lambda: acts.decide_substitute(
                self.told.t, "owner", player=who, substitute=new, name=new, why="ill"
            )
        )

    def come_late(self) -> None:
        self.late += 1
        self.enter(f"l{self.late:03}")

    def pause(self) -> None:
        if self.told.t.phase == "running":
            self.do(lambda: acts.decide_pause(self.told.t, "referee", "fire alarm"))
        else:
            self.do(lambda: acts.decide_resume(self.told.t, "referee"))

    def extend(self) -> None:
        what = self.r.choice(("round-start", "round", "arena"))
        ms = self.r.randint(1, 300_000)
        self.do(
            lambda: acts.decide_extend(self.told.t, "referee", self.told.now, what, ms)  # type: ignore[arg-type]
        )

    def restart(self) -> None:
        match, confirm = self.some_match(), self.r.random() < 0.7
        self.do(
            lambda: acts.decide_restart(
                self.told.t, "owner", self.told.now, match, "the line broke", confirm=confirm
            )
        )

    def void(self) -> None:
        match, confirm = self.some_match(), self.r.random() < 0.7
        self.do(
            lambda: acts.decide_void(
                self.told.t, "referee", self.told.now, match, "both cheated", confirm=confirm
            )
        )

    def override(self) -> None:
        match_id, confirm = self.some_match(), self.r.random() < 0.7
        match = self.told.t.matches.get(match_id)
        order = list(match.entries) if match else []
        self.r.shuffle(order)
        places = [[entry] for entry in order]
        if len(order) > 1 and self.r.random() < 0.2:
            places[:2] = [order[:2]]
        self.do(
            lambda: acts.decide_override(
                self.told.t, "owner", self.told.now, match_id, places, "typed it", confirm=confirm
            )
        )

    def repair(self) -> None:
        told, r = self.told, self.r
        pairs = None
        if r.random() < 0.3 and told.t.stages:
            order = [e for e in told.t.stage.groups[0] if told.t.entries[e].is_in]
            r.shuffle(order)
            pairs = list(zip(order[::2], order[1::2], strict=False))
        self.do(
            lambda: acts.decide_repair(
                told.t, "referee", told.now, told.around, "unhappy", pairs=pairs
            )
        )

    def hold(self) -> None:
        hold = self.r.random() < 0.3
        self.do(lambda: acts.decide_hold(self.told.t, "referee", hold))

    def void_race(self) -> None:
        if self.rooms:
            call = self.r.choice(list(self.rooms.values())).call
            self.do(lambda: acts.decide_race_void(self.told.t, call.match, call.race, "room lost"))


MISHAPS = (
    Mishaps.withdraw,
    Mishaps.rejoin,
    Mishaps.rejoin,
    Mishaps.disqualify,
    Mishaps.reinstate,
    Mishaps.substitute,
    Mishaps.come_late,
    Mishaps.pause,
    Mishaps.extend,
    Mishaps.restart,
    Mishaps.void,
    Mishaps.override,
    Mishaps.override,
    Mishaps.repair,
    Mishaps.hold,
    Mishaps.void_race,
)
