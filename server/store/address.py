"""Where a store is and how to get in, read from its URL."""

import ssl
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from redis.asyncio.connection import parse_url

from server.reasons import reason_of
from server.store.errors import Unfit

Kind = Literal["one", "sentinel", "cluster"]

TLS_FILES = ("ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile")
SCHEMES = ("redis", "rediss", "unix")
# Stores with several doors: the kind, and how each of them is spoken to.
SHARED: dict[str, tuple[Kind, str]] = {
    "sentinel": ("sentinel", "redis"),
    "redis+sentinel": ("sentinel", "redis"),
    "rediss+sentinel": ("sentinel", "rediss"),
    "cluster": ("cluster", "redis"),
    "redis+cluster": ("cluster", "redis"),
    "rediss+cluster": ("cluster", "rediss"),
}
SENTINEL_PORT = 26379


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

    def at(self, host: str, port: int) -> "Address":
        """Give another place that is entered the same way."""
        return replace(self, host=host, port=port, path=None)


@dataclass(frozen=True, slots=True)
class Site:
    """What a URL names: one store, the master that Sentinels know, or a Cluster."""

    kind: Kind
    doors: tuple[Address, ...]  # the store; the Sentinels; members of the Cluster
    name: str = ""  # of the master, to the Sentinels
    master: Address = field(default_factory=Address)  # how a master is entered, wherever it is

    def label(self) -> str:
        """Name the site for logs and errors, without secrets."""
        doors = ", ".join(door.label() for door in self.doors)
        match self.kind:
            case "one":
                return doors
            case "sentinel":
                return f"{self.name} of the Sentinels {doors}"
            case "cluster":
                return f"the Cluster of {doors}"


def read(url: str) -> Site:
    """Read any URL of a store.

    Beside those of `parse`: sentinel://HOST:PORT,HOST:PORT/NAME[/DB] and
    cluster://HOST:PORT,HOST:PORT, or with TLS rediss+sentinel:// and rediss+cluster://.
    User, password and options are those of the masters; sentinel_username and
    sentinel_password are the Sentinels'.

    Raises:
        Unfit: it is none; the text names the part that is wrong and no password.
    """
    kind, scheme = SHARED.get(url.partition("://")[0].lower(), ("one", ""))
    if kind == "one":
        address = parse(url)
        return Site("one", (address,), master=address)
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
    except ValueError as error:
        raise Unfit(f"the store's URL cannot be read: {error}") from None
    user, _, hosts = parts.netloc.rpartition("@")
    if not all(hosts.split(",")):
        raise Unfit(f"a {parts.scheme}:// URL needs the places to ask at: HOST:PORT,HOST:PORT")
    if kind == "sentinel":
        return _sentinels(parts, scheme, user, hosts.split(","), options)
    if parts.path.strip("/") not in ("", "0") or options.get("db", "0") != "0":
        raise Unfit("a Cluster has no database but 0: leave it out of the URL")
    doors = [_door(scheme, user, host, options) for host in hosts.split(",")]
    return Site("cluster", tuple(doors), master=doors[0])


def _sentinels(
    parts: SplitResult, scheme: str, user: str, hosts: list[str], options: dict[str, str]
) -> Site:
    name, _, db = parts.path.strip("/").partition("/")
    if not name:
        raise Unfit("a sentinel:// URL needs the name of the master: sentinel://HOST:PORT/NAME")
    own = {
        option: value
        for option in ("username", "password")
        if (value := options.pop(f"sentinel_{option}", None)) is not None
    }
    tls = {option: value for option, value in options.items() if option.startswith("ssl_")}
    master = _door(scheme, user, hosts[0], {**options, "db": db or options.get("db", "0")})
    doors = tuple(_door(scheme, "", host, {**tls, **own}, SENTINEL_PORT) for host in hosts)
    return Site("sentinel", doors, unquote(name), master)


def _door(
    scheme: str, user: str, host: str, options: dict[str, str], default_port: int = 6379
) -> Address:
    address = parse(f"{scheme}://{user}{'@' if user else ''}{host}?{urlencode(options)}")
    has_port = urlsplit(f"//{host}").port is not None
    return address if has_port else address.at(address.host, default_port)


def parse(url: str) -> Address:
    """Read a redis://, rediss:// or unix:// URL as redis-py does.

    Raises:
        Unfit: it is none; the text names the part that is wrong and no password.
    """
    scheme = url.partition("://")[0]
    if scheme not in SCHEMES or "://" not in url:
        raise Unfit(
            "a store's URL begins with redis://, rediss://, unix://, sentinel:// or cluster://,"
            f" not {scheme[:20]!r}"
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
    try:
        return _context(parts)
    except OSError as error:
        files = " ".join(f"{key}={parts[key]}" for key in TLS_FILES if parts.get(key))
        raise Unfit(f"{files or 'its TLS'} cannot be used: {reason_of(error)}") from None


def _context(parts: dict[str, Any]) -> ssl.SSLContext:
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
