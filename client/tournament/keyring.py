"""The keys of the tournaments that were opened from this machine, in a file of mode 0600."""

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from client.identity import state_folder


@dataclass(frozen=True, slots=True)
class Keys:
    """What leads to one tournament."""

    server: str
    title: str = ""
    owner: str = ""
    referee: str = ""

    @property
    def best(self) -> str:
        """Give the key that allows most."""
        return self.owner or self.referee


def keyring_file() -> Path:
    """Give where the keys are kept."""
    return state_folder() / "tournaments.json"


def keep(code: str, keys: Keys, file: Path) -> None:
    """Keep the keys of a tournament.

    Raises:
        OSError: the file cannot be written.
    """
    known = {other: asdict(each) for other, each in load(file).items()}
    known[code] = asdict(keys)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Made beside it with mode 0600 and put in its place: nobody reads it half, or at all.
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as made:
            json.dump(known, made, indent=1, ensure_ascii=False)
            made.flush()
            os.fsync(made.fileno())
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def load(file: Path) -> dict[str, Keys]:
    """Read the keys by the tournaments' codes; none where there is no such file."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        str(code): Keys(**{name: str(each.get(name, "")) for name in _FIELDS})
        for code, each in found.items()
        if isinstance(each, dict)
    }


_FIELDS = ("server", "title", "owner", "referee")
