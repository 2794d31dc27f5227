"""The race machine: journal events to race state, commands to events or a refusal.

Pure. `Race.apply` folds what the journal holds, and trusts it; every `decide_…` and
`due` looks at the state and a given instant and returns the events to append. What is
allowed to whom in which phase is one table, from which the referee, the list of actions
sent to clients and the documentation are made.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, assert_never

from server import events as ev
from server.permissions import ALLOWED, ARRANGED, CLOSED, HOSTED, NOT_NOW, Role
from server.racer import Racer
from server.refusal import Refusal
from server.rules import IllegalMove, Move, Position, Rules
from server.rules.deal import fair_key, layout, public_key
from server.rules.undo import undo_refusal
from wire.messages import Outcome, Phase, Settings

AWAY_LIMIT_MS: Final = 60_000  # in an open room a seat is held so long for someone who dropped
IDLE_LIMIT_MS: Final = 2 * 3_600_000  # an open room in which nothing happens is closed


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
        self.kicked: frozenset[str] = frozenset()  # they do not come back
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
        event = event or ev.decode(payload)
        self.last_line = b"%d %s" % (at, payload)
        self.head = ev.chain((self.last_line,), self.head)
        self.fold(at, event)
        if isinstance(event, ev.Over | ev.Revealed):
            self.seal = self.head
        return event

    def fold(self, at: int, event: ev.AnyEvent) -> None:
        """Fold one event in, without the hash chain."""
        self.version += 1
        self.at = at
        match event:
            case ev.Opened():
                self._open(at, event)
            case ev.Joined():
                self.racers[event.p] = Racer(event.p, event.name, event.bot)
            case ev.Left():
                del self.racers[event.p]
                if event.why == "kicked":
                    self.kicked = self.kicked | {event.p}
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
            case ev.Played():
                self._play(at, event)
            case ev.Undone():
                racer = self.racers[event.p]
                racer.undos += 1
                racer.is_stuck = False
                self._place(racer, racer.former.pop(), at)
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
            racer.board = self.layout
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
            after = board.play(Move.parse(event.m))
        self._place(racer, after, at)
        if racer.cards == self.rules.cards:
            self._done(racer, "solved", at)

    def _place(self, racer: Racer, board: Position, at: int) -> None:
        before = racer.cards, racer.down
        racer.board = board
        if before != (racer.cards, racer.down):
            racer.reached_at = at

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
        elif board.is_legal(Move.parse("d")):
            result.append("redeal")
        if racer.former and undo_refusal(self.settings.undo, racer.former[-1], board) is None:
            result.append("undo")
        if board.can_finish:
            result.append("finish")
        return result

    def check(self, player: str | None, action: str) -> None:
        """Refuse what the table does not allow.

        Raises:
            Refusal: with the reason for the player.
        """
        if action in self.actions(player):
            return
        if player not in self.racers and action not in HOSTED | {"join"}:
            raise Refusal("not-seated", "You have no seat in this race.")
        if action == "undo" and self.settings.undo == "off":
            raise Refusal("undo-off", "This room allows no undo.")
        if action == "hint" and not self.settings.hints:
            raise Refusal("hints-off", "This room gives no hints.")
        if action == "chat" and not self.settings.chat:
            raise Refusal("chat-off", "This room has no chat.")
        if action in HOSTED and player != self.host:
            whose = (
                "the organisers of the tournament" if self.tournament else "the host of the room"
            )
            raise Refusal("not-host", f"Only {whose} may do that.")
        racer = self.racers.get(player) if player is not None else None
        if racer is not None and racer.is_done and self.phase == "running":
            raise Refusal("done", "Your race is done.")
        raise Refusal("not-now", NOT_NOW[self.phase])

    # --- deciding ---------------------------------------------------------------------

    def decide_join(self, player: str, name: str, bot: bool) -> list[ev.AnyEvent]:
        """Take the next seat; nothing if it is taken already."""
        if player in self.racers:
            return []
        if self.tournament:
            raise Refusal("held", "The seats of this room are held for the players of a match.")
        if self.phase != "open":
            raise Refusal("not-now", CLOSED[self.phase])
        if player in self.kicked:
            raise Refusal("kicked", "The host has asked you to leave this room.")
        if len(self.racers) >= self.settings.seats:
            raise Refusal("full", f"All {self.settings.seats} seats are taken.")
        names = {racer.name for racer in self.racers.values()}
        return [ev.Joined(p=player, name=_distinct(name, names), bot=bot)]

    def decide_leave(self, player: str, why: str = "left") -> list[ev.AnyEvent]:
        """Free a seat before the lock; afterwards it resigns."""
        if self.tournament and self.phase == "open":
            return []
        racer = self.racers.get(player)
        if racer is None:
            return self._pass_on() if self.phase == "open" and player == self.host else []
        if self.phase == "open":
            return self._free(player, why)
        if racer.is_done:
            return []
        return [ev.Resigned(p=player)]

    def _free(self, player: str, why: str) -> list[ev.AnyEvent]:
        result: list[ev.AnyEvent] = [ev.Left(p=player, why=why)]
        rest = [racer for racer in self.racers.values() if racer.id != player]
        if player == self.host:
            result.extend(self._pass_on(player))
        if rest and self._all_ready(rest):
            result.append(self._lock())
        return result

    def _pass_on(self, leaving: str = "") -> list[ev.AnyEvent]:
        """Make somebody else the host; a room that nobody is left in is over."""
        rest = [racer for racer in self.racers.values() if racer.id != leaving]
        if not rest:
            return self._end("aborted")
        heir = next((racer for racer in rest if not racer.bot), rest[0])
        return [ev.Hosted(p=heir.id)]

    def decide_kick(self, player: str, target: str) -> list[ev.AnyEvent]:
        """Free somebody else's seat."""
        self.check(player, "kick")
        if self._seated(target).id == player:
            raise Refusal("yourself", "To go yourself, leave.")
        return self._free(target, "kicked")

    def decide_ready(self, player: str, salt: bytes) -> list[ev.AnyEvent]:
        """Be ready; the last one to be so locks the room where that is the rule."""
        racer = self.racers.get(player)
        if racer is not None and racer.ready and self.phase == "open":
            # Other bytes for the deal are a change; the same again is none.
            again = [] if racer.salt == salt else [ev.Readied(p=player, salt=salt.hex())]
            return list[ev.AnyEvent](again)
        self.check(player, "ready")
        result: list[ev.AnyEvent] = [ev.Readied(p=player, salt=salt.hex())]
        others = [other for other in self.racers.values() if other.id != player]
        if all(other.ready for other in others) and self._enough(len(others) + 1):
            result.append(self._lock())
        return result

    def decide_unready(self, player: str) -> list[ev.AnyEvent]:
        """Be not ready after all."""
        racer = self.racers.get(player)
        if racer is not None and not racer.ready and self.phase == "open":
            return []
        self.check(player, "unready")
        return [ev.Unreadied(p=player)]

    def decide_start(self, player: str) -> list[ev.AnyEvent]:
        """Lock the room at the host's word, ready or not; nothing if it is locked already."""
        if self.phase == "locked" and player == self.host:
            return []
        self.check(player, "start")
        if not self.racers:
            raise Refusal("empty", "Nobody has a seat yet.")
        return [self._lock()]

    def decide_begin(self, countdown_ms: int) -> list[ev.AnyEvent]:
        """Lock a tournament's room at its director's word; nothing if that is done."""
        return [ev.Locked(countdown_ms=countdown_ms)] if self.phase == "open" else []

    def decide_abort(self) -> list[ev.AnyEvent]:
        """End a tournament's race that does not count any more; nothing if it has ended."""
        return [] if self.phase == "over" else self._end("aborted")

    def decide_reveal(self) -> list[ev.AnyEvent]:
        """Reveal a shared deal once nobody plays it any more; nothing if that is done."""
        if self.phase != "over" or self.revealed is not None or self.secret is None:
            return []
        return [ev.Revealed(secret=self.secret.hex())]

    def _all_ready(self, racers: Iterable[Racer]) -> bool:
        racers = list(racers)
        return all(racer.ready for racer in racers) and self._enough(len(racers))

    def _enough(self, seated: int) -> bool:
        if self.tournament:
            return False
        return self.settings.start == "ready" and seated >= min(2, self.settings.seats)

    def _lock(self) -> ev.Locked:
        return ev.Locked(countdown_ms=self.settings.countdown_s * 1000)

    def decide_move(self, player: str, n: int, text: str) -> ev.Played:
        """Read and check play n; the caller has seen that n is the next number."""
        board = self._board(player, "move")
        try:
            move = board.resolve(Move.parse(text))
        except IllegalMove as illegal:
            raise Refusal(illegal.code, illegal.reason) from None
        except ValueError as error:
            raise Refusal("unreadable", str(error)) from None
        played = ev.Played(p=player, n=n, m=move.text())
        self.racers[player].ahead = (board, played.m, board.play(move))
        return played

    def decide_undo(self, player: str, n: int) -> ev.Undone:
        """Take the last move back as play n."""
        board = self._board(player, "undo")
        racer = self.racers[player]
        if not racer.former:
            raise Refusal("no-undo", "There is no move to take back.")
        refusal = undo_refusal(self.settings.undo, racer.former[-1], board)
        if refusal is not None:
            raise Refusal(refusal.code, refusal.reason)
        return ev.Undone(p=player, n=n)

    def _board(self, player: str, action: str) -> Position:
        # The hot path asks the table only when something is wrong.
        racer = self.racers.get(player)
        if (
            self.phase != "running"
            or racer is None
            or racer.outcome != "playing"
            or action != "move"
        ):
            self.check(player, action)
        assert racer is not None
        assert racer.board is not None
        return racer.board

    def decide_finish(self, player: str) -> list[str]:
        """Give the moves that play all cards home, as texts."""
        board = self._board(player, "finish")
        if not board.can_finish:
            raise Refusal(
                "not-clear", "Finishing needs all cards face up, and hand and waste empty."
            )
        return [move.text() for move in board.finish_moves()]

    def decide_hint(self, player: str) -> list[str]:
        """Give the legal moves now, as texts."""
        return [move.text() for move in self._board(player, "hint").legal_moves()]

    def decide_resign(self, player: str) -> ev.Resigned:
        """Give the race up."""
        self.check(player, "resign")
        return ev.Resigned(p=player)

    def decide_disqualify(self, player: str, by: str, why: str) -> ev.Disqualified:
        """Put a player out of a race that runs, at the word of its host.

        `by` is the host; it is empty in a tournament, whose director decides.
        """
        if by or not self.tournament:
            self.check(by, "disqualify")
        racer = self._seated(player)
        if player == by:
            raise Refusal("yourself", "To end your own race, give up.")
        if racer.is_done:
            raise Refusal("done", f"The race of {racer.name} is done.")
        if self.phase != "running":
            raise Refusal("not-now", NOT_NOW[self.phase])
        return ev.Disqualified(p=player, by=by, why=why)

    def _seated(self, player: str) -> Racer:
        racer = self.racers.get(player)
        if racer is None:
            raise Refusal("not-seated", "Nobody with that id has a seat here.")
        return racer

    def decide_follow(self, player: str, room: str) -> list[ev.AnyEvent]:
        """Name the one room that follows this one; nothing if it is named already."""
        if self.next_room is not None and player in self.racers:
            return []
        self.check(player, "rematch")
        return [ev.Followed(room=room)]

    # --- time -------------------------------------------------------------------------

    def due(self, now: int, away: Iterable[str] = ()) -> list[ev.AnyEvent]:
        """Give what has to happen by itself at this instant.

        `away` are the players who have been without a connection for AWAY_LIMIT_MS.
        """
        if self.phase == "open":
            return self._due_open(now, list(away))
        if self.phase == "locked" and self.starts is not None and now >= self.starts:
            if self.settings.seed is None and self.secret is None:
                return self._end("aborted")  # the store has lost it: there is nothing to deal
            return [ev.Started()]
        if self.phase == "running":
            why = self._over_now(now)
            return self._end(why) if why else []
        return []

    def _due_open(self, now: int, away: list[str]) -> list[ev.AnyEvent]:
        if self.tournament:
            return []  # its director decides what happens to its rooms
        gone = next((player for player in away if player in self.racers), None)
        if gone is not None:
            return self._free(gone, "away")
        if self.host in away:
            return self._pass_on()
        at = self.settings.start_at
        if self.settings.start == "time" and at is not None:
            if now >= at:
                return [self._lock()] if self.racers else self._end("aborted")
        elif now >= self.at + IDLE_LIMIT_MS:
            return self._end("aborted")
        return []

    def _over_now(self, now: int) -> str | None:
        racing = [racer for racer in self.racers.values() if not racer.is_done]
        if not racing:
            solved = any(racer.outcome == "solved" for racer in self.racers.values())
            return "finished" if solved else "resigned"
        if self.ends is not None and now >= self.ends:
            return "time"
        # Who may take moves back is not stuck: that leads out of it.
        stuck = all(racer.is_stuck and "undo" not in self.can(racer) for racer in racing)
        return "stuck" if stuck else None

    def _end(self, why: str) -> list[ev.AnyEvent]:
        result: list[ev.AnyEvent] = [ev.Over(why=why)]
        if self.secret is not None and not self.shared:
            result.append(ev.Revealed(secret=self.secret.hex()))
        return result

    def next_due(self) -> int | None:
        """Give the next instant at which `due` may have something to say."""
        match self.phase:
            case "open" if self.tournament:
                return None
            case "open":
                if self.settings.start == "time" and self.settings.start_at is not None:
                    return self.settings.start_at
                return self.at + IDLE_LIMIT_MS
            case "locked":
                return self.starts
            case "running":
                return self.ends
            case "over":
                return None
            case _:
                assert_never(self.phase)

    def fork(self) -> "Race":
        """Copy the state, to look at what events would make of it."""
        twin = Race.__new__(Race)
        twin.__dict__.update(self.__dict__)
        twin.racers = {
            racer.id: replace(racer, former=list(racer.former), plays=list(racer.plays), ahead=None)
            for racer in self.racers.values()
        }
        return twin


def _distinct(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    numbered = (f"{name[:13]}-{number}" for number in range(2, 100))
    return next(each for each in numbered if each not in taken)
