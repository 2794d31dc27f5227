"""Races for tests, made as the journal would make them."""

import secrets

from server import events as ev
from server import referee
from server.race import Race
from server.racer import Racer
from server.rules import Move, Position
from wire.values import Settings

T0 = 1_800_000_000_000  # when the room was opened
SECRET = bytes(range(32))


class Told:
    """A race and its clock: `tell` appends events as the store would."""

    def __init__(
        self, settings: Settings | None = None, host: str = "anna", commitment: str = ""
    ) -> None:
        self.now = T0
        self.lines: list[tuple[int, bytes]] = []
        self.race = Race(SECRET if settings is None or settings.seed is None else None)
        self.tell(
            ev.Opened(
                format=ev.FORMAT,
                room="ABCDEF",
                deal="ABCDEF-1",
                settings=settings or Settings(),
                commitment=commitment,
                host=host,
            )
        )

    @classmethod
    def of(cls, opened: ev.Opened) -> "Told":
        """A race that was opened in another way."""
        told = cls.__new__(cls)
        told.now, told.lines = T0, []
        told.race = Race(SECRET if opened.settings.seed is None else None)
        told.tell(opened)
        return told

    def tell(self, *events: ev.AnyEvent, after_ms: int = 1000) -> Race:
        self.now += after_ms
        for event in events:
            payload = ev.encode(event)
            self.lines.append((self.now, payload))
            self.race.apply(self.now, payload)
        return self.race

    def seat(self, *players: str, ready: bool = False) -> Race:
        for player in players:
            self.tell(ev.Joined(p=player, name=player.title()))
            if ready:
                self.tell(ev.Readied(p=player, salt=secrets.token_hex(4)))
        return self.race

    def start(self, *players: str) -> Race:
        self.seat(*players)
        self.tell(ev.Locked(countdown_ms=5000))
        return self.tell(ev.Started(), after_ms=5000)

    def play(self, player: str, *moves: str, after_ms: int = 1000) -> Race:
        for text in moves:
            n = self.race.racers[player].n + 1
            self.tell(referee.decide_move(self.race, player, n, text), after_ms=after_ms)
        return self.race

    def play_on(self, player: str, count: int) -> Race:
        """Play legal moves, draws last, so that positions differ quickly."""
        for _ in range(count):
            board = self.race.racers[player].board
            assert board is not None
            moves = board.legal_moves()
            if not moves:
                break
            move = next((each for each in moves if each != Move.parse("d")), moves[0])
            self.play(player, move.text())
        return self.race


def put(racer: Racer, board: Position) -> None:
    """Puts a board before a player, as if it had been played to."""
    racer.board, racer.cards, racer.down = racer.count(board)


def nearly_solved(left: int) -> Position:
    """Give a position in which the last `left` (1 to 9) cards of spades are still to go."""
    ranks = "A23456789TJQK"
    top = ranks[12 - left]
    columns = "/".join(f"{ranks[13 - left + k]}S" for k in range(left))
    spare = "/".join(["-"] * (9 - left))
    board = "/".join(part for part in (columns, spare) if part)
    text = f"double-klondike 1 - - KC/KC/KD/KD/KH/KH/KS/{top}S {board}"
    return Position.parse(text)
