"""A race: what its journal's events make of it, and what can be read off it.

Pure. `Race.apply` folds what the journal holds, and trusts it: what may come next is for
`server.referee` to say.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from server import events as ev
from server.permissions import ALLOWED, ARRANGED, Role
from server.racer import Counted, Racer
from server.rules import Move, Position, Rules
from server.rules.deal import commitment, fair_key, layout, public_key
from server.rules.move import DRAW
from server.rules.undo import undo_refusal
from wire.values import Outcome, Phase, Settings

# The head of the chain after the last of these is what the standings publish.
_SEALING = (ev.Over, ev.Revealed)


class Race:
    """A room's race as its journal tells it."""

    def __init__(self, secret: bytes | None = None) -> None:
        """`secret` is the fair deal's; it is needed from the start of the race on."""
        self.secret = secret
        self.version = 0
        self.at = 0  # official time of the last event
        self.last_line = b""
        self.head = bytes(32)
        self.seal = bytes(32)  # the head as the standings publish it
        self.room = ""
        self.deal = ""
        self.settings = Settings()
        self.rules: Rules
        self.commitment = ""
        self.host = ""
        self.phase: Phase = "open"
        self.racers: dict[str, Racer] = {}  # in seat order
        self.parted: dict[str, str] = {}  # why, of who had a seat; made anew with each change
        self.layout: Position | None = None
        self.opened_at = 0
        self.starts: int | None = None
        self.ends: int | None = None
        self.started_at: int | None = None
        self.over_why = ""
        self.revealed: str | None = None
        self.next_room: str | None = None
        self.tournament = ""  # its code, where this race belongs to one
        self.match = ""
        self.shared = False  # the deal

    # --- folding ----------------------------------------------------------------------

    def apply(self, at: int, payload: bytes, event: ev.AnyEvent | None = None) -> ev.AnyEvent:
        """Fold the next journal entry in and give its event, if not yet decoded, back."""
        if event is None:
            event = ev.decode(payload)
        self.last_line = b"%d %s" % (at, payload)
        self.head = ev.chain((self.last_line,), self.head)
        self.fold(at, event)
        if isinstance(event, _SEALING):
            self.seal = self.head
        return event

    def fold(self, at: int, event: ev.AnyEvent) -> None:
        """Fold one event in, without the hash chain."""
        self.version += 1
        self.at = at
        match event:
            case ev.Played():  # first, as nearly every event is one
                self._play(at, event)
            case ev.Opened():
                self._open(at, event)
            case ev.Joined():
                self.racers[event.p] = Racer(event.p, event.name, event.bot)
                self.parted = {who: why for who, why in self.parted.items() if who != event.p}
            case ev.Left():
                del self.racers[event.p]
                self.parted = {**self.parted, event.p: event.why}
            case ev.Hosted():
                self.host = event.p
            case ev.Readied():
                racer = self.racers[event.p]
                racer.ready, racer.salt = True, bytes.fromhex(event.salt)
            case ev.Unreadied():
                racer = self.racers[event.p]
                racer.ready, racer.salt = False, b""
            case ev.Locked():
                self.phase = "locked"
                self.starts = at + event.countdown_ms
                self.ends = self.starts + self.settings.time_limit_s * 1000
            case ev.Started():
                self._start(at)
            case ev.Undone():
                racer = self.racers[event.p]
                racer.undos += 1
                racer.is_stuck = False
                self._place(racer, racer.count(racer.former.pop()), at)
                racer.plays.append(("undo", at))
            case ev.Resigned():
                self._done(self.racers[event.p], "resigned", at)
            case ev.Disqualified():
                self._done(self.racers[event.p], "disqualified", at)
            case ev.Over():
                self.phase = "over"
                self.over_why = event.why
                for racer in self.racers.values():
                    if not racer.is_done:
                        self._done(racer, "unfinished", at)
            case ev.Revealed():
                self.revealed = event.secret
                self.secret = bytes.fromhex(event.secret)
            case ev.Followed():
                self.next_room = event.room
            case _:
                assert_never(event)

    def is_committed_to(self, secret: bytes) -> bool:
        """Tell whether this is the secret that was promised before anyone joined."""
        return commitment(self.deal, secret).hex() == self.commitment

    def _open(self, at: int, event: ev.Opened) -> None:
        if event.format > ev.FORMAT:
            raise ev.NewerFormat(
                f"the journal of room {event.room} has format {event.format}; "
                f"this server reads up to {ev.FORMAT}: update it"
            )
        self.opened_at = at
        self.room, self.deal, self.host = event.room, event.deal, event.host
        self.settings, self.commitment = event.settings, event.commitment
        self.tournament, self.match, self.shared = event.tournament, event.match, event.shared
        self.rules = Rules.parse(event.settings.rules)

    def _start(self, at: int) -> None:
        self.phase = "running"
        self.started_at = at
        self.layout = layout(self.rules, self.deal_key())
        for racer in self.racers.values():
            self._place(racer, racer.count(self.layout), at)
            racer.reached_at = at

    def deal_key(self) -> bytes:
        """Give the key that makes this race's layout."""
        if self.settings.seed is not None:
            return public_key(self.settings.seed)
        if self.secret is None:
            raise ev.UnknownEvent(f"the secret of deal {self.deal} is not here")
        return fair_key(self.secret, self.deal, self.rules.text(), self.salts())

    def salts(self) -> list[bytes]:
        """Give the players' own bytes in seat order; in a tournament nobody gives any."""
        return [] if self.tournament else [racer.salt for racer in self.racers.values()]

    def _play(self, at: int, event: ev.Played) -> None:
        racer = self.racers[event.p]
        board = racer.board
        assert board is not None
        if self.settings.undo != "off":
            racer.former.append(board)
        racer.moves += 1
        racer.plays.append((event.m, at))
        ahead, racer.ahead = racer.ahead, None
        if ahead is not None and ahead[0] is board and ahead[1] == event.m:
            after = ahead[2]
        else:
            after = racer.count(board.play(Move.parse(event.m)))
        self._place(racer, after, at)
        if racer.cards == self.rules.cards:
            self._done(racer, "solved", at)

    def _place(self, racer: Racer, after: Counted, at: int) -> None:
        board, cards, down = after
        racer.board = board
        if cards != racer.cards or down != racer.down:
            racer.cards, racer.down, racer.reached_at = cards, down, at

    def _done(self, racer: Racer, outcome: Outcome, at: int) -> None:
        racer.outcome = outcome
        racer.done_at = at

    # --- looking ----------------------------------------------------------------------

    def since_start(self, at: int) -> int:
        """Milliseconds of official time since the start."""
        return at - self.started_at if self.started_at is not None else 0

    def score(self, racer: Racer) -> int:
        """Give a player's score, always from the position."""
        if self.settings.score == "casino":
            return 5 * racer.cards - 52 * self.rules.decks
        return racer.cards

    @property
    def expected(self) -> list[str]:
        """Those who are missed when they have no connection: players, and a host without a seat."""
        alone = self.host and self.host not in self.racers
        return [*self.racers, *([self.host] if alone else [])]

    def roles(self, player: str | None, *, watching: bool = False) -> Iterator[Role]:
        """Give the roles of someone in this room; `watching` is here as a spectator."""
        if player == self.host:
            yield "host"
        racer = self.racers.get(player) if player is not None and not watching else None
        if racer is None:
            yield "spectator"
        elif self.phase in ("open", "locked"):
            yield "player"
        else:
            yield "done" if racer.is_done else "racer"

    def actions(self, player: str | None, *, watching: bool = False) -> list[str]:
        """Give what someone in this room may ask now, by message tag."""
        allowed = set[str]()
        for role in self.roles(player, watching=watching):
            allowed |= ALLOWED[self.phase].get(role, frozenset())
        racer = self.racers.get(player) if player is not None else None
        if racer is not None:
            allowed.discard("unready" if not racer.ready else "ready")
        if self.settings.undo == "off":
            allowed.discard("undo")
        if not self.settings.hints:
            allowed.discard("hint")
        if not self.settings.chat:
            allowed.discard("chat")
        if self.phase == "open" and len(self.racers) >= self.settings.seats:
            allowed.discard("join")
        if self.tournament:
            allowed -= ARRANGED
        return sorted(allowed)

    def can(self, racer: Racer) -> list[str]:
        """Give what a player may do with the board now."""
        board = racer.board
        if board is None or racer.is_done or self.phase != "running":
            return []
        result = []
        if board.hand:
            result.append("draw")
        elif board.is_legal(DRAW):
            result.append("redeal")
        if racer.former and undo_refusal(self.settings.undo, racer.former[-1], board) is None:
            result.append("undo")
        if not board.hand and board.can_finish:
            result.append("finish")
        return result

    def fork(self) -> "Race":
        """Copy the state, to look at what events would make of it."""
        twin = Race.__new__(Race)
        twin.__dict__.update(self.__dict__)
        twin.racers = {
            racer.id: replace(racer, former=list(racer.former), plays=list(racer.plays), ahead=None)
            for racer in self.racers.values()
        }
        return twin
