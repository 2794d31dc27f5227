"""A deal whose way out is known, for races that are won and not only ended."""

from wire.values import Settings

RULES = "double-klondike,decks=1,build=any_other_suit,empty=any"
SEED = "18"


def _moves(text: str) -> list[str]:
    return text.split()


# After these, all cards lie face up and hand and waste are empty.
CLEARING = _moves("""
1>f 3>2:1 3>1:1 3>f 6>7:1 2>3:2 7>2:2 7>9:1 7>f 9>f d w>f d d d d w>2 8>2:1 6>8:1 6>5:1
w>5 w>f 4>f 8>5:2 8>f 6>8:1 6>5:1 8>6:2 d d d w>5 w>f 8>f 9>5:1 9>2:1 9>f 9>6:1 9>f 5>f
8>f 9>f 5>f 9>4:1 8>9:1 d d w>3 4>3:2 5>4:6 5>7:1 4>7:7 5>8:1 5>f 7>f 2>f 7>f 2>f 7>2:1
9>7:2 7>9:6 6>4:4 7>6:2 7>3:1 7>f
""")

HOMEWARD = _moves("""
7>f 4>f 2>f 3>f 9>f 4>f 4>f 4>f 9>f 2>f 3>f 4>f 9>f 2>f 2>f 2>f 9>f 3>f 8>f 6>f 5>f 9>f
3>f 3>f 1>f 9>f 8>f 6>f 9>f 3>f
""")

WAY_OUT = [*CLEARING, *HOMEWARD]


def settings(seats: int, *, time_limit_s: int = 120) -> Settings:
    """Give the settings of a race on this deal."""
    return Settings(rules=RULES, seed=SEED, seats=seats, countdown_s=1, time_limit_s=time_limit_s)
