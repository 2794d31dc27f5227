import ssl

import pytest

from server.store import Unfit
from server.store.address import Address, Site, parse, read


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://example", Address("example", 6379)),
        ("redis://example:7000/3", Address("example", 7000, db=3)),
        ("redis://:secret@example", Address("example", password="secret")),
        ("redis://me:se%40cret@[::1]:1", Address("::1", 1, username="me", password="se@cret")),
        ("unix:///run/r.sock?db=2&password=x", Address(path="/run/r.sock", db=2, password="x")),
    ],
)
def test_urls_are_read_as_redis_py_reads_them(url: str, address: Address) -> None:
    assert parse(url) == address


@pytest.mark.parametrize(
    "url",
    ["", "example:6379", "http://example", "redis:/example", "redis://example:port", "unix://"],
)
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(Unfit):
        parse(url)


def test_an_encrypted_url_checks_the_certificate_unless_told_otherwise() -> None:
    checked, unchecked = parse("rediss://e").tls, parse("rediss://e?ssl_cert_reqs=none").tls
    assert checked is not None
    assert checked.check_hostname
    assert checked.verify_mode is ssl.CERT_REQUIRED
    assert unchecked is not None
    assert unchecked.verify_mode is ssl.CERT_NONE


def test_labels_hold_no_secret() -> None:
    for url in ("redis://me:secret@example:7000/1", "unix:///run/s?password=secret"):
        assert "secret" not in parse(url).label()


# --- stores with several doors --------------------------------------------------------


def test_one_store_is_a_site_with_one_door() -> None:
    assert read("redis://e:1/2") == Site(
        "one", (Address("e", 1, db=2),), master=Address("e", 1, db=2)
    )


@pytest.mark.parametrize("scheme", ["sentinel", "redis+sentinel", "SENTINEL"])
def test_sentinels_are_named_with_the_master_they_know(scheme: str) -> None:
    site = read(f"{scheme}://me:se%40cret@a:1,b,[::1]:3/my%20master/2")
    assert site.kind == "sentinel"
    assert site.name == "my master"
    assert site.doors == (Address("a", 1), Address("b", 26379), Address("::1", 3))
    assert site.master.at("m", 4) == Address("m", 4, db=2, username="me", password="se@cret")


def test_options_are_the_master_s_but_for_those_that_say_sentinel() -> None:
    site = read("sentinel://a/m?db=3&password=x&sentinel_username=s&sentinel_password=y")
    assert site.doors == (Address("a", 26379, username="s", password="y"),)
    assert (site.master.db, site.master.password, site.master.username) == (3, "x", None)


@pytest.mark.parametrize("scheme", ["cluster", "redis+cluster"])
def test_a_cluster_is_named_by_some_of_its_members(scheme: str) -> None:
    site = read(f"{scheme}://:pw@a:1,b?username=u")
    assert site.kind == "cluster"
    assert site.doors == tuple(
        Address(host, port, username="u", password="pw") for host, port in (("a", 1), ("b", 6379))
    )
    assert site.master.at("c", 9) == Address("c", 9, username="u", password="pw")


@pytest.mark.parametrize("url", ["rediss+sentinel://a,b/m", "rediss+cluster://a,b"])
def test_an_encrypted_site_is_so_throughout(url: str) -> None:
    site = read(f"{url}?ssl_cert_reqs=none")
    for address in (*site.doors, site.master):
        assert address.tls is not None
        assert address.tls.verify_mode is ssl.CERT_NONE


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sentinel://a:1,b:2", "name of the master"),
        ("sentinel:///m", "places to ask at"),
        ("cluster://", "places to ask at"),
        ("cluster://a,,b", "places to ask at"),
        ("cluster://a:port", "cannot be read"),
        ("sentinel://[::1/m", "cannot be read"),
        ("cluster://a/1", "no database but 0"),
        ("cluster://a?db=1", "no database but 0"),
        ("mysql://a", "sentinel:// or cluster://"),
    ],
)
def test_a_site_that_cannot_be_is_refused_with_the_reason(url: str, words: str) -> None:
    with pytest.raises(Unfit, match=words):
        read(url)


def test_labels_of_sites_hold_no_secret() -> None:
    for url in ("sentinel://u:secret@a,b/m?sentinel_password=secret", "cluster://:secret@a,b"):
        assert "secret" not in read(url).label()
    assert read("sentinel://a,b/m").label() == "m of the Sentinels a:26379, b:26379"
    assert read("cluster://a,b").label() == "the Cluster of a:6379, b:6379"
