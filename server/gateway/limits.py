"""What one connection, one address and the whole gateway may use.

All limits are on by default. Time is a parameter throughout, in seconds of any clock
that never goes back.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from wire.messages import MAX_CLIENT_FRAME


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The bounds of a gateway; sizes in bytes, times in seconds."""

    message_size: int = MAX_CLIENT_FRAME  # of all fragments together
    fragments: int = 64  # of one message; empty ones cost memory as well
    # The burst covers a client that resends after a resume, and a server that stalled for
    # some seconds and finds the messages of that time all at once.
    messages_per_s: float = 100.0
    message_burst: int = 400
    controls_per_s: float = 5.0  # pings and pongs
    control_burst: int = 50
    write_high: int = 32 * 1024  # buffered for a peer; above this it counts as slow
    write_bound: int = 256 * 1024  # above this it is cut
    connections: int = 10_000
    connections_per_address: int = 256  # a whole club may play from behind one address
    waiting: int = 1_000  # sockets that are no websocket yet, or ask for a page
    waiting_per_address: int = 128
    head_size: int = 16 * 1024  # of an HTTP request's line and headers
    open_timeout: float = 5.0
    page_timeout: float = 10.0
    page_rate: float = 16 * 1024  # bytes a second at which an answer has to be read at least
    close_timeout: float = 3.0
    ping_after: float = 15.0  # of silence
    silence: float = 30.0  # after which the line counts as dead
    stall: float = 30.0  # how long a peer may stay slow

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) <= 0:
                raise ValueError(f"limit {field.name} must be above zero")
        if self.ping_after >= self.silence:
            raise ValueError("limit ping_after must be below silence, or no ping is ever answered")
        if self.write_high > self.write_bound:
            raise ValueError("limit write_high must not be above write_bound")


def plain_address(text: str) -> str:
    """Normalise an IP address: no zone, IPv4 in IPv6 as IPv4; ValueError if it is none."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


def owner(address: str) -> str:
    """What limits per address count by: an IPv4 address, or the /64 an IPv6 site owns."""
    if ":" not in address:
        return address
    return str(ip_network((address, 64), strict=False))


class Proxies:
    """The reverse proxies whose X-Forwarded-For is believed."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = [_proxy(text) for text in networks]

    def __contains__(self, address: str) -> bool:
        if not self._networks:
            return False
        try:
            return any(ip_address(address) in network for network in self._networks)
        except ValueError:
            return False

    def client(self, peer: str, forwarded: Sequence[str]) -> str:
        """Return whom `peer` speaks for, given its X-Forwarded-For headers.

        Each proxy appends whom it heard from, so the list is read from its end, as far
        as the proxies are ours; what stands before is hearsay.
        """
        address = peer
        hops = [hop.strip() for header in forwarded for hop in header.split(",")]
        while address in self and hops:
            try:
                address = plain_address(hops.pop())
            except ValueError:
                break
        return address


def _proxy(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError:
        raise ValueError(
            f"trusted proxy {text!r} must be an address or a network, such as 10.0.0.0/8"
        ) from None


def checked_origins(origins: Collection[str]) -> list[str]:
    """Return the allow list as browsers send it; ValueError names a bad entry."""
    return [_checked_origin(origin) for origin in origins]


def _checked_origin(origin: str) -> str:
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"origin {origin!r} must look like https://example.org")
    if origin != f"{parts.scheme}://{parts.netloc}" or "@" in parts.netloc:
        raise ValueError(f"origin {origin!r} must be scheme, host and port only")
    return origin.lower()


class Count:
    """How many there are, in all and by owner of the address; None is nobody's."""

    def __init__(self, total: int, per_owner: int) -> None:
        self._limit = total
        self._limit_per_owner = per_owner
        self._owners: Counter[str] = Counter()
        self.total = 0

    def has_room(self, address: str | None) -> bool:
        """Whether one more may come from this address."""
        if self.total >= self._limit:
            return False
        return address is None or self._owners[owner(address)] < self._limit_per_owner

    def join(self, address: str | None) -> None:
        self.total += 1
        if address is not None:
            self._owners[owner(address)] += 1

    def leave(self, address: str | None) -> None:
        self.total -= 1
        if address is not None:
            name = owner(address)
            self._owners[name] -= 1
            if not self._owners[name]:
                del self._owners[name]
