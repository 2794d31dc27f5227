"""Who is stuck: looked into a moment after the plays that may have brought it about."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from server.race import Race
from server.rules.stuck import is_stuck, may_be_stuck

JUDGE_AFTER_S = 0.3  # after a play that may have left its player stuck


class Judge:
    """Marks the racers of one race who are proved to be stuck."""

    def __init__(
        self,
        race: Callable[[], Race],
        spawn: Callable[[Coroutine[Any, Any, None], str], None],
        found: Callable[[str], None],
    ) -> None:
        """`race` gives the race as it is now; `found` hears of each player who is marked."""
        self._race = race
        self._spawn = spawn
        self._found = found
        self._waiting: dict[str, asyncio.TimerHandle] = {}

    def look_soon(self, player: str) -> None:
        """Have it looked into, in a moment, whether a player is stuck."""
        if player not in self._waiting:
            loop = asyncio.get_running_loop()
            self._waiting[player] = loop.call_later(JUDGE_AFTER_S, self._look, player)

    def _look(self, player: str) -> None:
        racer = self._race().racers.get(player)
        if racer and racer.board and not racer.is_stuck and may_be_stuck(racer.board):
            self._spawn(self._prove(player), f"judge {player}")
        else:
            del self._waiting[player]

    async def _prove(self, player: str) -> None:
        # The search takes some ten milliseconds: not on the event loop, not at each play.
        racer = self._race().racers.get(player)
        if racer is None or racer.board is None:
            self._waiting.pop(player, None)  # the store has lost the start, or the seat
            return
        board, undos = racer.board, racer.undos
        stuck = await asyncio.to_thread(is_stuck, board)
        self._waiting.pop(player, None)
        if self._race().racers.get(player) is not racer or racer.undos != undos:
            return
        if stuck:
            racer.is_stuck = True
            self._found(player)
        elif racer.board is not board:
            self.look_soon(player)

    def close(self) -> None:
        """Look no more."""
        for handle in self._waiting.values():
            handle.cancel()
