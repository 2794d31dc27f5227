"""How the pure machines say no to a command."""


class Refusal(Exception):
    """The command cannot be done; nothing has changed. `reason` is for who asked."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(code, reason)  # as it is made anew in another process
        self.code = code
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


# Made anew each time: an exception that is kept and raised again keeps the frames of every
# place it was ever raised in.


def store_away() -> Refusal:
    """Say that the store does not answer: what became of the request is not known."""
    return Refusal("store", "The server's store does not answer; try again in a moment.")


def race_lost() -> Refusal:
    """Say that others were faster again and again."""
    return Refusal("conflict", "The room is very busy; try again.")
