"""What a tournament cannot know by itself, handed in by whoever runs it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Around:
    """New room codes, and where the players are."""

    new_code: Callable[[], str]  # for rooms; each call another
    here: Collection[str] | None = None  # players with a connection; None: everybody
    # Players who are in another tournament that is running, and its code.
    busy: Mapping[str, str] = field(default_factory=dict)
    # Since when results of races could come in, by whoever asks.
    since: int = 0
