"""Where a request that somebody asked us to make may go."""

from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from server.outward import Lookup, NotOutward, is_outward, target

PUBLIC = "93.184.215.14"


def finding(*addresses: str) -> Lookup:
    async def look_up(name: str, port: int) -> Sequence[str]:
        return addresses

    return look_up


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "198.18.0.1", "168.63.129.16"),
        *("::1", "::", "fe80::1", "fd00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
        *("64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::5db8:d70e", "2002:7f00:1::1"),
    ],
)
def test_no_address_of_a_machine_or_a_neighbourhood_is_outward(address: str) -> None:
    assert not is_outward(ip_address(address))


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:21f:cb07::1", "64:ff9b::5db8:d70e"])
def test_addresses_of_the_open_internet_are(address: str) -> None:
    assert is_outward(ip_address(address))


async def test_a_request_goes_to_the_address_that_was_checked_and_names_the_host() -> None:
    to = await target("https://club.example/hook?x=1#part", lookup=finding(PUBLIC))
    assert to.url == f"https://{PUBLIC}:443/hook?x=1"
    assert (to.host, to.name) == ("club.example", "club.example")
    to = await target("http://club.example:8080", lookup=finding("2606:2800:21f:cb07::1"))
    assert to.url == "http://[2606:2800:21f:cb07::1]:8080/"
    assert to.host == "club.example:8080"


@pytest.mark.parametrize("found", [["10.0.0.1"], [PUBLIC, "127.0.0.1"], ["fe80::1%eth0"], []])
async def test_a_name_that_leads_inside_is_refused_whatever_else_it_leads_to(
    found: list[str],
) -> None:
    with pytest.raises(NotOutward):
        await target("https://club.example/", lookup=finding(*found))


async def test_a_host_may_let_notices_go_inside() -> None:
    to = await target("http://hall.local/x", private=True, lookup=finding("192.168.1.9"))
    assert to.url == "http://192.168.1.9:80/x"


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://club.example/", "file:///etc/passwd", "gopher://x", "//club.example", "club", ""),
        *("https://user:word@club.example/", "https://user@club.example/", "https://"),
        *("https://club.example:99999/", "https://club.example:0/", "https://[::1", "http://x:y/"),
        *("https://club.example/\n", "https://club.example/ x", "https://clüb.example/"),
        "https://club.example/" + "x" * 300,
    ],
)
async def test_what_is_no_url_of_the_web_is_refused(url: str) -> None:
    with pytest.raises(NotOutward):
        await target(url, lookup=finding(PUBLIC))


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/"),
        *("http://localhost/", "http://[::1]/", "http://[::ffff:7f00:1]/", "http://0/"),
    ],
)
async def test_no_way_of_writing_this_machine_gets_past(url: str) -> None:
    with pytest.raises((NotOutward, OSError)):
        await target(url)
