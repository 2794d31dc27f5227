from dataclasses import fields

import pytest

from server.gateway.limits import (
    Count,
    Limits,
    Proxies,
    checked_origins,
    owner,
    plain_address,
)


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_no_limit_can_be_switched_off_by_a_zero(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})


def test_a_ping_that_nobody_could_answer_in_time_is_refused() -> None:
    with pytest.raises(ValueError, match="ping_after"):
        Limits(ping_after=30, silence=30)


def test_a_bound_below_the_mark_of_slowness_is_refused() -> None:
    with pytest.raises(ValueError, match="write_high"):
        Limits(write_high=2, write_bound=1)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::1"),
        ("2001:DB8:0::1", "2001:db8::1"),
    ],
)
def test_an_address_has_one_form(written: str, plain: str) -> None:
    assert plain_address(written) == plain


def test_an_ipv6_site_counts_as_one_owner() -> None:
    assert owner("2001:db8:1:2::1") == owner("2001:db8:1:2:ffff::9")
    assert owner("2001:db8:1:2::1") != owner("2001:db8:1:3::1")
    assert owner("192.0.2.7") != owner("192.0.2.8")


@pytest.mark.parametrize(
    ("peer", "headers", "client"),
    [
        ("198.51.100.1", ["203.0.113.9"], "198.51.100.1"),  # not our proxy: hearsay
        ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["192.0.2.66, 203.0.113.9"], "203.0.113.9"),  # forged by the client
        ("10.0.0.1", ["192.0.2.66", "203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", ["10.0.0.3"], "10.0.0.3"),  # a client inside
        ("10.0.0.1", ["nonsense"], "10.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["::ffff:203.0.113.9"], "203.0.113.9"),
    ],
)
def test_only_listed_proxies_are_believed(peer: str, headers: list[str], client: str) -> None:
    assert Proxies(["10.0.0.0/8"]).client(peer, headers) == client


def test_without_proxies_nobody_is_believed() -> None:
    assert Proxies().client("127.0.0.1", ["203.0.113.9"]) == "127.0.0.1"


def test_a_proxy_that_is_no_network_is_refused() -> None:
    with pytest.raises(ValueError, match=r"10\.0\.0"):
        Proxies(["10.0.0.x"])


def test_origins_are_kept_as_browsers_send_them() -> None:
    assert checked_origins(["https://Play.Example:8443"]) == ["https://play.example:8443"]


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "",
        "null",
        "example.org",
        "https://",
        "https://example.org/",
        "https://example.org/x",
        "https://example.org?x",
        "https://me@example.org",
        "ftp://example.org",
    ],
)
def test_a_typo_in_the_list_of_origins_is_refused(origin: str) -> None:
    with pytest.raises(ValueError, match="origin"):
        checked_origins([origin])


def test_addresses_are_counted_apart_and_all_together() -> None:
    count = Count(3, 2)
    count.join("192.0.2.1")
    count.join("192.0.2.1")
    assert not count.has_room("192.0.2.1")
    assert count.has_room("192.0.2.2")
    count.join("192.0.2.2")
    assert not count.has_room("192.0.2.3")
    count.leave("192.0.2.1")
    assert count.has_room("192.0.2.1")


def test_what_is_charged_to_nobody_counts_only_in_the_sum() -> None:
    count = Count(3, 1)
    for _ in range(3):
        assert count.has_room(None)
        count.join(None)
    assert not count.has_room(None)
