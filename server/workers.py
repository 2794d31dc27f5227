"""Several nodes on one port: starts them, starts a dead one again, ends them together."""

import asyncio
import contextlib
import logging
import os
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from server import private, signals, streams
from server.config import BadSetting, Config
from server.store.embedded import child_setup

log = logging.getLogger("dk.workers")

RESTART_AFTER_S = 1.0


def supervise(config: Config) -> int:
    """Run `config.workers` nodes until a signal; gives the exit code."""
    if not hasattr(socket, "SO_REUSEPORT"):
        raise BadSetting("--workers needs SO_REUSEPORT, which this system lacks; use 1.")
    return asyncio.run(_supervise(config))


@dataclass
class _Stopping:
    """Whether to stop, and how often it was asked."""

    asked: asyncio.Event
    times: int = 0

    def ask(self) -> None:
        self.times += 1
        self.asked.set()


async def _supervise(config: Config) -> int:
    async with contextlib.AsyncExitStack() as stack:
        url = await private.store_url(config, stack)
        # Bound, not listening: it holds the port for the workers, whatever happens to them.
        held = stack.enter_context(_bound(config.host, config.port))
        port: int = held.getsockname()[1]
        command = _command(config, port)
        stopping = _Stopping(asyncio.Event())
        signals.heed(stopping.ask)
        said = asyncio.Event()
        workers = [
            asyncio.create_task(_keep(command, url, number, stopping, said))
            for number in range(config.workers)
        ]
        first = asyncio.create_task(said.wait())
        await asyncio.wait((first, *workers), return_when=asyncio.FIRST_COMPLETED)
        try:
            if said.is_set():
                streams.announce(config.url(port))
        except BadSetting:
            stopping.ask()
            raise
        finally:
            first.cancel()
            codes = await asyncio.gather(*workers)
        return max(codes)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    address = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)[0][-1]
    held = socket.socket(family, socket.SOCK_STREAM)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(address)
    return held


def _command(config: Config, port: int) -> list[str]:
    options = {
        "host": config.host,
        "port": port,
        "tls-cert": config.tls_cert,
        "tls-key": config.tls_key,
        "log-format": config.log_format,
        "log-level": config.log_level,
        "max-connections": config.max_connections,
        "max-connections-per-address": config.max_connections_per_address,
        "messages-per-second": config.messages_per_second,
        "rooms-per-address": config.rooms_per_address,
        "drain-seconds": config.drain_seconds,
    }
    # -P: a file of that name in the folder where this was started is not taken for it.
    words = [sys.executable, "-P", "-m", "server", "--workers", "1", "--reuse-port"]
    words += [f"--{name}={value}" for name, value in options.items() if value is not None]
    words += ["--private-webhooks"] if config.private_webhooks else []
    words += [f"--origin={origin}" for origin in config.origins]
    return words + [f"--trusted-proxy={proxy}" for proxy in config.trusted_proxies]


async def _keep(
    command: Sequence[str], store_url: str, number: int, stopping: _Stopping, said: asyncio.Event
) -> int:
    """Run one worker, again and again until asked to stop; gives its last exit code."""
    has_started = False
    # The URL may hold a password, and everybody on the machine can read command lines.
    environment = {**os.environ, "KLONDIKE_REDIS": store_url}
    environment.pop("KLONDIKE_DATA", None)
    while True:
        worker = await asyncio.create_subprocess_exec(
            *command,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
            preexec_fn=child_setup(),
        )
        assert worker.stdout is not None
        if await worker.stdout.readline():
            has_started = True
            said.set()
        code = await _until_end(worker, stopping)
        # One that never came up would not the next time either; one that did and cannot
        # now may only lack the store for a while.
        if stopping.asked.is_set():
            return code
        if not has_started:
            stopping.asked.set()
            if code >= 0:
                return code
            log.error("worker killed before it served", extra={"worker": number, "signal": -code})
            return 128 - code  # as a shell says it: that is a failure, too
        log.error("worker ended by itself; starting it again", extra={"worker": number})
        await asyncio.sleep(RESTART_AFTER_S)


async def _until_end(worker: asyncio.subprocess.Process, stopping: _Stopping) -> int:
    ended = asyncio.create_task(worker.wait())
    asked = asyncio.create_task(stopping.asked.wait())
    await asyncio.wait((ended, asked), return_when=asyncio.FIRST_COMPLETED)
    told = 0
    while not ended.done():
        if stopping.times > told or told == 0:
            told = max(1, stopping.times)
            with contextlib.suppress(ProcessLookupError):
                worker.terminate()
        await asyncio.wait((ended,), timeout=0.2)
    asked.cancel()
    return ended.result()
