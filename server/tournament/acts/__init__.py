"""What people do to a tournament: each act gives the events to append, or is refused."""

from server.tournament.acts.conducting import (
    decide_announce,
    decide_cancel,
    decide_close_check_in,
    decide_create,
    decide_edit,
    decide_extend,
    decide_hold,
    decide_open_check_in,
    decide_pause,
    decide_publish,
    decide_repair,
    decide_resume,
    decide_seed,
    decide_start,
)
from server.tournament.acts.entering import (
    decide_check_in,
    decide_disqualify,
    decide_enter,
    decide_reinstate,
    decide_rejoin,
    decide_substitute,
    decide_withdraw,
)
from server.tournament.acts.reporting import decide_no_show, decide_race_void, decide_raced
from server.tournament.acts.ruling import (
    NeedsConfirm,
    decide_override,
    decide_restart,
    decide_void,
)
from server.tournament.acts.table import ALLOWED, actions

__all__ = [
    "ALLOWED",
    "NeedsConfirm",
    "actions",
    "decide_announce",
    "decide_cancel",
    "decide_check_in",
    "decide_close_check_in",
    "decide_create",
    "decide_disqualify",
    "decide_edit",
    "decide_enter",
    "decide_extend",
    "decide_hold",
    "decide_no_show",
    "decide_open_check_in",
    "decide_override",
    "decide_pause",
    "decide_publish",
    "decide_race_void",
    "decide_raced",
    "decide_reinstate",
    "decide_rejoin",
    "decide_repair",
    "decide_restart",
    "decide_resume",
    "decide_seed",
    "decide_start",
    "decide_substitute",
    "decide_void",
    "decide_withdraw",
]
