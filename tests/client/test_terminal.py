"""What a terminal is sent: the codes of its kind as they are, and signs that it can show."""

import pytest

from client import terminal


def test_without_utf8_codes_are_sent_as_they_are_and_signs_as_far_as_there_are_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = bytes(range(256))
    for codeset, sign in (("UTF-8", "é♠".encode()), ("ISO-8859-1", b"\xe9?"), ("?", "é♠".encode())):
        monkeypatch.setattr(terminal, "_codeset", lambda codeset=codeset: codeset)
        assert terminal.coded(terminal._text(code) + "é♠") == code + sign
