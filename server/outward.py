"""Where a request that somebody has asked us to make may go.

Whoever gives a URL could mean a machine that only this server reaches: the store, a
neighbour, what a cloud tells its machines. So a name is looked up here, every address it has
must be one of the open internet, and the request then goes to that address and to no other,
whatever the name means a moment later.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

MAX_URL: Final = 300

# Networks whose addresses have an IPv4 address in them (RFC 6052, RFC 3056), by where it is.
_NAT64: Final = ip_network("64:ff9b::/96")
_SIX_TO_FOUR: Final = ip_network("2002::/16")
_LOCAL_NAT64: Final = ip_network("64:ff9b:1::/48")  # RFC 8215
# Public by number, but only the host of a virtual machine answers there.
_CLOUD: Final = frozenset({ip_address("168.63.129.16")})

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]


class NotOutward(Exception):
    """The URL cannot be used; the text says why, for whoever gave it."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes: an address in the URL, and the name it was looked up by."""

    url: str
    host: str  # for the Host header
    name: str  # for the certificate


def checked(url: str) -> SplitResult:
    """Read a URL, without looking anything up.

    Raises:
        NotOutward: it is none of the web, or too long.
    """
    if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise NotOutward(f"A URL has up to {MAX_URL} characters, all of them plain.")
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError:
        raise NotOutward("That is no URL.") from None
    if parts.scheme not in ("http", "https") or not name:
        raise NotOutward("The URL has to begin with https:// or http:// and a host.")
    if parts.username is not None or parts.password is not None:
        raise NotOutward("The URL must not have a name or password in it.")
    if port == 0:
        raise NotOutward("There is no port 0.")
    return parts


async def target(url: str, *, private: bool = False, lookup: Lookup | None = None) -> Target:
    """Look up where a request to a URL goes; `private` lets it go anywhere.

    Raises:
        NotOutward: it is no URL of the web, or leads to where nobody outside may go.
        OSError: the name cannot be looked up just now.
    """
    parts = checked(url)
    assert parts.hostname is not None
    port = parts.port or (443 if parts.scheme == "https" else 80)
    addresses = [_address(each) for each in await (lookup or _look_up)(parts.hostname, port)]
    if not addresses:
        raise NotOutward("The URL's host has no address.")
    if not private and not all(is_outward(each) for each in addresses):
        raise NotOutward("The URL's host is not on the open internet.")
    first = addresses[0]
    netloc = f"[{first}]:{port}" if first.version == 6 else f"{first}:{port}"
    pinned = urlunsplit((parts.scheme, netloc, parts.path or "/", parts.query, ""))
    return Target(pinned, parts.netloc, parts.hostname)


def is_outward(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one of the open internet."""
    if isinstance(address, IPv6Address):
        inner = _inner(address)
        if inner is not None:
            return is_outward(inner)
        if address in _LOCAL_NAT64:
            return False
    return address.is_global and not address.is_multicast and address not in _CLOUD


def _inner(address: IPv6Address) -> IPv4Address | None:
    """Give the IPv4 address that an IPv6 address stands for, if it does."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(address.packed[12:])
    if address in _SIX_TO_FOUR:
        return address.sixtofour
    return None


def _address(text: str) -> IPv4Address | IPv6Address:
    return ip_address(text.partition("%")[0])


async def _look_up(name: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
