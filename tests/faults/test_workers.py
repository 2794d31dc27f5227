"""Several workers on one port, killed one by one and all at once."""

import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from tests.faults.processes import NodeProcess, ValkeyProcess, until
from tests.processes import children, is_alive
from tests.server.floor import QUICK, Someone
from wire import messages as m

pytestmark = pytest.mark.skipif(
    sys.platform != "linux",
    reason="workers share a port and end with their supervisor on Linux alone",
)


@pytest.mark.slow
async def test_a_killed_worker_is_replaced_and_a_killed_supervisor_leaves_none(
    store: ValkeyProcess, tmp_path: Path
) -> None:
    with NodeProcess("node", tmp_path, store.url, "--workers", "2") as node:
        await node.start()
        await until(lambda: node.said.count("node started") == 2, "two workers run")
        before = children(node.pid)
        anna = await Someone.arrive(node.port)
        await anna.say(m.Create(settings=QUICK))
        code = (await anna.hear(m.Room)).room
        for worker in before:
            os.kill(worker, signal.SIGKILL)
        await anna.closed()
        await until(lambda: len(children(node.pid) - before) == 2, "both are replaced")
        await until(lambda: is_open(node.port), "a new one listens")
        back = await Someone.arrive(node.port, token=anna.token)
        assert back.welcome.room == code
        now = children(node.pid)
        await node.kill()
        await until(lambda: not any(is_alive(worker) for worker in now), "the workers end too")
        await back.closed()


def is_open(port: int) -> bool:
    """Whether somebody accepts connections at a port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
async def test_a_worker_that_cannot_come_back_for_want_of_a_store_is_tried_again(
    store: ValkeyProcess, tmp_path: Path
) -> None:
    with NodeProcess("node", tmp_path, store.url, "--workers", "2") as node:
        await node.start()
        await until(lambda: node.said.count("node started") == 2, "two workers run")
        before = children(node.pid)
        await store.kill()
        os.kill(min(before), signal.SIGKILL)
        await until(lambda: "klondike-server: " in node.said and node.is_alive, "a start fails", 60)
        await until(lambda: children(node.pid) - before != set(), "it is tried again", 60)
        await store.start()
        await until(lambda: is_open(node.port), "somebody listens")
        anna = await Someone.arrive(node.port)
        assert node.is_alive
        anna.vanish()
        await anna.closed()
