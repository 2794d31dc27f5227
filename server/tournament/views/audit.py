"""The audit log: who did what when and why, straight from the journal."""

import json
from collections.abc import Iterable

from msgspec import Struct

from server.tournament import events as ev


class AuditLine(Struct, frozen=True, kw_only=True):
    """One entry of the journal."""

    version: int  # its place in the journal
    at: int
    by: str  # a player's id, owner, referee; "rules" for what the tournament did by itself
    act: str  # the event's kind
    what: str  # its other fields, as one line of JSON
    why: str


def audit(entries: Iterable[tuple[int, bytes]], *, people_only: bool = False) -> list[AuditLine]:
    """Give the log of a journal's entries: official time and event."""
    lines = (_line(version, at, line) for version, (at, line) in enumerate(entries, 1))
    return [line for line in lines if line.by != "rules" or not people_only]


def _line(version: int, at: int, payload: bytes) -> AuditLine:
    ev.decode(payload)  # what this version cannot read is no audit
    fields = json.loads(payload)
    act, by, why = fields.pop("e"), fields.pop("by", ""), fields.pop("why", "")
    return AuditLine(
        version=version,
        at=at,
        by=by or "rules",
        act=act,
        what=json.dumps(fields, ensure_ascii=False, separators=(",", ":")),
        why=why,
    )
