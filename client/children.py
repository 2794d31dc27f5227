"""Child processes that end with their parent, whatever way it goes.

Each child has a session of its own, so that a Ctrl-C in the terminal reaches the parent
alone, which then ends them in order. On Linux the kernel ends them too when the parent is
killed and can do nothing any more.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

# Else `-m server` is whatever folder of that name the user happens to stand beside.
SAFE_PATH: Final = ("-P",)
END_LIMIT: Final = 10.0  # seconds a child gets to end in good order
_PR_SET_PDEATHSIG: Final = 1
_ENDING: Final = (
    signal.SIGINT,
    signal.SIGTERM,
    *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []),
)


class ChildFailed(Exception):
    """A child ended too early or did not get ready; the text says what it said."""


class Child:
    """One running child; what it prints goes to files in the folder."""

    def __init__(self, name: str, arguments: Sequence[str], folder: Path) -> None:
        self.name = name
        self._out = folder / f"{name}.out"
        self._log = folder / f"{name}.log"
        with self._out.open("wb") as out, self._log.open("wb") as log:
            self.process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                start_new_session=True,
                env=_environment(),
                preexec_fn=_death_signal(),
            )

    @property
    def printed(self) -> str:
        """The whole lines it has printed so far."""
        # A line under way may be cut anywhere: a port of it would be a wrong one.
        text = self._out.read_bytes()
        return text[: text.rfind(b"\n") + 1].decode(errors="replace")

    @property
    def last_words(self) -> str:
        """Give the last line of its log."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    @property
    def has_failed(self) -> bool:
        """Whether it ended with an error."""
        return self.process.poll() not in (None, 0)

    def wait_for(self, is_ready: Callable[[str], bool], limit: float) -> str:
        """Wait until the whole lines it printed are enough, and give them.

        Raises:
            ChildFailed: it ended, or the time is over.
        """
        deadline = time.monotonic() + limit
        while not is_ready(self.printed):
            if self.process.poll() is not None:
                raise ChildFailed(f"the {self.name} ended at once: {self.last_words}")
            if time.monotonic() > deadline:
                raise ChildFailed(f"the {self.name} was not ready in {limit:.0f} s")
            time.sleep(0.02)
        return self.printed

    def signal(self, number: int) -> None:
        """Signal the child, and what it started, if it still runs."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


class Children:
    """The children of this process; leaving the block ends them all, the first one last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.all: list[Child] = []

    def start(self, name: str, arguments: Sequence[str]) -> Child:
        """Start `python` with arguments as a child."""
        # A signal whose handler raises would else leave a child behind that is not in the list.
        with _signals_later():
            child = Child(name, [sys.executable, *SAFE_PATH, *arguments], self.folder)
            self.all.append(child)
        return child

    def __enter__(self) -> "Children":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The server was started first and has others to say goodbye to: it goes last.
        for group in (self.all[1:], self.all[:1]):
            for child in group:
                child.signal(signal.SIGTERM)
            _await_end(group)

    def failed(self) -> Child | None:
        """Give a child that ended with an error."""
        return next((child for child in self.all if child.has_failed), None)


def _await_end(children: Sequence[Child]) -> None:
    deadline = time.monotonic() + END_LIMIT
    for child in children:
        try:
            child.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.signal(signal.SIGKILL)
            child.process.wait()


def _environment() -> dict[str, str]:
    # Options of this program in the environment are not meant for its children, which get
    # theirs in full on the command line.
    return {name: text for name, text in os.environ.items() if not name.startswith("KLONDIKE_")}


@contextmanager
def _signals_later() -> Iterator[None]:
    """Heed what asks this process to end after the block, not in it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread alone
        return
    come: list[int] = []
    kept: dict[signal.Signals, Any] = {}
    try:
        for number in _ENDING:
            kept[number] = signal.signal(number, lambda number, _: come.append(number))
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
        for late in come:
            signal.raise_signal(late)


def _death_signal() -> Callable[[], None] | None:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    return ask
