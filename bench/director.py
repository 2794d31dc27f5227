"""What it costs to run a tournament, and how that grows with its players.

A Swiss tournament of a few rounds is run against a real store by one node's director, while
players race in no time. The processor time of the director and its rooms is divided by
players times rounds: the issue asks that it does not grow.
"""

import asyncio
import tempfile
import time
from pathlib import Path

from server.store import Embedded, Store
from tests.server.stage import Crew, fold, opened, play
from wire.formats import Deals, StageSettings, Swiss, TournamentSettings
from wire.values import Settings

FIELDS = (16, 64, 256)
ROUNDS = 3
WANTED = TournamentSettings(
    stages=[StageSettings(play=Swiss(rounds=ROUNDS))],
    race=Settings(time_limit_s=60, countdown_s=0),
    break_s=0,
    race_break_s=0,
    deals=Deals(source="public", seed="42"),
    rated=False,
)


async def cost_ms(store: Store, players: int) -> float:
    """Processor time in ms that a tournament takes, the races of its players left out."""
    code = await opened(store, WANTED, players)
    crew = Crew(store)
    spent = 0.0
    while (await fold(store, code)).phase != "finished":
        began = time.process_time()
        await crew.act()
        spent += time.process_time() - began
        await play(store, code)
    await crew.close()
    return 1000 * spent


async def main() -> None:
    """Print the cost of each field."""
    first = 0.0
    with tempfile.TemporaryDirectory() as folder:
        async with Embedded(Path(folder)) as url:
            store = await Store.open(url)
            for players in FIELDS:
                each = await cost_ms(store, players) / (players * ROUNDS)
                first = first or each
                print(f"{players:5} players: {each:6.2f} ms each and round, {each / first:.2f} x")
            await store.close()


if __name__ == "__main__":
    asyncio.run(main())
