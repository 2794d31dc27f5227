"""Where a store is and how to get in, read from its URL."""

import ssl
from dataclasses import dataclass
from typing import Any

from redis.asyncio.connection import parse_url

from server.store.errors import Unfit

SCHEMES = ("redis", "rediss", "unix")


@dataclass(frozen=True, slots=True)
class Address:
    """One store: a host and port, or the path of a socket; `tls` where it is encrypted."""

    host: str = "localhost"
    port: int = 6379
    path: str | None = None
    db: int = 0
    username: str | None = None
    password: str | None = None
    tls: ssl.SSLContext | None = None

    def label(self) -> str:
        """Name the store for logs and errors, without secrets."""
        return self.path or f"{self.host}:{self.port}"


def parse(url: str) -> Address:
    """Read a redis://, rediss:// or unix:// URL as redis-py does.

    Raises:
        Unfit: it is none; the text names the part that is wrong and no password.
    """
    scheme = url.partition("://")[0]
    if scheme not in SCHEMES or "://" not in url:
        raise Unfit(
            f"a store's URL begins with redis://, rediss:// or unix://, not {scheme[:20]!r}"
        )
    try:
        parts: dict[str, Any] = dict(parse_url(url))
    except ValueError as error:
        raise Unfit(f"the store's URL cannot be read: {error}") from None
    if scheme == "unix" and not parts.get("path"):
        raise Unfit("a unix:// URL needs the path of a socket: unix:///run/redis.sock")
    return Address(
        host=parts.get("host") or "localhost",
        port=parts.get("port") or 6379,
        path=parts.get("path"),
        db=parts.get("db") or 0,
        username=parts.get("username"),
        password=parts.get("password"),
        tls=_tls(parts) if scheme == "rediss" else None,
    )


def _tls(parts: dict[str, Any]) -> ssl.SSLContext:
    context = ssl.create_default_context(
        cafile=parts.get("ssl_ca_certs"),
        capath=parts.get("ssl_ca_path"),
        cadata=parts.get("ssl_ca_data"),
    )
    if parts.get("ssl_check_hostname") in (False, "False", "false", "no", "0"):
        context.check_hostname = False
    if parts.get("ssl_cert_reqs") == "none":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if parts.get("ssl_certfile"):
        context.load_cert_chain(parts["ssl_certfile"], parts.get("ssl_keyfile"))
    return context
