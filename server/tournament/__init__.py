"""Tournaments, pure: who meets whom, who stands where, and what follows from each result.

A tournament is the fold of its journal. Whoever runs it (the director, and the steward of its
races) keeps one `Tournament` per journal and works like this:

    t = Tournament(); for entry in journal: t.apply(entry.at, entry.payload)
    while events := due(t, now, Around(new_code)):       # one step at a time
        append(events, guard=t.version)                  # refused: fold the news, ask again
        for each appended: t.apply(at, payload)
    sleep until next_due(t, now), a new journal entry, or a race's news

Where `pairs_next(t, now, around)` is true, ask a `t.fork()` in another process: pairing a large
field takes up to a second or two, in which no other thread runs. The fork's events are guarded
by its version all the same.

`calls(t)` are the races to be run now. For each: open the room with that code, deal and
settings (once: the code is the journal's), seat the players, start at `settings.start_at`,
and report through `acts`:

    decide_no_show(t, match, race, now=, started_at=, played=)   # `no_show_s` after the start
    decide_raced(t, match, race, rows)                           # when the room's race is over
    decide_race_void(t, match, race, why)                        # when the room is lost

each of which gives the events to append, and none if that has been settled before: reports
may come twice, late and from several nodes. `due` gives up a race whose result is a minute late;
after an interruption `Around.since` has it wait for what the rooms have. A room that is not
in `calls` any more counts no longer: end it. People act through the other `decide_…` of
`acts`; they give events too, or raise `Refusal` (`NeedsConfirm` where a ruling would discard
what was played: ask, and pass `confirm=True`). `views` are what is shown.
"""

from server.tournament.around import Around
from server.tournament.calls import Call, call_of, calls, is_deal_over
from server.tournament.clockwork import due, next_due, pairs_next
from server.tournament.tournament import Tournament

__all__ = [
    "Around",
    "Call",
    "Tournament",
    "call_of",
    "calls",
    "due",
    "is_deal_over",
    "next_due",
    "pairs_next",
]
