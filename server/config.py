"""The settings of one node, checked before anything is opened."""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from server.gateway import Limits
from server.gateway.limits import Proxies, checked_origins
from server.reasons import reason_of


class BadSetting(Exception):
    """A setting that cannot work; one line that names it and says what to do."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Everything a host can set; `server.cli` documents each."""

    host: str = "127.0.0.1"
    port: int = 8765
    redis: str | None = None
    data: Path | None = None
    fsync: Literal["everysec", "always"] = "everysec"  # of the private store
    workers: int = 1
    reuse_port: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None
    origins: tuple[str, ...] = ()  # none given: no web page may connect
    trusted_proxies: tuple[str, ...] = ()
    log_format: str = "text"
    log_level: str = "info"
    max_connections: int = 10_000
    max_connections_per_address: int = 256  # a whole club may play from behind one
    messages_per_second: float = 100.0  # of one connection; four seconds' worth at once
    rooms_per_address: int = 60  # an hour
    private_webhooks: bool = False  # they may go to addresses that are not of the open internet
    drain_seconds: float = 10.0

    def url(self, port: int) -> str:
        """Give the address under which the node is reached, at a port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'wss' if self.tls_cert else 'ws'}://{host}:{port}"

    def limits(self) -> Limits:
        """Give the gateway's limits.

        Raises:
            BadSetting: one of them is out of range.
        """
        try:
            return Limits(
                connections=self.max_connections,
                connections_per_address=self.max_connections_per_address,
                messages_per_s=self.messages_per_second,
                message_burst=max(1, int(4 * self.messages_per_second)),
            )
        except ValueError as error:
            raise BadSetting(str(error)) from None

    def __post_init__(self) -> None:
        """Check what can be checked without opening anything.

        Raises:
            BadSetting: the host is empty, or an origin or a proxy is none.
        """
        if not self.host:  # the system would take it for all addresses
            raise BadSetting("--host is empty: name an address, or 0.0.0.0 for all")
        try:
            checked_origins(self.origins)
        except ValueError as error:
            raise BadSetting(f"--origin: {error}") from None
        try:
            Proxies(self.trusted_proxies)
        except ValueError as error:
            raise BadSetting(f"--trusted-proxy: {error}") from None

    def tls(self) -> ssl.SSLContext | None:
        """Give the TLS context, None without certificate files.

        Raises:
            BadSetting: the files are missing, unreadable or no pair.
        """
        if self.tls_cert is None and self.tls_key is None:
            return None
        if self.tls_cert is None or self.tls_key is None:
            raise BadSetting("TLS needs both --tls-cert and --tls-key.")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(self.tls_cert, self.tls_key)
        except (OSError, ssl.SSLError) as error:
            raise BadSetting(
                f"--tls-cert {self.tls_cert} and --tls-key {self.tls_key} cannot be used: "
                f"{reason_of(error)}"
            ) from None
        return context
