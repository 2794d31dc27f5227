"""The command `klondike-server`."""

import asyncio
import errno
import logging
import math
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click
from click.core import ParameterSource

from server import logs, signals, streams
from server.app import Node
from server.config import BadSetting, Config
from server.reasons import reason_of
from server.store import StoreError, Unfit, Unreachable
from server.version import VERSION
from server.workers import supervise

log = logging.getLogger("dk.node")


class _Number(click.FloatRange):
    """A range in which there is no place for what is not a number."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is no number", param, ctx)
        return number


class _Folder(click.Path):
    """A folder that is named: an empty name, as of a variable not set, is not the present one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty", param, ctx)
        return super().convert(value, param, ctx)


class _Command(click.Command):
    """A command whose wrong use is told in one line, as a log wants it."""

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        try:
            return super().make_context(*args, **more)
        except click.UsageError as error:
            _refuse(error.format_message())


@click.command(
    cls=_Command,
    context_settings={
        "auto_envvar_prefix": "KLONDIKE",
        "help_option_names": ["-h", "--help"],
        "show_default": True,
    },
    help="Serve races of Double Klondike. Every option is also an environment variable: "
    "--max-connections is KLONDIKE_MAX_CONNECTIONS.",
)
@click.option("--host", default=Config.host, help="Address to listen on; 0.0.0.0 for all.")
@click.option(
    "--port", default=Config.port, type=click.IntRange(0, 65535), help="0 takes any free one."
)
@click.option("--redis", metavar="URL", help="Redis 7 or Valkey 7.2; default: a private one.")
@click.option(
    "--data",
    type=_Folder(file_okay=False, path_type=Path),
    help="Folder of the private store; without it and without --redis nothing is kept.",
)
@click.option(
    "--fsync",
    default=Config.fsync,
    type=click.Choice(("everysec", "always")),
    help="When the private store writes to disk: always is slower and loses nothing.",
)
@click.option(
    "--workers", default=Config.workers, type=click.IntRange(1, 64), help="Processes on the port."
)
@click.option("--reuse-port", is_flag=True, help="Share the port with other processes.")
@click.option("--tls-cert", type=click.Path(path_type=Path), help="Certificate chain, a PEM file.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="Its private key, a PEM file.")
@click.option(
    "--origin",
    "origins",
    multiple=True,
    envvar="KLONDIKE_ORIGIN",
    help="Web page origin that may connect; repeatable.",
)
@click.option(
    "--trusted-proxy",
    "trusted_proxies",
    multiple=True,
    envvar="KLONDIKE_TRUSTED_PROXY",
    help="Address or network whose X-Forwarded-For is believed; repeatable.",
)
@click.option("--log-format", default=Config.log_format, type=click.Choice(("text", "json")))
@click.option("--log-level", default=Config.log_level, type=click.Choice(logs.LEVELS))
@click.option("--max-connections", default=Config.max_connections, type=click.IntRange(1))
@click.option(
    "--max-connections-per-address",
    default=Config.max_connections_per_address,
    type=click.IntRange(1),
)
@click.option(
    "--messages-per-second",
    default=Config.messages_per_second,
    type=_Number(1, 1_000_000),
    help="Of one connection; four times as many at once.",
)
@click.option(
    "--rooms-per-address", default=Config.rooms_per_address, type=click.IntRange(1), help="An hour."
)
@click.option(
    "--private-webhooks",
    is_flag=True,
    help="Let tournaments' webhooks go to private addresses, this machine's included.",
)
@click.option(
    "--drain-seconds",
    default=Config.drain_seconds,
    type=_Number(0, 3600),
    help="Window over which a stopping server sends its clients elsewhere.",
)
@click.version_option(VERSION, prog_name="klondike-server")
def main(**options: Any) -> None:
    """Start a node, or several on one port."""
    streams.hold()
    logs.set_up(options["log_format"], options["log_level"])
    _or_die(lambda: _start(_config(options)))


def _config(options: dict[str, Any]) -> Config:
    if options["redis"] is None or options["data"] is None:
        return Config(**options)
    source = click.get_current_context().get_parameter_source("data")
    if source is ParameterSource.COMMANDLINE:
        raise BadSetting(
            "--data is for the private store, which --redis replaces: give one of them."
        )
    # An image may have a folder in its environment for whoever names no store.
    log.info("the store is that of --redis: KLONDIKE_DATA is not used")
    return Config(**{**options, "data": None})


def _start(config: Config) -> int:
    try:
        return supervise(config) if config.workers > 1 else _serve(config)
    except (Unreachable, Unfit) as error:
        raise BadSetting(f"--redis: {error}" if config.redis else str(error)) from None
    except UnicodeError:  # of a name, before anybody is asked for it
        raise BadSetting(f"--host {config.host} is no name of a machine") from None
    except OSError as error:
        raise BadSetting(_blame(config, error)) from None


def _blame(config: Config, error: OSError) -> str:
    """Name the option that makes the system refuse."""
    where = f"--host {config.host} --port {config.port}"
    if isinstance(error, socket.gaierror):
        return f"--host {config.host} is not known here: {error.strerror}"
    if error.filename is not None and config.data is not None:
        return f"--data {config.data} cannot be used: {error.strerror}: {error.filename}"
    match error.errno:
        case errno.EADDRINUSE:
            return f"--port {config.port} is taken on {config.host}: stop what listens there, or name another"
        case errno.EADDRNOTAVAIL:
            return f"--host {config.host} is no address of this machine"
        case errno.EACCES | errno.EPERM:
            return f"--port {config.port} is not allowed to this user: name one from 1024 up"
        case _:
            return f"{where}: {reason_of(error)}"


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        from uvloop import new_event_loop
    except ImportError:  # not on every platform; the standard loop does the same, slower
        return asyncio.new_event_loop()
    return new_event_loop()


def _serve(config: Config) -> int:
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        return runner.run(_run(config))


async def _run(config: Config) -> int:
    node = Node(config)
    try:
        await node.start()
    except BaseException:
        await node.abandon()
        raise
    signals.heed(node.stop)
    try:
        streams.announce(config.url(node.port))
        await node.run()
    finally:
        await node.close()
    return 0


def _or_die(serve: Callable[[], int]) -> None:
    try:
        sys.exit(serve())
    except (BadSetting, StoreError, ValueError) as error:
        _refuse(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


def _refuse(why: str) -> NoReturn:
    click.echo(f"klondike-server: {why}", err=True)
    sys.exit(2)
