"""Whether the entries of a journal are those that the race machine itself would have made.

Pure. The machine is asked, before each entry is folded in, what could happen now; an entry
that is nothing of that is a forgery or a fault. What comes in one append (an end and its
reveal) must follow at once, under one official time.
"""

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from server import events as ev
from server import referee
from server.race import Race
from server.refusal import Refusal
from server.rules import Position
from server.rules.deal import MAX_SALT_BYTES
from server.rules.stuck import is_stuck

# A node reads the store's clock by estimate, so that it may find a room idle a little early.
CLOCK_SLACK_MS: Final = 5_000

Events = Sequence[ev.AnyEvent]


class Auditor:
    """A race and what may come next in its journal."""

    def __init__(self, race: Race) -> None:
        """`race` is new, and knows the deal's secret if it has one."""
        self.race = race
        self._rest: Events = ()  # what must follow the last entry at once
        self._is_opening = True  # when the seats of a tournament's race are taken
        # The boards since the last undo, newest last: proved stuck once is stuck for good.
        self._boards: dict[str, list[Position]] = {}

    @property
    def missing(self) -> str | None:
        """What must follow the last entry and is not there."""
        return _kind(self._rest[0]) if self._rest else None

    def take(self, at: int, payload: bytes, event: ev.AnyEvent) -> str | None:
        """Fold the next entry in; or say why it cannot come next.

        Raises:
            UnknownEvent: the journal is of a newer version.
        """
        race = self.race
        if (race.version == 0) != isinstance(event, ev.Opened):
            return "a journal begins with opened, and has it once"
        if at < race.at:
            return "its time is before the entry in front of it"
        if ev.encode(event) != payload:
            return "its bytes are not the canonical ones"
        try:
            rest = self._rest_after(at, event)
            if rest is None:
                return f"{_kind(event)} does not follow from what came before"
            race.apply(at, payload, event)
        except Refusal as refusal:
            return f"{_kind(event)} is against the rules of the race: {refusal.reason}"
        except ValueError as error:
            return f"{_kind(event)} cannot be: {error}"
        self._rest = rest
        self._is_opening = self._is_opening and isinstance(event, ev.Opened | ev.Joined)
        self._note_board(event)
        return None

    def _rest_after(self, at: int, event: ev.AnyEvent) -> Events | None:
        """Give what must follow an entry at once; None where the entry itself cannot be."""
        if self._rest:
            is_next = event == self._rest[0] and at == self.race.at
            return self._rest[1:] if is_next else None
        for batch in self._possible(at, event):
            if batch and batch[0] == event:
                return batch[1:]
        return None

    def _note_board(self, event: ev.AnyEvent) -> None:
        racers = self.race.racers
        match event:
            case ev.Started():
                self._boards = {racer.id: _boards(racer.board) for racer in racers.values()}
            case ev.Played() if self.race.rules.foundation_return:
                self._boards[event.p] += _boards(racers[event.p].board)
            case ev.Played() | ev.Undone():
                self._boards[event.p] = _boards(racers[event.p].board)

    # --- what is possible -------------------------------------------------------------

    def _possible(self, at: int, event: ev.AnyEvent) -> Iterator[Events]:
        race = self.race
        match event:
            case ev.Opened():
                yield [event]
            case ev.Joined():
                yield self._joining(event)
            case ev.Left(why="kicked"):
                yield referee.decide_kick(race, race.host, event.p)
            case ev.Left():
                if event.why in ("left", "away"):
                    yield referee.decide_leave(race, event.p, event.why)
            case ev.Hosted():
                yield from self._host_goes()
            case ev.Readied():
                yield self._readying(event)
            case ev.Unreadied():
                yield referee.decide_unready(race, event.p)
            case ev.Locked():
                yield self._locking(at, event)
            case ev.Started():
                yield referee.due(race, at)
            case ev.Played():
                self._check_play(at, event)
                yield [referee.decide_move(race, event.p, event.n, event.m)]
            case ev.Undone():
                self._check_play(at, event)
                yield [referee.decide_undo(race, event.p, event.n)]
            case ev.Resigned():
                yield referee.decide_leave(race, event.p)
            case ev.Disqualified():
                yield [referee.decide_disqualify(race, event.p, event.by, event.why)]
            case ev.Over():
                yield from self._ends(at, event.why)
            case ev.Revealed():
                yield referee.decide_reveal(race)
            case ev.Followed():
                yield from self._rematches(event.room)
            case _:
                assert_never(event)

    def _joining(self, event: ev.Joined) -> Events:
        race = self.race
        if not race.tournament:
            return referee.decide_join(race, event.p, event.name, event.bot)
        is_free = event.p not in race.racers and len(race.racers) < race.settings.seats
        return [event] if self._is_opening and is_free else []

    def _host_goes(self) -> Iterator[Events]:
        # A host without a seat; one with a seat passes the role on by leaving it.
        if self.race.host not in self.race.racers:
            yield referee.decide_leave(self.race, self.race.host)

    def _readying(self, event: ev.Readied) -> Events:
        salt = bytes.fromhex(event.salt)
        if len(salt) > MAX_SALT_BYTES:
            raise ValueError(f"a player's own bytes are {MAX_SALT_BYTES} at most")
        return referee.decide_ready(self.race, event.p, salt)

    def _locking(self, at: int, event: ev.Locked) -> Events:
        race = self.race
        if race.tournament:
            return referee.decide_begin(race, event.countdown_ms)
        if race.phase != "open":
            return []
        due = referee.due(race, at) if race.settings.start == "time" else []
        return due or referee.decide_start(race, race.host)

    def _check_play(self, at: int, event: ev.Played | ev.Undone) -> None:
        race = self.race
        if race.ends is not None and at >= race.ends:
            raise ValueError("the time was up")
        racer = race.racers.get(event.p)
        if racer is not None and event.n != racer.n + 1:
            raise ValueError(f"play {event.n} of {racer.name} follows play {racer.n}")

    def _ends(self, at: int, why: str) -> Iterator[Events]:
        race = self.race
        if race.tournament:
            yield referee.decide_abort(race) if why == "aborted" else ()
        if race.phase == "open":
            yield referee.due(race, at + CLOCK_SLACK_MS)
            yield from self._host_goes()
        if race.phase == "running":
            if why == "stuck":
                self._judge()
            yield referee.due(race, at)
            if race.ends is not None and at >= race.ends:
                yield referee.due(
                    race, race.ends - 1
                )  # found before the time was up, written after it

    def _judge(self) -> None:
        for racer in self.race.racers.values():
            boards = reversed(self._boards.get(racer.id, []))
            racer.is_stuck = not racer.is_done and any(is_stuck(board) for board in boards)

    def _rematches(self, room: str) -> Iterator[Events]:
        for player in self.race.racers:
            yield referee.decide_follow(self.race, player, room)


def _kind(event: ev.AnyEvent) -> str:
    return type(event).__name__.lower()


def _boards(board: Position | None) -> list[Position]:
    return [] if board is None else [board]
