"""Files that people name, written whole or not at all, and over nothing unless they say so."""

import errno
import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl

LOCK_TRIES: Final = 20
LOCK_GAP: Final = 0.02  # seconds


class NotWritten(Exception):
    """A file cannot be written, or is not to be; the text is one line that says why."""


def check(path: Path, *, force: bool) -> None:
    """Find out whether a file can be written, before the work that is to go into it.

    Raises:
        NotWritten: it cannot, or something is there and `force` is not said.
    """
    with _plainly(path):
        if not _is_outlet(path):
            _refuse_what_is_there(path, force=force)
            _try_out(_resolved(path).parent)


def check_folder(path: Path, *, force: bool) -> None:
    """Find out whether a folder may be filled: there is none, or an empty one.

    Raises:
        NotWritten: there is something, and `force` is not said or does not help.
    """
    with _plainly(path):
        if path.exists() and not (path.is_dir() and (force or not any(path.iterdir()))):
            raise NotWritten(_taken(path))
        there = _resolved(path)
        while not there.exists():
            there = there.parent
        _try_out(there)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Be the only one who reads and writes again what is in a folder; it is made.

    Raises:
        NotWritten: somebody else is at it for too long, or there can be no such folder.
    """
    with _plainly(folder):
        _make(folder, private=True)
        handle = os.open(folder, os.O_RDONLY)
    try:
        if sys.platform != "win32" and not _is_locked(handle):
            raise NotWritten(f"{folder} is in use by another klondike that does not go on")
        yield
    finally:
        os.close(handle)


def _is_locked(handle: int) -> bool:
    """Lock it, waiting a little for another one who has; whether that went well."""
    for _ in range(LOCK_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(LOCK_GAP)
    return False


def write(
    path: Path, data: bytes, *, force: bool = False, private: bool = False, folders: bool = False
) -> None:
    """Write a file; `private`: nobody else may read it; `folders`: those it is in are made.

    A file that is written over keeps its mode, unless it is to be private.

    Raises:
        NotWritten: it is as it was; as for `check`, or there is no room for the data.
    """
    with _plainly(path):
        if _is_outlet(path):
            path.write_bytes(data)
            return
        _refuse_what_is_there(path, force=force)
        if folders:
            _make(path.parent, private=private)
        target = _resolved(path)  # a link stays, and what it leads to is replaced
        part = _written_beside(target, data, private=private)
        try:
            if force:
                os.replace(part, target)
            else:
                _put(part, target)
        finally:
            part.unlink(missing_ok=True)


def _is_outlet(path: Path) -> bool:
    """Whether what is written there goes on, as through a pipe or to a terminal."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _refuse_what_is_there(path: Path, *, force: bool) -> None:
    if path.is_dir():
        raise NotWritten(f"{path} is a folder: name a file")
    if path.exists() and not force:
        raise NotWritten(_taken(path))


def _taken(path: Path) -> str:
    return f"{path} is there already: name another, or say --force to write over it"


def _make(folder: Path, *, private: bool) -> None:
    try:
        folder.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    except FileExistsError:  # as a file
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError:  # so do links that lead in a ring fail in Python before 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None


def _try_out(folder: Path) -> None:
    _written_beside(folder / "file", b"", private=True).unlink()


def _written_beside(target: Path, data: bytes, *, private: bool) -> Path:
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    kept = None if private or not target.exists() else target.stat().st_mode & 0o777
    mode = 0o600 if private else 0o666 if kept is None else kept
    handle = os.open(part, flags, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            if kept is not None:
                part.chmod(kept)  # all of it, whatever the umask has taken away
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    return part


def _put(part: Path, target: Path) -> None:
    """Give a file its name, if nothing has got that name meanwhile."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: then the look before has to do
        os.replace(part, target)


@contextmanager
def _plainly(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise NotWritten(_taken(path)) from None
    except OSError as error:
        is_homeless = isinstance(error, FileNotFoundError) and not path.parent.is_dir()
        why = f"there is no folder {path.parent}" if is_homeless else error.strerror
        raise NotWritten(f"cannot write {path}: {why}") from None
