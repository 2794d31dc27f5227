"""What a connection that could not be had tells the player, and whether it is tried again."""

import ssl

import pytest

from client.loss import loss_of

URL = "wss://race.example"


@pytest.mark.parametrize("was_there", [False, True])
def test_a_certificate_that_nobody_trusts_is_said_with_what_to_do(was_there: bool) -> None:
    error = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] (_ssl.c:1006)")
    error.verify_message = "self-signed certificate"
    loss = loss_of(error, URL, was_there=was_there)
    assert "is not trusted here (self-signed certificate)" in loss.reason
    assert "SSL_CERT_FILE" in loss.reason
    assert "_ssl.c" not in loss.reason
    assert loss.is_final is not was_there
