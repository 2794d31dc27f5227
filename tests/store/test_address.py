import ssl

import pytest

from server.store import Unfit
from server.store.address import Address, parse


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
def test_urls_are_read_as_redis_py_reads_them(url, address):
    assert parse(url) == address


@pytest.mark.parametrize(
    "url",
    ["", "example:6379", "http://example", "redis:/example", "redis://example:port", "unix://"],
)
def test_a_url_that_is_none_is_refused(url):
    with pytest.raises(Unfit):
        parse(url)


def test_an_encrypted_url_checks_the_certificate_unless_told_otherwise():
    checked, unchecked = parse("rediss://e").tls, parse("rediss://e?ssl_cert_reqs=none").tls
    assert checked is not None
    assert checked.check_hostname
    assert checked.verify_mode is ssl.CERT_REQUIRED
    assert unchecked is not None
    assert unchecked.verify_mode is ssl.CERT_NONE


def test_labels_hold_no_secret():
    for url in ("redis://me:secret@example:7000/1", "unix:///run/s?password=secret"):
        assert "secret" not in parse(url).label()
