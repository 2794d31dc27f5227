"""The keys of the tournaments that were opened from this machine, in a file of mode 0600."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from client import filing
from client.filing import NotWritten
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
        NotWritten: the file cannot be written, or is something else.
    """
    with filing.alone(file.parent):  # two may be opening tournaments at once
        known = {other: asdict(each) for other, each in load(file).items()}
        if not known and file.is_file() and file.stat().st_size > 0:
            raise NotWritten(f"{file} is there already and holds no keys: name another")
        known[code] = asdict(keys)
        text = json.dumps(known, indent=1, ensure_ascii=False)
        filing.write(file, text.encode(), force=True, private=True, folders=True)


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
