"""The real program on a pseudo-terminal, its screen read by a terminal emulator."""

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pyte

from client.children import Children

LIMIT = 30.0  # seconds that anything may take; the machine is shared

KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "tab": "\t",
}


class Terminal:
    """A program at a terminal of its own."""

    def __init__(
        self,
        arguments: list[str],
        environment: dict[str, str],
        *,
        rows: int = 24,
        cols: int = 80,
        term: str = "linux",
    ) -> None:
        self._screen = pyte.Screen(cols, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self.process: pexpect.spawn[bytes] = pexpect.spawn(
            sys.executable,
            ["-m", "client", *arguments],
            env={**inherited, "TERM": term, "LANG": "C.UTF-8", **environment},
            dimensions=(rows, cols),
            cwd=str(Path(__file__).parents[2]),
            timeout=None,
        )

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def colours(self) -> set[str]:
        """The colours of what is written."""
        cells = (cell for row in self._screen.buffer.values() for cell in row.values())
        return {cell.fg for cell in cells if cell.data.strip()}

    def read(self, seconds: float) -> bool:
        """Take in what comes within a time; whether anything did."""
        ready, _, _ = select.select([self.process.child_fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.process.child_fd, 65_536)
        except OSError:  # the program has ended
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)

    def until(self, wanted: str | Callable[[str], bool]) -> str:
        """Read until the screen is as wanted, and give it."""
        deadline = time.monotonic() + LIMIT
        while not (wanted in self.text if isinstance(wanted, str) else wanted(self.text)):
            assert time.monotonic() < deadline, f"never saw {wanted!r} on:\n{self.text}"
            if not self.read(0.1) and not self.process.isalive():
                assert wanted in self.text if isinstance(wanted, str) else wanted(self.text), (
                    f"ended without {wanted!r}:\n{self.text}"
                )
        return self.text

    def settle(self) -> None:
        """Read until nothing comes for a while."""
        while self.read(0.2):
            pass

    def press(self, *keys: str) -> None:
        for key in keys:
            self.process.send(KEYS.get(key, key).encode())

    def resize(self, rows: int, cols: int) -> None:
        self._screen.resize(rows, cols)
        self.process.setwinsize(rows, cols)

    def exit_code(self) -> int:
        """Wait for the end."""
        deadline = time.monotonic() + LIMIT
        while self.process.isalive():
            assert time.monotonic() < deadline, f"does not end:\n{self.text}"
            self.read(0.1)
        while self.read(0):
            pass
        assert self.process.exitstatus is not None, f"died of signal {self.process.signalstatus}"
        return self.process.exitstatus

    def close(self) -> None:
        self.process.close(force=True)


@contextlib.contextmanager
def real_server(folder: Path) -> Iterator[str]:
    """Run a real server on the embedded store, and give its URL."""
    data = ("--data", str(folder / "data"), "--drain-seconds", "0")
    with Children(folder) as children:
        server = children.start("server", ["-m", "server", "--port", "0", *data])
        printed = server.wait_for(bool, LIMIT)
        yield printed.strip().removeprefix("listening on ")
