"""The Autobahn cases of RFC 6455 against the gateway (`make conformance`)."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("kosoku")  # it exists for Linux and macOS

START_LIMIT_S = 20.0


def answers(port: int) -> bool:
    """Whether something listens on a port."""
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_the_gateway_passes_every_case_but_those_of_compression(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    echo = subprocess.Popen([sys.executable, "-m", "tests.gateway.echo", str(port)])
    try:
        deadline = time.monotonic() + START_LIMIT_S
        while not answers(port):
            assert echo.poll() is None
            assert time.monotonic() < deadline, "the echo server does not come up"
            time.sleep(0.05)
        # 12 and 13 are permessage-deflate, which the gateway does not offer.
        runner = Path(sys.executable).with_name("kosoku")
        options = ["-m", "fuzzingclient", "-p", "2", "-x", "12.*", "-x", "13.*"]
        run = subprocess.run(
            [str(runner), *options, "-o", str(tmp_path / "reports"), f"127.0.0.1:{port}"],
            capture_output=True,
            text=True,
        )
    finally:
        echo.terminate()
        echo.wait()
    assert run.returncode == 0, run.stdout + run.stderr
    assert "301 cases passed" in run.stdout + run.stderr
