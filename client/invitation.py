"""How others get to a server that was started here: what to call, and under which address."""

import os
import shutil
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

EVERYWHERE = ("0.0.0.0", "::")


def invitation(url: str) -> str:
    """Give the command that leads to a server's room; `{room}` stands for the room's code."""
    parts = urlsplit(url)
    port = parts.port or 0
    if parts.hostname not in EVERYWHERE:
        where = "   (on this machine)" if (parts.hostname or "").startswith("127.") else ""
        return f"{program()} {url} --room {{room}}{where}"
    name, number = socket.gethostname(), own_address()
    first = f"{program()} ws://{number or name}:{port} --room {{room}}"
    return f"{first}   (or ws://{name}:{port})" if number is not None else first


def program() -> str:
    """Give what people type here to call this program."""
    own = Path(sys.argv[0]) if sys.argv else Path()
    if own.name != "klondike":  # as `python -m client`
        own = Path(sys.executable).with_name("klondike")
    found = shutil.which("klondike")
    if found is not None and os.path.realpath(found) == os.path.realpath(own):
        return "klondike"
    if not own.exists():
        return "python -m client" if found is None else "klondike"
    near = os.path.relpath(own)
    return near if not near.startswith("..") else str(own.absolute())


def own_address() -> str | None:
    """Give the address under which other machines reach this one, None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # No packet goes: the kernel only picks the way to a documentation address (RFC 5737).
            probe.connect(("192.0.2.1", 9))
            address = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if address.startswith("127.") else address
