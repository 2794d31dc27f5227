"""Real processes on loopback, each known and ended by its own id."""

import asyncio
import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from server.store.embedded import find_binary

LIMIT_S: Final = 30.0  # for anything a process has to do; the machine is shared
LOOK_S: Final = 0.02
HOST: Final = "127.0.0.1"
_PORTS: Final = range(12_000, 32_000)
_SHARES: Final = 16
_given: set[int] = set()
_PR_SET_PDEATHSIG: Final = 1
_LISTENING: Final = f"listening on ws://{HOST}:"


class ProcessFailed(Exception):
    """A process ended, or did not do in time what was waited for."""


def free_port() -> int:
    """A port that nobody listens on, and that nobody else is given before it is listened on.

    The kernel gives ports above `_PORTS` to whoever connects; of those below each of the test
    processes that run side by side has a share, which it gives out once.
    """
    share = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _SHARES
    ports = list(_PORTS[share::_SHARES])
    random.shuffle(ports)
    for port in ports:
        with socket.socket() as probe, suppress(OSError):
            if port not in _given:
                probe.bind((HOST, port))
                _given.add(port)
                return port
    raise ProcessFailed("no port is free")


async def until(is_so: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
    """Waits for what another process has to do.

    Raises:
        ProcessFailed: names what did not happen in time.
    """
    deadline = time.monotonic() + limit_s
    while not is_so():
        if time.monotonic() > deadline:
            raise ProcessFailed(f"{what}: not within {limit_s:g} s")
        await asyncio.sleep(LOOK_S)


def _die_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """One process; what it says goes to a file."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.log = folder / f"{name}.log"
        self.frozen = False
        self._running: subprocess.Popen[bytes] | None = None

    def launch(self, command: Sequence[str]) -> None:
        """Starts it; its log goes on where an earlier run ended."""
        assert not self.is_alive, f"{self.name} runs already"
        self.frozen = False
        with self.log.open("ab") as log:
            self._from = log.tell()
            self._running = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent(),
            )

    @property
    def pid(self) -> int:
        assert self._running is not None
        return self._running.pid

    @property
    def is_alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._running is not None and self._running.poll() is None

    @property
    def code(self) -> int | None:
        """Its exit code, once it has ended."""
        return None if self._running is None else self._running.poll()

    @property
    def said(self) -> str:
        """The whole lines it has said since its last start."""
        with self.log.open("rb") as log:
            log.seek(self._from)
            said = log.read()
        # A line under way may be cut anywhere, in the middle of a port too.
        return said[: said.rfind(b"\n") + 1].decode(errors="replace")

    def send(self, number: signal.Signals) -> None:
        """Signals it, if it still runs."""
        if self.is_alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def freeze(self) -> None:
        """Stops it where it is, sockets open."""
        self.frozen = True
        self.send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets it go on."""
        self.frozen = False
        self.send(signal.SIGCONT)

    async def kill(self) -> None:
        """Ends it without a word."""
        self.send(signal.SIGKILL)
        await self.ended()

    async def ended(self, limit_s: float = LIMIT_S) -> int:
        """Waits for its end and gives the exit code."""
        await until(lambda: not self.is_alive, f"the end of {self.name}", limit_s)
        assert self.code is not None
        return self.code

    async def says(self, text: str, limit_s: float = LIMIT_S) -> str:
        """Waits until it has said something, and gives all it said."""
        await until(
            lambda: text in self.said or not self.is_alive, f"{self.name} says {text!r}", limit_s
        )
        if text not in self.said:
            raise ProcessFailed(f"{self.name} ended with {self.code}: {self.said[-2000:]}")
        return self.said

    def end(self) -> None:
        """Ends it, kindly at first; nothing is left when this returns."""
        if self._running is None:
            return
        self.thaw()
        self.send(signal.SIGTERM)
        try:
            self._running.wait(5.0)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self._running.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


class NodeProcess(Process):
    """A node: `python -m server`."""

    def __init__(self, name: str, folder: Path, url: str, *options: str) -> None:
        super().__init__(name, folder)
        self.port = 0
        self.options = ["--redis", url, "--port", "0", "--log-format", "json", *options]

    def begin(self, module: str = "server") -> None:
        """Starts it without waiting for it."""
        self.launch([sys.executable, "-m", module, *self.options])

    async def ready(self) -> Self:
        """Waits until it listens."""
        said = await self.says(_LISTENING)
        self.port = int(said.partition(_LISTENING)[2].partition("\n")[0])
        return self

    async def start(self) -> Self:
        self.begin()
        return await self.ready()


class ValkeyProcess(Process):
    """A store on a port of its own, with its data in a folder."""

    def __init__(
        self, name: str, folder: Path, *, fsync: str = "always", **options: str | int
    ) -> None:
        super().__init__(name, folder)
        self.port = free_port()
        self.data = folder / f"{name}-data"
        self.data.mkdir(exist_ok=True)
        self.options: dict[str, str | int] = {
            "port": self.port,
            "bind": HOST,
            "dir": str(self.data),
            "appendonly": "yes",
            "appendfsync": fsync,
            "save": "",
            **options,
        }

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}"

    def client(self, *, limit_s: float = 2.0) -> redis.Redis:
        """A client of its own for looking into the store."""
        return redis.Redis(
            host=HOST,
            port=self.port,
            socket_timeout=limit_s,
            socket_connect_timeout=limit_s,
            retry=Retry(NoBackoff(), 0),
        )

    def begin(self) -> None:
        """Starts it without waiting for it."""
        options = (
            word for name, value in self.options.items() for word in (f"--{name}", str(value))
        )
        self.launch([str(find_binary()), *options])

    async def ready(self) -> Self:
        """Waits until it answers."""
        await until(lambda: self.answers or not self.is_alive, f"{self.name} answers")
        if not self.is_alive:
            raise ProcessFailed(f"{self.name} ended with {self.code}: {self.said[-2000:]}")
        return self

    async def start(self) -> Self:
        self.begin()
        return await self.ready()

    @property
    def answers(self) -> bool:
        """Whether it answers a ping, with all its data loaded."""
        try:
            with self.client(limit_s=0.2) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False
