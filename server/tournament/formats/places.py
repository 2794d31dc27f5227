"""Places by keys, those disqualified behind without one."""

from collections.abc import Mapping
from typing import Any

from server.tournament.records import Field, Rank


def ranked(
    keys: Mapping[str, Any], field: Field, notes: Mapping[str, tuple[Any, str]] | None = None
) -> list[Rank]:
    """Rank by ascending keys; equal keys are equal places, listed in seed order."""
    placed = [entry for entry in field.order if field.entries[entry].status != "disqualified"]
    out = [entry for entry in field.order if field.entries[entry].status == "disqualified"]
    placed.sort(key=lambda entry: keys[entry])
    lines: list[Rank] = []
    for index, entry in enumerate(placed):
        tied = index > 0 and keys[placed[index - 1]] == keys[entry]
        place = lines[-1].place if tied else index + 1
        lines.append(Rank(entry, place, note=notes[entry][1] if notes else ""))
    return lines + [Rank(entry, None, note="disqualified") for entry in out]
