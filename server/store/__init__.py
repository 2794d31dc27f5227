"""What outlives a process: journals, players, deals, timers, in a Redis-compatible store.

The only package that imports redis or hiredis.
"""

from server.store.connection import Limits
from server.store.deals import Deals
from server.store.directory import Directory, Listing
from server.store.embedded import Embedded
from server.store.errors import (
    DataInUse,
    Lost,
    Missing,
    NoBinary,
    StartFailed,
    StoreError,
    Unavailable,
    Unfit,
    Unreachable,
)
from server.store.journal import (
    ActOutcome,
    Appended,
    Conflict,
    Denied,
    Entry,
    Journals,
    Listener,
    Outcome,
    attached,
)
from server.store.keys import JournalId
from server.store.nodes import Node, Nodes
from server.store.players import Player, Players
from server.store.store import Store
from server.store.timers import Claim, Timers

__all__ = [
    "ActOutcome",
    "Appended",
    "Claim",
    "Conflict",
    "DataInUse",
    "Deals",
    "Denied",
    "Directory",
    "Embedded",
    "Entry",
    "JournalId",
    "Journals",
    "Limits",
    "Listener",
    "Listing",
    "Lost",
    "Missing",
    "NoBinary",
    "Node",
    "Nodes",
    "Outcome",
    "Player",
    "Players",
    "StartFailed",
    "Store",
    "StoreError",
    "Timers",
    "Unavailable",
    "Unfit",
    "Unreachable",
    "attached",
]
