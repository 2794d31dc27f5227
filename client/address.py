"""Where a server is: what people type, made into one websocket URL."""

from urllib.parse import SplitResult, urlsplit

DEFAULT_PORT = 8765
DEFAULT_URL = f"ws://127.0.0.1:{DEFAULT_PORT}"

_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


class BadAddress(ValueError):
    """What was typed names no server; the text says why."""


def server_url(typed: str) -> str:
    """Read `host`, `host:port` or a URL as the websocket URL of a server.

    Raises:
        BadAddress: it is none of these.
    """
    text = typed.strip()
    parts = _split(text if "://" in text else f"ws://{text}", typed)
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None:
        raise BadAddress(f"{typed!r}: a server address begins with ws:// or wss://")
    if not parts.hostname or any(sign.isspace() for sign in text):
        raise BadAddress(f"{typed!r} names no server; write ws://HOST:PORT")
    if not _may_be_asked_for(parts.hostname):
        raise BadAddress(f"{typed!r}: no host has such a name")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port or (443 if scheme == "wss" else DEFAULT_PORT)
    return f"{scheme}://{host}:{port}{parts.path.rstrip('/')}"


def _may_be_asked_for(host: str) -> bool:
    try:
        host.encode("idna")
    except UnicodeError:  # a part of it is empty, too long, or of signs that no name has
        return False
    return True


def _split(text: str, typed: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port  # read here, where a port out of range can be reported
    except ValueError as error:
        raise BadAddress(f"{typed!r}: {error}") from None
    return parts
