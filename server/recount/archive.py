"""What a tournament is exported to: a zip archive, a folder, or the journal alone."""

import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

JOURNAL: Final = "journal.txt"
REPLAYS: Final = "replays/"
MAX_FILE: Final = 64 * 2**20  # bytes of one file, unpacked
MAX_FILES: Final = 20_000


class Unreadable(Exception):
    """The file is no record of a tournament; the text says what is wrong with it."""


class Header(msgspec.Struct):
    """The first line of a journal."""

    tournament: int  # the format's number
    code: str
    head: str  # hex of the hash chain over the entries


@dataclass
class Archive:
    """What a file holds."""

    header: Header
    entries: list[tuple[int, bytes]]  # official time and event
    replays: dict[str, str] = field(default_factory=dict)  # texts, by the room's code
    tables: dict[str, bytes] = field(default_factory=dict)  # other files, by name


def read(path: Path) -> Archive:
    """Read a file, or a folder of the same files.

    Raises:
        Unreadable: it has another form.
        OSError: it cannot be opened.
    """
    if path.is_dir():
        return _folder(path)
    if not zipfile.is_zipfile(path):
        return _journal(_text(path.read_bytes(), path.name))
    try:
        with zipfile.ZipFile(path) as packed:
            return _unpacked(packed)
    # What zipfile raises: the last but one for what is encrypted, NotImplementedError for a
    # compression it does not know.
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise Unreadable(f"the archive is damaged: {error}") from None


def _unpacked(packed: zipfile.ZipFile) -> Archive:
    files = [each for each in packed.infolist() if not each.is_dir()]
    if len(files) > MAX_FILES:
        raise Unreadable(f"the archive has more than {MAX_FILES} files")
    names = [each.filename for each in files]
    if len(set(names)) != len(names):
        raise Unreadable("the archive has two files of one name")
    if JOURNAL not in names:
        raise Unreadable(f"the archive has no {JOURNAL}")
    return _assembled({each.filename: _content(packed, each) for each in files})


def _folder(path: Path) -> Archive:
    if not (path / JOURNAL).is_file():
        raise Unreadable(f"the folder has no {JOURNAL}")
    files = [*path.iterdir(), *path.glob(f"{REPLAYS}*")]
    return _assembled(
        {each.relative_to(path).as_posix(): each.read_bytes() for each in files if each.is_file()}
    )


def _assembled(content: dict[str, bytes]) -> Archive:
    archive = _journal(_text(content.pop(JOURNAL), JOURNAL))
    for name, data in content.items():
        if name.startswith(REPLAYS):
            room = name.removeprefix(REPLAYS).removesuffix(".replay")
            archive.replays[room] = _text(data, name)
        else:
            archive.tables[name] = data
    return archive


def _content(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with packed.open(info) as file:
        data = file.read(MAX_FILE + 1)  # whatever size the archive claims
    if len(data) > MAX_FILE:
        raise Unreadable(f"{info.filename} is larger than {MAX_FILE} bytes")
    return data


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Unreadable(f"{name} is no text in UTF-8") from None


def _journal(text: str) -> Archive:
    lines = text.removesuffix("\n").split("\n")
    try:
        header = msgspec.json.decode(lines[0], type=Header)
    except msgspec.MsgspecError as error:
        raise Unreadable(f"line 1 is no header of a tournament's journal: {error}") from None
    if header.tournament != 1:
        raise Unreadable(f"format {header.tournament} is not known here; this reads format 1")
    entries = []
    for number, line in enumerate(lines[1:], 2):
        at, blank, payload = line.partition(" ")
        if not blank or not (at.isascii() and at.isdecimal()):
            raise Unreadable(f"line {number} is no journal entry")
        entries.append((int(at), payload.encode()))
    if not entries:
        raise Unreadable("the journal has no entries")
    return Archive(header, entries)
