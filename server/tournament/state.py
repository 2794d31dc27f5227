"""The state of a tournament: what it holds, how it is looked at, how a part is replaced."""

from collections.abc import Collection, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from server.tournament import series
from server.tournament.formats import Format, format_of
from server.tournament.records import (
    Entry,
    Field,
    Match,
    Phase,
    Rank,
    Result,
    Round,
    Seeding,
    Stage,
)
from server.tournament.settings import StageSettings, TournamentSettings


class State:
    """All that the events of a tournament have led to; every part is an immutable record."""

    def __init__(self) -> None:
        self.code = ""
        self.settings = TournamentSettings()
        self.phase: Phase = "draft"
        self.opened_at = 0
        self.start_at: int | None = None  # the start as it is scheduled now
        self.begun_at: int | None = None
        self.paused_at: int | None = None
        self.checked_in = False  # check-in has been opened: only who is there will start
        self.hold = False  # a round's results wait for the organiser
        self.seeding: Seeding = "rating"
        self.listed: tuple[str, ...] = ()  # seeds by hand, best first
        self.draw = ""  # the public seed of a random order
        self.entries: dict[str, Entry] = {}
        self.people: dict[str, str] = {}  # everybody who has, or had, a place -> its entry
        self.stages: list[Stage] = []
        self.rounds: list[Round] = []
        self.matches: dict[str, Match] = {}
        self.open: dict[str, None] = {}  # matches still to be decided, as they were called
        self.redo: frozenset[tuple[int, str]] = frozenset()  # group, slot: to be called again
        self.repair = False  # the round was discarded whole, to be paired again
        self.announced: list[tuple[int, str]] = []
        self.over_why = ""

    # --- looking ----------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        """Whether the tournament has begun and is not over."""
        return self.phase in ("running", "paused")

    @property
    def is_over(self) -> bool:
        """Whether nothing is played any more, unless a ruling reopens it."""
        return self.phase in ("finished", "cancelled")

    @property
    def stage(self) -> Stage:
        """The stage that is on."""
        return self.stages[-1]

    @property
    def round(self) -> Round | None:
        """The round called last in the stage that is on."""
        rounds = self.stages[-1].rounds if self.stages else ()
        return self.rounds[rounds[-1] - 1] if rounds else None

    def starts(self, on: Round) -> int:
        """Give when a round starts, or did: the first of its matches, as they now stand."""
        standing = (self.matches[each] for each in on.matches)
        own = (match.starts for match in standing if not match.discarded)
        return min((starts for starts in own if starts is not None), default=on.starts)

    def unstarted(self, now: int) -> dict[str, int]:
        """Give the open matches that are called and have not started, with their starts."""
        own = ((each, self.matches[each].starts) for each in self.open)
        return {each: starts for each, starts in own if starts is not None and starts > now}

    @property
    def active(self) -> list[str]:
        """The entries that still take part."""
        return [entry.id for entry in self.entries.values() if entry.is_in]

    def spec(self, stage: int) -> StageSettings:
        """Give how a stage is played."""
        return self.settings.stages[stage]

    def format(self, stage: int) -> Format:
        """Give a stage's format."""
        return format_of(self.spec(stage).play)

    def shares_deals(self, stage: int) -> bool:
        """Whether all matches of a round play the same deal."""
        return self.settings.deals.share == "round" or self.format(stage).shares

    def stage_matches(self, stage: Stage) -> list[Match]:
        """Give the matches of a stage that have not been discarded."""
        found = (self.matches[each] for n in stage.rounds for each in self.rounds[n - 1].matches)
        return [match for match in found if not match.discarded]

    def field(
        self, stage: int, group: int, now: int = 0, here: Collection[str] | None = None
    ) -> Field:
        """Give one group of a stage as its format sees it; `here` are players."""
        return self.fields(stage, now, here)[group]

    def fields(
        self,
        stage: int,
        now: int = 0,
        here: Collection[str] | None = None,
        *,
        bare: bool = False,
    ) -> list[Field]:
        """Give all groups of a stage; `bare` without their matches, which takes less time."""
        on = self.stages[stage]
        matches: dict[int, list[Match]] = {}
        for match in self.stage_matches(on) if not bare else ():
            matches.setdefault(match.group, []).append(match)
        taken = frozenset(e for each in self.open for e in self.matches[each].entries)
        present = None
        if here is not None:
            present = frozenset(e.id for e in self.entries.values() if e.player in here)
        return [
            Field(
                group=number,
                spec=self.spec(stage),
                settings=self.settings,
                order=order,
                size=on.size if len(on.groups) == 1 else len(order),
                entries=self.entries,
                rounds=tuple(self.rounds[n - 1] for n in on.rounds),
                matches=tuple(matches.get(number, ())),
                opened_at=on.opened_at,
                ends=on.ends,
                now=now,
                here=present,
                taken=taken,
            )
            for number, order in enumerate(on.groups)
        ]

    def ranks(self, stage: int) -> list[list[Rank]]:
        """Give the standings of a stage, group by group."""
        rank = self.format(stage).ranks
        return [list(rank(field)) for field in self.fields(stage)]

    def outcome(self, match: Match) -> Result | None:
        """Give what a match has come to by its races."""
        kind = self.format(match.stage)
        return series.outcome(
            match,
            best_of=self.spec(match.stage).best_of,
            decisive=kind.decisive,
            alone=kind.alone,
            seeds=self.stages[match.stage].groups[match.group],
        )

    # --- replacing --------------------------------------------------------------------

    def change_entry(self, entry: str, **changes: Any) -> None:
        """Replace parts of an entry."""
        self.entries[entry] = replace(self.entries[entry], **changes)

    def change_match(self, match: str, **changes: Any) -> Match:
        """Replace parts of a match."""
        self.matches[match] = changed = replace(self.matches[match], **changes)
        return changed

    def change_round(self, number: int, **changes: Any) -> None:
        """Replace parts of a round."""
        self.rounds[number - 1] = replace(self.rounds[number - 1], **changes)

    def change_stage(self, number: int, **changes: Any) -> None:
        """Replace parts of a stage."""
        self.stages[number] = replace(self.stages[number], **changes)

    def free(self, entries: Iterable[str], at: int) -> None:
        """Note since when some are without a match."""
        for entry in entries:
            self.change_entry(entry, free_at=at)

    def copy_to(self, twin: "State") -> None:
        """Make another state equal to this one, sharing only what never changes."""
        twin.__dict__.update(self.__dict__)
        for name, value in self.__dict__.items():
            if isinstance(value, dict | list):
                setattr(twin, name, value.copy())

    def dump(self) -> bytes:
        """Give the whole state as canonical bytes: equal states, equal bytes."""
        parts = {
            name: list(value.items()) if isinstance(value, dict) else value
            for name, value in vars(self).items()
        }
        return msgspec.json.encode(parts, order="deterministic")
