"""The plays of one race that the server has not answered yet, numbered and in order.

Pure. The server takes play n only after n - 1, so a refused play takes those sent after it
along. Until all of them are answered nothing new is sent: a new play might get the number
of one still under way. What is asked meanwhile is held, and numbered when it goes.
"""

from dataclasses import dataclass, replace

from wire.messages import Finish, Move, Undo

NumberedPlay = Move | Undo | Finish


@dataclass(frozen=True, slots=True)
class Play:
    """What a player asks for, without its number: a move's text, "undo" or "finish"."""

    text: str

    def numbered(self, n: int) -> NumberedPlay:
        """Make the message that asks for it as play n."""
        match self.text:
            case "undo":
                return Undo(n=n)
            case "finish":
                return Finish(n=n)
            case text:
                return Move(n=n, m=text)


@dataclass(frozen=True, slots=True)
class Plays:
    """The number of the last play that counts, and what waits for an answer."""

    counted: int = 0
    sent: tuple[NumberedPlay, ...] = ()
    held: tuple[Play, ...] = ()
    closed: bool = False  # nothing new goes before all that was sent is answered
    paused: bool = True  # nothing at all goes before the server has sent a board

    @property
    def waiting(self) -> int:
        """How many plays have no answer yet."""
        return len(self.sent) + len(self.held)

    def ask(self, play: Play) -> tuple["Plays", list[NumberedPlay]]:
        """Take in a new play; give what goes out now."""
        return replace(self, held=(*self.held, play))._release()

    def moved(self, n: int) -> tuple["Plays", list[NumberedPlay]]:
        """Take in that play n counts; all up to it are answered."""
        rest = tuple(each for each in self.sent if each.n > n)
        return replace(self, counted=max(self.counted, n), sent=rest)._release()

    def refused(self, n: int) -> tuple["Plays", list[NumberedPlay]]:
        """Take in that play n was refused."""
        rest = tuple(each for each in self.sent if each.n > n)
        return replace(self, sent=rest, closed=True)._release()

    def resumed(self, n: int) -> tuple["Plays", list[NumberedPlay]]:
        """Take in a fresh board that counts n plays; give what goes out now.

        After a drop that is all the board does not count; on a whole line it is under way.
        """
        rest = tuple(each for each in self.sent if each.n > n)
        after, more = replace(self, counted=n, sent=rest, paused=False)._release()
        return after, [*rest, *more] if self.paused else more

    def dropped(self) -> "Plays":
        """Take in that the line is gone: all waits for the next board."""
        return replace(self, paused=True)

    def _release(self) -> tuple["Plays", list[NumberedPlay]]:
        if self.paused or (self.closed and self.sent):
            return self, []
        plays, out = replace(self, closed=False), list[NumberedPlay]()
        while plays.held and not plays.closed:
            play, *rest = plays.held
            message = play.numbered(plays.counted + len(plays.sent) + 1)
            out.append(message)
            # Finishing takes as many numbers as there are cards left: what follows waits.
            plays = replace(
                plays,
                sent=(*plays.sent, message),
                held=tuple(rest),
                closed=isinstance(message, Finish),
            )
        return plays, out
