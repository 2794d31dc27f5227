"""Writing to a terminal, which may take its time: hours, where Ctrl-S has stopped it.

A thread waits for it, and not the loop: the line to the server has to be answered meanwhile.
Whoever writes waits for the thread, so that never more than one frame is under way, and the
next one is painted of what is so by then.
"""

import asyncio
import os
import select
import time
from contextlib import suppress
from threading import Thread
from typing import Final

CHUNK: Final = 1024  # bytes at a time, after each of which a closing is heeded
LOOK_GAP: Final = 0.5  # seconds
TURN_GAP: Final = 0.01  # seconds, where a descriptor that is said to be ready is not
CLOSE_LIMIT: Final = 0.5  # seconds for what is under way at the end


class Outlet:
    """A terminal's descriptor to be written to; blocking or not, as whoever shares it wants."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._thread: Thread | None = None
        self._is_closed = False

    async def write(self, data: bytes) -> None:
        """Write all of the data, however long that takes; one call at a time.

        What cannot be written at all is dropped: the terminal is gone, as its keyboard tells.
        """
        if not data:
            return
        loop, written = asyncio.get_running_loop(), asyncio.Event()

        def work() -> None:
            self._write(data)
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(written.set)

        # A thread of a pool would be waited for at the end of the program.
        self._thread = Thread(target=work, name="terminal-outlet", daemon=True)
        self._thread.start()
        await written.wait()

    def close(self) -> None:
        """Let what is under way be finished, or give it up where the terminal takes nothing."""
        if self._thread is not None:
            self._thread.join(CLOSE_LIMIT)
        self._is_closed = True

    def _write(self, data: bytes) -> None:
        with suppress(OSError):
            while data and not self._is_closed:
                if select.select([], [self._descriptor], [], LOOK_GAP)[1]:
                    data = data[self._written(data[:CHUNK]) :]

    def _written(self, part: bytes) -> int:
        try:
            return os.write(self._descriptor, part)
        except BlockingIOError:
            time.sleep(TURN_GAP)
            return 0
