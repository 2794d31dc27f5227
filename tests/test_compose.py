"""docker-compose.yml is valid, keeps its promises, and each of its commands runs.

No container engine is needed: every service runs as a process with the command and the
variables of the file, on free ports of this machine.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from redis import Redis
from websockets.asyncio.client import ClientConnection, connect

from server.cli import main
from server.store.embedded import find_binary
from tests.faults.processes import free_port
from wire.codec import decode_server, encode
from wire.messages import (
    PROTOCOL,
    SUBPROTOCOL,
    ClientMessage,
    Create,
    Hello,
    Join,
    Room,
    ServerMessage,
    Welcome,
)
from wire.values import Settings

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docker-compose.yml"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LIMIT_S = 20.0  # for a process to start, answer or end on a loaded machine


def interpolated(value: Any) -> Any:
    """Puts in what Compose puts in where no variable is set: the defaults."""
    match value:
        case str():
            return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
        case list():
            return [interpolated(each) for each in value]
        case dict():
            return {key: interpolated(each) for key, each in value.items()}
        case _:
            return value


COMPOSE: dict[str, Any] = interpolated(yaml.safe_load(FILE.read_text(encoding="utf-8")))
SERVICES: dict[str, Any] = COMPOSE["services"]
NODES = [name for name, service in SERVICES.items() if "build" in service]


def seconds(text: str) -> float:
    """A duration as Compose writes it; whole seconds are all that is used here."""
    return float(text.removesuffix("s"))


# --- the file -------------------------------------------------------------------------


def test_the_file_follows_the_compose_specification() -> None:
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "check_jsonschema",
            "--builtin-schema",
            "vendor.compose-spec",
            str(FILE),
        ],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_there_are_a_store_two_nodes_and_a_proxy() -> None:
    assert len(NODES) == 2
    assert set(SERVICES) == {"redis", "proxy", *NODES}


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_starts_again_and_says_whether_it_is_well(name: str) -> None:
    service = SERVICES[name]
    assert service["restart"] == "unless-stopped"
    assert "healthcheck" in service or ("build" in service and "HEALTHCHECK" in DOCKERFILE)


def test_what_must_be_kept_lies_in_volumes() -> None:
    kept = [volume for service in SERVICES.values() for volume in service.get("volumes", [])]
    named = {volume.partition(":")[0] for volume in kept if not volume.startswith((".", "/"))}
    assert named == set(COMPOSE["volumes"])
    assert "redis:/data" in SERVICES["redis"]["volumes"]


@pytest.mark.parametrize("name", NODES)
def test_a_node_may_drain_before_it_is_killed(name: str) -> None:
    drain = float(SERVICES[name]["environment"]["KLONDIKE_DRAIN_SECONDS"])
    assert seconds(SERVICES[name]["stop_grace_period"]) >= drain + 10


@pytest.mark.parametrize("name", NODES)
def test_every_variable_of_a_node_is_one_that_it_reads(name: str) -> None:
    read = {param.envvar or f"KLONDIKE_{(param.name or '').upper()}" for param in main.params}
    assert SERVICES[name]["environment"].keys() <= read


def test_the_proxy_balances_all_nodes_and_alone_is_open_to_the_world() -> None:
    told = SERVICES["proxy"]["environment"]["KLONDIKE_NODES"].split()
    assert told == [f"{name}:{SERVICES[name]['environment']['KLONDIKE_PORT']}" for name in NODES]
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]


def test_every_file_that_is_mounted_or_built_from_is_there() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            if volume.startswith("."):
                assert (ROOT / volume.split(":")[0]).is_file()
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.M)
    for name in " ".join(copied).split():
        assert (ROOT / name).exists()
        assert f"!{name}\n" in (ROOT / ".dockerignore").read_text(encoding="utf-8")


def test_the_image_runs_as_nobody_special() -> None:
    users = re.findall(r"^USER (\S+)$", DOCKERFILE, re.M)
    assert users == ["klondike"]


def test_the_image_installs_what_a_node_needs_and_no_more() -> None:
    (installed,) = re.findall(r"pip install (.*)$", DOCKERFILE, re.M)
    assert installed.split()[-1] == "."
    assert "--constraint constraints.txt" in installed


# --- its commands, as processes -------------------------------------------------------


@contextmanager
def running(
    command: list[str], folder: Path, variables: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Runs a command as a container would: with no variables but those given."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), **(variables or {})}
    with (
        (folder / "stderr.log").open("a") as log,
        subprocess.Popen(
            command, env=variables, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(LIMIT_S)
            finally:
                process.kill()


@contextmanager
def redis_service(folder: Path) -> Iterator[int]:
    """The store: with the program that is here, and the arguments of the file."""
    port = free_port()
    _, *arguments = SERVICES["redis"]["command"]
    place = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    with (
        running([str(find_binary()), *arguments, *place], folder) as process,
        Redis(port=port, retry_on_error=[ConnectionError]) as store,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            if "Ready to accept connections" in line:
                break
        assert store.ping()
        yield port


def node_variables(name: str, redis_port: int) -> dict[str, str]:
    """A node's variables, with the places of this machine in them."""
    told: dict[str, str] = SERVICES[name]["environment"]
    place = {
        "KLONDIKE_REDIS": told["KLONDIKE_REDIS"].replace("redis:6379", f"127.0.0.1:{redis_port}"),
        "KLONDIKE_HOST": "127.0.0.1",
        "KLONDIKE_PORT": "0",
        "KLONDIKE_DRAIN_SECONDS": "0.2",
    }
    return {**told, **place}


@contextmanager
def node_service(name: str, folder: Path, redis_port: int) -> Iterator[int]:
    """A node: gives the port it took."""
    (program,) = SERVICES[name]["command"]
    command = [str(Path(sys.executable).with_name(program))]
    with running(command, folder, node_variables(name, redis_port)) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.fullmatch(r"listening on ws://127\.0\.0\.1:(\d+)\n", said)
        assert found, (folder / "stderr.log").read_text()
        yield int(found[1])
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0


def image_health(port: int) -> int:
    """Runs the image's health check against a node here; gives its exit code."""
    (words,) = re.findall(r'CMD \["python", "-c", "(.*)"\]', DOCKERFILE)
    variables = {"KLONDIKE_PORT": str(port), "PATH": os.environ["PATH"]}
    return subprocess.run(
        [sys.executable, "-c", words], env=variables, stderr=subprocess.DEVNULL
    ).returncode


class Caller:
    """A bare client, to see that a node answers."""

    def __init__(self, line: ClientConnection) -> None:
        """`line` is an open websocket."""
        self._line = line

    async def ask(self, message: ClientMessage, kind: type[ServerMessage], **extra: object) -> Any:
        """Sends a message and waits for one of a kind."""
        await self._line.send(encode(message))
        async with asyncio.timeout(LIMIT_S):
            while True:
                data = await self._line.recv()
                assert isinstance(data, bytes)
                answer = decode_server(data)
                if isinstance(answer, kind):
                    return answer


@asynccontextmanager
async def called(port: int, name: str) -> AsyncIterator[Caller]:
    """A new player's connection to a port."""
    async with connect(
        f"ws://127.0.0.1:{port}/ws",
        proxy=None,
        compression=None,
        subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
    ) as line:
        caller = Caller(line)
        welcome = await caller.ask(Hello(v=PROTOCOL, name=name), Welcome)
        assert welcome.name == name
        yield caller


async def one_room_over(first: int, second: int) -> None:
    """Opens a room through one port and takes a seat in it through another."""
    async with called(first, "Ann") as ann, called(second, "Ben") as ben:
        opened = await ann.ask(Create(settings=Settings()), Room)
        joined = await ben.ask(Join(room=opened.room), Room)
        assert [seat.name for seat in joined.seats] == ["Ann", "Ben"]


def test_the_store_of_the_file_keeps_every_write(tmp_path: Path) -> None:
    with redis_service(tmp_path) as port, Redis(port=port, decode_responses=True) as store:
        assert store.config_get("append*")["appendonly"] == "yes"
        assert store.config_get("appendfsync") == {"appendfsync": "everysec"}
        assert store.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert store.config_get("save") == {"save": ""}


def test_two_nodes_of_the_file_serve_one_room_and_end_cleanly(tmp_path: Path) -> None:
    first, second = NODES
    with (
        redis_service(tmp_path) as store,
        node_service(first, tmp_path, store) as one,
        node_service(second, tmp_path, store) as two,
    ):
        assert image_health(one) == image_health(two) == 0
        assert image_health(free_port()) != 0
        asyncio.run(one_room_over(one, two))
        if shutil.which("caddy"):
            _check_proxy(tmp_path, one, two)


def _check_proxy(folder: Path, one: int, two: int) -> None:
    port = free_port()
    config = folder / "Caddyfile"
    # The administration port is the container's own; here it would be the machine's.
    shared = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    config.write_text("{\n\tadmin off\n\tauto_https off\n}\n" + shared, encoding="utf-8")
    variables = {
        "KLONDIKE_SITE": f"http://127.0.0.1:{port}",
        "KLONDIKE_NODES": f"127.0.0.1:{one} 127.0.0.1:{two}",
    }
    told = SERVICES["proxy"]["command"]
    command = [str(config) if word.startswith("/etc/") else word for word in told]
    with running(command, folder, variables):
        asyncio.run(_through_proxy(port))
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=LIMIT_S)


async def _through_proxy(port: int) -> None:
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                await one_room_over(port, port)
                return
            except OSError:
                await asyncio.sleep(0.05)
