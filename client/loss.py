"""Why a connection could not be had: what went wrong, as a loss that `judge` understands."""

import socket
import ssl
from typing import Final

from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus, InvalidURI

from client.line import Loss
from wire.messages import Close

SILENT: Final = "no answer from the server"
HUNG_UP: Final = "the line was closed before the server had answered"
UNTRUSTED: Final = (
    "the server's certificate is not trusted here ({}); "
    "ask its host, and name a certificate to trust in SSL_CERT_FILE"
)
FAILURES: Final = (InvalidURI, InvalidHandshake, TimeoutError, OSError)
GOING_DOWN: Final = b"the server is going down"  # of a 503 (docs/protocol.md, transport)
PASSING: Final = (408, 425, 429)  # of HTTP, and all from 500 on: the same may be asked again


def loss_of(error: Exception, url: str, *, was_there: bool = False) -> Loss:
    """Give the loss that one of the failures of a connection to `url` is.

    Where a race server `was_there` before, whatever answers instead of it is taken for a
    passing thing: a proxy that misses it, or a network that wants its own page to be seen.
    """
    match error:
        case InvalidURI():
            return Loss(None, str(error), is_final=True)
        case InvalidStatus():
            status, body = error.response.status_code, bytes(error.response.body or b"")
            return _turned_away(status, body) or _stranger(url, f"HTTP {status}", was_there)
        case InvalidMessage() if isinstance(error.__cause__, EOFError):
            # A node that dies does it, and a proxy whose node is dead; no wrong address tells.
            return Loss(None, HUNG_UP)
        case InvalidHandshake():
            return _stranger(url, str(error), was_there)
        case TimeoutError():
            return Loss(None, SILENT)
        case ssl.SSLCertVerificationError():
            return Loss(None, UNTRUSTED.format(error.verify_message), is_final=not was_there)
        case OSError():
            return Loss(None, _plainly(error))
    raise error


def _turned_away(status: int, body: bytes) -> Loss | None:
    if GOING_DOWN in body:
        return Loss(int(Close.RESTART), "")
    if status >= 500 or status in PASSING:
        return Loss(int(Close.OVERLOAD), f"the server answers {status}")
    return None


def _stranger(url: str, answer: str, was_there: bool) -> Loss:
    return Loss(None, f"{url} is not a race server ({answer})", is_final=not was_there)


def _plainly(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        return "nobody answers there"
    if isinstance(error, socket.gaierror):
        return "no such host"
    return error.strerror or str(error)
