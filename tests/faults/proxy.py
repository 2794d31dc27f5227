"""A line that can go bad: forwards bytes between two ends and ill-treats them on demand.

What TCP promises stays promised: bytes are held, slowed and cut up, never lost from the
middle or reordered. A line that is held delivers everything once it is released; one that
is cut delivers nothing more.
"""

import asyncio
import contextlib
import socket
import struct
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal, Self

Way = Literal["up", "down"]  # towards the target, back from it
WAYS: Final[tuple[Way, Way]] = ("up", "down")
CHUNK: Final = 65_536
AHEAD: Final = 64  # chunks read and not yet passed on, in one direction

Target = tuple[str, int] | str  # host and port, or the path of a socket


@dataclass
class Weather:
    """What the lines of a proxy have to bear just now."""

    delay_s: float = 0.0
    jitter_s: float = 0.0
    trickle: int = 0  # bytes at a time, a hundredth of a second apart; 0 for all at once
    held: set[Way] = field(default_factory=set)
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class Line:
    """One connection through the proxy: two ends, two directions."""

    def __init__(self, weather: Weather, chance: Random) -> None:
        self._weather = weather
        self._chance = chance
        self._ends: dict[Way, asyncio.StreamWriter] = {}  # where each direction leads to
        self._lost: set[Way] = set()  # nothing passes any more, and nobody is told

    async def run(
        self,
        near: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        far: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Forwards until both ends are done."""
        self._ends = {"up": far[1], "down": near[1]}
        pumps = [
            asyncio.create_task(self._pump("up", near[0]), name="proxy up"),
            asyncio.create_task(self._pump("down", far[0]), name="proxy down"),
        ]
        try:
            await asyncio.gather(*pumps)
        finally:
            for pump in pumps:
                pump.cancel()
            self.cut()

    async def _pump(self, way: Way, reader: asyncio.StreamReader) -> None:
        chunks: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(AHEAD)
        passing = asyncio.create_task(self._pass(way, chunks), name=f"proxy pass {way}")
        loop, weather = asyncio.get_running_loop(), self._weather
        try:
            while True:
                try:
                    data = await reader.read(CHUNK)
                except OSError:
                    data = b""
                late = weather.delay_s + weather.jitter_s * self._chance.random()
                await chunks.put((loop.time() + late, data))
                if not data:
                    break
            await passing
        finally:
            passing.cancel()

    async def _pass(self, way: Way, chunks: "asyncio.Queue[tuple[float, bytes]]") -> None:
        loop, weather = asyncio.get_running_loop(), self._weather
        while True:
            due, data = await chunks.get()
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
            while way in weather.held:
                await weather.changed.wait()
            if not data:
                self._finish(way)
                return
            if way in self._lost:
                continue
            await self._write(way, data)

    async def _write(self, way: Way, data: bytes) -> None:
        rest = data
        while rest:
            size = self._weather.trickle
            part = rest[: self._chance.randint(1, size)] if size else rest
            rest = rest[len(part) :]
            with contextlib.suppress(OSError):
                self._ends[way].write(part)
                await self._ends[way].drain()
            if size:
                await asyncio.sleep(0.01)

    def _finish(self, way: Way) -> None:
        # Of a half-open line the one end must not learn of the other's.
        if way not in self._lost:
            with contextlib.suppress(OSError, RuntimeError):
                self._ends[way].write_eof()

    def cut(self) -> None:
        """Resets both ends."""
        for way in WAYS:
            self.drop(way)

    def drop(self, way: Way) -> None:
        """Resets the end that a direction leads to."""
        writer = self._ends.get(way)
        if writer is not None and not writer.transport.is_closing():
            _reset_on_close(writer)
            writer.transport.abort()

    def half_open(self, lost: Way) -> None:
        """Loses one end, while the other hears nothing of it, for ever."""
        self.swallow(*WAYS)
        self.drop(lost)

    def swallow(self, *ways: Way) -> None:
        """Loses whatever goes these ways from now on, unnoticed by either end, for ever."""
        self._lost |= set(ways)


class Proxy:
    """Listens, and connects whoever comes with the target."""

    def __init__(self, target: Target, chance: Random | None = None) -> None:
        """`chance` decides on jitter and on the sizes of what trickles."""
        self.target = target
        self.port = 0
        self.cuts = 0
        self._chance = chance or Random(0)
        self._weather = Weather()
        self._lines: dict[Line, asyncio.Task[None]] = {}
        self._server: asyncio.Server | None = None
        self._refusing = False

    async def start(self, *, path: str | None = None) -> Self:
        """Listens on a free port of loopback, or on a socket at `path`."""
        if path is not None:
            self._server = await asyncio.start_unix_server(self._accept, path)
        else:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
            self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aenter__(self) -> Self:
        return self if self._server is not None else await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Cuts every line and stops listening."""
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in list(self._lines.values()):
            task.cancel()
        await asyncio.gather(*self._lines.values(), return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_writer: asyncio.StreamWriter | None = None
        line = Line(self._weather, self._chance)
        task = asyncio.current_task()
        assert task is not None
        self._lines[line] = task
        try:
            if self._refusing:
                return
            far_reader, far_writer = await self._dial()
            await line.run((reader, writer), (far_reader, far_writer))
        except (OSError, asyncio.CancelledError):
            pass  # nobody there: whoever dialled sees the line close, as with a dead host
        finally:
            self._lines.pop(line, None)
            for end in (writer, far_writer):
                if end is not None:
                    end.transport.abort()

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.target, str):
            return await asyncio.open_unix_connection(self.target)
        return await asyncio.open_connection(*self.target)

    # --- faults -----------------------------------------------------------------------

    @property
    def lines(self) -> list[Line]:
        """The lines that are open now."""
        return list(self._lines)

    def cut(self) -> int:
        """Resets all lines; new ones are let in. Gives their number."""
        lines = self.lines
        for line in lines:
            line.cut()
        self.cuts += len(lines)
        return len(lines)

    def half_open(self, lost: Way = "up") -> int:
        """Loses one end of all lines, unnoticed by the other."""
        lines = self.lines
        for line in lines:
            line.half_open(lost)
        return len(lines)

    def swallow(self, *ways: Way) -> int:
        """Makes black holes of all lines, in these directions or both; new ones are whole."""
        lines = self.lines
        for line in lines:
            line.swallow(*(ways or WAYS))
        return len(lines)

    def refuse(self, refusing: bool = True) -> None:
        """Closes new lines at once, until called with False."""
        self._refusing = refusing

    def hold(self, *ways: Way) -> None:
        """A black hole: nothing passes in these directions (both without any) until released."""
        self._weather.held |= set(ways or WAYS)

    def release(self) -> None:
        """Lets what was held pass, and what comes."""
        self._weather.held.clear()
        self._weather.changed.set()
        self._weather.changed = asyncio.Event()

    def delay(self, seconds: float, jitter_s: float = 0.0) -> None:
        """Makes every chunk late, in order."""
        self._weather.delay_s, self._weather.jitter_s = seconds, jitter_s

    def trickle(self, size: int) -> None:
        """Lets pass at most so many bytes at a time, a hundredth of a second apart; 0 ends it."""
        self._weather.trickle = size

    def calm(self) -> None:
        """Ends every fault that lasts."""
        self.refuse(False)
        self.weather_clears()

    def weather_clears(self) -> None:
        """Ends what lasts, but for the refusing."""
        self.delay(0.0)
        self.trickle(0)
        self.release()


def _reset_on_close(writer: asyncio.StreamWriter) -> None:
    """Makes the close a reset, so that the other end sees a broken line and no good-bye."""
    line = writer.get_extra_info("socket")
    if line is not None and line.family != socket.AF_UNIX:
        with contextlib.suppress(OSError):
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
