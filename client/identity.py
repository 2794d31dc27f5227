"""Who this client is: the secret token that brings a player back, and where it is kept.

One file for each player of each server, in the user's state folder, of mode 0600. A running
client holds the lock of its file, so a second one on the same machine takes the next file
and is another player, instead of throwing the first one out. Where several files are free,
the one last used in this terminal goes first: two players whose clients were killed get
each their own race back.
"""

import hashlib
import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

SLOTS = 32  # players of one server on one machine


class TokenInUse(Exception):
    """The named token file belongs to a client that is running."""


class NoTokenFile(Exception):
    """The named file is there and something else; the text says what to do."""


class Identity:
    """A token in memory, and in a locked file unless the player is to be forgotten."""

    def __init__(self, file: IO[str] | None = None, terminal: str = "") -> None:
        """`file` is open for reading and writing, and locked."""
        self._file = file
        self._terminal = terminal
        kept = _read(file) if file is not None else {}
        token, name = kept.get("token", ""), kept.get("name", "")
        self.token: str | None = token if 20 <= len(token) <= 100 else None
        self.name: str | None = name if 1 <= len(name) <= 16 else None

    def keep(self, token: str | None, name: str) -> None:
        """Keep what the server said: a new token, if it gave one, and the name."""
        self.token = token or self.token
        self.name = name
        self._write()

    def forget(self) -> None:
        """Drop a token that the server does not know; the name stays."""
        self.token = None
        self._write()

    def stand_back(self) -> None:
        """Be no longer the one who was last in this terminal."""
        self._terminal = ""
        self._write()

    def close(self) -> None:
        """Give the file free for another client."""
        if self._file is not None:
            with suppress(OSError):  # what could not be written, is tried once more
                self._file.close()
            self._file = None

    def _write(self) -> None:
        if self._file is None:
            return
        record = {"token": self.token, "name": self.name, "terminal": self._terminal}
        # In place: a replaced file would leave its lock behind. Cut at the end, since a disk
        # that is full has room for as much as was there. Where it has not, the player is kept
        # for this run.
        with suppress(OSError):
            self._file.seek(0)
            self._file.write(json.dumps(record))
            self._file.truncate()
            self._file.flush()
            os.fsync(self._file.fileno())


def open_identity(url: str, *, token_file: Path | None = None, fresh: bool = False) -> Identity:
    """Give the player to be on the server at `url`.

    Raises:
        TokenInUse: `token_file` is held by a running client.
        NoTokenFile: `token_file` is something else.
        OSError: `token_file` cannot be opened.
    """
    if fresh:
        return Identity()
    if token_file is not None:
        if _is_of_another_kind(token_file):
            raise NoTokenFile(
                f"{token_file} is there already and holds no token: name another file"
            )
        file = _locked(token_file)
        if file is None:
            raise TokenInUse(
                f"{token_file} is in use by another klondike; "
                "name another file with --token-file, or use --fresh"
            )
        return Identity(file, _terminal())
    if sys.platform == "win32":  # no locks there: a player for this run only
        return Identity()
    return _free_identity(_token_folder(), url)


def adopt(url: str, token: str, name: str) -> None:
    """Keep a token that was handed out, as the player to be first in this terminal.

    Raises:
        OSError: there is no file that it could be kept in.
    """
    terminal = _terminal()
    kept: Identity | None = None
    for path in _slots(_token_folder(), url):
        file = _locked(path)
        if file is None:
            continue
        found = Identity(file, terminal)
        if kept is None and found.token in (None, token):
            kept = found
            continue
        if terminal and _last_terminal(path) == terminal:
            found.stand_back()
        found.close()
    if kept is None:
        raise OSError(f"{SLOTS} players of this server are kept here already")
    kept.keep(token, name)
    kept.close()


def _free_identity(folder: Path, url: str) -> Identity:
    terminal = _terminal()
    for path in sorted(_slots(folder, url), key=lambda path: _last_terminal(path) != terminal):
        with suppress(OSError):  # a folder that cannot be written: a player for this run
            file = _locked(path)
            if file is not None:
                return Identity(file, terminal)
    return Identity()


def state_folder() -> Path:
    """Give the folder for what this program keeps between runs."""
    home = os.environ.get("XDG_STATE_HOME", "")
    base = Path(home) if os.path.isabs(home) else Path.home() / ".local" / "state"
    return base / "double-klondike"


def _token_folder() -> Path:
    return state_folder() / "tokens"


def _slots(folder: Path, url: str) -> list[Path]:
    host = re.sub(r"[^a-z0-9.]+", "-", url.lower())[:40].strip("-")
    mark = hashlib.sha256(url.encode()).hexdigest()[:8]
    return [folder / f"{host}-{mark}.{slot}" for slot in range(1, SLOTS + 1)]


def _locked(path: Path) -> IO[str] | None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    file = os.fdopen(fd, "r+", encoding="utf-8", errors="replace")
    if sys.platform != "win32":
        os.fchmod(fd, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
    return file


def _read(file: IO[str]) -> dict[str, str]:
    file.seek(0)
    return _record(file.read())


def _record(text: str) -> dict[str, str]:
    # A half-written or foreign file is an unknown player, not an error.
    with suppress(ValueError):
        value = json.loads(text)
        if isinstance(value, dict):
            return {str(key): each for key, each in value.items() if isinstance(each, str)}
    return {}


def _is_of_another_kind(path: Path) -> bool:
    with suppress(FileNotFoundError):
        text = path.read_text(encoding="utf-8", errors="replace")
        return bool(text.strip()) and not _record(text)
    return False


def _last_terminal(path: Path) -> str | None:
    try:
        return _record(path.read_text(encoding="utf-8", errors="replace")).get("terminal")
    except OSError:
        return None


def _terminal() -> str:
    try:
        return os.ttyname(0)
    except (OSError, AttributeError):
        return ""
