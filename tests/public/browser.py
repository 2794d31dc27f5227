"""A real browser without a screen, driven over its debugging protocol."""

import asyncio
import base64
import ctypes
import itertools
import json
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
WAIT_S = 30.0
PR_SET_PDEATHSIG = 1
PROGRAM = next((found for name in NAMES if (found := shutil.which(name))), None)

needs_browser = pytest.mark.skipif(PROGRAM is None, reason="there is no chromium here")


class Page:
    """One tab."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.faults: list[str] = []  # what the browser complained of

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the browser for something and wait for its answer."""
        number = next(self._numbers)
        await self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        async with asyncio.timeout(WAIT_S):
            while True:
                heard = json.loads(await self._socket.recv())
                if heard.get("id") == number:
                    assert "error" not in heard, heard
                    result: dict[str, Any] = heard["result"]
                    return result
                self._note(heard)

    def _note(self, heard: dict[str, Any]) -> None:
        params = heard.get("params", {})
        match heard.get("method"):
            case "Log.entryAdded":
                entry = params["entry"]
                if entry["level"] in ("warning", "error"):
                    self.faults.append(f"{entry['text']} {entry.get('url', '')}")
            case "Runtime.exceptionThrown":
                self.faults.append(str(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if params["type"] in ("warning", "error"):
                self.faults.append(str(params["args"]))

    async def run(self, script: str) -> Any:
        """Evaluate a script in the page."""
        answer = await self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def visit(self, url: str) -> None:
        """Go to an address and wait until all of it is there."""
        await self.ask("Page.navigate", url=url)
        await self.until(f"location.href === {url!r} && document.readyState === 'complete'")

    async def until(self, condition: str) -> None:
        """Wait until something holds in the page."""
        async with asyncio.timeout(WAIT_S):
            while not await self.run(f"Boolean({condition})"):  # noqa: ASYNC110 - it does not tell
                await asyncio.sleep(0.05)

    async def text(self, selector: str) -> str:
        """Give the text that is seen of an element."""
        found = await self.run(f"document.querySelector({selector!r}).innerText")
        return str(found)

    async def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """Be a screen of this size."""
        await self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )

    async def without_scripts(self) -> None:
        """Run no script of any page from here on."""
        await self.ask("Emulation.setScriptExecutionDisabled", value=True)

    async def shoot(self, file: Path) -> None:
        """Keep what is seen."""
        shot = await self.ask("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(shot["data"]))  # noqa: ASYNC240 - a small file


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Page]:
    """Start a browser with one empty page; its profile is in `folder`."""
    assert PROGRAM is not None
    program = await asyncio.create_subprocess_exec(
        PROGRAM,
        "--headless=new",
        "--no-sandbox",  # tests may run as root, where the sandbox does not
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-extensions",
        "--disable-background-networking",
        "--no-first-run",
        "--hide-scrollbars",
        "--remote-debugging-port=0",
        f"--user-data-dir={folder}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )
    try:
        port = await _port(folder)
        async with connect(await _tab(port), proxy=None, max_size=2**26) as socket:
            page = Page(socket)
            for domain in ("Page", "Runtime", "Log", "Network"):
                await page.ask(f"{domain}.enable")
            yield page
    finally:
        with suppress(ProcessLookupError):
            program.send_signal(signal.SIGTERM)
        async with asyncio.timeout(WAIT_S):
            await program.wait()


def _end_with_parent() -> None:
    # Else the browser of a test run that is killed goes on for ever.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


async def _port(folder: Path) -> int:
    file = folder / "DevToolsActivePort"
    async with asyncio.timeout(WAIT_S):
        while True:
            with suppress(FileNotFoundError, ValueError, IndexError):
                return int(file.read_text().split()[0])
            await asyncio.sleep(0.05)  # the browser writes it when it is ready


async def _tab(port: int) -> str:
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"http://127.0.0.1:{port}/json/list")
    url = next(tab["webSocketDebuggerUrl"] for tab in answer.json() if tab["type"] == "page")
    return str(url)
