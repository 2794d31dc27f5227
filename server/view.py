"""What each viewer may see: the only place where race state becomes messages.

A board leaves the server through `server.rules.view` alone, which knows no face-down card,
no order of the hand and no seed. Whose board goes to whom is decided by `may_see_board`.
The deal is revealed by `reveal`, which answers nothing while anybody may still play it.
"""

from collections.abc import Container

from server import events as ev
from server.race import Race
from server.racer import Racer
from server.rules import Position
from server.rules.view import changed, piles
from server.standings import standings
from wire import messages as m
from wire.values import Reveal, Score, Seat


def may_see_board(race: Race, viewer: str | None, owner: str) -> bool:
    """Whether a viewer may see the open cards of a player's board."""
    if viewer == owner or race.phase == "over":
        return True
    return viewer not in race.racers and race.settings.spectators == "boards"


def reveal(race: Race) -> Reveal | None:
    """Give what rebuilds the deal, or None while it is still secret."""
    if race.phase != "over" or (race.settings.seed is None and race.revealed is None):
        return None
    return Reveal(
        deal=race.deal,
        commitment=race.commitment,
        secret=race.revealed or "",
        seed=race.settings.seed,
        salts=[salt.hex() for salt in race.salts()],
        position=race.layout.text() if race.layout is not None else "",
    )


def room(
    race: Race,
    viewer: str,
    *,
    watching: bool,
    here: Container[str],
    spectators: int,
    locked: bool,
    now: int,
) -> m.Room:
    """Give the room as one viewer may see it."""
    index = {player: number for number, player in enumerate(race.racers)}
    places = {line.player: line.place for line in standings(race)} if race.phase == "over" else {}
    return m.Room(
        room=race.room,
        version=race.version,
        settings=race.settings,
        phase=race.phase,
        commitment=race.commitment,
        seats=[_seat(race, racer, here, places.get(racer.id)) for racer in race.racers.values()],
        seat=None if watching else index.get(viewer),
        actions=race.actions(viewer, watching=watching),
        now=now,
        opened=race.opened_at,
        spectators=spectators,
        locked=locked,
        starts=race.starts,
        ends=race.ends,
        next_room=race.next_room,
    )


def _seat(race: Race, racer: Racer, here: Container[str], place: int | None) -> Seat:
    return Seat(
        player=racer.id,
        name=racer.name,
        bot=racer.bot,
        host=racer.id == race.host,
        ready=racer.ready,
        here=racer.id in here,
        cards=racer.cards,
        down=racer.down,
        score=race.score(racer),
        moves=racer.moves,
        undos=racer.undos,
        outcome=racer.outcome,
        done_ms=_done_ms(race, racer),
        place=place,
    )


def _done_ms(race: Race, racer: Racer) -> int | None:
    return race.since_start(racer.done_at) if racer.done_at is not None else None


def score(race: Race, seat: int, racer: Racer) -> Score:
    """Give one line of a score push."""
    return Score(
        seat,
        racer.cards,
        racer.down,
        race.score(racer),
        racer.moves,
        racer.undos,
        racer.outcome,
        _done_ms(race, racer),
    )


def board(race: Race, seat: int, racer: Racer) -> m.Board | None:
    """Give a whole board, None before the start."""
    if racer.board is None:
        return None
    return m.Board(
        seat=seat,
        n=racer.n,
        piles=piles(racer.board),
        cards=racer.cards,
        down=racer.down,
        score=race.score(racer),
        moves=racer.moves,
        undos=racer.undos,
        turn=racer.board.turn,
        passes=race.rules.passes,
        can=race.can(racer),
        stuck=racer.is_stuck,
        outcome=racer.outcome,
    )


def moved(race: Race, racer: Racer, n: int, before: Position | None = None) -> m.Moved:
    """Give the outcome of play n.

    With `before`, the position it was played on, only the piles that changed; without, for
    a play that was answered before, the whole board as it is now.
    """
    board = racer.board
    assert board is not None
    text, at = racer.plays[n - 1]
    return m.Moved(
        n=n,
        m=text,
        piles=piles(board) if before is None else changed(before, board),
        cards=racer.cards,
        down=racer.down,
        score=race.score(racer),
        moves=racer.moves,
        undos=racer.undos,
        turn=board.turn,
        at=at,
        can=race.can(racer),
        stuck=racer.is_stuck,
        outcome=racer.outcome,
    )


def result(race: Race) -> m.Standings:
    """Give the final standings."""
    return m.Standings(
        room=race.room,
        reason=race.over_why,
        rows=standings(race),
        head=race.seal.hex(),
        reveal=reveal(race),
    )


def news(race: Race, at: int, event: ev.AnyEvent, name: str) -> m.News | None:
    """Give the log line of an event, None where another message says it all."""
    text = ""
    match event:
        case ev.Joined() | ev.Readied() | ev.Unreadied() | ev.Hosted() | ev.Resigned():
            player: str | None = event.p
        case ev.Left():
            player, text = event.p, event.why
        case ev.Disqualified():
            player, text = event.p, event.why
        case ev.Over():
            player, text = None, event.why
        case ev.Followed():
            player, text = None, event.room
        case ev.Locked() | ev.Started():
            player = None
        case _:
            return None
    kind = type(event).__name__.lower()
    return m.News(kind=kind, player=player, name=name or None, text=text, at=at)
