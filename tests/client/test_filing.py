"""Files that people name: whole or not at all, over nothing by accident, errors in one line."""

import errno
import os
import stat
from pathlib import Path

import pytest

from client import filing
from client.filing import NotWritten, check, check_folder, write


def test_a_file_gets_all_of_the_data_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "race.dk"
    check(file, force=False)
    write(file, b"one")
    assert file.read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["race.dk"]


def test_what_is_there_is_written_over_only_when_that_is_said(tmp_path: Path) -> None:
    file = tmp_path / "race.dk"
    file.write_bytes(b"old")
    with pytest.raises(NotWritten, match=r"race\.dk is there already: .* --force"):
        check(file, force=False)
    with pytest.raises(NotWritten, match=r"race\.dk is there already: .* --force"):
        write(file, b"new")
    assert file.read_bytes() == b"old"
    check(file, force=True)
    write(file, b"new", force=True)
    assert file.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["race.dk"]


def test_what_came_between_the_look_and_the_writing_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "race.dk"
    monkeypatch.setattr(filing, "_refuse_what_is_there", lambda path, force: None)
    file.write_bytes(b"theirs")
    with pytest.raises(NotWritten, match="is there already"):
        write(file, b"ours")
    assert file.read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["race.dk"]


def test_a_disk_that_is_full_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "race.dk"
    file.write_bytes(b"old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotWritten, match=r"cannot write .*race\.dk: No space left"):
        write(file, b"new", force=True)
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["race.dk"]


def test_a_file_system_without_links_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", none)
    write(tmp_path / "race.dk", b"one")
    assert os.listdir(tmp_path) == ["race.dk"]


def test_a_name_that_cannot_be_a_file_is_told_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for name, why in (
        ("no/race.dk", "there is no folder .*no"),
        ("", "is a folder: name a file"),
        ("file/race.dk", "cannot write .*: Not a directory"),
        ("x" * 300, "cannot write x*.*: File name too long"),
    ):
        for force in (False, True):
            with pytest.raises(NotWritten, match=why):
                check(tmp_path / name, force=force)
            with pytest.raises(NotWritten, match=why):
                write(tmp_path / name, b"", force=force)


def test_a_link_stays_one_and_a_private_file_is_for_nobody_else(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "deep" / "file"
    write(file, b"old", private=True, folders=True)
    link.symlink_to(file)
    write(link, b"new", force=True, private=True)
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_is_written_over_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "race.dk"
    for mode in (0o600, 0o664):
        file.write_bytes(b"old")
        file.chmod(mode)
        write(file, b"new", force=True)
        assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", mode)


def test_links_that_lead_in_a_ring_and_files_in_the_place_of_folders_are_told(
    tmp_path: Path,
) -> None:
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    (tmp_path / "file").write_bytes(b"")
    for force in (False, True):
        for name, why in (
            ("ring", "cannot write .*: Too many levels of symbolic links"),
            ("file/race.dk", "cannot write .*: Not a directory"),
            ("file/deep/race.dk", "cannot write .*: Not a directory"),
        ):
            with pytest.raises(NotWritten, match=why):
                write(tmp_path / name, b"", force=force, folders=True)
            with pytest.raises(NotWritten, match=why):
                check_folder(tmp_path / name, force=force)


def test_what_goes_on_elsewhere_is_written_through(tmp_path: Path) -> None:
    check(Path(os.devnull), force=False)
    write(Path(os.devnull), b"one")
    assert not Path(os.devnull).is_file()


def test_a_folder_that_cannot_be_written_in_is_told_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbid(*_: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", forbid)  # as one's own rights do, unless one is root
    for folder in (tmp_path, tmp_path / "new" / "deep"):
        with pytest.raises(NotWritten, match=r"cannot write .*: Permission denied"):
            check_folder(folder, force=False)


def test_a_folder_may_be_new_or_empty(tmp_path: Path) -> None:
    check_folder(tmp_path / "new", force=False)
    check_folder(tmp_path, force=False)
    write(tmp_path / "file", b"")
    with pytest.raises(NotWritten, match="is there already"):
        check_folder(tmp_path, force=False)
    check_folder(tmp_path, force=True)
    with pytest.raises(NotWritten, match="is there already"):
        check_folder(tmp_path / "file", force=True)
