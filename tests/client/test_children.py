"""Child processes: none outlives its parent, whatever way that goes."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from client.children import ChildFailed, Children
from tests.processes import is_alive

SLEEP = ["-c", "import time; print('up', flush=True); time.sleep(600)"]
STUBBORN = [
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True);"
    "time.sleep(600)",
]
LIMIT = 20.0


def is_up(printed: str) -> bool:
    return "up" in printed


def test_leaving_the_block_ends_all_by_an_error_too(tmp_path: Path) -> None:
    started = []

    def hold() -> None:
        with Children(tmp_path) as children:
            for name in ("server", "bot"):
                child = children.start(name, SLEEP)
                child.wait_for(is_up, LIMIT)
                started.append(child.process)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        hold()
    assert [process.returncode for process in started] == [-signal.SIGTERM] * 2


def test_a_signal_while_a_child_starts_leaves_none_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    class Slow(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **how: Any) -> None:
            super().__init__(*args, **how)
            started.append(self)
            os.kill(os.getpid(), signal.SIGTERM)

    def leave(number: int, _: object) -> None:
        raise SystemExit(number)

    former = signal.signal(signal.SIGTERM, leave)
    rest = threading.Event()
    other = threading.Thread(target=rest.wait)  # a signal may reach any thread of the process
    other.start()
    monkeypatch.setattr("client.children.subprocess.Popen", Slow)
    try:
        with pytest.raises(SystemExit), Children(tmp_path) as children:
            children.start("server", SLEEP)
    finally:
        signal.signal(signal.SIGTERM, former)
        rest.set()
        other.join()
    assert [process.returncode for process in started] == [-signal.SIGTERM]


def test_a_child_that_will_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.children.END_LIMIT", 0.2)
    with Children(tmp_path) as children:
        child = children.start("server", STUBBORN)
        child.wait_for(is_up, LIMIT)
    assert child.process.returncode == -signal.SIGKILL


def test_a_child_that_fails_at_once_is_told_by_its_last_words(tmp_path: Path) -> None:
    words = "no room on this machine"
    with Children(tmp_path) as children:
        child = children.start("server", ["-c", f"raise SystemExit({words!r})"])
        with pytest.raises(ChildFailed, match=f"the server ended at once: {words}"):
            child.wait_for(is_up, LIMIT)


def test_a_child_that_never_gets_ready_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    with Children(tmp_path) as children:
        child = children.start("server", SLEEP)
        with pytest.raises(ChildFailed, match="was not ready"):
            child.wait_for(lambda _: False, 0.1)


def test_a_line_under_way_is_not_taken_for_what_was_printed(tmp_path: Path) -> None:
    slow = "import time; print('80', end='', flush=True); time.sleep(0.2); print('80', flush=True)"
    with Children(tmp_path) as children:
        assert children.start("server", ["-c", slow]).wait_for(bool, LIMIT) == "8080\n"


def test_options_of_this_program_in_the_environment_do_not_reach_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLONDIKE_PORT", "1")
    look = ["-c", "import os; print('up', 'KLONDIKE_PORT' in os.environ, flush=True)"]
    with Children(tmp_path) as children:
        assert children.start("server", look).wait_for(is_up, LIMIT) == "up False\n"


def test_a_folder_that_happens_to_be_called_server_is_not_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server").mkdir()
    for name in ("__init__", "__main__"):
        (tmp_path / "server" / f"{name}.py").write_text("print('listening on a stranger')\n")
    monkeypatch.chdir(tmp_path)
    with Children(tmp_path) as children:
        printed = children.start("server", ["-m", "server", "--version"]).wait_for(bool, LIMIT)
    assert printed.startswith("klondike-server")


def test_the_check_of_a_record_is_ours_in_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "__init__.py").write_text("")
    (tmp_path / "server" / "verify.py").write_text("print('all is well')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "client", "verify", "missing"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "all is well" not in done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's death signal")
def test_a_killed_parent_leaves_no_orphan(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom client.children import Children\n"
        "with Children(Path(sys.argv[1])) as children:\n"
        f"    child = children.start('server', {SLEEP!r})\n"
        "    child.wait_for(lambda text: 'up' in text, 20)\n"
        "    print(child.process.pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
    deadline = time.monotonic() + LIMIT
    while is_alive(pid):
        assert time.monotonic() < deadline, "the child outlived its parent"
        time.sleep(0.02)
