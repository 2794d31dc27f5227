"""Why a connection could not be had: what went wrong, as a loss that `judge` understands."""

import socket
from typing import Final

from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI

from client.line import Loss
from wire.messages import Close

SILENT: Final = "no answer from the server"
FAILURES: Final = (InvalidURI, InvalidHandshake, TimeoutError, OSError)
GOING_DOWN: Final = b"the server is going down"  # of a 503 (docs/protocol.md, transport)


def loss_of(error: Exception, url: str) -> Loss:
    """Give the loss that one of the failures of a connection to `url` is."""
    match error:
        case InvalidURI():
            return Loss(None, str(error), is_final=True)
        case InvalidStatus():
            return _turned_away(error.response.status_code, bytes(error.response.body or b""), url)
        case InvalidHandshake():
            return Loss(None, f"{url} is not a race server ({error})", is_final=True)
        case TimeoutError():
            return Loss(None, SILENT)
        case OSError():
            return Loss(None, _plainly(error))
    raise error


def _turned_away(status: int, body: bytes, url: str) -> Loss:
    if GOING_DOWN in body:
        return Loss(int(Close.RESTART), "")
    if status >= 500 or status == 429:
        return Loss(int(Close.OVERLOAD), f"the server answers {status}")
    return Loss(None, f"{url} is not a race server (HTTP {status})", is_final=True)


def _plainly(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        return "nobody answers there"
    if isinstance(error, socket.gaierror):
        return "no such host"
    return error.strerror or str(error)
