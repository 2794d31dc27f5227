"""What is shown of a tournament: plain records, ready for JSON, pages and terminals.

All take a state as it may be shown: give them `public(t)` for everybody but the organisers.
"""

from server.tournament.views.audit import AuditLine, audit
from server.tournament.views.players import Next, PathView, path
from server.tournament.views.public import is_hidden, public
from server.tournament.views.rounds import (
    BoxView,
    BracketView,
    ByeView,
    MatchView,
    Place,
    RoundView,
    Side,
    brackets,
    match_view,
    round_view,
)
from server.tournament.views.schedule import ScheduleLine, late, schedule
from server.tournament.views.standings import Standings, StandingsLine, standings

__all__ = [
    "AuditLine",
    "BoxView",
    "BracketView",
    "ByeView",
    "MatchView",
    "Next",
    "PathView",
    "Place",
    "RoundView",
    "ScheduleLine",
    "Side",
    "Standings",
    "StandingsLine",
    "audit",
    "brackets",
    "is_hidden",
    "late",
    "match_view",
    "path",
    "public",
    "round_view",
    "schedule",
    "standings",
]
