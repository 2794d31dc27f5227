"""Who meets whom: Swiss by exact matching, FIDE Dutch, and the arena.

Everything takes values and returns a Pairing; the same field always gives the same pairing,
in whatever order it is passed. Each pair and each bye states its reason.
"""

from server.tournament.pairing.arena import arena_wait_ms, pair_arena, pause_ms
from server.tournament.pairing.dutch import is_dutch_available, pair_dutch
from server.tournament.pairing.field import Contender, Pair, Pairing, Waiting
from server.tournament.pairing.swiss import pair_swiss

__all__ = [
    "Contender",
    "Pair",
    "Pairing",
    "Waiting",
    "arena_wait_ms",
    "is_dutch_available",
    "pair_arena",
    "pair_dutch",
    "pair_swiss",
    "pause_ms",
]
