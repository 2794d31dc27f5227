"""The referee: what is asked of a race, to the events that follow or a refusal.

Pure. Every `decide_…` and `due` looks at a race and a given instant and returns the events
to append; nothing changes before they are folded. What is allowed to whom in which phase is
one table (`server.permissions`).
"""

from collections.abc import Iterable
from typing import Final, assert_never

from server import events as ev
from server.permissions import CLOSED, HOSTED, NOT_NOW
from server.race import Race
from server.racer import Racer
from server.refusal import Refusal
from server.rules import IllegalMove, Move, Position
from server.rules.undo import undo_refusal

AWAY_LIMIT_MS: Final = 60_000  # in an open room a seat is held so long for someone who dropped
IDLE_LIMIT_MS: Final = 2 * 3_600_000  # an open room in which nothing happens is closed


def check(race: Race, player: str | None, action: str) -> None:
    """Refuse what the table does not allow.

    Raises:
        Refusal: with the reason for the player.
    """
    if action in race.actions(player):
        return
    if player not in race.racers and action not in HOSTED | {"join"}:
        raise Refusal("not-seated", "You have no seat in this race.")
    if action == "undo" and race.settings.undo == "off":
        raise Refusal("undo-off", "This room allows no undo.")
    if action == "hint" and not race.settings.hints:
        raise Refusal("hints-off", "This room gives no hints.")
    if action == "chat" and not race.settings.chat:
        raise Refusal("chat-off", "This room has no chat.")
    if action in HOSTED and player != race.host:
        whose = "the organisers of the tournament" if race.tournament else "the host of the room"
        raise Refusal("not-host", f"Only {whose} may do that.")
    racer = race.racers.get(player) if player is not None else None
    if racer is not None and racer.is_done and race.phase == "running":
        raise Refusal("done", "Your race is done.")
    raise Refusal("not-now", NOT_NOW[race.phase])


# --- deciding ---------------------------------------------------------------------


def decide_join(race: Race, player: str, name: str, bot: bool) -> list[ev.AnyEvent]:
    """Take the next seat; nothing if it is taken already."""
    if player in race.racers:
        return []
    if race.tournament:
        raise Refusal("held", "The seats of this room are held for the players of a match.")
    if race.phase != "open":
        raise Refusal("not-now", CLOSED[race.phase])
    if race.parted.get(player) == "kicked":
        raise Refusal("kicked", "The host has asked you to leave this room.")
    if len(race.racers) >= race.settings.seats:
        raise Refusal("full", f"All {race.settings.seats} seats are taken.")
    names = {racer.name for racer in race.racers.values()}
    return [ev.Joined(p=player, name=_distinct(name, names), bot=bot)]


def decide_leave(race: Race, player: str, why: str = "left") -> list[ev.AnyEvent]:
    """Free a seat before the lock; afterwards it resigns."""
    if race.tournament and race.phase == "open":
        return []
    racer = race.racers.get(player)
    if racer is None:
        return _pass_on(race) if race.phase == "open" and player == race.host else []
    if race.phase == "open":
        return _free(race, player, why)
    if racer.is_done:
        return []
    return [ev.Resigned(p=player)]


def _free(race: Race, player: str, why: str) -> list[ev.AnyEvent]:
    result: list[ev.AnyEvent] = [ev.Left(p=player, why=why)]
    rest = [racer for racer in race.racers.values() if racer.id != player]
    if player == race.host:
        result.extend(_pass_on(race, player))
    if rest and _all_ready(race, rest):
        result.append(_lock(race))
    return result


def _pass_on(race: Race, leaving: str = "") -> list[ev.AnyEvent]:
    """Make somebody else the host; a room that nobody is left in is over."""
    rest = [racer for racer in race.racers.values() if racer.id != leaving]
    if not rest:
        return _end(race, "aborted")
    heir = next((racer for racer in rest if not racer.bot), rest[0])
    return [ev.Hosted(p=heir.id)]


def decide_kick(race: Race, player: str, target: str) -> list[ev.AnyEvent]:
    """Free somebody else's seat."""
    check(race, player, "kick")
    if _seated(race, target).id == player:
        raise Refusal("yourself", "To go yourself, leave.")
    return _free(race, target, "kicked")


def decide_ready(race: Race, player: str, salt: bytes) -> list[ev.AnyEvent]:
    """Be ready; the last one to be so locks the room where that is the rule."""
    racer = race.racers.get(player)
    if racer is not None and racer.ready and race.phase == "open":
        # Other bytes for the deal are a change; the same again is none.
        again = [] if racer.salt == salt else [ev.Readied(p=player, salt=salt.hex())]
        return list[ev.AnyEvent](again)
    check(race, player, "ready")
    result: list[ev.AnyEvent] = [ev.Readied(p=player, salt=salt.hex())]
    others = [other for other in race.racers.values() if other.id != player]
    if all(other.ready for other in others) and _enough(race, len(others) + 1):
        result.append(_lock(race))
    return result


def decide_unready(race: Race, player: str) -> list[ev.AnyEvent]:
    """Be not ready after all."""
    racer = race.racers.get(player)
    if racer is not None and not racer.ready and race.phase == "open":
        return []
    check(race, player, "unready")
    return [ev.Unreadied(p=player)]


def decide_start(race: Race, player: str) -> list[ev.AnyEvent]:
    """Lock the room at the host's word, ready or not; nothing if it is locked already."""
    if race.phase == "locked" and player == race.host:
        return []
    check(race, player, "start")
    if not race.racers:
        raise Refusal("empty", "Nobody has a seat yet.")
    return [_lock(race)]


def decide_begin(race: Race, countdown_ms: int) -> list[ev.AnyEvent]:
    """Lock a tournament's room at its director's word; nothing if that is done."""
    return [ev.Locked(countdown_ms=countdown_ms)] if race.phase == "open" else []


def decide_abort(race: Race) -> list[ev.AnyEvent]:
    """End a tournament's race that does not count any more; nothing if it has ended."""
    return [] if race.phase == "over" else _end(race, "aborted")


def decide_reveal(race: Race) -> list[ev.AnyEvent]:
    """Reveal a shared deal once nobody plays it any more; nothing if that is done."""
    if race.phase != "over" or race.revealed is not None or race.secret is None:
        return []
    return [ev.Revealed(secret=race.secret.hex())]


def _all_ready(race: Race, racers: Iterable[Racer]) -> bool:
    racers = list(racers)
    return all(racer.ready for racer in racers) and _enough(race, len(racers))


def _enough(race: Race, seated: int) -> bool:
    if race.tournament:
        return False
    return race.settings.start == "ready" and seated >= min(2, race.settings.seats)


def _lock(race: Race) -> ev.Locked:
    return ev.Locked(countdown_ms=race.settings.countdown_s * 1000)


def decide_move(race: Race, player: str, n: int, text: str) -> ev.Played:
    """Read and check play n; the caller has seen that n is the next number."""
    board = _board(race, player, "move")
    try:
        said = Move.parse(text)
        move = board.resolve(said)
    except IllegalMove as illegal:
        raise Refusal(illegal.code, illegal.reason) from None
    except ValueError as error:
        raise Refusal("unreadable", str(error)) from None
    if move is not said:
        text = move.text()
    racer = race.racers[player]
    racer.ahead = (board, text, racer.count(board.play(move)))
    return ev.Played(p=player, n=n, m=text)


def decide_undo(race: Race, player: str, n: int) -> ev.Undone:
    """Take the last move back as play n."""
    board = _board(race, player, "undo")
    racer = race.racers[player]
    if not racer.former:
        raise Refusal("no-undo", "There is no move to take back.")
    refusal = undo_refusal(race.settings.undo, racer.former[-1], board)
    if refusal is not None:
        raise Refusal(refusal.code, refusal.reason)
    return ev.Undone(p=player, n=n)


def _board(race: Race, player: str, action: str) -> Position:
    # The hot path asks the table only when something is wrong.
    racer = race.racers.get(player)
    if race.phase != "running" or racer is None or racer.outcome != "playing" or action != "move":
        check(race, player, action)
    assert racer is not None
    assert racer.board is not None
    return racer.board


def decide_finish(race: Race, player: str) -> list[str]:
    """Give the moves that play all cards home, as texts."""
    board = _board(race, player, "finish")
    if not board.can_finish:
        raise Refusal("not-clear", "Finishing needs all cards face up, and hand and waste empty.")
    return [move.text() for move in board.finish_moves()]


def decide_hint(race: Race, player: str) -> list[str]:
    """Give the legal moves now, as texts."""
    return [move.text() for move in _board(race, player, "hint").legal_moves()]


def decide_resign(race: Race, player: str) -> ev.Resigned:
    """Give the race up."""
    check(race, player, "resign")
    return ev.Resigned(p=player)


def decide_disqualify(race: Race, player: str, by: str, why: str) -> ev.Disqualified:
    """Put a player out of a race that runs, at the word of its host.

    `by` is the host; it is empty in a tournament, whose director decides.
    """
    if by or not race.tournament:
        check(race, by, "disqualify")
    racer = _seated(race, player)
    if player == by:
        raise Refusal("yourself", "To end your own race, give up.")
    if racer.is_done:
        raise Refusal("done", f"The race of {racer.name} is done.")
    if race.phase != "running":
        raise Refusal("not-now", NOT_NOW[race.phase])
    return ev.Disqualified(p=player, by=by, why=why)


def _seated(race: Race, player: str) -> Racer:
    racer = race.racers.get(player)
    if racer is None:
        raise Refusal("not-seated", "Nobody with that id has a seat here.")
    return racer


def decide_follow(race: Race, player: str, room: str) -> list[ev.AnyEvent]:
    """Name the one room that follows this one; nothing if it is named already."""
    if race.next_room is not None and player in race.racers:
        return []
    check(race, player, "rematch")
    return [ev.Followed(room=room)]


# --- time -------------------------------------------------------------------------


def due(race: Race, now: int, away: Iterable[str] = ()) -> list[ev.AnyEvent]:
    """Give what has to happen by itself at this instant.

    `away` are the players who have been without a connection for AWAY_LIMIT_MS.
    """
    if race.phase == "open":
        return _due_open(race, now, list(away))
    if race.phase == "locked" and race.starts is not None and now >= race.starts:
        if race.settings.seed is None and race.secret is None:
            return _end(race, "aborted")  # the store has lost it: there is nothing to deal
        return [ev.Started()]
    if race.phase == "running":
        why = _over_now(race, now)
        return _end(race, why) if why else []
    return []


def _due_open(race: Race, now: int, away: list[str]) -> list[ev.AnyEvent]:
    if race.tournament:
        return []  # its director decides what happens to its rooms
    gone = next((player for player in away if player in race.racers), None)
    if gone is not None:
        return _free(race, gone, "away")
    if race.host in away:
        return _pass_on(race)
    at = race.settings.start_at
    if race.settings.start == "time" and at is not None:
        if now >= at:
            return [_lock(race)] if race.racers else _end(race, "aborted")
    elif now >= race.at + IDLE_LIMIT_MS:
        return _end(race, "aborted")
    return []


def _over_now(race: Race, now: int) -> str | None:
    racing = [racer for racer in race.racers.values() if not racer.is_done]
    if not racing:
        solved = any(racer.outcome == "solved" for racer in race.racers.values())
        return "finished" if solved else "resigned"
    if race.ends is not None and now >= race.ends:
        return "time"
    # Who may take moves back is not stuck: that leads out of it.
    stuck = all(racer.is_stuck and "undo" not in race.can(racer) for racer in racing)
    return "stuck" if stuck else None


def _end(race: Race, why: str) -> list[ev.AnyEvent]:
    result: list[ev.AnyEvent] = [ev.Over(why=why)]
    if race.secret is not None and not race.shared:
        result.append(ev.Revealed(secret=race.secret.hex()))
    return result


def next_due(race: Race) -> int | None:
    """Give the next instant at which `due` may have something to say."""
    match race.phase:
        case "open" if race.tournament:
            return None
        case "open":
            if race.settings.start == "time" and race.settings.start_at is not None:
                return race.settings.start_at
            return race.at + IDLE_LIMIT_MS
        case "locked":
            return race.starts
        case "running":
            return race.ends
        case "over":
            return None
        case _:
            assert_never(race.phase)


def _distinct(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    numbered = (f"{name[:13]}-{number}" for number in range(2, 100))
    return next(each for each in numbered if each not in taken)
