"""The audit log of a tournament as a sheet: when, who, what, why.

Pure.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from client.canvas import Canvas
from client.tournament import sheets
from client.tournament.scene import Scene
from client.words import clean

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')  # of JSON


def audit(lines: Iterable[Mapping[str, Any]], scene: Scene, *, ascii_only: bool = False) -> Canvas:
    """Paint the audit log: when, who, what, why."""
    rows: list[sheets.Row] = []
    for line in lines:
        by = str(line["by"])
        who = sheets.name_of(scene, by) if by in scene.people else by
        rows.append(
            [
                sheets.Cell(str(line["version"]), "dim", right=True),
                sheets.Cell(sheets.instant(int(line["at"])), "dim"),
                sheets.Cell(clean(who), "own" if by != "rules" else "dim"),
                sheets.Cell(str(line["act"])),
                sheets.Cell(clean(str(line["why"]))),
                sheets.Cell(_what(scene, str(line["what"])), "dim"),
            ]
        )
    return sheets.table(rows or [[sheets.Cell("Nothing yet.", "dim")]], ascii_only=ascii_only)


def _what(scene: Scene, fields: str) -> str:
    """Write an event's fields in one line, with names where there are ids."""

    def in_words(found: re.Match[str]) -> str:
        text = str(json.loads(found[0]))
        return sheets.name_of(scene, text) if text in scene.people else text

    return clean(_STRING.sub(in_words, fields.removeprefix("{").removesuffix("}")))
