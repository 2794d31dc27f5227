"""`klondike-server` as a process."""

import asyncio
import json
import os
import re
import signal
import socket
import sys
import urllib.error
import urllib.request
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.processes import children, command_line, is_alive
from tests.server.floor import Someone, race_of
from wire import messages as m

PATIENCE_S = 30.0

LOGGED = re.compile(r"\d{4}-\d{2}-\d{2} ")  # a line of the log


async def launch(*options: str, cwd: Path | None = None, **environment: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "server",
        *options,
        cwd=cwd,
        stdout=PIPE,
        stderr=PIPE,
        env={**os.environ, **environment},
    )


@asynccontextmanager
async def server(
    *options: str, cwd: Path | None = None, **environment: str
) -> AsyncIterator[tuple[Process, int]]:
    """A running server and its port; nothing is left of either."""
    with TemporaryDirectory(prefix="dk-test-") as scratch:
        environment = {"TMPDIR": scratch, **environment}
        process = await launch("--port=0", "--drain-seconds=0", *options, cwd=cwd, **environment)
        assert process.stdout is not None
        try:
            async with asyncio.timeout(PATIENCE_S):
                line = (await process.stdout.readline()).decode()
            assert line.startswith("listening on "), await _last_words(process)
            yield process, int(line.rpartition(":")[2])
        finally:
            await _stop(process)
        assert not os.listdir(scratch)


async def _stop(process: Process) -> None:
    """End a server in its own way, and if it does not go, in ours."""
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(PATIENCE_S):
            await process.communicate()
    except TimeoutError:
        process.kill()
        await process.communicate()


async def _last_words(process: Process) -> str:
    _, err = await process.communicate()
    return err.decode()


async def end(process: Process, number: int = signal.SIGTERM) -> str:
    """Send a signal and give all that the server logged."""
    process.send_signal(number)
    async with asyncio.timeout(PATIENCE_S):
        _, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return err.decode()


def workers_of(process: Process) -> list[int]:
    return [pid for pid in children(process.pid) if "--reuse-port" in command_line(pid)]


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


async def refuses(*options: str, **environment: str) -> str:
    """Start a server that must not start; its one line."""
    process = await launch(*options, cwd=None, **environment)
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate()
    assert process.returncode == 2
    assert out == b""
    assert b"Traceback" not in err
    return err.decode().strip().splitlines()[-1]


# Many bad command lines in one process: most of the time of each goes into the start of Python.
ONE_BY_ONE = """
import contextlib, io, json, sys
from server.cli import main
for command in json.loads(sys.argv[1]):
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            main(command)
        except SystemExit as end:
            print(json.dumps([end.code, said.getvalue()]), flush=True)
"""


async def refusals(*commands: str, **environment: str) -> list[str]:
    """Try command lines that must be refused; the last line of each."""
    words = json.dumps([command.split() for command in commands])
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ONE_BY_ONE, words, stdout=PIPE, env={**os.environ, **environment}
    )
    async with asyncio.timeout(PATIENCE_S):
        out, _ = await process.communicate()
    results = [json.loads(line) for line in out.splitlines()]
    assert [code for code, _ in results] == [2] * len(commands)
    assert not any("Traceback" in said for _, said in results)
    told = [[line for line in said.splitlines() if not LOGGED.match(line)] for _, said in results]
    assert all(len(lines) == 1 for lines in told), told
    assert not any("Errno" in said for _, said in results)
    return [line for lines in told for line in lines]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_the_server_and_its_store_cleanly(number: int, tmp_path: Path) -> None:
    async with server(f"--data={tmp_path}") as (process, port):
        assert (started := children(process.pid))
        anna = await Someone.arrive(port)
        await end(process, number)
        assert await anna.closed() == m.Close.RESTART
        assert not any(is_alive(child) for child in started)


async def test_races_on_a_data_folder_are_there_after_a_restart(tmp_path: Path) -> None:
    async with server(f"--data={tmp_path}") as (process, port):
        code, (anna, _) = await race_of(port, "anna", "ben")
        await anna.play(1, "d")
        await end(process)
    async with server(f"--data={tmp_path}") as (process, port):
        back = await Someone.arrive(port, token=anna.token)
        assert back.welcome.room == code
        assert (await back.hear(m.Board)).n == 1


async def test_two_servers_do_not_share_a_data_folder(tmp_path: Path) -> None:
    async with server(f"--data={tmp_path}"):
        line = await refuses("--port=0", f"--data={tmp_path}")
    assert "in use" in line
    assert "--data" in line


async def test_every_option_is_an_environment_variable_too() -> None:
    async with server(KLONDIKE_LOG_FORMAT="json", KLONDIKE_MAX_CONNECTIONS="1") as (process, port):
        anna = await Someone.arrive(port)
        with pytest.raises(Exception, match="503"):
            await Someone.arrive(port, "ben")
        await anna.go()
        for line in (await end(process)).splitlines():
            assert {"time", "level", "message"} <= json.loads(line).keys()


async def test_the_log_has_one_line_a_connection_and_race_and_no_secret(tmp_path: Path) -> None:
    async with server("--log-format=json", "--log-level=debug") as (process, port):
        code, players = await race_of(port, "anna", "ben")
        for player in players:
            await player.say(m.Resign())
        for player in players:
            await player.hear(m.Standings)
            await player.go()
        text = await end(process)
    entries = [json.loads(line) for line in text.splitlines()]
    assert sum("ended after" in entry["message"] for entry in entries) == 2
    (over,) = (entry for entry in entries if entry["message"] == "race over")
    assert over["room"] == code
    assert over["why"] == "resigned"
    reveal = players[0].last(m.Standings).reveal
    assert reveal is not None
    for player in players:
        assert player.token not in text


async def test_health_readiness_and_metrics() -> None:
    async with server("--messages-per-second=1000") as (process, port):
        assert await asyncio.to_thread(get, port, "/healthz") == (200, "alive\n")
        assert await asyncio.to_thread(get, port, "/readyz") == (200, "ready\n")
        _, (anna, _) = await race_of(port, "anna", "ben")
        await anna.play(1, "d")
        status, metrics = await asyncio.to_thread(get, port, "/metrics")
        assert status == 200
        assert "dk_moves_total 1.0" in metrics
        assert "dk_connections 2.0" in metrics
        assert "dk_nodes 1.0" in metrics
        assert "dk_store_up 1.0" in metrics
        assert (await asyncio.to_thread(get, port, "/nothing"))[0] == 404


async def test_readiness_is_red_while_the_store_is_away(tmp_path: Path) -> None:
    async with server(f"--data={tmp_path}") as (process, port):
        (store,) = children(process.pid)
        anna = await Someone.arrive(port)
        os.kill(store, signal.SIGSTOP)
        try:
            assert (await anna.hear(m.Store)).waiting
            status, text = await asyncio.to_thread(get, port, "/readyz")
            assert status == 503
            assert "store" in text
            assert (await asyncio.to_thread(get, port, "/healthz"))[0] == 200
        finally:
            os.kill(store, signal.SIGCONT)
        assert not (await anna.hear(m.Store)).waiting


async def test_workers_share_the_port_and_the_races(tmp_path: Path) -> None:
    async with server("--workers=2", f"--data={tmp_path}") as (process, port):
        _, (anna, ben, cleo, dora) = await race_of(port, "anna", "ben", "cleo", "dora")
        await anna.play(1, "d")
        for player in (ben, cleo, dora):
            await player.hear(m.Scores, lambda scores: scores.lines[0].moves == 1)
        await end(process)
        assert await anna.closed() == m.Close.RESTART


async def test_the_address_of_the_store_is_on_no_command_line(embedded_url: str) -> None:
    # It may hold a password, and command lines are there for everybody on the machine.
    async with server("--workers=2", KLONDIKE_REDIS=embedded_url) as (process, port):
        await Someone.arrive(port)
        lines = [command_line(pid) for pid in children(process.pid)]
        assert len(lines) == 2
        assert not any(embedded_url in " ".join(line) for line in lines)
        await end(process)


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_server_runs_whose_standard_streams_are_closed(workers: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = f'exec "{sys.executable}" -P -m server --port={port} --drain-seconds=0'
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", f"{command} --workers={workers} <&- >&- 2>&-"
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            while process.returncode is None:
                try:
                    anna = await Someone.arrive(port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    await anna.go()
                    break
        process.terminate()
        assert await process.wait() == 0
    finally:
        await _stop(process)


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_server_whose_line_nobody_takes_says_so_and_leaves_nothing(workers: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "server", "--port=0", "--drain-seconds=0"),
        f"--workers={workers}",
        stdout=writing,
        stderr=PIPE,
    )
    os.close(writing)
    async with asyncio.timeout(PATIENCE_S):
        _, err = await process.communicate()
    assert process.returncode == 2
    text = err.decode()
    assert "klondike-server: standard output takes no line: Broken pipe" in text.splitlines()[-1]
    assert text.count("node started") == text.count("node stopped") == workers


async def test_bad_configuration_refuses_to_start_with_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    taken = socket.create_server(("127.0.0.1", 0))
    with taken:
        port = taken.getsockname()[1]
        # What the line begins with (after the name of the program), and the options.
        bad = {
            f"--port={port}": f"--port {port} is taken on 127.0.0.1",
            "--port=0 --host=no.such.host.invalid": "--host no.such.host.invalid is not known",
            "--port=0 --host=192.0.2.1": "--host 192.0.2.1 is no address of this machine",
            f"--port=0 --data={tmp_path}/file/data": f"--data {tmp_path}/file/data cannot be used",
            f"--redis=redis://x --data={tmp_path}": "--data is for the private store",
            "--port=0 --redis=ftp://x": "--redis: a store's URL begins with redis://",
            "--port=0 --tls-cert=/nowhere.pem": "TLS needs both --tls-cert and --tls-key",
            "--port=0 --tls-cert=/nowhere.pem --tls-key=/nowhere.pem": "--tls-cert /nowhere.pem",
            "--port=0 --origin=example.org/path": "--origin",
            "--port=0 --trusted-proxy=nonsense": "--trusted-proxy",
            "--workers=0": "Invalid value for '--workers'",
            "--prot=0": "No such option",
            "--log-level=loud": "Invalid value for '--log-level'",
            "--port=0 --redis=unix:///nowhere": "--redis: /nowhere does not answer: No such file",
            "--port=0 --redis=rediss://127.0.0.1:1?ssl_ca_certs=/nowhere": (
                "--redis: ssl_ca_certs=/nowhere cannot be used: No such file"
            ),
            "--port=0 --host=": "--host is empty",
            "--port=0 --host=a..b": "--host a..b is no name of a machine",
            "--port=0 --workers=2 --host=a..b": "--host a..b is no name of a machine",
            "--port=0 --data=": "Invalid value for '--data': it is empty",
            "--messages-per-second=nan": "Invalid value for '--messages-per-second'",
            "--messages-per-second=inf": "Invalid value for '--messages-per-second'",
            "--drain-seconds=nan": "Invalid value for '--drain-seconds'",
        }
        lines = await refusals(*bad)
    for line, wanted in zip(lines, bad.values(), strict=True):
        assert line.removeprefix("klondike-server: ").startswith(wanted), line


async def test_workers_are_ours_whatever_lies_in_the_folder_they_are_started_in(
    tmp_path: Path,
) -> None:
    (tmp_path / "server.py").write_text("raise SystemExit('not this one')")
    async with server("--workers=2", cwd=tmp_path) as (process, port):
        await Someone.arrive(port)
        await end(process)


async def test_a_worker_that_is_killed_before_it_serves_fails_the_server(tmp_path: Path) -> None:
    process = await launch("--port=0", "--workers=2", f"--data={tmp_path}")
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not (starting := workers_of(process)):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.01)
            os.kill(starting[0], signal.SIGKILL)
            _, err = await process.communicate()
        assert process.returncode == 128 + signal.SIGKILL
        assert b"worker killed before it served" in err
    finally:
        await _stop(process)


async def test_workers_name_the_option_too(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port {port} is taken" in await refuses("--workers=2", f"--port={port}")


async def test_a_folder_in_the_environment_gives_way_to_a_named_store(
    tmp_path: Path, embedded_url: str
) -> None:
    data = tmp_path / "data"
    async with server(f"--redis={embedded_url}", KLONDIKE_DATA=str(data)) as (process, _):
        assert "KLONDIKE_DATA" in await end(process)
    assert not data.exists()


async def test_a_store_that_is_not_there_is_named() -> None:
    line = await refuses("--port=0", "--redis=redis://127.0.0.1:1/0")
    assert line.endswith("--redis: 127.0.0.1:1 does not answer: nobody listens there")


async def test_help_is_given_by_its_short_name_too() -> None:
    process = await launch("-h")
    out, _ = await process.communicate()
    assert process.returncode == 0
    assert b"--max-connections" in out


async def test_a_web_page_connects_only_from_an_origin_on_the_list() -> None:
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus
    from websockets.typing import Origin

    page = Origin("https://example.org")
    async with server("--origin=https://example.org") as (process, port):
        socket = await connect(f"ws://127.0.0.1:{port}/ws", origin=page, proxy=None)
        await socket.close()
    async with server() as (process, port):
        with pytest.raises(InvalidStatus, match="403"):
            await connect(f"ws://127.0.0.1:{port}/ws", origin=page, proxy=None)
