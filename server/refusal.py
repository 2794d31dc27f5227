"""How the pure machines say no to a command."""


class Refusal(Exception):
    """The command cannot be done; nothing has changed. `reason` is for who asked."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
