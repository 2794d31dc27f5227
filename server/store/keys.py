"""Every key and channel of the store: its name, its type, its lifetime.

| key                     | type   | lifetime                                           |
|-------------------------|--------|----------------------------------------------------|
| dk:{JOURNAL}:journal    | list   | given with each append: UNSTARTED_S after the next |
|                         |        | due instant; FINISHED_S or ABORTED_S after the end |
| dk:{JOURNAL}:summary    | hash   | the same, set together                             |
| dk:{JOURNAL}:news       | channel| none                                               |
| dk:{p:PLAYER}           | hash   | PLAYER_S since the last connection                 |
| dk:token:HASH           | string | the same                                           |
| dk:deal:{JOURNAL}DEAL   | string | given; DEAL_S once its race has started            |
| dk:{p:PLAYER}:entered   | zset   | PLAYER_S since the last entry into a tournament    |
| dk:{t:CODE}:hook        | hash   | TOURNAMENT_S since it was chosen                   |
| dk:lobby                | zset   | LISTED_S since the last listing; members too       |
| dk:programme            | zset   | TOURNAMENT_S since the last listing; members too   |
| dk:{e:RULES}:ratings    | hash   | RATING_S since the last rated match of these rules |
| dk:{e:RULES}:leaders    | zset   | the same                                           |
| dk:{e:RULES}:applied:T  | set    | TOURNAMENT_S since T's last rated match            |
| dk:{e:RULES}:h:PLAYER   | list   | RATING_S since the player's last rated match       |
| dk:timers:{SHARD}       | zset   | none; a member goes when its timer is done         |
| dk:nodes                | zset   | NODES_S since the last beat; members with their key|
| dk:node:NODE            | string | NODE_S since the last beat                         |

JOURNAL is `r:CODE` for a room and `t:CODE` for a tournament. What a script touches
together shares a {hash tag}, so that the same code runs on a Cluster.
"""

from functools import lru_cache
from typing import NamedTuple, NewType

JournalId = NewType("JournalId", str)

_HOUR_S = 3600
_DAY_S = 24 * _HOUR_S

UNSTARTED_S = _DAY_S
FINISHED_S = 30 * _DAY_S
ABORTED_S = _HOUR_S  # of a room whose race never started
PLAYER_S = 90 * _DAY_S
DEAL_S = FINISHED_S + _DAY_S  # outlives every journal that is to reveal it
LISTED_S = _DAY_S
TOURNAMENT_S = 90 * _DAY_S  # since the last event of a tournament
RATING_S = 400 * _DAY_S
NODE_S = 15
NODES_S = _HOUR_S

TIMER_SHARDS = 4


def score_field(player: str) -> str:
    """Name the summary field with a player's cards home, cards face down and moves."""
    return f"s:{player}"


def done_field(player: str) -> str:
    """Name the summary field that is set once a player's race is done."""
    return f"done:{player}"


def tournament_timer(code: str) -> str:
    """Name the timer at which a node looks at a tournament."""
    return f"t:{code}"


def match_timer(code: str, match: str) -> str:
    """Name the timer at which a node looks at a race of a tournament's match."""
    return f"t:{code}/{match}"


def hook_timer(code: str) -> str:
    """Name the timer at which a node tells a tournament's webhook what is new."""
    return f"h:{code}"


class JournalKeys(NamedTuple):
    """The two keys and the channel of one journal."""

    journal: str
    summary: str
    news: str


def room(code: str) -> JournalId:
    """Name the journal of a room."""
    return JournalId(f"r:{code}")


def tournament(code: str) -> JournalId:
    """Name the journal of a tournament."""
    return JournalId(f"t:{code}")


@lru_cache(maxsize=8192)
def journal(jid: JournalId) -> JournalKeys:
    """Name the keys of a journal."""
    stem = f"dk:{{{jid}}}:"
    return JournalKeys(stem + "journal", stem + "summary", stem + "news")


def player(player_id: str) -> str:
    """Name the record of a player."""
    return f"dk:{{p:{player_id}}}"


def token(token_hash: str) -> str:
    """Name the key that leads from a token's hash to its player."""
    return f"dk:token:{token_hash}"


def deal(deal_id: str) -> str:
    """Name the secret of a deal, beside the journal that it was made for.

    A room's deal is named CODE-…, one of a tournament CODE.…
    """
    journal, mark = (tournament, ".") if "." in deal_id else (room, "-")
    code, _, rest = deal_id.partition(mark)
    return f"dk:deal:{{{journal(code)}}}{mark}{rest}"


def hook(code: str) -> str:
    """Name the webhook of a tournament."""
    return f"dk:{{t:{code}}}:hook"


def timers(shard: int) -> str:
    """Name one shard of the timers."""
    return f"dk:timers:{{{shard}}}"


def node(node_id: str) -> str:
    """Name the sign of life of a node."""
    return f"dk:node:{node_id}"


def entered(player_id: str) -> str:
    """Name the tournaments that a player has a place in."""
    return f"dk:{{p:{player_id}}}:entered"


class RatingKeys(NamedTuple):
    """The keys of the ratings by one set of rules, all in one place of a Cluster."""

    stem: str

    @property
    def ratings(self) -> str:
        """Name the ratings by player."""
        return self.stem + "ratings"

    @property
    def leaders(self) -> str:
        """Name the players in the order of their ratings."""
        return self.stem + "leaders"

    def applied(self, tournament_code: str) -> str:
        """Name the matches of a tournament that are applied."""
        return f"{self.stem}applied:{tournament_code}"

    def history(self, player_id: str) -> str:
        """Name the changes of a player's rating."""
        return f"{self.stem}h:{player_id}"


def ratings(rules: str) -> RatingKeys:
    """Name the keys of the ratings by some rules."""
    return RatingKeys(f"dk:{{e:{rules}}}:")


LOBBY = "dk:lobby"
PROGRAMME = "dk:programme"
NODES = "dk:nodes"
