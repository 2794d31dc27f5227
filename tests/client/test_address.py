"""Addresses as people type them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.address import BadAddress, server_url


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("example.org", "ws://example.org:8765"),
        ("example.org:99", "ws://example.org:99"),
        ("ws://127.0.0.1:8799/", "ws://127.0.0.1:8799"),
        ("wss://play.example.org/race", "wss://play.example.org:443/race"),
        ("https://play.example.org", "wss://play.example.org:443"),
        (" http://h:1 ", "ws://h:1"),
        ("[::1]:7", "ws://[::1]:7"),
    ],
)
def test_an_address_becomes_a_url(typed: str, url: str) -> None:
    assert server_url(typed) == url


@pytest.mark.parametrize(
    "typed",
    ["", "ftp://h", "ws://", "h:99999", "a b", "h:x", "ws://[::1", "a" * 64 + ".org", "a..b"],
)
def test_what_is_no_address_is_said_to_be_none(typed: str) -> None:
    with pytest.raises(BadAddress):
        server_url(typed)


@given(st.text())
def test_any_text_gives_a_url_or_a_reason(typed: str) -> None:
    url = ""
    with contextlib.suppress(BadAddress):
        url = server_url(typed)
    assert url == "" or url.startswith(("ws://", "wss://"))
