"""An organiser's acts: from what was said to what is decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from server.refusal import Refusal
from server.rules import Rules
from server.tournament import Around, Tournament, acts
from server.tournament import events as ev
from wire import acts as a
from wire.formats import TournamentSettings, titled


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Somebody who takes a place, as the store knows them."""

    player: str
    name: str
    rating: int
    bot: bool = False
    elsewhere: str | None = None  # another tournament that is running with them in it


@dataclass(frozen=True, slots=True)
class Ruling:
    """An act and all that is needed to decide it."""

    act: a.AnyAct
    by: str  # owner or referee
    why: str
    now: int
    around: Around
    newcomers: Sequence[Newcomer] = ()  # whom the act brings in, or back

    @property
    def pairs(self) -> bool:
        """Whether to decide it takes as long as to pair a round."""
        return isinstance(self.act, a.Repair) and self.act.pairs is None

    def decide(self, t: Tournament) -> Sequence[ev.AnyEvent]:
        """Give the events to append.

        Raises:
            Refusal: it cannot be done, or not by this role.
        """
        by, why, now, act = self.by, self.why, self.now, self.act
        match act:
            case a.Edit():
                return acts.decide_edit(t, by, titled(checked(act.settings), t.code), why)
            case a.Enrol() | a.Invite():
                return entered(t, by, self.newcomers, now, why)
            case a.Seed():
                return acts.decide_seed(t, by, act.method, order=act.order, draw=act.draw, why=why)
            case a.Begin():
                return acts.decide_start(t, by, self.around, why)
            case a.Pause():
                return [] if t.phase == "paused" else acts.decide_pause(t, by, why)
            case a.Resume():
                return [] if t.phase == "running" else acts.decide_resume(t, by, why)
            case a.Extend():
                return acts.decide_extend(t, by, now, act.what, 1000 * act.seconds, why)
            case a.Repair():
                return acts.decide_repair(t, by, now, self.around, why, pairs=act.pairs)
            case a.Hold():
                return acts.decide_hold(t, by, act.on, why)
            case a.Publish():
                return acts.decide_publish(t, by, why)
            case a.Announce():
                return acts.decide_announce(t, by, act.text)
            case a.Cancel():
                return [] if t.phase == "cancelled" else acts.decide_cancel(t, by, why)
            case a.OpenCheckIn():
                return [] if t.phase == "check-in" else acts.decide_open_check_in(t, by, why)
            case a.CloseCheckIn():
                return acts.decide_close_check_in(t, by, why)
            case a.Restart() | a.VoidMatch() | a.Override():
                return self._match(t, act)
            case _:
                return self._player(t, act)

    def _match(
        self, t: Tournament, act: a.Restart | a.VoidMatch | a.Override
    ) -> Sequence[ev.AnyEvent]:
        by, why, now, sure = self.by, self.why, self.now, act.confirm
        match act:
            case a.Restart():
                return acts.decide_restart(t, by, now, act.match, why, confirm=sure)
            case a.VoidMatch():
                return acts.decide_void(t, by, now, act.match, why, confirm=sure)
            case a.Override():
                places = act.places
                return acts.decide_override(t, by, now, act.match, places, why, confirm=sure)
            case _:
                assert_never(act)

    def _player(
        self,
        t: Tournament,
        act: a.Remove
        | a.CheckInFor
        | a.Disqualify
        | a.Reinstate
        | a.Readmit
        | a.Substitute
        | a.Summon
        | a.NewToken,
    ) -> Sequence[ev.AnyEvent]:
        by, why, player = self.by, self.why, act.player
        other = self.newcomers[0] if self.newcomers else None
        elsewhere = other.elsewhere if other is not None else None
        match act:
            case a.Remove():
                return acts.decide_withdraw(t, by, player=player, why=why)
            case a.CheckInFor():
                return acts.decide_check_in(t, by, player=player)
            case a.Disqualify():
                return acts.decide_disqualify(t, by, player=player, why=why)
            case a.Reinstate():
                return acts.decide_reinstate(t, by, player=player, why=why)
            case a.Readmit():
                return acts.decide_rejoin(t, by, player=player, elsewhere=elsewhere, why=why)
            case a.Summon():
                return acts.decide_summon(t, by, player=player, why=why)
            case a.NewToken():
                return acts.decide_new_token(t, by, player=player, why=why)
            case a.Substitute():
                assert other is not None
                return acts.decide_substitute(
                    t,
                    by,
                    player=player,
                    substitute=other.player,
                    name=distinct(other.name, _names(t)),
                    why=why,
                    elsewhere=elsewhere,
                )
            case _:
                assert_never(act)


def entered(
    t: Tournament, by: str, newcomers: Sequence[Newcomer], now: int, why: str = ""
) -> list[ev.AnyEvent]:
    """Enter some, all or none of them."""
    after, found = t.fork(), list[ev.AnyEvent]()
    for each in newcomers:
        events = acts.decide_enter(
            after,
            by or each.player,
            player=each.player,
            name=distinct(each.name, _names(after)),
            rating=each.rating,
            bot=each.bot,
            elsewhere=each.elsewhere,
            why=why,
        )
        for event in events:
            after.fold(now, event)
        found += events
    return found


def _names(t: Tournament) -> set[str]:
    return {entry.name for entry in t.entries.values()}


def distinct(name: str, taken: set[str]) -> str:
    """Give a name that nobody of a tournament has, the same where it is free."""
    if name not in taken:
        return name
    numbered = (f"{name[:12]}-{number}" for number in range(2, 10_000))
    return next(each for each in numbered if each not in taken)


def checked(settings: TournamentSettings) -> TournamentSettings:
    """Give settings with the rules in full, as rooms have them.

    Raises:
        Refusal: there are no such rules.
    """
    try:
        Rules.parse(settings.race.rules)
    except ValueError as error:
        raise Refusal("rules", str(error)) from None
    return settings
