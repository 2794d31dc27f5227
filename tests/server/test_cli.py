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
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from server.cli import main
from tests.faults.processes import free_port
from tests.processes import children, command_line, is_alive
from tests.server.floor import Someone, race_of
from wire import messages as m

PATIENCE_S = 30.0
PAGE = Origin("https://example.org")

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


async def test_a_signal_ends_a_server_cleanly_and_its_races_are_there_after_a_restart(
    tmp_path: Path,
) -> None:
    async with server(f"--data={tmp_path}") as (process, port):
        code, (anna, _) = await race_of(port, "anna", "ben")
        await anna.play(1, "d")
        assert (below := children(process.pid))
        await end(process, signal.SIGTERM)
        assert await anna.closed() == m.Close.RESTART
        assert not any(is_alive(child) for child in below)
    for number in (signal.SIGINT, signal.SIGHUP):
        async with server(f"--data={tmp_path}") as (process, port):
            back = await Someone.arrive(port, token=anna.token)
            assert back.welcome.room == code
            assert (await back.hear(m.Board)).n == 1
            assert (below := children(process.pid))
            await end(process, number)
            assert await back.closed() == m.Close.RESTART
            assert not any(is_alive(child) for child in below)


async def test_every_option_is_an_environment_variable_and_gives_way_to_one_that_is_named(
    tmp_path: Path, embedded_url: str
) -> None:
    data = tmp_path / "data"
    async with server(
        f"--redis={embedded_url}",
        KLONDIKE_LOG_FORMAT="json",
        KLONDIKE_MAX_CONNECTIONS="1",
        KLONDIKE_DATA=str(data),
    ) as (process, port):
        anna = await Someone.arrive(port)
        with pytest.raises(Exception, match="503"):
            await Someone.arrive(port, "ben")
        await anna.go()
        said = await end(process)
    for line in said.splitlines():
        assert {"time", "level", "message"} <= json.loads(line).keys()
    assert "KLONDIKE_DATA" in said
    assert not data.exists()


async def test_health_readiness_metrics_and_a_log_of_one_line_a_connection_and_race() -> None:
    quick = "--messages-per-second=1000"
    async with server("--log-format=json", "--log-level=debug", quick) as (process, port):
        assert await asyncio.to_thread(get, port, "/healthz") == (200, "alive\n")
        assert await asyncio.to_thread(get, port, "/readyz") == (200, "ready\n")
        with pytest.raises(InvalidStatus, match="403"):
            await connect(f"ws://127.0.0.1:{port}/ws", origin=PAGE, proxy=None)
        code, players = await race_of(port, "anna", "ben")
        await players[0].play(1, "d")
        status, metrics = await asyncio.to_thread(get, port, "/metrics")
        assert status == 200
        assert "dk_moves_total 1.0" in metrics
        assert "dk_connections 2.0" in metrics
        assert "dk_nodes 1.0" in metrics
        assert "dk_store_up 1.0" in metrics
        assert (await asyncio.to_thread(get, port, "/nothing"))[0] == 404
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
    for player in players:  # nor any secret
        assert player.token not in text


async def test_a_data_folder_is_its_own_and_readiness_is_red_while_the_store_is_away(
    tmp_path: Path,
) -> None:
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
        # Another server does not share its folder.
        line = await refuses("--port=0", f"--data={tmp_path}")
        assert "in use" in line
        assert "--data" in line


async def test_workers_are_ours_and_share_the_port_the_races_and_the_secret_of_the_store(
    tmp_path: Path, embedded_url: str
) -> None:
    (tmp_path / "server.py").write_text("raise SystemExit('not this one')")
    running = server("--workers=2", cwd=tmp_path, KLONDIKE_REDIS=embedded_url)
    async with running as (process, port):
        _, (anna, ben, cleo, dora) = await race_of(port, "anna", "ben", "cleo", "dora")
        await anna.play(1, "d")
        for player in (ben, cleo, dora):
            await player.hear(m.Scores, lambda scores: scores.lines[0].moves == 1)
        # The address may hold a password, and command lines are there for everybody to see.
        lines = [command_line(pid) for pid in children(process.pid)]
        assert len(lines) == 2
        assert not any(embedded_url in line for line in lines)
        await end(process)
        assert await anna.closed() == m.Close.RESTART


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_server_runs_whose_standard_streams_are_closed(workers: int) -> None:
    port = free_port()
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
            "--port=0 --redis=redis://127.0.0.1:1/0": (
                "--redis: 127.0.0.1:1 does not answer: nobody listens there"
            ),
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


def test_help_is_given_by_its_short_name_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["-h"])
    assert ended.value.code == 0
    assert "--max-connections" in capsys.readouterr().out


async def test_a_web_page_connects_from_an_origin_on_the_list() -> None:
    async with server(f"--origin={PAGE}") as (process, port):
        socket = await connect(f"ws://127.0.0.1:{port}/ws", origin=PAGE, proxy=None)
        await socket.close()
