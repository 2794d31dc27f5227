"""The signals that ask a process of the server to end."""

import asyncio
import signal
from collections.abc import Callable


def heed(stop: Callable[[], None]) -> None:
    """Call `stop` for SIGINT, SIGTERM and, unless it is ignored as by nohup, SIGHUP."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stop)
