"""The tournament machine: journal events to the state of a tournament.

Pure. `Tournament.apply` folds what the journal holds, and trusts it: whoever folds the same
entries, on whatever node and after whatever crash, has the same tournament. What is to be
appended next is decided in `clockwork` by time and rules, and in `acts` by people.
"""

from server.journaling import chain
from server.tournament import events as ev
from server.tournament.fold import fold
from server.tournament.state import State


class Tournament(State):
    """A tournament as its journal tells it."""

    def __init__(self) -> None:
        super().__init__()
        self.version = 0
        self.at = 0  # official time of the last event
        self.last_line = b""
        self.head = bytes(32)  # of the hash chain over the journal

    def apply(self, at: int, payload: bytes, event: ev.AnyEvent | None = None) -> ev.AnyEvent:
        """Fold the next journal entry in and give its event, if not yet decoded, back.

        Raises:
            UnknownEvent: the entry, or the whole journal, is of a newer version.
        """
        event = event or ev.decode(payload)
        self.fold(at, event)
        self.last_line = b"%d %s" % (at, payload)
        self.head = chain((self.last_line,), self.head)
        return event

    def fold(self, at: int, event: ev.AnyEvent) -> None:
        """Fold one event in, without the hash chain."""
        self.version += 1
        self.at = at
        fold(self, at, event)

    def fork(self) -> "Tournament":
        """Copy the state, to look at what events would make of it, or to decide elsewhere."""
        twin = Tournament.__new__(Tournament)
        self.copy_to(twin)
        return twin
