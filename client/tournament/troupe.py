"""Many bots in one tournament, played by one process: a rehearsal without people."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from client.bot import FULL_PACE, BotFailed
from client.identity import Identity
from client.tournament.entrant import OVER, Entrant
from wire.tournaments import Place

APART = 0.05  # seconds between two that come in


@dataclass(frozen=True, slots=True)
class Part:
    """One bot to be: a player that there is, by the token, or somebody new."""

    name: str
    token: str | None = None


def newcomers(count: int) -> list[Part]:
    """Give so many who are nobody yet."""
    digits = len(str(count))
    return [Part(f"bot-{number:0{digits}}") for number in range(1, count + 1)]


async def play(
    url: str,
    code: str,
    parts: Iterable[Part],
    *,
    moves_per_second: float,
    failed: Callable[[str], None],
) -> list[Place]:
    """Play a tournament to its end, and give the places of those who could.

    `failed` is told of each who could not, as it happens, in a line that names it.
    """

    async def one(number: int, part: Part) -> Place | None:
        await asyncio.sleep(APART * number)
        identity = Identity()
        identity.token = part.token
        chance = Random(number)
        # Equals would race level: one is quicker than the other.
        pace = min(FULL_PACE, moves_per_second * chance.uniform(0.5, 1.5))
        bot = Entrant(url, identity, part.name, code, pace, chance)
        try:
            return await bot.take_part()
        except BotFailed as failure:
            failed(f"{part.name}: {failure}")
            return None

    ends = await asyncio.gather(*(one(number, part) for number, part in enumerate(parts)))
    return [end for end in ends if end is not None]


def ending(places: Iterable[Place]) -> str:
    """Say how a tournament ended; who was put out before knows nothing of it."""
    phases = [place.phase for place in places if place.phase in OVER]
    return f"The tournament is {phases[0]}" if phases else "None of them is in it any more"
