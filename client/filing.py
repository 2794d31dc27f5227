"""Files that people name, written whole or not at all, and over nothing unless they say so."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
            _written_beside(path.resolve(), b"", private=True).unlink()


def check_folder(path: Path, *, force: bool) -> None:
    """Find out whether a folder may be filled: there is none, or an empty one.

    Raises:
        NotWritten: there is something, and `force` is not said or does not help.
    """
    with _plainly(path):
        if path.exists() and not (path.is_dir() and (force or not any(path.iterdir()))):
            raise NotWritten(_taken(path))


def write(
    path: Path, data: bytes, *, force: bool = False, private: bool = False, folders: bool = False
) -> None:
    """Write a file; `private`: nobody else may read it; `folders`: those it is in are made.

    Raises:
        NotWritten: it is as it was; as for `check`, or there is no room for the data.
    """
    with _plainly(path):
        if _is_outlet(path):
            path.write_bytes(data)
            return
        _refuse_what_is_there(path, force=force)
        if folders:
            path.parent.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
        target = path.resolve()  # a link stays, and what it leads to is replaced
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


def _written_beside(target: Path, data: bytes, *, private: bool) -> Path:
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(part, flags, 0o600 if private else 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
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
